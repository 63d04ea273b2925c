//! Every tampering, alone and against an anchor: the verdict, the finding and its place.

use std::collections::BTreeSet;

use minutebook_domain::ids::RoomId;
use minutebook_verifier::{
    Anchor, Code, Options, Policy, Report, Verdict,
    render::render,
    tamper::{Expected, Means, Tampered, Tampering, tamper},
    verify,
};

use crate::support::{Log, eventful};

/// A log in one key epoch, so that one key can do everything; the last record is a message.
fn plain() -> (Log, RoomId) {
    let mut log = Log::open(1);
    log.cadence = 8;
    let (a, b) = (log.open_room("first"), log.open_room("second"));
    for i in 0..8 {
        log.post(a, "ann", &format!("plain {i}"));
        log.post_signed(b, "bob", &format!("signed {i}"), 7);
        log.post(a, "cem", &format!("plain too {i}"));
    }
    (log, a)
}

fn check(bundle: &[u8], log: &Log, anchors: Vec<Anchor>) -> Report {
    let policy = Policy::of_key(&log.vkey()).unwrap();
    let options = Options {
        anchors,
        ..Options::default()
    };
    verify(bundle, &policy, options).unwrap().report
}

#[track_caller]
fn assert_expected(kind: &Tampering, made: &Tampered, report: &Report, expected: Expected) {
    let text = render(report);
    assert_eq!(report.verdict, expected.verdict, "{kind:?}: {text}");
    let Some(code) = expected.finding else {
        return assert_eq!(report.findings, [], "{kind:?}: {text}");
    };
    let headline = &report.findings[0];
    assert_eq!(headline.name, code, "{kind:?} at {}: {text}", made.seq);
    assert!(
        headline.covers(made.seq),
        "{kind:?} at {}: {text}",
        made.seq
    );
    assert_eq!(report.first_bad_seq, headline.seq, "{kind:?}: {text}");
    let place = match headline.seq_last {
        Some(last) => format!("in records {} to {last}:", headline.seq.unwrap()),
        None => format!("at record {}:", made.seq),
    };
    let promised = format!("{} {place}", code.name());
    let first_line = text.lines().next().unwrap();
    assert!(
        first_line.contains(&promised),
        "{kind:?}: {promised}: {text}"
    );
}

#[test]
fn every_tampering_heads_the_report_as_the_table_promises_alone_and_against_an_anchor() {
    let (log, room) = plain();
    let means = Means {
        seq: None,
        seed: Some([1; 32]),
    };
    for kind in Tampering::ALL {
        let made = tamper(kind.name, &log.bundle(), &means).unwrap();
        let alone = check(&made.bytes, &log, Vec::new());
        assert_expected(kind, &made, &alone, kind.alone);
        let anchor = Anchor::parse("saved", log.checkpoint().as_bytes()).unwrap();
        let anchored = check(&made.bytes, &log, vec![anchor]);
        assert_expected(kind, &made, &anchored, kind.anchored);
        let Some(expected) = kind.room else {
            assert!(tamper(kind.name, &log.room_bundle(room), &means).is_err());
            continue;
        };
        let made = tamper(kind.name, &log.room_bundle(room), &means).unwrap();
        let report = check(&made.bytes, &log, Vec::new());
        assert_expected(kind, &made, &report, expected);
    }
}

#[test]
fn tamperings_find_their_place_in_a_log_with_rotations_and_erasures() {
    let (log, ..) = eventful();
    let means = Means {
        seq: None,
        seed: Some([2; 32]),
    };
    let mut tried = 0;
    for kind in Tampering::ALL {
        let Ok(made) = tamper(kind.name, &log.bundle(), &means) else {
            continue;
        };
        tried += 1;
        let alone = check(&made.bytes, &log, Vec::new());
        if kind.name == "rollback" {
            // The erasure was rolled back with the rest; the bodies it explains do not come back.
            assert!(alone.findings.iter().all(|f| f.name == Code::BodyMissing));
            continue;
        }
        assert_expected(kind, &made, &alone, kind.alone);
    }
    assert!(
        tried + 2 >= Tampering::ALL.len(),
        "only {tried} of {}",
        Tampering::ALL.len()
    );
}

/// The threat table, row by row: shown by a tampering, or named as not proven.
#[test]
fn every_row_of_the_threat_table_is_shown_or_named() {
    let (log, ..) = plain();
    let report = check(&log.bundle(), &log, Vec::new());
    let unproven: BTreeSet<_> = report.not_proven.iter().map(|item| item.name).collect();
    let named_for = |row: u8| match row {
        11 => Some("projections"),
        15 => Some("cut_tail"),
        16 => Some("rollback"),
        17 => Some("rewrite"),
        18 => Some("fork"),
        19 => Some("time"),
        20 => Some("omission"),
        21 => Some("verifier"),
        _ => None,
    };
    for row in 1..=22 {
        let shown: Vec<_> = Tampering::ALL
            .iter()
            .filter(|t| t.rows.contains(&row))
            .collect();
        let elsewhere = Tampering::ELSEWHERE.iter().any(|(other, _)| *other == row);
        assert!(
            !shown.is_empty() || elsewhere,
            "row {row} is neither shown nor named"
        );
        let hidden = elsewhere || shown.iter().all(|t| t.alone.verdict == Verdict::Clean);
        let name = named_for(row);
        assert_eq!(hidden, name.is_some(), "row {row}");
        if let Some(name) = name {
            assert!(unproven.contains(name), "row {row}: {name} is not named");
        }
    }
}
