//! Keys, witnesses, anchors and receipts: what each adds, and what a wrong one does.

use minutebook_eventlog::format::{
    bundle::write_checkpoint_line, cosignature::cosign, key::SigningKey,
};
use minutebook_verifier::{
    Anchor, Options, OutsideReceipt, Policy, Report, Verdict, render::render, verify,
};

use crate::support::{Log, eventful, signing_key};

const TIME: u64 = 1_796_050_000;

fn check(bundle: &[u8], policy: &Policy, options: Options<'_>) -> Report {
    verify(bundle, policy, options).unwrap().report
}

fn of_key(log: &Log) -> Policy {
    Policy::of_key(&log.vkey()).unwrap()
}

fn anchored(note: &str) -> Options<'static> {
    Options {
        anchors: vec![Anchor::parse("saved", note.as_bytes()).unwrap()],
        ..Options::default()
    }
}

fn with_receipt(text: &str) -> Options<'static> {
    Options {
        receipts: vec![OutsideReceipt::parse("mine", text.as_bytes()).unwrap()],
        ..Options::default()
    }
}

#[track_caller]
fn assert_only(report: &Report, verdict: Verdict, names: &[&str]) {
    let found: Vec<_> = report.findings.iter().map(|f| f.name.name()).collect();
    assert_eq!(
        (report.verdict, &found[..]),
        (verdict, names),
        "{}",
        render(report)
    );
}

/// The bundle with another newest checkpoint line.
fn with_newest(bundle: &[u8], note: &str) -> Vec<u8> {
    let end = bundle[..bundle.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    let mut out = bundle[..end].to_vec();
    write_checkpoint_line(note, &mut out).unwrap();
    out
}

fn witness(name: &str, seed: u8) -> SigningKey {
    SigningKey::witness_from_seed(name, [seed; 32]).unwrap()
}

#[test]
fn a_quorum_of_witnesses_excludes_rewrite_and_fork_and_its_absence_is_inconclusive() {
    let (log, ..) = eventful();
    let (w1, w2) = (witness("w.example/1", 21), witness("w.example/2", 22));
    let policy = format!(
        "log {}\nwitness w1 {}\nwitness w2 {}\ngroup both all w1 w2\nquorum both\n",
        log.vkey(),
        w1.vkey(),
        w2.vkey()
    );
    let policy = Policy::parse(policy.as_bytes()).unwrap();
    let bundle = log.bundle();
    let report = check(&bundle, &policy, Options::default());
    assert_only(&report, Verdict::Inconclusive, &["quorum_not_met"]);

    let half = cosign(&log.checkpoint(), TIME, &w1).unwrap();
    let report = check(&with_newest(&bundle, &half), &policy, Options::default());
    assert_only(&report, Verdict::Inconclusive, &["quorum_not_met"]);

    let both = cosign(&half, TIME + 5, &w2).unwrap();
    let report = check(&with_newest(&bundle, &both), &policy, Options::default());
    assert_only(&report, Verdict::Clean, &[]);
    assert_eq!(report.witnesses.len(), 2);
    let names: Vec<_> = report.not_proven.iter().map(|item| item.name).collect();
    assert!(!names.contains(&"rewrite") && !names.contains(&"fork"));
    let time = report
        .not_proven
        .iter()
        .find(|item| item.name == "time")
        .unwrap();
    assert!(time.text.contains(&(TIME + 5).to_string()));

    let report = check(&bundle, &policy, anchored(&both));
    assert_only(&report, Verdict::Clean, &[]);
    assert_eq!(report.witnesses.len(), 2, "brought from outside");

    let other = cosign(&log.checkpoint_at(3), TIME, &w2).unwrap();
    let line = other.lines().last().unwrap();
    let swapped = format!("{half}{line}\n");
    let report = check(&with_newest(&bundle, &swapped), &policy, Options::default());
    assert_only(
        &report,
        Verdict::Refuted,
        &["cosignature_invalid", "quorum_not_met"],
    );
}

#[test]
fn a_key_of_another_log_or_a_stranger_refutes() {
    let (log, room, _) = eventful();
    let other = SigningKey::from_seed("other.example", [1; 32]).unwrap();
    let other = Policy::of_key(&other.vkey()).unwrap();
    let stranger = Policy::of_key(&signing_key(99).vkey()).unwrap();
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, &other, Options::default());
        assert_only(
            &report,
            Verdict::Refuted,
            &["key_not_pinned", "origin_mismatch"],
        );
        let report = check(&bundle, &stranger, Options::default());
        assert_only(&report, Verdict::Refuted, &["key_not_pinned"]);
    }
}

#[test]
fn an_anchor_nobody_of_the_log_signed_is_unusable_and_never_clean() {
    let (log, ..) = eventful();
    let mut foreign = Log::open(9);
    foreign.open_room("foreign");
    let report = check(
        &log.bundle(),
        &of_key(&log),
        anchored(&foreign.checkpoint()),
    );
    assert_only(&report, Verdict::Inconclusive, &["anchor_unusable"]);
}

