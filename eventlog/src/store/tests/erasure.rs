//! Erased text leaves the disk, and journals do not pile up.

use std::{fs, path::Path};

use crate::{
    format::record::Body,
    store::{
        Commit, LogReader, LogWriter, RowOp, Space,
        conformance::{sample, sample_commit},
        fjall::{FjallReader, FjallStore, FjallWriter, Options},
    },
};

const SECRET: &[u8] = b"the-secret-that-has-to-go";
const OTHER: &[u8] = b"the-text-that-has-to-stay";

/// How many files below a directory have these bytes.
fn files_with(dir: &Path, bytes: &[u8]) -> usize {
    let mut found = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found += files_with(&path, bytes);
        } else {
            // A table that was replaced may go at any time.
            let Ok(content) = fs::read(&path) else {
                continue;
            };
            found += usize::from(content.windows(bytes.len()).any(|window| window == bytes));
        }
    }
    found
}

fn commit_text(writer: &mut FjallWriter, space: Space, seq: u64, text: &[u8]) {
    let mut new = sample(seq, "room/one", seq);
    new.record.body = Some(Body {
        salt: [3; 32],
        bytes: text.to_vec(),
    });
    let commit = Commit {
        expected_seq: seq - 1,
        records: vec![new],
        checkpoint: "checkpoint\n".to_owned(),
        rows: vec![RowOp {
            space,
            key: seq.to_be_bytes().to_vec(),
            value: Some(text.to_vec()),
        }],
        ..Commit::default()
    };
    writer.append(commit).unwrap();
}

fn erase(writer: &mut FjallWriter, reader: &FjallReader, space: Space, seq: u64) {
    let head = reader.head().unwrap().seq;
    let mut commit = sample_commit(head, 1);
    commit.erase.push(seq);
    commit.rows.push(RowOp {
        space,
        key: seq.to_be_bytes().to_vec(),
        value: None,
    });
    writer.append(commit).unwrap();
}

#[test]
fn erased_text_is_in_no_file_and_the_rest_is() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let space = reader.space("history").unwrap();
    commit_text(&mut writer, space, 1, SECRET);
    commit_text(&mut writer, space, 2, OTHER);
    assert_eq!(files_with(dir.path(), SECRET), 1, "it is in the journal");
    erase(&mut writer, &reader, space, 1);
    writer.maintenance().compact_erased(&[space]).unwrap();
    assert_eq!(files_with(dir.path(), SECRET), 0);
    writer.stop().unwrap();
    drop((writer, reader));

    let (_writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    assert_eq!(files_with(dir.path(), SECRET), 0);
    assert!(files_with(dir.path(), OTHER) > 0);
    let page = reader.read(1, 10).unwrap();
    assert!(page[0].1.body.is_none());
    assert_eq!(page[1].1.body.as_ref().unwrap().bytes, OTHER);
    let space = reader.space("history").unwrap();
    assert_eq!(reader.get(space, &1_u64.to_be_bytes()).unwrap(), None);
    assert_eq!(
        reader.get(space, &2_u64.to_be_bytes()).unwrap().unwrap(),
        OTHER
    );
    assert!(!reader.spaces().unwrap().contains(&"filler".to_owned()));
}

#[test]
fn text_in_tables_is_erased_as_well_as_text_in_journals() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let space = reader.space("history").unwrap();
    commit_text(&mut writer, space, 1, SECRET);
    // The first compaction puts everything into tables; the text is still wanted.
    writer.maintenance().compact_erased(&[space]).unwrap();
    assert!(files_with(dir.path(), SECRET) > 0);
    erase(&mut writer, &reader, space, 1);
    writer.maintenance().compact_erased(&[space]).unwrap();
    assert_eq!(files_with(dir.path(), SECRET), 0);
}

#[test]
fn an_idle_keyspace_does_not_keep_journals_alive() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let idle = reader.space("idle").unwrap();
    commit_text(&mut writer, idle, 1, OTHER);
    let mut most = 0;
    // Five journals' worth.
    for seq in 1..=320 {
        let mut commit = sample_commit(seq, 1);
        commit.records[0].record.body = Some(Body {
            salt: [5; 32],
            bytes: vec![7; 1 << 20],
        });
        writer.append(commit).unwrap();
        most = most.max(reader.stats().journals);
    }
    assert!(most > 1, "journals are rotated");
    assert!(most <= 4, "{most} journals at once");
    assert_eq!(
        reader.get(idle, &1_u64.to_be_bytes()).unwrap().unwrap(),
        OTHER
    );
}
