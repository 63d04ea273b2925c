//! Bundles: complete, consistent, the same bytes however they are read.

use std::{collections::BTreeSet, sync::Arc};

use minutebook::offline::{OfflineError, export::Export};
use minutebook_eventlog::format::{
    bundle::{BundleReader, Line, parse_line},
    checkpoint::Checkpoint,
    envelope::Envelope,
    hash::leaf_hash,
    proof::TlogProof,
    tree::Frontier,
};

use crate::harness::{ORIGIN, TestLog, room_id, small};

fn read_all(mut export: Export) -> Result<Vec<u8>, OfflineError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = export.next_chunk()? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// (line kind, seq or size), in order.
fn outline(bytes: &[u8]) -> Vec<(&'static str, u64)> {
    let mut reader = BundleReader::open(bytes).unwrap();
    let mut outline = Vec::new();
    while let Some(line) = reader.next_line() {
        let (_, line) = line.unwrap();
        outline.push(match line {
            Line::Record(record) => {
                let name = if record.body.is_some() {
                    "record"
                } else {
                    "erased"
                };
                (name, Envelope::parse(&record.envelope).unwrap().seq)
            }
            Line::Checkpoint(note) => ("checkpoint", Checkpoint::peek(&note).unwrap().size),
            Line::Receipt(proof) => ("receipt", TlogProof::parse(&proof).unwrap().index + 1),
            Line::Manifest(manifest) => ("manifest", manifest.records),
        });
    }
    outline
}

#[test]
fn a_log_bundle_has_every_record_and_ends_with_the_newest_checkpoint() {
    let log = small();
    let bytes = read_all(Export::log(log.reader()).unwrap()).unwrap();
    let seen = outline(&bytes);
    let erased = [2, 5, 8];
    let mut expected: Vec<_> = (1..=10)
        .map(|seq| {
            (
                if erased.contains(&seq) {
                    "erased"
                } else {
                    "record"
                },
                seq,
            )
        })
        .collect();
    expected[1].0 = "record";
    expected[3].0 = "erased";
    expected.push(("checkpoint", 10));
    assert_eq!(seen, expected);
    let manifest = concat!(
        r#"{"manifest":{"format":"minutebook-bundle/1","kind":"log","#,
        r#""origin":"minutebook.test/log","first":1,"last":10,"records":10,"checkpoints":1}}"#,
    );
    assert!(bytes.starts_with(manifest.as_bytes()));
}

#[test]
fn checkpoints_stand_at_commit_ends_about_every_1024_records() {
    let mut log = TestLog::new();
    log.open_room(0, false, None);
    log.talk(1, 4500);
    let bytes = read_all(Export::log(log.reader()).unwrap()).unwrap();
    let sizes: Vec<_> = outline(&bytes)
        .into_iter()
        .filter(|(kind, _)| *kind == "checkpoint")
        .collect();
    let sizes: Vec<_> = sizes.into_iter().map(|(_, size)| size).collect();
    assert_eq!(sizes, [2002, 4002, 4502]);

    let mut tree = Frontier::new();
    let mut reader = BundleReader::open(bytes.as_slice()).unwrap();
    while let Some(line) = reader.next_line() {
        match line.unwrap().1 {
            Line::Record(record) => tree.push(leaf_hash(record.envelope.as_ref())),
            Line::Checkpoint(note) => {
                let checkpoint = Checkpoint::peek(&note).unwrap();
                assert_eq!(
                    (checkpoint.size, checkpoint.root),
                    (tree.size(), tree.root())
                );
            }
            Line::Receipt(_) | Line::Manifest(_) => panic!("not in a log bundle"),
        }
    }
}

