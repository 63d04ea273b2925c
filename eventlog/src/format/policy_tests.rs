//! The C2SP tlog-policy rules, one by one.

use super::*;
use crate::format::{cosignature::cosign, hash::Hash, key::SigningKey};
use proptest::prelude::*;

const ORIGIN: &str = "log.example";

fn log(seed: u8) -> SigningKey {
    SigningKey::from_seed(ORIGIN, [seed; 32]).unwrap()
}

fn witness(seed: u8) -> SigningKey {
    SigningKey::witness_from_seed(&format!("w{seed}.example"), [seed; 32]).unwrap()
}

/// Replaces `L1` and `W1` … by vkeys.
fn policy(text: &str) -> Result<Policy, PolicyError> {
    let mut text = text.to_owned();
    for seed in 1..=6 {
        text = text.replace(&format!("L{seed}"), &log(seed).vkey());
        text = text.replace(&format!("W{seed}"), &witness(seed + 10).vkey());
    }
    Policy::parse(text.as_bytes())
}

fn note(witnesses: &[u8]) -> String {
    let checkpoint = Checkpoint {
        origin: ORIGIN.into(),
        size: 1,
        root: Hash::ZERO,
    };
    witnesses
        .iter()
        .fold(checkpoint.sign(&log(1)), |note, seed| {
            cosign(&note, 7, &witness(seed + 10)).unwrap()
        })
}

fn check_quorum(text: &str, witnesses: &[u8], met: bool) {
    let policy = policy(text).unwrap();
    let note = note(witnesses);
    let opened = policy.open(&note).unwrap();
    assert_eq!(
        policy.quorum_met(&opened.signers),
        met,
        "{witnesses:?} under {text}"
    );
}

const NESTED: &str = "# two organisations\nlog L1 https://log.example/\n\n\
    witness a W1\nwitness b W2 https://w.example/\n\twitness \t c W3 \ngroup X 2 a b c\n\
    witness d W4\nwitness e W5\ngroup Y any d e\n  # both\ngroup both all X Y\nquorum both\n";

#[test]
fn nested_groups_count_each_witness_once() {
    for (witnesses, met) in [
        (&[1, 2, 4][..], true),
        (&[2, 3, 5], true),
        (&[1, 2, 3, 4, 5], true),
        (&[1, 2, 3], false),
        (&[1, 4, 5], false),
        (&[1, 1, 4], false),
        (&[], false),
    ] {
        check_quorum(NESTED, witnesses, met);
    }
}

#[test]
fn a_quorum_may_be_one_witness_or_none() {
    check_quorum("log L1\nwitness a W1\nquorum a\n", &[1], true);
    check_quorum("log L1\nwitness a W1\nquorum a\n", &[2], false);
    check_quorum("log L1\nquorum none", &[], true);
    let lone = Policy::of_log(log(1).verifying_key().clone());
    assert!(lone.open(&note(&[])).is_ok());
    assert!(!lone.needs_witnesses());
}

#[test]
fn only_a_listed_log_is_believed_unless_its_key_was_rotated() {
    let policy = policy("log L2\nwitness a W1\nquorum a\n").unwrap();
    assert!(policy.open(&note(&[1])).is_err());
    let rotated = log(1);
    let note = note(&[1]);
    let opened = policy
        .open_as(&note, ORIGIN, &[rotated.verifying_key()])
        .unwrap();
    assert!(policy.quorum_met(&opened.signers));
}

fn check_refused(text: &str, line: usize, problem: Problem) {
    assert_eq!(
        policy(text).err(),
        Some(PolicyError { line, problem }),
        "{text}"
    );
}

#[test]
fn a_name_is_defined_once_and_before_it_is_used() {
    for (text, line, problem) in [
        ("quorum a\nwitness a W1\n", 1, Problem::UnknownName),
        (
            "group g any a\nwitness a W1\nquorum g\n",
            1,
            Problem::UnknownName,
        ),
        (
            "witness a W1\ngroup g any g\nquorum g\n",
            2,
            Problem::UnknownName,
        ),
        (
            "witness a W1\ngroup g any none\nquorum g\n",
            2,
            Problem::UnknownName,
        ),
        ("witness none W1\nquorum none\n", 1, Problem::DuplicateName),
        (
            "witness a W1\nwitness a W2\nquorum a\n",
            2,
            Problem::DuplicateName,
        ),
        (
            "witness a W1\ngroup a any a\nquorum a\n",
            2,
            Problem::DuplicateName,
        ),
        (
            "witness a W1\ngroup g any a a\nquorum g\n",
            2,
            Problem::SecondMembership,
        ),
        (
            "witness a W1\ngroup g any a\ngroup h any a g\nquorum h\n",
            3,
            Problem::SecondMembership,
        ),
    ] {
        check_refused(text, line, problem);
    }
}

