//! The two grammars of time, by example.

use super::*;

const NOON: Timestamp = Timestamp::from_micros(1_796_040_000_000_000);

/// Text, and the canonical form of the moment it means.
const TAKEN: &[(&str, &str)] = &[
    ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000000Z"),
    ("2026-11-30T12:00:00.Z", "2026-11-30T12:00:00.000000Z"),
    ("2026-11-30T12:00:00.5Z", "2026-11-30T12:00:00.500000Z"),
    ("2026-11-30T12:00:00.123456Z", "2026-11-30T12:00:00.123456Z"),
    (
        "2026-11-30T12:00:00.123456999Z",
        "2026-11-30T12:00:00.123456Z",
    ),
    ("2026-11-30T12:00:00+00:00", "2026-11-30T12:00:00.000000Z"),
    ("2026-11-30T12:00:00-00:00", "2026-11-30T12:00:00.000000Z"),
    ("2026-11-30T12:00:00+03:00", "2026-11-30T09:00:00.000000Z"),
    ("2026-11-30T12:00:00-00:30", "2026-11-30T12:30:00.000000Z"),
    (
        "2026-11-30T23:59:59.999999-23:59",
        "2026-12-01T23:58:59.999999Z",
    ),
    ("2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000000Z"),
    ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"),
    ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z"),
    ("1969-12-31T23:59:59-00:01", "1970-01-01T00:00:59.000000Z"),
    (
        "1970-01-01T00:00:00.0000009Z",
        "1970-01-01T00:00:00.000000Z",
    ),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"),
    ("9999-12-30T21:59:59.999999Z", "9999-12-30T21:59:59.999999Z"),
];

const REFUSED: &[&str] = &[
    "",
    "2026-11-30",
    "2026-11-30T12:00Z",
    "2026-11-30T12:00:00",
    "2026-11-30t12:00:00Z",
    "2026-11-30T12:00:00z",
    "2026-11-30 12:00:00Z",
    " 2026-11-30T12:00:00Z",
    "2026-11-30T12:00:00Z ",
    "2026-11-30T12:00:00Z\n",
    "2026-11-30T12:00:00ZZ",
    "20261130T120000Z",
    "2026-11-30T12:00:00,5Z",
    "2026-11-30T12:00:00.1234567890Z",
    "2026-11-30T12:00:00.+5Z",
    "2026-11-30T12:00:00.5",
    "2026-11-30T12:00:00+03",
    "2026-11-30T12:00:00+0300",
    "2026-11-30T12:00:00+3:00",
    "2026-11-30T12:00:00+24:00",
    "2026-11-30T12:00:00+03:60",
    "2026-11-30T12:00:00-24:00",
    "2026-11-30T12:00:00\u{2212}03:00",
    "2026-11-30T12:00:00+03:00[Europe/Moscow]",
    "2026-11-30T24:00:00Z",
    "2026-11-30T12:60:00Z",
    "2016-12-31T23:59:60Z",
    "2026-00-30T12:00:00Z",
    "2026-13-30T12:00:00Z",
    "2026-11-00T12:00:00Z",
    "2026-11-31T12:00:00Z",
    "2023-02-29T12:00:00Z",
    "1900-02-29T12:00:00Z",
    "+2026-11-30T12:00:00Z",
    "12026-11-30T12:00:00Z",
    "-001-11-30T12:00:00Z",
    "\u{662}026-11-30T12:00:00Z",
    "0000-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:00:00+00:01",
    "9999-12-30T22:00:00Z",
    "9999-12-31T23:59:59Z",
];

#[test]
fn a_signed_time_means_one_moment() {
    for (text, canonical) in TAKEN {
        let moment = Timestamp::parse_rfc3339(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(&moment.to_string(), canonical, "{text}");
    }
}

#[test]
fn what_is_not_in_the_grammar_is_not_a_time() {
    for text in REFUSED {
        assert_eq!(Timestamp::parse_rfc3339(text), None, "{text:?}");
        assert_eq!(Timestamp::parse(text), None, "{text:?}");
    }
}

#[test]
fn a_record_holds_the_canonical_form_only() {
    for (text, canonical) in TAKEN {
        assert_eq!(
            Timestamp::parse(text).is_some(),
            text == canonical,
            "{text}"
        );
        assert_eq!(Timestamp::parse(canonical).unwrap().to_string(), *canonical);
    }
}

#[test]
fn whole_seconds_are_cut_not_rounded() {
    let late = Timestamp::parse("2026-11-30T12:00:00.999999Z").unwrap();
    assert_eq!(late.to_seconds_text(), "2026-11-30T12:00:00Z");
    assert_eq!(NOON.to_seconds_text(), "2026-11-30T12:00:00Z");
}

#[test]
fn text_sorts_as_time_does() {
    let mut texts: Vec<&str> = TAKEN.iter().map(|(_, canonical)| *canonical).collect();
    texts.sort_unstable();
    let moments: Vec<_> = texts.iter().map(|text| Timestamp::parse(text)).collect();
    assert!(moments.is_sorted());
}

#[test]
fn a_moment_that_cannot_be_written_becomes_the_nearest_that_can() {
    assert_eq!(Timestamp::from_micros(i64::MIN), Timestamp::MIN);
    assert_eq!(Timestamp::from_micros(i64::MAX), Timestamp::MAX);
    assert_eq!(NOON.plus_seconds(i64::MAX), Timestamp::MAX);
    for moment in [Timestamp::MIN, Timestamp::MAX] {
        assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
    }
}
