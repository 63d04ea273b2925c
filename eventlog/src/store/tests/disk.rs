//! The disk and the directory: full, locked, not there, not a directory.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use super::damage::opened_head;
use crate::{
    format::record::Body,
    store::{
        Commit, LogReader, LogWriter, StoreError,
        conformance::{sample, sample_commit},
        fjall::{FjallStore, Options},
    },
};

const DIR_VARIABLE: &str = "MINUTEBOOK_TEST_FULL_DISK";

#[test]
fn a_second_opener_is_told_who_holds_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let _held = FjallStore::open(dir.path(), &Options::default()).unwrap();
    match FjallStore::open(dir.path(), &Options::default()).err() {
        Some(StoreError::Locked { path, pid }) => {
            assert_eq!(pid, std::process::id().to_string());
            assert_eq!(Path::new(&path), dir.path());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_lock_ends_when_both_halves_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    drop(writer);
    assert!(FjallStore::open(dir.path(), &Options::default()).is_err());
    drop(reader);
    FjallStore::open(dir.path(), &Options::default()).unwrap();
}

#[test]
fn a_new_directory_is_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b");
    drop(FjallStore::open(&path, &Options::default()).unwrap());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn commands_that_only_look_make_nothing() {
    let looking = Options {
        create: false,
        ..Options::default()
    };
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("none"), dir.path().to_owned()] {
        let error = FjallStore::open(&path, &looking).err().unwrap();
        assert!(matches!(error, StoreError::NoLog { .. }), "{error}");
        assert!(!path.join("db").exists());
    }
}

#[test]
fn a_path_that_cannot_be_a_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    for (path, why) in [
        (file.clone(), "is not a directory"),
        (file.join("below"), "cannot be"),
    ] {
        let error = FjallStore::open(&path, &Options::default())
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.contains(why) && error.contains(&path.display().to_string()),
            "{error}"
        );
    }
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let probe = fs::write(dir.path().join("probe"), "x");
    if probe.is_ok() {
        println!("skipped: this user may write anywhere");
        return;
    }
    let error = FjallStore::open(dir.path(), &Options::default())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("cannot be written to"), "{error}");
}

/// 70 MiB in one commit: more than the limit on file sizes the child has.
fn too_large(seq: u64) -> Commit {
    let mut commit = sample_commit(seq, 0);
    for n in seq + 1..=seq + 70 {
        let mut new = sample(n, "room/large", n);
        new.record.body = Some(Body {
            salt: [1; 32],
            bytes: vec![7; 1 << 20],
        });
        commit.records.push(new);
    }
    commit.checkpoint = "checkpoint\n".to_owned();
    commit
}

/// The child's part of the next test; on its own it does nothing.
#[test]
fn full_disk_child() {
    let Ok(dir) = std::env::var(DIR_VARIABLE) else {
        return;
    };
    let (mut writer, reader) = FjallStore::open(Path::new(&dir), &Options::default()).unwrap();
    for seq in 0..100 {
        writer.append(sample_commit(seq, 1)).unwrap();
        writer.record_head(&reader.head().unwrap()).unwrap();
    }
    let full = writer.append(too_large(100)).unwrap_err();
    assert!(matches!(full, StoreError::Io(_)), "{full}");
    println!("the error was: {full}");
    let after = writer.append(sample_commit(100, 1)).unwrap_err();
    assert!(
        !after.is_refusal(),
        "a failed store fails for ever: {after}"
    );
    assert_eq!(
        reader.head().unwrap().seq,
        100,
        "what was acknowledged is still read"
    );
    assert_eq!(reader.read(1, 1000).unwrap().len(), 100);
}

#[test]
fn a_full_disk_is_a_clear_error_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let child = "store::tests::disk::full_disk_child";
    let limited = r#"trap "" XFSZ; ulimit -f 66000 && exec "$0" --exact "$1" --nocapture"#;
    let output = Command::new("bash")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .arg(child)
        .env(DIR_VARIABLE, dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("File too large"), "{text}");
    assert_eq!(opened_head(dir.path()), 100);
    // And once there is room again, the same commit goes through.
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    writer.append(too_large(100)).unwrap();
    assert_eq!(reader.head().unwrap().seq, 170);
}