#[test]
fn a_key_stands_for_one_log_or_witness_of_its_type() {
    for (text, line, problem) in [
        (
            "witness a W1\nwitness b W1\nquorum a\n",
            2,
            Problem::DuplicateKey,
        ),
        ("log L1\nlog L1\nquorum none\n", 2, Problem::DuplicateKey),
        ("log W1\nquorum none\n", 1, Problem::WrongType),
        ("witness a L1\nquorum none\n", 1, Problem::WrongType),
        ("log x\nquorum none\n", 1, Problem::Key(KeyError::Form)),
    ] {
        check_refused(text, line, problem);
    }
}

#[test]
fn a_threshold_lies_between_one_and_all() {
    for threshold in ["2 a", "0 a", "-1 a", "+1 a", "most a", "any", "all"] {
        let text = format!("witness a W1\ngroup g {threshold}\nquorum g\n");
        check_refused(&text, 2, Problem::Threshold);
    }
}

#[test]
fn what_is_no_line_of_a_policy_is_refused() {
    const FORM: Problem = Problem::Form("a log, witness, group or quorum line");
    for (text, line, problem) in [
        ("log L1\n", 2, Problem::Quorum),
        ("", 1, Problem::Quorum),
        ("quorum none\nquorum none\n", 2, Problem::Quorum),
        ("quorum none\r\n", 1, Problem::Control),
        ("# \0\nquorum none\n", 1, Problem::Control),
        ("log\nquorum none\n", 1, FORM),
        ("log L1 u v\nquorum none\n", 1, FORM),
        ("group g\nquorum g\n", 1, FORM),
        ("Quorum none\n", 1, FORM),
    ] {
        check_refused(text, line, problem);
    }
}

#[test]
fn names_are_octets_and_thirty_two_of_each_kind_are_handled() {
    let lines = (0..32u8).map(|seed| {
        let log = SigningKey::from_seed(ORIGIN, [seed + 100; 32])
            .unwrap()
            .vkey();
        let witness = witness(seed + 50).vkey();
        let name = char::from(b'A' + seed);
        format!("log {log}\nwitness {name} {witness}\ngroup g{name} any {name}\n")
    });
    let text: String = lines.collect();
    assert!(Policy::parse(format!("{text}quorum gA\n").as_bytes()).is_ok());
    // A Kelvin sign is another name than K.
    let kelvin = format!(
        "witness K {}\nwitness \u{212a} {}\nquorum K\n",
        witness(1).vkey(),
        witness(2).vkey()
    );
    assert!(Policy::parse(kelvin.as_bytes()).is_ok());
    let raw = [
        b"witness \xff ",
        witness(1).vkey().as_bytes(),
        b"\nquorum \xff\n",
    ]
    .concat();
    assert!(Policy::parse(&raw).is_ok());
}

#[test]
fn size_and_number_are_capped() {
    let large = vec![b'#'; POLICY_BYTES_MAX + 1];
    assert_eq!(
        Policy::parse(&large).err().map(|e| e.problem),
        Some(Problem::TooLarge)
    );
    let mut many = String::new();
    for i in 0..=POLICY_NAMES_MAX {
        let key = SigningKey::from_seed(ORIGIN, [u8::try_from(i).unwrap(); 32]).unwrap();
        many.extend(["log ", &key.vkey(), "\n"]);
    }
    let error = Policy::parse(many.as_bytes()).err();
    assert_eq!(
        error,
        Some(PolicyError {
            line: POLICY_NAMES_MAX + 1,
            problem: Problem::TooMany
        })
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        text in "((log|witness|group|quorum|none|any|all|a|b|1|#| |\n|\t)){0,40}",
        bytes: Vec<u8>,
    ) {
        let _ = Policy::parse(text.as_bytes());
        let _ = Policy::parse(&bytes);
    }
}
