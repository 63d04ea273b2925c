//! Two views of one log are consistent, or prove a fork to anybody.

use minutebook_verifier::{
    Policy,
    compare::{Comparison, ForkProof, View, compare},
    tamper::{Means, tamper},
};

use crate::support::{Log, eventful, signing_key};

fn view(bytes: &[u8]) -> View {
    View::read("view", bytes).unwrap()
}

fn policy(log: &Log) -> Policy {
    Policy::of_key(&log.vkey()).unwrap()
}

/// Another history with the same keys and size.
fn forked(log: &Log) -> Vec<u8> {
    let means = Means {
        seq: None,
        seed: Some([2; 32]),
    };
    tamper("fork", &log.bundle(), &means).unwrap().bytes
}

fn proof(a: View, b: View, log: &Log) -> ForkProof {
    match compare(a, b, &policy(log)).unwrap() {
        Comparison::Fork(proof) => *proof,
        other @ (Comparison::Consistent { .. } | Comparison::Unknown { .. }) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn views_of_one_history_are_consistent() {
    let (log, room, _) = eventful();
    let size = log.size();
    for (a, b, sizes) in [
        (log.bundle(), log.bundle(), (size, size)),
        (log.checkpoint_at(7).into_bytes(), log.bundle(), (7, size)),
        (log.bundle(), log.receipt_at(3, 9).into_bytes(), (9, size)),
        (log.room_bundle(room), log.bundle(), (size, size)),
    ] {
        let found = compare(view(&a), view(&b), &policy(&log)).unwrap();
        assert!(
            matches!(found, Comparison::Consistent { sizes: s } if s == sizes),
            "{found:?}"
        );
    }
    let (a, b) = (log.checkpoint_at(3), log.checkpoint_at(9));
    let found = compare(view(a.as_bytes()), view(b.as_bytes()), &policy(&log)).unwrap();
    assert!(
        matches!(found, Comparison::Unknown { sizes: (3, 9) }),
        "{found:?}"
    );
}

#[test]
fn a_fork_of_any_two_sizes_gives_a_proof_that_checks_and_cannot_be_bent() {
    let (log, ..) = eventful();
    let other = forked(&log);
    let same_size = proof(view(&log.bundle()), view(&other), &log);
    let mut longer = log;
    for i in 0..7 {
        longer.rotate(10 + i);
        let proof = proof(view(&longer.bundle()), view(&other), &longer);
        let text = proof.to_text();
        let read = ForkProof::parse(text.as_bytes()).unwrap();
        assert_eq!(read, proof);
        read.check(&policy(&longer)).unwrap();
        let stranger = Policy::of_key(&signing_key(99).vkey()).unwrap();
        assert!(read.check(&stranger).is_err());
        for key in ["first", "second", "root_at_first", "consistency", "epochs"] {
            let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
            value.as_object_mut().unwrap().remove(key);
            let bent = ForkProof::parse(value.to_string().as_bytes());
            assert!(
                bent.is_err() || bent.unwrap().check(&policy(&longer)).is_err(),
                "{key}"
            );
        }
    }
    same_size.check(&policy(&longer)).unwrap();
}

#[test]
fn a_proof_says_in_words_what_it_proves_and_nothing_else() {
    let (log, ..) = eventful();
    let fork = proof(view(&log.bundle()), view(&forked(&log)), &log);
    fork.check(&policy(&log)).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&fork.to_text()).unwrap();
    for why in ["", "the operator confessed"] {
        value["why"] = why.into();
        let bent = ForkProof::parse(value.to_string().as_bytes()).unwrap();
        assert!(bent.check(&policy(&log)).is_err(), "{why:?}");
    }
}

#[test]
fn an_honest_log_cannot_be_accused() {
    let (log, ..) = eventful();
    let fork = proof(view(&log.bundle()), view(&forked(&log)), &log);
    let mut value: serde_json::Value = serde_json::from_str(&fork.to_text()).unwrap();
    value["second"] = value["first"].clone();
    let accusation = ForkProof::parse(value.to_string().as_bytes()).unwrap();
    assert!(accusation.check(&policy(&log)).is_err());
    value["first"] = log.checkpoint_at(20).into();
    let accusation = ForkProof::parse(value.to_string().as_bytes()).unwrap();
    assert!(accusation.check(&policy(&log)).is_err());
}

#[test]
fn views_that_nobody_trusted_signed_are_refused() {
    let (log, ..) = eventful();
    let bundle = tamper("key-swap", &log.bundle(), &Means::default())
        .unwrap()
        .bytes;
    assert!(compare(view(&log.bundle()), view(&bundle), &policy(&log)).is_err());
    assert!(View::read("x", &b"no view"[..]).is_err());
    assert!(View::read("x", &b""[..]).is_err());
}

#[test]
fn a_retired_key_proves_no_fork() {
    let (log, ..) = eventful();
    let policy = policy(&log);
    let retired = Log::forged(20, 0xaa, 1);
    assert!(compare(view(retired.as_bytes()), view(&log.bundle()), &policy).is_err());
    let in_force = Log::forged(20, 0xaa, 2);
    let fork = proof(view(in_force.as_bytes()), view(&log.bundle()), &log);
    fork.check(&policy).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&fork.to_text()).unwrap();
    let checks = |value: &serde_json::Value| {
        let bent = ForkProof::parse(value.to_string().as_bytes()).unwrap();
        bent.check(&policy).is_ok()
    };
    assert!(checks(&value));
    value["first"] = retired.into();
    assert!(!checks(&value), "signed by the key of epoch 1");
    value["first"] = in_force.into();
    value["epochs"][0]["since"] = 21.into();
    assert!(!checks(&value), "signed by a key before its epoch");
}

#[test]
fn histories_with_other_key_epochs_prove_a_fork() {
    let mut one = Log::open(1);
    let room = one.open_room("one");
    one.post(room, "ann", "x");
    one.rotate(2);
    one.post(room, "ann", "y");
    let mut other = Log::open(1);
    let room = other.open_room("one");
    for text in ["a", "b", "c", "d"] {
        other.post(room, "ann", text);
        let fork = proof(view(&one.bundle()), view(&other.bundle()), &one);
        let read = ForkProof::parse(fork.to_text().as_bytes()).unwrap();
        assert_eq!(read, fork);
        read.check(&policy(&one)).unwrap();
    }
}
