//! The files in `vectors/`. To write them for a new format version (never for an old one):
//! `MINUTEBOOK_WRITE_VECTORS=1 cargo test -p minutebook-eventlog --test format`.

use std::{fs, path::PathBuf};

use minutebook_eventlog::format::{
    bundle::{BundleReader, Line},
    checkpoint::Checkpoint,
    cosignature::cosign,
    envelope::Envelope,
    epoch::certificate_text,
    hash::{body_commitment, chain_hash, leaf_hash},
    note::{SigningKey, VerifyingKey},
    proof::TlogProof,
    tree::Frontier,
};

use crate::golden::{ERASED_SEQ, Golden, ORIGIN, key};

/// Where the vectors are.
pub(crate) fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// A vector's text.
pub(crate) fn read(name: &str) -> String {
    let path = directory().join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn check(name: &str, bytes: impl AsRef<[u8]>) {
    let (path, bytes) = (directory().join(name), bytes.as_ref());
    if std::env::var_os("MINUTEBOOK_WRITE_VECTORS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(text, read(name), "{name} changed");
}

#[test]
fn the_log_s_bytes_never_change() {
    let golden = Golden::build();
    let record = golden.record(4);
    let body = record.body.as_ref().unwrap();
    let line = |text: &str| format!("{text}\n");
    check("log/vkey-1", line(&key(1).vkey()));
    check("log/vkey-2", line(&key(2).vkey()));
    check("log/envelope-4.json", &record.envelope);
    check("log/body-4.json", &body.bytes);
    check("log/salt-4", line(&hex::encode(body.salt)));
    check(
        "log/commitment-4",
        line(&body_commitment(&body.salt, &body.bytes).to_string()),
    );
    check(
        "log/chain-hash-4",
        line(&chain_hash(&record.envelope).to_string()),
    );
    check(
        "log/leaf-hash-4",
        line(&leaf_hash(&record.envelope).to_string()),
    );
    check(
        "log/certificate-2",
        certificate_text(ORIGIN, 2, key(2).verifying_key()),
    );
    check("log/checkpoint-7", golden.checkpoint(7));
    check("log/receipt-4.tlog-proof", golden.receipt(4, true));
    check("log/log.ndjson", golden.log_bundle());
    check("log/room.ndjson", golden.room_bundle());
}

#[test]
fn the_published_checkpoint_comes_out_byte_for_byte() {
    let data = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
    ];
    let mut frontier = Frontier::new();
    for text in data.into_iter().chain(["606162636465666768696a6b6c6d6e6f"]) {
        let pairs = text
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap());
        let leaf: Vec<u8> = pairs
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect();
        frontier.push(leaf_hash(&leaf));
    }
    let origin = "log.example/room-1";
    let log = SigningKey::from_seed(origin, [1; 32]).unwrap();
    let witness = SigningKey::witness_from_seed("witness.example/w1", [2; 32]).unwrap();
    assert_eq!(log.vkey(), read("c2sp/log.vkey").trim_end());
    assert_eq!(witness.vkey(), read("c2sp/witness.vkey").trim_end());
    let checkpoint = Checkpoint {
        origin: origin.into(),
        size: 8,
        root: frontier.root(),
    };
    let note = cosign(&checkpoint.sign(&log), 1_764_547_200, &witness).unwrap();
    assert_eq!(note, read("c2sp/checkpoint-8"));
    let proof = TlogProof::parse(&read("c2sp/leaf-5-of-8.tlog-proof")).unwrap();
    assert_eq!(proof.checkpoint, note);
}

#[test]
fn the_log_bundle_reads_back_as_the_log() {
    let golden = Golden::build();
    let text = read("log/log.ndjson");
    let mut reader = BundleReader::open(text.as_bytes()).unwrap();
    let (mut records, mut sizes) = (Vec::new(), Vec::new());
    while let Some(line) = reader.next_line() {
        match line.unwrap().1 {
            Line::Record(record) => records.push(record.into_record()),
            Line::Checkpoint(note) => sizes.push(Checkpoint::peek(&note).unwrap().size),
            Line::Receipt(_) | Line::Manifest(_) => panic!("a log bundle has neither"),
        }
    }
    assert_eq!(records, golden.records);
    assert_eq!(sizes, [5, 6, 7]);
    let erased = golden.record(ERASED_SEQ);
    assert_eq!(erased.body, None);
    assert_eq!(Envelope::parse(&erased.envelope).unwrap().sseq, 4);
}

#[test]
fn the_receipt_verifies_with_the_envelope_it_carries_and_the_newest_key() {
    let proof = TlogProof::parse(&read("log/receipt-4.tlog-proof")).unwrap();
    let second = VerifyingKey::parse(read("log/vkey-2").trim_end()).unwrap();
    let leaf = proof.entry_leaf().unwrap();
    assert!(proof.verify(&leaf, ORIGIN, &[&second]).is_ok());
    let first = VerifyingKey::parse(read("log/vkey-1").trim_end()).unwrap();
    assert!(proof.verify(&leaf, ORIGIN, &[&first]).is_err());
    assert_eq!(
        proof.extra.as_deref(),
        Some(read("log/envelope-4.json").as_bytes())
    );
}
