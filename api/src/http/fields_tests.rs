//! Coercions and texts of fields.

use super::super::json;
use super::*;

fn check(body: &str, read: impl Fn(&Fields<'_, '_>) -> Result<String, Invalid>) -> String {
    let document = json::parse(body.as_bytes()).unwrap();
    match Fields::of(&document).and_then(|fields| read(&fields)) {
        Ok(seen) => seen,
        Err(invalid) => invalid.to_string(),
    }
}

fn text(body: &str) -> String {
    check(body, |fields| fields.text("text", 1, 3).map(str::to_owned))
}

#[test]
fn strings_are_checked_with_the_peers_texts() {
    assert_eq!(text("{}"), "text: Field required");
    assert_eq!(text(r#"{"Text":"a"}"#), "text: Field required");
    for other in ["1", "null", "[]", "{}", "true", "1.5"] {
        let body = format!("{{\"text\":{other}}}");
        assert_eq!(text(&body), "text: Input should be a valid string");
    }
    assert_eq!(
        text(r#"{"text":""}"#),
        "text: String should have at least 1 character"
    );
    assert_eq!(text(r#"{"text":"🧱🧱🧱"}"#), "🧱🧱🧱");
    assert_eq!(
        text(r#"{"text":"éééé"}"#),
        "text: String should have at most 3 characters"
    );
    let lone = "text: Input should be a valid string, unable to parse raw data as a unicode string";
    assert_eq!(text(r#"{"text":"\ud800"}"#), lone);
    assert_eq!(text("[]"), NOT_AN_OBJECT);
    assert_eq!(text("null"), NOT_AN_OBJECT);
}

#[test]
fn null_and_absent_optional_strings_are_none() {
    let read = |body: &str| {
        check(body, |f| {
            f.optional_text("d", 2).map(|text| format!("{text:?}"))
        })
    };
    assert_eq!(read("{}"), "None");
    assert_eq!(read(r#"{"d":null}"#), "None");
    assert_eq!(read(r#"{"d":""}"#), "Some(\"\")");
    assert_eq!(
        read(r#"{"d":"abc"}"#),
        "d: String should have at most 2 characters"
    );
}

#[test]
fn bools_are_coerced_as_the_peer_does() {
    let read = |v: &str| {
        check(&format!("{{\"b\":{v}}}"), |f| {
            f.flag("b").map(|b| b.to_string())
        })
    };
    for yes in [
        "true", "1", "1.0", "1e0", "\"yes\"", "\"YES\"", "\"On\"", "\"t\"", "\"y\"", "\"1\"",
    ] {
        assert_eq!(read(yes), "true", "{yes}");
    }
    for no in [
        "false", "0", "0.0", "-0", "-0.0", "\"off\"", "\"f\"", "\"n\"", "\"0\"", "\"No\"",
    ] {
        assert_eq!(read(no), "false", "{no}");
    }
    for unclear in ["2", "-1", "\"\"", "\" true \"", "\"x\"", "\"1.0\""] {
        assert_eq!(read(unclear), format!("b: {UNCLEAR_BOOL}"), "{unclear}");
    }
    for other in ["null", "0.5", "[]", "{}", "99999999999999999999999"] {
        assert_eq!(read(other), format!("b: {NOT_A_BOOL}"), "{other}");
    }
}

#[test]
fn integers_are_coerced_as_the_peer_does() {
    let read = |v: &str| {
        check(&format!("{{\"n\":{v}}}"), |f| {
            f.optional_integer("n").map(|n| format!("{n:?}"))
        })
    };
    for (sent, taken) in [
        ("null", "None"),
        ("4", "Some(4)"),
        ("-4", "Some(-4)"),
        ("4.0", "Some(4)"),
        ("\" 4 \"", "Some(4)"),
        ("true", "Some(1)"),
        ("99999999999999999999", "Some(9223372036854775807)"),
        ("1e300", "Some(9223372036854775807)"),
    ] {
        assert_eq!(read(sent), taken, "{sent}");
    }
    assert_eq!(read("4.5"), format!("n: {FRACTION}"));
    assert_eq!(read("\"x\""), format!("n: {UNCLEAR_INTEGER}"));
    assert_eq!(read("[]"), format!("n: {NOT_AN_INTEGER}"));
    let absent = check("{}", |f| f.optional_integer("n").map(|n| format!("{n:?}")));
    assert_eq!(absent, "None");
    let kind = |body: &str| check(body, |f| f.word("k", ["a", "b"]).map(|i| i.to_string()));
    assert_eq!(kind("{}"), "k: Field required");
    assert_eq!(kind(r#"{"k":"b"}"#), "1");
}

#[test]
fn choices_name_their_pattern() {
    let read = |v: &str| {
        let body = format!("{{\"m\":{v}}}");
        check(&body, |f| {
            f.choice("m", ["standard", "premium"])
                .map(|i| i.to_string())
        })
    };
    let pattern = "m: String should match pattern '^(standard|premium)$'";
    assert_eq!(read("\"premium\""), "1");
    assert_eq!(read("\"Premium\""), pattern);
    assert_eq!(read("\"standard\\n\""), pattern);
    assert_eq!(read("\"\""), pattern);
    assert_eq!(read("null"), "m: Input should be a valid string");
}

#[test]
fn lists_hold_strings_up_to_their_limit() {
    let read = |v: &str| {
        check(&format!("{{\"l\":{v}}}"), |f| {
            f.words("l").map(|w| w.join("+"))
        })
    };
    assert_eq!(read("[\"a\",\"b\"]"), "a+b");
    assert_eq!(read("\"a\""), "l: Input should be a valid list");
    assert_eq!(read("[1]"), "l: Input should be a valid string");
    let long = format!("[{}]", vec!["\"a\""; LIST_ITEMS_MAX + 1].join(","));
    assert_eq!(read(&long), "l: List should have at most 64 items");
}
