//! The rules, the format and this verifier have the same limits.

use minutebook_domain::{limits::EVENT_BODY_BYTES_MAX, time::Timestamp};
use minutebook_eventlog::format::{envelope::Envelope, limits::BODY_BYTES_MAX};

use crate::support::Log;

#[test]
fn a_body_has_one_limit() {
    assert_eq!(EVENT_BODY_BYTES_MAX, BODY_BYTES_MAX);
}

#[test]
fn a_record_has_one_range_of_time() {
    let log = Log::open(1);
    let record = Envelope::parse(&log.records[0].envelope).unwrap();
    let in_format = |at: &str| {
        let mut bytes = Vec::new();
        let moved = Envelope {
            at: at.into(),
            ..record.clone()
        };
        moved.encode(&mut bytes);
        Envelope::parse(&bytes).is_ok()
    };
    for (at, good) in [
        (Timestamp::MIN.to_string(), true),
        (Timestamp::MAX.to_string(), true),
        ("1970-01-01T00:00:00.000000Z".to_owned(), true),
        ("1969-12-31T23:59:59.999999Z".to_owned(), false),
        ("9999-12-30T21:59:59.999999Z".to_owned(), true),
        ("9999-12-30T22:00:00.000000Z".to_owned(), false),
    ] {
        assert_eq!(in_format(&at), good, "format: {at}");
        assert_eq!(Timestamp::parse(&at).is_some(), good, "rules: {at}");
    }
}
