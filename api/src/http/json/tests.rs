//! The parser held to what the peer answers, and to what we refuse beyond it.

use super::*;

/// Body → the detail the peer answers with, as observed; `ok` when it parses.
fn detail(body: &str) -> String {
    match parse(body.as_bytes()) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn syntax_errors_name_the_peers_position() {
    let table: &[(&str, usize)] = &[
        ("{bad", 1),
        ("  ", 2),
        ("{", 1),
        (r#"{"a""#, 4),
        (r#"{"a":"#, 5),
        (r#"{"a":1"#, 6),
        (r#"{"a":1,"#, 7),
        (r#"{"a":1,}"#, 7),
        (r#"{"a":1 "b""#, 7),
        (r#"{"a":1}x"#, 7),
        ("[1", 2),
        ("[1,", 3),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("tru", 0),
        ("nul", 0),
        ("-", 0),
        ("01", 1),
        ("1.", 1),
        ("1e", 1),
        (".5", 0),
        ("+1", 0),
        (r#""abc"#, 0),
        ("\"a\nb\"", 2),
        ("\"a\tb\"", 2),
        (r#""\x""#, 1),
        (r#""\u12""#, 2),
        (r#""\u12G4""#, 2),
        ("{1:2}", 1),
        ("\u{feff}", 0),
        ("é", 0),
        (r#"{"é":é}"#, 5),
        (r#"{"🧱":é}"#, 5),
        (r#"{"a":"x"#, 5),
        (r#"{"a":"\"#, 5),
        (r#"{"a":"\u"#, 7),
        ("[", 1),
        ("[{", 2),
        (r#"{"a":[1,2"#, 9),
        (r#"{ "a" : 1 , b }"#, 12),
        ("{ ", 2),
        ("[ ", 2),
        (" x", 1),
        (r#"{"a":-}"#, 5),
        (r#"{"a":- 1}"#, 5),
        (r#"{"a":1.e3}"#, 6),
        (r#"{"a":1.5e}"#, 8),
        (r#"{"a":truex}"#, 9),
        (r#"{"a":"b"; }"#, 8),
        (r#"{"a" 1}"#, 5),
        ("{'a':1}", 1),
        ("nan", 0),
        ("-Inf", 0),
        ("{,}", 1),
        ("[,]", 1),
        (r#"{"a":1,,}"#, 7),
        ("\0", 0),
        ("{\"agent_id\":\"a\",\"text\":\"\0\"}", 24),
    ];
    for (body, at) in table {
        assert_eq!(detail(body), format!("{at}: JSON decode error"), "{body:?}");
    }
}

#[test]
fn what_the_peer_lets_through_and_we_do_not_is_refused_by_name() {
    assert_eq!(detail(r#"{"a":1,"a":1}"#), "7: Duplicate object key");
    assert_eq!(
        detail(r#"[{"é":{"b":1,"b":1}}]"#),
        "13: Duplicate object key"
    );
    assert_eq!(detail(r#"{"a":1,"\u0061":1}"#), "7: Duplicate object key");
    assert_eq!(detail(r#"{"a":NaN}"#), "5: Number is not finite");
    assert_eq!(detail(r#"{"a":Infinity}"#), "5: Number is not finite");
    assert_eq!(detail(r#"{"a":1e999}"#), "5: Number is not finite");
    assert_eq!(detail(r#"{"a":-1e999}"#), "5: Number is not finite");
}

#[test]
fn many_keys_are_still_checked_for_duplicates() {
    let keys: Vec<String> = (0..40).map(|i| format!("\"k{i}\":{i}")).collect();
    assert_eq!(detail(&format!("{{{}}}", keys.join(","))), "ok");
    let twice = format!("{{{},\"k3\":0}}", keys.join(","));
    assert!(detail(&twice).ends_with("Duplicate object key"));
    let late = format!("{{{},\"k39\":0}}", keys.join(","));
    assert!(detail(&late).ends_with("Duplicate object key"));
}

#[test]
fn nesting_stops_at_the_limit() {
    let nest = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert_eq!(detail(&nest(DEPTH_MAX)), "ok");
    assert_eq!(
        detail(&nest(DEPTH_MAX + 1)),
        "64: Nested deeper than 64 levels"
    );
    assert_eq!(
        detail(&"[".repeat(1 << 20)),
        "64: Nested deeper than 64 levels"
    );
    assert_eq!(
        detail(&"{\"a\":".repeat(100)),
        "320: Nested deeper than 64 levels"
    );
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let cases: &[&[u8]] = &[
        b"\xff",
        b"{\"a\":\"\xff\"}",
        b"{\"a\":\"\xed\xa0\x80\"}",
        b"\xff\xfe{\0}\0",
    ];
    for body in cases {
        assert_eq!(parse(body), Err(JsonError::NotUtf8));
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(
        parse("\u{feff}[1]".as_bytes()).unwrap().root,
        Value::Array(vec![Value::Int(1)])
    );
}

#[test]
fn strings_decode_their_escapes_and_borrow_without() {
    let text = |body: &'static str| parse(body.as_bytes()).unwrap().root;
    assert_eq!(
        text(r#""\"\\\/\b\f\n\r\t\u0041""#),
        Value::Str("\"\\/\u{8}\u{c}\n\r\tA".into())
    );
    assert_eq!(text(r#""\ud83e\uddf1x""#), Value::Str("🧱x".into()));
    assert_eq!(text(r#""\u0000""#), Value::Str("\0".into()));
    assert!(matches!(
        text(r#""plain""#),
        Value::Str(Cow::Borrowed("plain"))
    ));
}

#[test]
fn lone_surrogates_are_remembered_with_their_place() {
    for body in [
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\u0041""#,
    ] {
        let document = parse(body.as_bytes()).unwrap();
        assert_eq!(
            (document.root, document.unpaired),
            (Value::Unpaired, Some(0)),
            "{body}"
        );
    }
    assert_eq!(
        parse(r#"{"é":["\udfff"]}"#.as_bytes()).unwrap().unpaired,
        Some(6)
    );
    assert_eq!(
        parse(r#"{"\udfff":1}"#.as_bytes()).unwrap().unpaired,
        Some(1)
    );
}

#[test]
fn numbers_keep_their_kind() {
    let root = |body: &'static str| parse(body.as_bytes()).unwrap().root;
    assert_eq!(root("-0"), Value::Int(0));
    assert_eq!(root("9223372036854775807"), Value::Int(i64::MAX));
    assert_eq!(root("9223372036854775808"), Value::HugeInt);
    assert_eq!(root("1.0"), Value::Float(1.0));
    assert_eq!(root("1E2"), Value::Float(100.0));
    assert_eq!(root("1e-999"), Value::Float(0.0));
}

#[test]
fn no_prefix_or_single_byte_change_panics() {
    let body = r#"{"a":[1,-2.5e3,"\ud83e\uddf1é\n"],"b":{"c":null,"d":true},"e":"x"}"#.as_bytes();
    for end in 0..body.len() {
        assert!(parse(&body[..end]).is_err());
        for byte in 0..=255 {
            let mut changed = body.to_vec();
            changed[end] = byte;
            let _ = parse(&changed);
        }
    }
}