#[test]
fn a_room_bundle_ties_the_room_to_one_checkpoint() {
    let mut log = small();
    log.talk(1, 1500);
    let bytes = read_all(Export::room(log.reader(), room_id(0)).unwrap()).unwrap();
    let seen = outline(&bytes);
    assert_eq!(seen[..2], [("record", 1), ("receipt", 1)]);
    assert_eq!(
        seen[2..7],
        [
            ("record", 2),
            ("erased", 5),
            ("record", 6),
            ("record", 9),
            ("record", 11)
        ]
    );
    assert_eq!(
        seen[seen.len() - 2..],
        [("receipt", 1510), ("checkpoint", 1510)]
    );

    let mut reader = BundleReader::open(bytes.as_slice()).unwrap();
    let manifest = reader.manifest().clone();
    assert_eq!(
        (manifest.first, manifest.last, manifest.records),
        (1, 1504, 1505)
    );
    assert_eq!(manifest.origin, ORIGIN);
    let mut leaf = None;
    let mut notes = BTreeSet::new();
    while let Some(line) = reader.next_line() {
        match line.unwrap().1 {
            Line::Record(record) => leaf = Some(leaf_hash(record.envelope.as_ref())),
            Line::Receipt(proof) => {
                let proof = TlogProof::parse(&proof).unwrap();
                let checkpoint = Checkpoint::peek(&proof.checkpoint).unwrap();
                proof.verify_in(&leaf.unwrap(), &checkpoint).unwrap();
                notes.insert(proof.checkpoint);
            }
            Line::Checkpoint(note) => {
                notes.insert(note.into_owned());
            }
            Line::Manifest(_) => panic!("twice"),
        }
    }
    assert_eq!(
        notes.len(),
        1,
        "all receipts refer to the bundle's checkpoint"
    );
}

#[test]
fn an_export_ends_where_the_log_ended_when_it_began() {
    let mut log = TestLog::new();
    log.open_room(0, false, None);
    log.talk(1, 3000);
    let before = read_all(Export::log(log.reader()).unwrap()).unwrap();
    let mut export = Export::log(log.reader()).unwrap();
    let mut bytes = Vec::new();
    while let Some(chunk) = export.next_chunk().unwrap() {
        bytes.extend_from_slice(&chunk);
        log.post(0, "ann", "meanwhile");
    }
    assert!(before == bytes, "commits meanwhile change nothing");
}

#[test]
fn erasure_meanwhile_fails_the_export() {
    let mut log = TestLog::new();
    log.open_room(0, false, None);
    log.talk(1, 3000);
    let mut export = Export::log(log.reader()).unwrap();
    export.next_chunk().unwrap();
    log.erase_bodies(0, 2900, 2950);
    let outcome = read_all(export);
    assert!(
        matches!(outcome, Err(OfflineError::ErasedMeanwhile)),
        "{outcome:?}"
    );
    assert!(read_all(Export::log(log.reader()).unwrap()).is_ok());
}

#[test]
fn chunks_stay_small_when_records_are_large() {
    let mut log = TestLog::new();
    log.open_room(0, false, None);
    let text = "x".repeat(60_000);
    for _ in 0..600 {
        log.post(0, "ann", &text);
    }
    let mut export = Export::log(log.reader()).unwrap();
    let mut largest = 0;
    while let Some(chunk) = export.next_chunk().unwrap() {
        largest = largest.max(chunk.len());
    }
    assert!(largest < 6 << 20, "{largest}");
}

#[test]
fn lines_hold_what_their_text_says() {
    let mut log = small();
    log.talk(1, 300);
    let exports = || {
        let room = Export::room(log.reader(), room_id(0)).unwrap();
        [Export::log(log.reader()).unwrap(), room]
    };
    for (text, mut lines) in exports().into_iter().zip(exports()) {
        let bytes = read_all(text).unwrap();
        let mut written = bytes.split_inclusive(|byte| *byte == b'\n');
        while let Some(chunk) = lines.next_lines().unwrap() {
            for line in chunk.list {
                let text = written.next().unwrap().strip_suffix(b"\n").unwrap();
                assert_eq!(parse_line(text).unwrap(), line);
            }
        }
        assert_eq!(written.next(), None);
    }
}

#[test]
fn a_room_that_is_not_there_has_no_bundle() {
    let log = small();
    let reader = log.reader();
    assert!(matches!(
        Export::room(Arc::clone(&reader), room_id(99)),
        Err(OfflineError::NoRoom(_))
    ));
}
