//! The head file: each case of the table in `opening`, and the file itself.

use std::{fs, path::Path, sync::Arc};

use super::damage::{copy, crashed, open_error, opened_head};
use crate::{
    format::hash::chain_hash,
    store::{
        Head, LogReader, LogWriter, StoreError,
        conformance::sample_commit,
        fjall::{FjallStore, Options},
        head_file::{self, HeadFile, RunState, SLOT_BYTES},
        memory::MemoryStore,
        stats::Stopwatch,
    },
};

fn saved(dir: &Path) -> head_file::SavedHead {
    head_file::read(&dir.join("head")).unwrap().unwrap()
}

fn head(seq: u64) -> Head {
    Head {
        seq,
        hash: chain_hash(&seq.to_be_bytes()),
        checkpoint: format!("log.example/minutebook\n{seq}\nroot\n\n\u{2014} log.example sig\n"),
    }
}

/// A head file with seq `a` in one slot and `b` in the other.
fn file_with(path: &Path, a: u64, b: u64) {
    let file = HeadFile::start(path, &head(a), Arc::default()).unwrap();
    file.record(&head(b)).unwrap();
    file.settle().unwrap();
}

#[test]
fn a_clean_stop_is_told_from_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    writer.append(sample_commit(0, 3)).unwrap();
    assert_eq!(saved(copy(dir.path()).path()).state, RunState::Running);
    writer.stop().unwrap();
    assert_eq!(saved(dir.path()).state, RunState::Stopped);
    assert_eq!(
        saved(dir.path()).head.seq,
        3,
        "a stop records the newest head by itself"
    );
}

#[test]
fn an_acknowledged_commit_is_at_most_one_ahead_of_the_head_file() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    for seq in 0..50 {
        writer.append(sample_commit(seq, 1)).unwrap();
        assert!(
            saved(dir.path()).head.seq >= seq,
            "after commit {}",
            seq + 1
        );
        writer.record_head(&reader.head().unwrap()).unwrap();
    }
}

#[test]
fn an_older_head_file_is_advanced() {
    let dir = crashed(5);
    let old = fs::read(dir.path().join("head")).unwrap();
    {
        let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
        writer.append(sample_commit(5, 7)).unwrap();
        writer.record_head(&reader.head().unwrap()).unwrap();
    }
    fs::write(dir.path().join("head"), old).unwrap();
    assert_eq!(opened_head(dir.path()), 12);
    assert_eq!(saved(dir.path()).head.seq, 12);
}

#[test]
fn a_newer_head_file_is_refused() {
    let old = crashed(5);
    let new = crashed(9);
    fs::copy(new.path().join("head"), old.path().join("head")).unwrap();
    let error = open_error(old.path());
    let StoreError::HeadAhead {
        head: 9,
        log: 5,
        missing: 4,
        ..
    } = error
    else {
        panic!("{error}");
    };
}

#[test]
fn the_head_file_of_another_history_is_refused() {
    for recorded in [3, 5] {
        let dir = crashed(5);
        fs::remove_file(dir.path().join("head")).unwrap();
        file_with(&dir.path().join("head"), recorded, recorded);
        let error = open_error(dir.path());
        let StoreError::Damaged(why) = &error else {
            panic!("{error}");
        };
        assert!(why.contains("another history"), "{why}");
    }
}

#[test]
fn a_missing_head_file_is_refused_until_it_is_accepted() {
    let dir = crashed(5);
    fs::remove_file(dir.path().join("head")).unwrap();
    let error = open_error(dir.path());
    assert!(
        matches!(error, StoreError::HeadMissing { log: 5, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("--accept-missing-head"),
        "{error}"
    );
    let accepting = Options {
        accept_missing_head: true,
        ..Options::default()
    };
    let (_writer, reader) = FjallStore::open(dir.path(), &accepting).unwrap();
    assert_eq!(reader.head().unwrap().seq, 5);
    assert_eq!(saved(dir.path()).head.seq, 5);
}

#[test]
fn a_ruined_head_file_is_refused_until_it_is_accepted() {
    let dir = crashed(5);
    fs::write(dir.path().join("head"), vec![b'x'; 2 * SLOT_BYTES]).unwrap();
    let error = open_error(dir.path());
    let StoreError::Damaged(why) = &error else {
        panic!("{error}");
    };
    assert!(
        why.contains("head file") && why.contains("--accept-missing-head"),
        "{why}"
    );
    let accepting = Options {
        accept_missing_head: true,
        ..Options::default()
    };
    drop(FjallStore::open(dir.path(), &accepting).unwrap());
}

#[test]
fn a_torn_slot_leaves_the_other_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("head");
    file_with(&path, 7, 8);
    let whole = fs::read(&path).unwrap();
    assert_eq!(head_file::read(&path).unwrap().unwrap().head, head(8));
    // Every byte of the text, and some of the padding.
    let flipped = (0..whole.len()).filter(|at| at % SLOT_BYTES < 400 || at % 61 == 0);
    for at in flipped {
        let mut torn = whole.clone();
        torn[at] ^= 0x20;
        let seq = head_file::decode(&torn).unwrap().head.seq;
        let expected = if at < SLOT_BYTES { 7 } else { 8 };
        assert_eq!(seq, expected, "byte {at}");
        torn[SLOT_BYTES - 1 - at % SLOT_BYTES] ^= 1;
        torn[2 * SLOT_BYTES - 1 - at % SLOT_BYTES] ^= 1;
        assert!(head_file::decode(&torn).is_err(), "both slots, byte {at}");
    }
}

#[test]
fn a_head_file_of_another_length_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("head");
    file_with(&path, 7, 8);
    let whole = fs::read(&path).unwrap();
    for length in [0, 1, SLOT_BYTES, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(
            matches!(head_file::read(&path), Err(StoreError::Damaged(_))),
            "{length}"
        );
    }
}

#[test]
fn the_newest_head_wins_and_the_checkpoint_is_verbatim() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("head");
    let watch = Arc::new(Stopwatch::default());
    let file = HeadFile::start(&path, &head(0), Arc::clone(&watch)).unwrap();
    for seq in 1..=200 {
        file.record(&head(seq)).unwrap();
    }
    file.settle().unwrap();
    assert_eq!(head_file::read(&path).unwrap().unwrap().head, head(200));
    assert!(
        watch.read().count <= 200,
        "what was overtaken need not be written"
    );
    file.stop(&head(200)).unwrap();
    assert_eq!(
        head_file::read(&path).unwrap().unwrap().state,
        RunState::Stopped
    );
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused_and_not_cut() {
    let dir = tempfile::tempdir().unwrap();
    let file = HeadFile::start(&dir.path().join("head"), &head(0), Arc::default()).unwrap();
    let mut long = head(1);
    long.checkpoint = "x".repeat(SLOT_BYTES);
    assert!(file.record(&long).unwrap_err().is_refusal());
}

#[test]
fn the_store_in_memory_has_the_same_table() {
    let store = MemoryStore::new();
    let (mut writer, reader) = store.open().unwrap();
    writer.append(sample_commit(0, 9)).unwrap();
    writer.record_head(&reader.head().unwrap()).unwrap();
    writer.append(sample_commit(9, 1)).unwrap();
    drop(writer);
    drop(store.open().unwrap());
    store.lose_after(4);
    let error = store.open().unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::HeadAhead {
                head: 10,
                log: 4,
                missing: 6,
                ..
            }
        ),
        "{error}"
    );
}
