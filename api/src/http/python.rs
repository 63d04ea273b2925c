//! How the peer's language reads text where its clients can tell: `str.strip`, `uuid.UUID`, `int`.

use std::borrow::Cow;

use uuid::Uuid;

/// Python's `str.strip()`, as the rules have it.
pub use minutebook_domain::text::strip;

/// The spellings of a UUID Python's parser takes: any case, with or without hyphens, braces and
/// the `urn:` and `uuid:` prefixes. What it takes by accident of its integer parser (signs, blanks,
/// `0x`, digits of other scripts) is refused.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    // The one form almost every request uses needs no copy.
    if text.len() == 36
        && !text.contains('{')
        && let Ok(uuid) = Uuid::try_parse(text)
    {
        return Some(uuid);
    }
    // Bounded before anything is copied: the longest sensible form is far shorter.
    if text.len() > 128 {
        return None;
    }
    let bare = text.replace("urn:", "").replace("uuid:", "");
    let hex: String = bare
        .trim_matches(['{', '}'])
        .chars()
        .filter(|c| *c != '-')
        .collect();
    if hex.len() != 32 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Uuid::try_parse(&hex).ok()
}

/// An integer in a query, as pydantic reads text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryInt {
    /// It fits.
    Fits(i64),
    /// Above every `i64`.
    TooBig,
    /// Below every `i64`.
    TooSmall,
}

/// Blanks around, a sign, digits with single underscores between them, and `.0…` at the end.
pub fn parse_int(text: &str) -> Option<QueryInt> {
    let text = strip(text);
    let text = text.strip_prefix('+').unwrap_or(text);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = match digits.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => digits,
    };
    let good = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits.split('_').all(good) {
        return None;
    }
    let digits: Cow<'_, str> = if digits.contains('_') {
        digits.replace('_', "").into()
    } else {
        digits.into()
    };
    let value = digits.parse::<i64>();
    Some(match (value, negative) {
        (Ok(value), false) => QueryInt::Fits(value),
        (Ok(value), true) => QueryInt::Fits(-value),
        (Err(_), false) => QueryInt::TooBig,
        (Err(_), true) => QueryInt::TooSmall,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strip_takes_what_python_takes() {
        assert_eq!(strip("\u{1c}\u{1f} a\u{a0}\u{2003}\n"), "a");
        assert_eq!(strip("\u{200b}a\u{feff}"), "\u{200b}a\u{feff}");
        assert_eq!(strip(" \t "), "");
    }

    #[test]
    fn uuid_forms_of_pythons_parser_are_taken() {
        let canonical = "a9efd68c-8ac8-4893-be5e-5c1905d1ae03";
        for form in [
            canonical,
            "A9EFD68C-8AC8-4893-BE5E-5C1905D1AE03",
            "a9efd68c8ac84893be5e5c1905d1ae03",
            "{a9efd68c8ac84893be5e5c1905d1ae03}",
            "urn:uuid:a9efd68c-8ac8-4893-be5e-5c1905d1ae03",
            "uuid:a9efd68c-8ac8-4893-be5e-5c1905d1ae03",
            "{{a9efd68c-8ac8-4893-be5e-5c1905d1ae03",
            "a-9efd68c8ac84893be5e5c1905d1ae03",
        ] {
            assert_eq!(
                parse_uuid(form).map(|u| u.to_string()).as_deref(),
                Some(canonical),
                "{form}"
            );
        }
        let long = "-".repeat(200);
        for form in [
            "",
            "nope",
            "URN:UUID:a9efd68c-8ac8-4893-be5e-5c1905d1ae03",
            "a9efd68c8ac84893be5e5c1905d1ae0",
            "0xa9efd68c8ac84893be5e5c1905d1ae",
            " a9efd68c8ac84893be5e5c1905d1ae0",
            "+9efd68c8ac84893be5e5c1905d1ae03",
            "1_2efd68c8ac84893be5e5c1905d1ae03",
            "a9efd68c8ac84893be5e5c1905d1ae0３",
            long.as_str(),
        ] {
            assert_eq!(parse_uuid(form), None, "{form}");
        }
    }

    #[test]
    fn query_integers_are_read_as_the_peer_reads_them() {
        for (text, value) in [
            ("1", 1),
            ("1.0", 1),
            ("1.0000", 1),
            (" 1", 1),
            ("1 ", 1),
            ("\u{2003} 1", 1),
            ("1_000", 1000),
            ("+1", 1),
            ("007", 7),
            ("-0", 0),
            ("-1", -1),
            ("+-1", -1),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(parse_int(text), Some(QueryInt::Fits(value)), "{text:?}");
        }
        let bad = [
            "", "abc", "1.5", "1e3", "0x1", "١", "１", "null", "1\0", ".0", "1.", "1__0",
        ];
        for text in bad
            .into_iter()
            .chain(["_1", "1_", "--1", "1,2", "true", "1 0", "-", "+"])
        {
            assert_eq!(parse_int(text), None, "{text:?}");
        }
        assert_eq!(parse_int("9223372036854775808"), Some(QueryInt::TooBig));
        assert_eq!(
            parse_int(&format!("-{}", "9".repeat(5000))),
            Some(QueryInt::TooSmall)
        );
    }
}
