//! Any change of a bundle is found, and at the record it was made to.

use minutebook_eventlog::format::{
    bundle::{Line, parse_line},
    envelope::Envelope,
};
use minutebook_verifier::{
    Anchor, Finding, Options, OutsideReceipt, Policy, Report, Saved, Verdict, VerifyError,
    render::render, verify,
};
use proptest::prelude::*;

use crate::support::{Log, eventful};

/// A small log and its bundles: of the whole log, and of a room.
struct Subject {
    policy: Policy,
    bundles: [Vec<u8>; 2],
}

fn subject() -> Subject {
    let mut log = Log::open(1);
    log.cadence = 4;
    let (a, b) = (log.open_room("one"), log.open_room("two"));
    log.post(a, "ann", "hi\n\"there\"");
    log.post_signed(a, "bob", "signed", 7);
    log.post(b, "eve", "elsewhere");
    log.rotate(2);
    log.erase_bodies(a, 2, 2);
    log.post(a, "ann", "ü");
    log.close(a);
    Subject {
        policy: Policy::of_key(&log.vkey()).unwrap(),
        bundles: [log.bundle(), log.room_bundle(a)],
    }
}

impl Subject {
    fn verify(&self, bundle: &[u8]) -> Result<Report, VerifyError> {
        verify(bundle, &self.policy, Options::default()).map(|outcome| outcome.report)
    }
}

/// Number of the record in this line.
fn seq_of(line: &[u8]) -> Option<u64> {
    let Ok(Line::Record(record)) = parse_line(line) else {
        return None;
    };
    Envelope::parse(&record.envelope)
        .ok()
        .map(|envelope| envelope.seq)
}

