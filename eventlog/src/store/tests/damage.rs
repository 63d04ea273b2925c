//! The log on disk against damage. A crash is a copy of the directory taken while it is open:
//! everything acknowledged is synced by then, and nothing was stopped cleanly.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::store::{
    LogReader, LogWriter, StoreError,
    conformance::{sample, sample_commit},
    fjall::{FjallStore, Options},
};

/// How far before the key of a journal item its length is: it, and the value's two, come last.
const KEY_LENGTH_AT: usize = 2 + 4 + 4;
/// And its tag: value type, compression and keyspace are between.
const TAG_AT: usize = 1 + 1 + 1 + 8 + KEY_LENGTH_AT;

/// A log of so many one-event commits, as a crash leaves it.
pub(super) fn crashed(events: u64) -> TempDir {
    let live = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(live.path(), &Options::default()).unwrap();
    for seq in 0..events {
        writer.append(sample_commit(seq, 1)).unwrap();
        writer.record_head(&reader.head().unwrap()).unwrap();
    }
    // An empty commit waits for the head file.
    let waits = crate::store::Commit {
        expected_seq: events,
        ..Default::default()
    };
    writer.append(waits).unwrap();
    copy(live.path())
}

pub(super) fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    copy_dir(from, to.path());
    to
}

fn copy_dir(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(super) fn open_error(dir: &Path) -> StoreError {
    match FjallStore::open(dir, &Options::default()) {
        Ok(_) => panic!("it opened"),
        Err(e) => e,
    }
}

pub(super) fn opened_head(dir: &Path) -> u64 {
    let (_writer, reader) = FjallStore::open(dir, &Options::default()).unwrap();
    reader.head().unwrap().seq
}

fn journal(dir: &Path) -> PathBuf {
    dir.join("db/0.jnl")
}

/// Where the envelope of an event is in the journal.
fn envelope_at(journal: &[u8], seq: u64) -> usize {
    let record = sample_commit(seq - 1, 1).records.remove(0).record;
    journal
        .windows(record.envelope.len())
        .position(|window| window == record.envelope)
        .unwrap()
}

fn flip(dir: &Path, at: impl FnOnce(&[u8]) -> usize) {
    let mut bytes = fs::read(journal(dir)).unwrap();
    let at = at(&bytes);
    bytes[at] ^= 1;
    fs::write(journal(dir), bytes).unwrap();
}

#[test]
fn a_crash_loses_nothing() {
    let dir = crashed(20);
    assert_eq!(opened_head(dir.path()), 20);
    assert!(!dir.path().join("journals-kept").exists());
}

#[test]
fn a_flipped_tag_is_refused_with_the_number_of_missing_events() {
    let dir = crashed(20);
    flip(dir.path(), |journal| envelope_at(journal, 11) - 8 - TAG_AT);
    let error = open_error(dir.path());
    let StoreError::HeadAhead {
        head: 20,
        log: 10,
        missing: 10,
        kept,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    let text = error.to_string();
    assert!(
        text.contains("10 acknowledged event(s) are missing"),
        "{text}"
    );
    // fjall has cut the journal; the copy still has everything.
    let copy = fs::read(Path::new(kept).join("0.jnl")).unwrap();
    envelope_at(&copy, 20);
    // A second try must not put the cut journal over it.
    assert!(matches!(
        open_error(dir.path()),
        StoreError::HeadAhead { missing: 10, .. }
    ));
    let copy = fs::read(Path::new(kept).join("0.jnl")).unwrap();
    envelope_at(&copy, 20);
}

#[test]
fn a_flipped_length_is_refused_with_the_number_of_missing_events() {
    let dir = crashed(20);
    flip(dir.path(), |journal| {
        envelope_at(journal, 16) - 8 - KEY_LENGTH_AT
    });
    let error = open_error(dir.path());
    assert!(
        matches!(error, StoreError::HeadAhead { missing: 5, .. }),
        "{error}"
    );
}

#[test]
fn a_flipped_value_is_refused_as_damage() {
    let dir = crashed(20);
    flip(dir.path(), |journal| envelope_at(journal, 11) + 3);
    let error = open_error(dir.path());
    let StoreError::Damaged(why) = &error else {
        panic!("{error}");
    };
    assert!(
        why.contains("ChecksumMismatch") && why.contains("journals-kept"),
        "{why}"
    );
}

#[test]
fn events_lost_in_the_middle_are_refused() {
    // A sealed journal that is cut is followed by the next one: here by a copy of the whole.
    let dir = crashed(20);
    let bytes = fs::read(journal(dir.path())).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let starts = |seq| envelope_at(&bytes, seq);
    // Journal 0 ends inside event 6, journal 1 starts with the batch of event 12.
    let trailer = bytes[end - 4..end].to_vec();
    let after_11 = starts(11)
        + bytes[starts(11)..]
            .windows(4)
            .position(|window| window == trailer)
            .unwrap()
        + 4;
    fs::write(dir.path().join("db/1.jnl"), &bytes[after_11..end]).unwrap();
    fs::write(journal(dir.path()), &bytes[..starts(6)]).unwrap();
    let error = open_error(dir.path());
    let StoreError::Damaged(why) = &error else {
        panic!("{error}");
    };
    assert!(why.contains("events 6 to 11 are missing"), "{why}");
}

#[test]
fn a_torn_commit_nobody_was_told_about_is_dropped() {
    let dir = crashed(20);
    // The head file knows 20; the torn commit is number 21, which was never acknowledged.
    let mut bytes = fs::read(journal(dir.path())).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let last = envelope_at(&bytes, 20);
    let torn = bytes[last - 200..last].to_vec();
    bytes[end..end + torn.len()].copy_from_slice(&torn);
    fs::write(journal(dir.path()), bytes).unwrap();
    assert_eq!(opened_head(dir.path()), 20);
    // And the log goes on.
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    writer.append(sample_commit(20, 5)).unwrap();
    drop((writer, reader));
    assert_eq!(opened_head(dir.path()), 25);
}

#[test]
fn a_missing_database_is_refused_with_the_number_of_missing_events() {
    let dir = crashed(3);
    fs::remove_dir_all(dir.path().join("db")).unwrap();
    let error = open_error(dir.path());
    assert!(
        matches!(error, StoreError::HeadAhead { missing: 3, .. }),
        "{error}"
    );
    assert!(
        !dir.path().join("db").exists(),
        "nothing new is made in its place"
    );
}

#[test]
fn a_keyspace_that_vanished_is_refused() {
    let dir = crashed(3);
    {
        let (_writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
        assert_eq!(reader.read(1, 9).unwrap().len(), 3);
    }
    // Without its folder fjall makes a keyspace anew, empty.
    let names = [
        "envelopes",
        "bodies",
        "streams",
        "commands",
        "checkpoints",
        "tiles",
        "meta",
    ];
    for (number, name) in (1..).zip(names) {
        let lost = copy(dir.path());
        fs::remove_dir_all(lost.path().join(format!("db/keyspaces/{number}"))).unwrap();
        // What refuses must not make it anew: the next start would not miss it.
        for _ in 0..2 {
            let error = open_error(lost.path());
            assert!(matches!(error, StoreError::Damaged(_)), "{name}: {error}");
            let text = error.to_string();
            assert!(text.contains(&format!("db/keyspaces: {name})")), "{text}");
            assert!(text.contains("restore a backup"), "{text}");
        }
    }
}

#[test]
fn what_is_no_database_is_damage_and_no_panic() {
    let dir = crashed(3);
    fs::create_dir(dir.path().join("db/keyspaces/not-a-number")).unwrap();
    let error = open_error(dir.path());
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
}

#[test]
fn a_failed_checkpoint_row_does_not_pass_for_the_head() {
    let dir = crashed(2);
    let (mut writer, _reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let mut commit = sample_commit(2, 0);
    commit.records.push(sample(3, "room/odd", 2));
    commit.checkpoint.clear();
    assert!(writer.append(commit).unwrap_err().is_refusal());
}