#[test]
fn a_shorter_log_than_an_anchor_or_receipt_shows_is_refuted() {
    let (mut log, room, _) = eventful();
    let (bundle, room_bundle) = (log.bundle(), log.room_bundle(room));
    let size = log.size();
    let seq = log.post(room, "ann", "one more");
    for old in [&bundle, &room_bundle] {
        let report = check(old, &of_key(&log), anchored(&log.checkpoint()));
        assert_only(&report, Verdict::Refuted, &["truncated_below_anchor"]);
        assert_eq!(report.first_bad_seq, Some(size + 1));
        let report = check(old, &of_key(&log), with_receipt(&log.receipt(seq)));
        assert_only(&report, Verdict::Refuted, &["truncated_below_anchor"]);
    }
}

#[test]
fn a_room_bundle_is_compared_with_what_it_can_be_and_the_rest_is_inconclusive() {
    let (log, room, _) = eventful();
    let bundle = log.room_bundle(room);
    let policy = of_key(&log);
    let seqs = log.room_seqs(room);
    let older = log.size() - 1;
    for (options, names) in [
        (anchored(&log.checkpoint()), &[][..]),
        (
            anchored(&log.checkpoint_at(older)),
            &["anchor_not_comparable"],
        ),
        (with_receipt(&log.receipt_at(seqs[3], older)), &[]),
        (with_receipt(&log.receipt(1)), &["receipt_not_in_bundle"]),
    ] {
        let report = check(&bundle, &policy, options);
        let verdict = if names.is_empty() {
            Verdict::Clean
        } else {
            Verdict::Inconclusive
        };
        assert_only(&report, verdict, names);
    }
}

#[test]
fn a_receipt_for_another_record_at_its_place_refutes() {
    let (log, room, _) = eventful();
    let mut other = Log::open(1);
    let twin = other.open_room("first");
    assert_eq!(twin, room);
    for i in 0..30 {
        other.post(room, "eve", &format!("other {i}"));
    }
    let seq = log.room_seqs(room)[3];
    let receipt = with_receipt(&other.receipt_at(seq, 10));
    let report = check(&log.bundle(), &of_key(&log), receipt);
    assert_only(&report, Verdict::Refuted, &["receipt_mismatch", "fork"]);
    assert!(report.findings.iter().any(|f| f.covers(seq)));
    let receipt = with_receipt(&other.receipt_at(seq, 10));
    let report = check(&log.room_bundle(room), &of_key(&log), receipt);
    assert_only(&report, Verdict::Refuted, &["receipt_mismatch"]);
}

#[test]
fn a_receipt_that_does_not_hold_by_itself_says_nothing_about_a_log() {
    let (log, room, _) = eventful();
    let seq = log.room_seqs(room)[3];
    let good = log.proof_at(seq, log.size());
    let mut changed = Vec::new();
    for (key, text) in [("entry", &b"{}"[..]), ("entry", b"\xff"), ("entry", b"")] {
        let mut bent = good.clone();
        bent.extra = Some(text.to_vec());
        changed.push((key, bent));
    }
    let mut bent = good.clone();
    let envelope = String::from_utf8(bent.extra.unwrap()).unwrap();
    bent.extra = Some(
        envelope
            .replace("\"actor\":\"", "\"actor\":\"x")
            .into_bytes(),
    );
    changed.push(("actor", bent));
    let mut bent = good.clone();
    bent.index += 1;
    changed.push(("index", bent));
    let mut bent = good.clone();
    bent.path[0] = minutebook_eventlog::format::hash::Hash::ZERO;
    changed.push(("hash", bent));
    let mut bent = good.clone();
    bent.path.pop();
    changed.push(("path", bent));
    for (what, mut bent) in changed {
        let refused = OutsideReceipt::parse("mine", bent.to_text().as_bytes());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("it was changed"), "{what}: {error}");
        if what == "entry" || what == "actor" {
            continue;
        }
        // One that holds no record could be of another log as well as broken.
        bent.extra = None;
        for bundle in [log.bundle(), log.room_bundle(room)] {
            let report = check(&bundle, &of_key(&log), with_receipt(&bent.to_text()));
            assert_eq!(report.verdict, Verdict::Inconclusive, "{what}");
            assert_eq!(
                report.counts.receipts,
                clean_receipts(&bundle, &log),
                "{what}"
            );
            let at_fault = report.findings.iter().map(|one| one.name.name());
            if at_fault.eq(["receipt_unusable"]) {
                assert_eq!(report.anchors[0].result, "unusable", "{what}");
            } else {
                // The next record of the log, which is of another room.
                assert_only(&report, Verdict::Inconclusive, &["receipt_not_in_bundle"]);
                assert_eq!((what, bundle), ("index", log.room_bundle(room)));
            }
        }
    }
}

/// How many receipts a bundle has by itself.
fn clean_receipts(bundle: &[u8], log: &Log) -> u64 {
    let report = check(bundle, &of_key(log), Options::default());
    report.counts.receipts
}