fn lines(bundle: &[u8]) -> Vec<&[u8]> {
    bundle.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The record at this offset of the bundle; none in other lines.
fn record_at(bundle: &[u8], offset: usize) -> Option<u64> {
    let mut start = 0;
    for line in lines(bundle) {
        if offset < start + line.len() {
            return seq_of(&line[..line.len() - 1]);
        }
        start += line.len();
    }
    None
}

fn refutes(finding: &Finding) -> bool {
    finding.name.verdict() == Verdict::Refuted
}

/// The change was found; at this record, if it was made to one.
fn assert_found(outcome: Result<Report, VerifyError>, seq: Option<u64>, what: &str) {
    match outcome {
        Err(VerifyError::NotABundle(_)) => assert_eq!(seq, None, "{what}"),
        Err(error) => panic!("{what}: {error}"),
        Ok(report) => {
            assert_eq!(
                report.verdict,
                Verdict::Refuted,
                "{what}: {}",
                render(&report)
            );
            if let Some(seq) = seq {
                let placed = report
                    .findings
                    .iter()
                    .filter(|f| refutes(f))
                    .any(|f| f.covers(seq));
                assert!(
                    placed,
                    "{what}: nothing at record {seq}: {}",
                    render(&report)
                );
            }
        }
    }
}

fn change_byte(subject: &Subject, kind: usize, offset: usize, xor: u8) {
    let bundle = &subject.bundles[kind];
    let mut changed = bundle.clone();
    changed[offset] ^= xor;
    let seq = record_at(bundle, offset);
    let what = format!("bundle {kind}, byte {offset} ^ {xor:#x}");
    assert_found(subject.verify(&changed), seq, &what);
}

#[test]
fn every_line_of_a_bundle_is_guarded_byte_by_byte() {
    let subject = subject();
    for kind in 0..2 {
        // A stride that shares no factor with the lines' lengths reaches every part of a line.
        for offset in (0..subject.bundles[kind].len()).step_by(11) {
            change_byte(&subject, kind, offset, 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_changed_byte_is_found(kind in 0..2usize, at in 0.0..1.0f64, xor in 1..=255u8) {
        let subject = subject();
        let len = subject.bundles[kind].len();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "an offset"
        )]
        let offset = (at * len as f64) as usize;
        change_byte(&subject, kind, offset.min(len - 1), xor);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let subject = subject();
        let _ = subject.verify(&bytes);
        let _ = Anchor::parse("x", &bytes);
        let _ = OutsideReceipt::parse("x", &bytes);
        let _ = Policy::parse(&bytes);
        let _ = Saved::read(&*bytes);
        // After a sound manifest, nothing is unreadable any more: it is wrong.
        let mut bundle = lines(&subject.bundles[0])[0].to_vec();
        bundle.extend_from_slice(&bytes);
        let report = subject.verify(&bundle).unwrap();
        prop_assert_eq!(report.verdict, Verdict::Refuted);
    }
}

#[test]
fn any_line_removed_doubled_or_swapped_is_found() {
    let subject = subject();
    for (kind, bundle) in subject.bundles.iter().enumerate() {
        let lines = lines(bundle);
        for (i, line) in lines.iter().enumerate() {
            let seq = seq_of(&line[..line.len() - 1]);
            let without = [&lines[..i], &lines[i + 1..]].concat().concat();
            assert_found(
                subject.verify(&without),
                seq,
                &format!("{kind}: without line {i}"),
            );
            let twice = [&lines[..=i], &lines[i..]].concat().concat();
            assert_found(
                subject.verify(&twice),
                seq,
                &format!("{kind}: line {i} twice"),
            );
            for j in i + 1..lines.len() {
                let mut swapped = lines.clone();
                swapped.swap(i, j);
                let what = format!("{kind}: lines {i} and {j} swapped");
                assert_found(subject.verify(&swapped.concat()), None, &what);
            }
        }
    }
}

#[test]
fn a_bundle_cut_anywhere_is_never_clean() {
    let subject = subject();
    for bundle in &subject.bundles {
        let manifest = lines(bundle)[0].len();
        for end in (0..bundle.len())
            .step_by(13)
            .chain([1, manifest - 1, manifest])
        {
            let what = format!("cut at {end}");
            match (end, subject.verify(&bundle[..end])) {
                (0, Ok(report)) => {
                    assert_eq!(report.verdict, Verdict::Inconclusive, "{what}");
                    assert_eq!(report.counts.events, 0);
                }
                (_, Err(VerifyError::NotABundle(_))) => assert!(end < manifest, "{what}"),
                (_, Ok(report)) => assert_eq!(report.verdict, Verdict::Refuted, "{what}"),
                (_, Err(error)) => panic!("{what}: {error}"),
            }
        }
    }
}

#[test]
fn several_independent_changes_are_all_named() {
    let (log, ..) = eventful();
    let subject = Subject {
        policy: Policy::of_key(&log.vkey()).unwrap(),
        bundles: [log.bundle(), Vec::new()],
    };
    let mut lines: Vec<Vec<u8>> = lines(&subject.bundles[0])
        .iter()
        .map(|l| l.to_vec())
        .collect();
    let mut changed = Vec::new();
    let is_record = |line: &Vec<u8>| seq_of(&line[..line.len() - 1]).is_some();
    let records: Vec<_> = (0..lines.len()).filter(|i| is_record(&lines[*i])).collect();
    for i in [records[4], records[9], records[20]] {
        changed.push(seq_of(&lines[i][..lines[i].len() - 1]).unwrap());
        let text = String::from_utf8(lines[i].clone()).unwrap();
        lines[i] = text
            .replace("\\\"actor\\\":\\\"", "\\\"actor\\\":\\\"x")
            .into_bytes();
    }
    let report = subject.verify(&lines.concat()).unwrap();
    for seq in &changed {
        let placed = report
            .findings
            .iter()
            .filter(|f| refutes(f))
            .any(|f| f.seq == Some(*seq));
        assert!(placed, "record {seq}: {}", render(&report));
    }
    assert_eq!(report.first_bad_seq, changed.first().copied());
}

#[test]
fn hostile_lines_are_refuted_in_their_place() {
    let subject = subject();
    let lines = lines(&subject.bundles[0]);
    let long = vec![b'x'; 3 << 20];
    let deep = b"[".repeat(100_000);
    for (name, line) in [
        ("line_too_long", &long[..]),
        ("line_unreadable", &deep),
        ("line_unreadable", b"{\"envelope\":\"\xc3"),
        ("line_unreadable", b""),
        ("line_unreadable", b"{\"envelope\":\"{}\"}\r"),
        ("envelope_malformed", b"{\"envelope\":\"{}\"}"),
        ("line_unreadable", b"{\"salt\":\"\",\"envelope\":\"\"}"),
        ("line_misplaced", b"{\"receipt\":\"\"}"),
        ("checkpoint_malformed", b"{\"checkpoint\":\"\"}"),
    ] {
        let bundle = [lines[0], lines[1], line, b"\n", &lines[2..].concat()].concat();
        let report = subject.verify(&bundle).unwrap();
        assert_eq!(report.verdict, Verdict::Refuted);
        let found = report.findings.iter().find(|f| f.line == Some(3)).unwrap();
        assert_eq!(found.name.name(), name, "{}", render(&report));
        // Lines that can be read are counted, too.
        let others = report
            .findings
            .iter()
            .filter(|f| f.line != Some(3) && f.line != Some(1));
        assert_eq!(others.count(), 0, "{name}: {}", render(&report));
    }
}

#[test]
fn control_characters_of_a_bundle_do_not_reach_the_terminal() {
    let subject = subject();
    let manifest = "{\"manifest\":{\"format\":\"minutebook-bundle/1\",\"kind\":\"log\",\"origin\":\
                    \"\\u001b[2Jevil\u{202e}\",\"first\":1,\"last\":0,\"records\":0,\
                    \"checkpoints\":0}}\n";
    let report = subject.verify(manifest.as_bytes()).unwrap();
    assert_eq!(report.verdict, Verdict::Refuted);
    let text = render(&report);
    assert!(text.contains("\\u{1b}[2Jevil\\u{202e}"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
}
