//! One spelling per value, in both directions.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<Cow<'_, str>, Mismatch> {
    let mut cursor = Cursor::new(text);
    let value = cursor.string()?;
    cursor.end()?;
    Ok(value)
}

#[test]
fn only_the_canonical_spelling_of_a_string_is_read() {
    for (text, value) in [
        (r#"""#, ""),
        (r#"plain ü 🦀 / text""#, "plain ü 🦀 / text"),
        (
            r#"\"\\\b\t\n\f\r\u0000\u001f""#,
            "\"\\\u{8}\t\n\u{c}\r\0\u{1f}",
        ),
        ("\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(value), "{text}");
    }
    for text in [
        r#"\/""#,
        r#"\u0041""#,
        r#"\u000A""#,
        r#"\u000a""#,
        r#"\u001F""#,
        r#"\u0020""#,
        r#"\ud800""#,
        r#"\u00e9""#,
        r#"\U0001""#,
        r#"\x""#,
        r#"\u00""#,
        "\\",
        "no end",
        "",
        "tab\t\"",
        "\n\"",
        "long enough for a group \u{1} \"",
        "x\"y",
        r#"\u0g01""#,
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
}

#[test]
fn only_the_canonical_spelling_of_an_integer_is_read() {
    let read = |text| {
        let mut cursor = Cursor::new(text);
        cursor
            .integer()
            .and_then(|value| cursor.end().map(|()| value))
    };
    for (text, value) in [("0", 0), ("10", 10), ("9007199254740991", INTEGER_MAX)] {
        assert_eq!(read(text), Ok(value));
    }
    for text in [
        "",
        "-1",
        "+1",
        "01",
        "00",
        "1.0",
        "1e3",
        " 1",
        "1 ",
        "9007199254740992",
        "18446744073709551616",
        "99999999999999999999999999",
        "0x10",
        "١",
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
}

#[test]
fn an_error_names_the_offset() {
    assert_eq!(read(r#"abc\q""#).map_err(|e| e.offset), Err(3));
    assert_eq!(read("abcdefghijk\\n\u{1}\"").map_err(|e| e.offset), Err(13));
    assert_eq!(read("abc\"d").map_err(|e| e.offset), Err(4));
}

#[test]
fn escapes_are_read_wherever_they_fall_in_a_block() {
    for len in 0..200 {
        for end in [
            "\\\"\"",
            "\\\\\"",
            "\\n\"",
            "\\u0001\"",
            "\"",
            "\\\"x\\\\\"",
        ] {
            let text = format!("{}{end}", "p".repeat(len));
            let expected: String = serde_json::from_str(&format!("\"{text}")).unwrap();
            assert_eq!(read(&text).as_deref(), Ok(expected.as_str()), "{text}");
            assert!(read(&text[..text.len() - 1]).is_err(), "{text}");
        }
    }
}

/// The same, a character at a time.
fn unescape_slowly(text: &[u8]) -> (usize, Result<Vec<u8>, &'static str>) {
    let (mut at, mut out) = (0, Vec::new());
    loop {
        let (byte, len) = match &text[at..] {
            [] => return (at, Err("a closing quote")),
            [b'"', ..] => return (at, Ok(out)),
            [b'\\', b'"', ..] => (b'"', 2),
            [b'\\', b'\\', ..] => (b'\\', 2),
            [b'\\', b'b', ..] => (8, 2),
            [b'\\', b't', ..] => (9, 2),
            [b'\\', b'n', ..] => (10, 2),
            [b'\\', b'f', ..] => (12, 2),
            [b'\\', b'r', ..] => (13, 2),
            [b'\\', b'u', digits @ ..] => {
                let digits = digits
                    .first_chunk::<4>()
                    .map(|d| String::from_utf8_lossy(d));
                let is_lower = |d: &str| !d.bytes().any(|b| b.is_ascii_uppercase() || b == b'+');
                let value = digits.filter(|d| is_lower(d));
                match value.and_then(|d| u8::from_str_radix(&d, 16).ok()) {
                    Some(8 | 9 | 10 | 12 | 13) => {
                        return (at, Err("the short form of this escape"));
                    }
                    Some(value @ 0..=31) => (value, 6),
                    _ => return (at, Err("a canonical escape")),
                }
            }
            [b'\\', ..] => return (at, Err("a canonical escape")),
            [0..=31, ..] => return (at, Err("an escaped control character")),
            [byte, ..] => (*byte, 1),
        };
        out.push(byte);
        at += len;
    }
}

/// Strings with much to decode, long enough for several blocks.
fn tempting() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\\\"".to_owned()),
        4 => Just("\\\\".to_owned()),
        1 => "\\\\[bfnrtu/x]",
        1 => "\\\\u00[01][0-9a-f]",
        1 => "\\\\u[0-9a-fA-F]{0,4}",
        4 => "[a-z\u{e9}\u{1f9f1}]{1,40}",
        1 => prop::sample::select(vec!["\"", "\\", "\n", "\u{1}"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn many_bytes_at_once_are_decoded_like_one_by_one(text in tempting()) {
        for text in [text.clone(), format!("{text}\""), format!("{text}\",\"more\":\"")] {
            let mut out = vec![b'<'];
            let (stop, end) = unescape(text.as_bytes(), &mut out);
            let (expected_stop, expected) = unescape_slowly(text.as_bytes());
            prop_assert_eq!(stop, expected_stop);
            prop_assert_eq!(end.map(|()| out.split_off(1)), expected);
        }
    }

    #[test]
    fn strings_round_trip_and_agree_with_serde(text in "(\\PC|[\u{0}-\u{1f}\"\\\\]){0,40}") {
        let mut out = Vec::new();
        escape(text.as_bytes(), &mut out);
        out.push(b'"');
        let spelt = String::from_utf8(out).unwrap();
        prop_assert_eq!(format!("\"{spelt}"), serde_json::to_string(&text).unwrap());
        prop_assert_eq!(read(&spelt).unwrap(), text);
    }

    #[test]
    fn what_is_read_is_written_back_the_same(text in "[a\"\\\\bu0f1é\u{1}\n]{0,24}\"") {
        if let Ok(value) = read(&text) {
            let mut out = Vec::new();
            escape(value.as_bytes(), &mut out);
            out.push(b'"');
            prop_assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn integers_round_trip(value in 0..=INTEGER_MAX) {
        let mut out = Vec::new();
        decimal(value, &mut out);
        let text = String::from_utf8(out).unwrap();
        prop_assert_eq!(&text, &value.to_string());
        prop_assert_eq!(Cursor::new(&text).integer(), Ok(value));
    }
}
