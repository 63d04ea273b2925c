//! Receipts: the published proof file, and everything that is not one.

use super::*;
use crate::format::{key::SigningKey, tree::Frontier};
use proptest::prelude::*;

const GOLDEN: &str = include_str!("../../vectors/c2sp/leaf-5-of-8.tlog-proof");
const ORIGIN: &str = "log.example/room-1";
const ENTRY: &[u8] = b"\x40\x41\x42\x43";

fn keys() -> (VerifyingKey, VerifyingKey) {
    let log = include_str!("../../vectors/c2sp/log.vkey").trim_end();
    let witness = include_str!("../../vectors/c2sp/witness.vkey").trim_end();
    (
        VerifyingKey::parse(log).unwrap(),
        VerifyingKey::parse(witness).unwrap(),
    )
}

fn policy(quorum: &str) -> Policy {
    let (log, witness) = keys();
    let text = format!("log {log}\nwitness w {witness}\nquorum {quorum}\n");
    Policy::parse(text.as_bytes()).unwrap()
}

#[test]
fn the_published_proof_reads_writes_and_verifies() {
    let proof = TlogProof::parse(GOLDEN).unwrap();
    assert_eq!(proof.to_text(), GOLDEN);
    assert_eq!((proof.index, proof.path.len()), (5, 3));
    let (log, witness) = keys();
    let leaf = leaf_hash(ENTRY);
    let opened = proof.verify(&leaf, ORIGIN, &[&log, &witness]).unwrap();
    assert_eq!(opened.checkpoint.size, 8);
    let times: Vec<_> = opened.signers.iter().map(|signer| signer.time).collect();
    assert_eq!(times, [None, Some(1_764_547_200)]);
    assert!(proof.verify_under(&leaf, &policy("w")).is_ok());
}

#[test]
fn a_receipt_verifies_for_its_entry_log_and_quorum_only() {
    let proof = TlogProof::parse(GOLDEN).unwrap();
    let (log, witness) = keys();
    let leaf = leaf_hash(ENTRY);
    let other = leaf_hash(b"other");
    let refused = proof.verify(&other, ORIGIN, &[&log]).map(|_| ());
    assert_eq!(refused, Err(ProofError::Inclusion(TreeError::Root)));
    assert!(proof.verify(&leaf, "log.example/room-2", &[&log]).is_err());
    assert!(proof.verify(&leaf, ORIGIN, &[&witness]).is_err());
    let moved = TlogProof {
        index: 4,
        ..proof.clone()
    };
    assert!(moved.verify(&leaf, ORIGIN, &[&log]).is_err());
    let last_line = GOLDEN.trim_end().rfind('\n').unwrap();
    let uncosigned = TlogProof::parse(&GOLDEN[..=last_line]).unwrap();
    assert!(uncosigned.verify_under(&leaf, &policy("none")).is_ok());
    let refused = uncosigned.verify_under(&leaf, &policy("w")).map(|_| ());
    assert_eq!(refused, Err(ProofError::Quorum));
}

#[test]
fn an_entry_may_travel_in_extra_and_only_the_proof_vouches_for_it() {
    let proof = TlogProof::parse(GOLDEN).unwrap();
    assert_eq!(proof.entry_leaf(), Err(ProofError::NoEntry));
    let carrying = TlogProof {
        extra: Some(ENTRY.to_vec()),
        ..proof
    };
    let text = carrying.to_text();
    assert!(text.starts_with("c2sp.org/tlog-proof@v1\nextra QEFCQw==\nindex 5\n"));
    let read = TlogProof::parse(&text).unwrap();
    assert_eq!(read, carrying);
    let (log, _) = keys();
    assert!(
        read.verify(&read.entry_leaf().unwrap(), ORIGIN, &[&log])
            .is_ok()
    );
    let forged = TlogProof {
        extra: Some(b"forged".to_vec()),
        ..read
    };
    assert!(
        forged
            .verify(&forged.entry_leaf().unwrap(), ORIGIN, &[&log])
            .is_err()
    );
}

#[test]
fn a_tree_of_one_leaf_has_a_proof_without_hashes() {
    let key = SigningKey::from_seed("one", [1; 32]).unwrap();
    let mut frontier = Frontier::new();
    frontier.push(leaf_hash(ENTRY));
    let checkpoint = Checkpoint {
        origin: "one".into(),
        size: 1,
        root: frontier.root(),
    };
    let checkpoint = checkpoint.sign(&key);
    let proof = TlogProof {
        extra: None,
        index: 0,
        path: vec![],
        checkpoint,
    };
    let read = TlogProof::parse(&proof.to_text()).unwrap();
    assert_eq!(read, proof);
    assert!(
        read.verify(&leaf_hash(ENTRY), "one", &[key.verifying_key()])
            .is_ok()
    );
}

#[test]
fn what_is_not_a_proof_file_is_refused() {
    for (from, to) in [
        ("@v1", "@v2"),
        ("@v1\n", "@v1\r\n"),
        ("index 5", "index 05"),
        ("index 5", "index -5"),
        ("index 5", "Index 5"),
        ("index 5\n", ""),
        ("index 5\n", "index 5\nindex 5\n"),
        ("index 5\n", "extra AA=\nindex 5\n"),
        ("index 5\n", "extra\nindex 5\n"),
        ("index 5\n", "extra AA==\nextra AA==\nindex 5\n"),
        ("index 5\n", "index 5\n\n"),
        ("nms=\n", "nms\n"),
        ("nms=\n", "nmt=\n"),
        ("nms=\n", "nms= \n"),
        ("nms=\n", "AAAA\n"),
        ("\n8\n", "\n08\n"),
        ("\u{2014} log", "- log"),
    ] {
        assert!(GOLDEN.contains(from), "{from}");
        let bad = GOLDEN.replacen(from, to, 1);
        assert!(TlogProof::parse(&bad).is_err(), "{bad}");
    }
    let proof = TlogProof::parse(GOLDEN).unwrap();
    let long = TlogProof {
        path: vec![Hash::ZERO; PROOF_HASHES_MAX + 1],
        ..proof.clone()
    };
    assert!(TlogProof::parse(&long.to_text()).is_err());
    let heavy = TlogProof {
        extra: Some(vec![0; PROOF_EXTRA_BYTES_MAX + 1]),
        ..proof
    };
    assert!(TlogProof::parse(&heavy.to_text()).is_err());
    assert!(TlogProof::parse(&"x".repeat(PROOF_BYTES_MAX + 1)).is_err());
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(at: prop::sample::Index, byte in 0u8..0x80) {
        let mut bytes = GOLDEN.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8(bytes.clone()).unwrap_or_default();
        if let Ok(proof) = TlogProof::parse(&text) {
            prop_assert_eq!(proof.to_text().into_bytes(), bytes);
        }
    }

    #[test]
    fn no_text_makes_it_panic(
        text in "(c2sp.org/tlog-proof@v1|index 1|extra AA==|\n|AAAA|x){0,12}",
    ) {
        let _ = TlogProof::parse(&text);
    }
}