#[test]
fn a_receipt_that_the_logs_key_did_not_sign_says_nothing_about_a_log() {
    let (log, room, _) = eventful();
    let mut other = Log::open(1);
    other.open_room("first");
    for i in 0..30 {
        other.post(room, "eve", &format!("other {i}"));
    }
    let seq = log.room_seqs(room)[3];
    let proof = other.proof_at(seq, 10);
    let head = minutebook_eventlog::format::checkpoint::Checkpoint::peek(&proof.checkpoint);
    let checkpoint = head.unwrap().sign(&signing_key(9));
    let forged = minutebook_eventlog::format::proof::TlogProof {
        checkpoint,
        ..proof
    };
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, &of_key(&log), with_receipt(&forged.to_text()));
        assert_only(&report, Verdict::Inconclusive, &["anchor_unusable"]);
        assert_eq!(report.counts.receipts, clean_receipts(&bundle, &log));
    }
}

#[test]
fn checkpoints_count_only_with_the_key_of_their_epoch_and_around_a_rotation() {
    let (log, ..) = eventful();
    let policy = of_key(&log);
    let rotation = 16;
    let bundle = String::from_utf8(log.bundle()).unwrap();
    let note = |text: &str| {
        let mut line = Vec::new();
        write_checkpoint_line(text, &mut line).unwrap();
        String::from_utf8(line).unwrap()
    };
    let at = |size| note(&log.checkpoint_at(size));
    let resigned = |size: u64, seed: u8| {
        let text = log.checkpoint_at(size);
        let head = minutebook_eventlog::format::checkpoint::Checkpoint::peek(&text).unwrap();
        note(&head.sign(&signing_key(seed)))
    };
    for (from, to, name) in [
        (at(log.size()), resigned(log.size(), 1), "key_retired"),
        (at(rotation - 1), resigned(rotation - 1, 2), "key_unknown"),
        (at(log.size()), resigned(log.size(), 9), "key_unknown"),
    ] {
        let changed = bundle.replace(&from, &to);
        assert!(changed != bundle, "{name}");
        let report = check(changed.as_bytes(), &policy, Options::default());
        assert_only(&report, Verdict::Refuted, &[name]);
    }
    for size in [rotation - 1, rotation] {
        let without = bundle.replace(&at(size), "");
        let report = check(without.as_bytes(), &policy, Options::default());
        assert_only(
            &report,
            Verdict::Refuted,
            &["checkpoint_missing", "manifest_mismatch"],
        );
        assert_eq!(report.first_bad_seq, Some(rotation));
    }
}

#[test]
fn an_anchor_counts_only_with_the_key_in_force_at_its_size() {
    let (log, room, _) = eventful();
    let (rotation, size) = (16, log.size());
    for bundle in [log.bundle(), log.room_bundle(room)] {
        for (at, seed) in [(rotation, 1), (size, 1), (size + 5, 1), (rotation - 1, 2)] {
            let anchor = anchored(&Log::forged(at, 0xaa, seed));
            let report = check(&bundle, &of_key(&log), anchor);
            assert_only(&report, Verdict::Inconclusive, &["anchor_unusable"]);
        }
        let anchor = anchored(&Log::forged(size, 0xaa, 2));
        let report = check(&bundle, &of_key(&log), anchor);
        assert_only(&report, Verdict::Refuted, &["fork"]);
        let anchor = anchored(&Log::forged(size + 5, 0xaa, 2));
        let report = check(&bundle, &of_key(&log), anchor);
        assert_only(&report, Verdict::Refuted, &["truncated_below_anchor"]);
    }
}

#[test]
fn beyond_the_end_a_trusted_key_that_began_later_counts() {
    let (mut log, room, _) = eventful();
    let old = log.bundle();
    log.rotate(3);
    log.post(room, "ann", "signed with the third key");
    let policy = format!(
        "log {}\nlog {}\nquorum none\n",
        log.vkey(),
        log.keys[2].vkey()
    );
    let policy = Policy::parse(policy.as_bytes()).unwrap();
    let report = check(&old, &policy, anchored(&log.checkpoint()));
    assert_only(&report, Verdict::Refuted, &["truncated_below_anchor"]);
    let report = check(&old, &of_key(&log), anchored(&log.checkpoint()));
    assert_only(&report, Verdict::Inconclusive, &["anchor_unusable"]);
}

#[test]
fn neighbours_in_a_room_that_are_neighbours_in_the_log_are_chained() {
    let mut log = Log::open(1);
    let room = log.open_room("one");
    log.post(room, "ann", "first");
    log.break_link();
    let bad = log.post(room, "ann", "second");
    log.post(room, "ann", "third");
    let report = check(&log.room_bundle(room), &of_key(&log), Options::default());
    assert_only(&report, Verdict::Refuted, &["prev_mismatch"]);
    assert_eq!(report.first_bad_seq, Some(bad));
}
