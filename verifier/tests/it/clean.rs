//! Honest bundles are clean, and the report says what that does not prove.

use minutebook_verifier::{
    Anchor, Options, Outcome, OutsideReceipt, Policy, Report, Saved, Verdict, VerifyError,
    render::render, verify,
};

use crate::support::{Log, eventful};

fn policy(log: &Log) -> Policy {
    Policy::of_key(&log.vkey()).unwrap()
}

fn check(bundle: &[u8], log: &Log) -> Report {
    verify(bundle, &policy(log), Options::default())
        .unwrap()
        .report
}

#[test]
fn an_honest_log_is_clean_on_any_number_of_threads() {
    let (log, ..) = eventful();
    let bundle = log.bundle();
    let one = check(&bundle, &log);
    assert_eq!(one.verdict, Verdict::Clean, "{}", render(&one));
    assert_eq!(one.counts.events, log.size());
    assert_eq!(one.counts.bodies_erased, 2);
    assert_eq!(one.counts.agent_signatures, 6);
    assert_eq!(one.keys.len(), 2);
    let options = Options {
        threads: 3,
        ..Options::default()
    };
    let many = verify(&*bundle, &policy(&log), options).unwrap().report;
    let json = |report: &Report| serde_json::to_string(report).unwrap();
    assert_eq!(json(&one), json(&many));
}

#[test]
fn an_honest_room_is_clean() {
    let (log, a, b) = eventful();
    for room in [a, b] {
        let report = check(&log.room_bundle(room), &log);
        assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
    }
}

#[test]
fn an_erased_room_is_clean_and_its_erasure_is_named() {
    let mut log = Log::open(1);
    let room = log.open_room("short-lived");
    log.post(room, "ann", "gone soon");
    log.erase(room);
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, &log);
        assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
        assert_eq!(report.counts.bodies_erased, 2);
        assert!(report.not_proven.iter().any(|item| item.name == "erasure"));
    }
}

#[test]
fn anchors_and_receipts_of_this_history_are_consistent() {
    let (log, ..) = eventful();
    let size = log.size();
    let options = Options {
        anchors: [0, 1, 5, size - 1, size]
            .map(|size| Anchor::parse("saved", log.checkpoint_at(size).as_bytes()).unwrap())
            .to_vec(),
        receipts: [(3, 7), (9, size)]
            .map(|(seq, size)| {
                OutsideReceipt::parse("mine", log.receipt_at(seq, size).as_bytes()).unwrap()
            })
            .to_vec(),
        ..Options::default()
    };
    let report = verify(&*log.bundle(), &policy(&log), options)
        .unwrap()
        .report;
    assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
    assert_eq!(report.anchors.len(), 7);
    assert!(
        report
            .anchors
            .iter()
            .all(|anchor| anchor.result == "consistent")
    );
    let names: Vec<_> = report.not_proven.iter().map(|item| item.name).collect();
    assert!(!names.contains(&"rewrite") && !names.contains(&"fork"));
    assert!(names.contains(&"cut_tail"));
}

#[test]
fn a_later_key_is_trusted_as_well_as_the_first() {
    let (log, ..) = eventful();
    let later = Policy::of_key(&log.keys[1].vkey()).unwrap();
    let report = verify(&*log.bundle(), &later, Options::default())
        .unwrap()
        .report;
    assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
}

fn with_state(bundle: &[u8], log: &Log, state: Option<Saved>) -> Result<Outcome, VerifyError> {
    let options = Options {
        state,
        keep_state: true,
        ..Options::default()
    };
    verify(bundle, &policy(log), options)
}

#[test]
fn a_saved_state_continues_with_the_whole_bundle_or_with_the_rest() {
    let (mut log, a, _) = eventful();
    let before = log.size();
    let state = with_state(&log.bundle(), &log, None)
        .unwrap()
        .state
        .unwrap();
    let bytes = state.to_bytes().unwrap();
    let state = Saved::read(&*bytes).unwrap();
    assert_eq!(state.size(), before);
    log.post(a, "ann", "more");
    log.rotate(3);
    log.post(a, "ann", "and more");
    for (bundle, trusted) in [
        (log.bundle(), before),
        (log.bundle_from(before + 1), 0),
        (log.bundle_from(before - 2), 3),
    ] {
        let outcome = with_state(&bundle, &log, Some(state.clone())).unwrap();
        let report = outcome.report;
        assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
        assert_eq!(report.counts.events_trusted, trusted);
        let next = outcome.state.unwrap();
        assert_eq!(next.size(), log.size());
        let again = with_state(&log.bundle(), &log, Some(next)).unwrap().report;
        assert_eq!(again.verdict, Verdict::Clean, "{}", render(&again));
    }
}

#[test]
fn a_saved_state_of_another_history_refutes_and_one_that_does_not_fit_is_refused() {
    let (log, ..) = eventful();
    let state = with_state(&log.bundle(), &log, None)
        .unwrap()
        .state
        .unwrap();
    let mut other = Log::open(1);
    let room = other.open_room("another history");
    for i in 0..40 {
        other.post(room, "eve", &format!("{i}"));
    }
    let report = with_state(&other.bundle(), &other, Some(state.clone()))
        .unwrap()
        .report;
    assert_eq!(report.verdict, Verdict::Refuted);
    assert!(report.findings.iter().any(|f| f.name.name() == "fork"));
    let rest = other.bundle_from(log.size() + 2);
    let refused = with_state(&rest, &other, Some(state.clone()));
    assert!(matches!(refused, Err(VerifyError::State(_))), "{refused:?}");
    let mut short = Log::open(1);
    short.open_room("short");
    let report = with_state(&short.bundle(), &short, Some(state.clone()))
        .unwrap()
        .report;
    assert_eq!(report.verdict, Verdict::Refuted, "{}", render(&report));
    let mut bytes = state.to_bytes().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(Saved::read(&*bytes).is_err());
}

#[test]
fn a_bundle_from_the_middle_without_a_state_is_inconclusive() {
    let (log, ..) = eventful();
    let report = check(&log.bundle_from(9), &log);
    assert_eq!(report.verdict, Verdict::Inconclusive, "{}", render(&report));
    assert_eq!(report.findings[0].name.name(), "range_without_state");
}

#[test]
fn nothing_after_a_saved_state_is_nothing_to_verify() {
    let (log, ..) = eventful();
    let state = with_state(&log.bundle(), &log, None)
        .unwrap()
        .state
        .unwrap();
    let rest = log.bundle_from(log.size() + 1);
    let outcome = with_state(&rest, &log, Some(state)).unwrap();
    let report = outcome.report;
    assert_eq!(report.verdict, Verdict::Inconclusive, "{}", render(&report));
    assert_eq!(report.findings[0].name.name(), "empty");
    assert!(outcome.state.is_none());
}
