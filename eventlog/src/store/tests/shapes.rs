//! Folders that are not what fjall made: whatever is done to a file, opening ends with the log or
//! with an error that names the place, and never with an abort.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::damage::{copy, crashed, open_error};
use crate::store::{
    LogWriter, StoreError,
    conformance::sample_commit,
    fjall::{FjallStore, Options},
};

const DIR_VARIABLE: &str = "MINUTEBOOK_TEST_SHAPE";

/// A log with tables and journals, as a crash leaves it.
fn flushed() -> tempfile::TempDir {
    let log = crashed(5);
    let (mut writer, _reader) = FjallStore::open(log.path(), &Options::default()).unwrap();
    writer.maintenance().compact_erased(&[]).unwrap();
    for seq in 5..8 {
        writer.append(sample_commit(seq, 1)).unwrap();
    }
    log
}

#[test]
fn what_does_not_belong_into_a_database_is_refused_by_name() {
    let log = crashed(3);
    let folders: [&[u8]; 9] = [
        b"keyspaces/not-a-number",
        b"keyspaces/18446744073709551615",
        b"keyspaces/007",
        b"keyspaces/+8",
        b"keyspaces/\xff",
        b"keyspaces/2/tables/0",
        b"keyspaces/2/tables/x",
        b"keyspaces/2/v7",
        b"9.jnl",
    ];
    for name in folders {
        let dir = copy(log.path());
        let path = dir.path().join("db").join(OsStr::from_bytes(name));
        fs::create_dir(&path).unwrap();
        refused(dir.path(), &path);
    }
    for name in ["18446744073709551615.jnl", "one.jnl", "1.JNL", "01.jnl"] {
        let dir = copy(log.path());
        let path = dir.path().join("db").join(name);
        fs::write(&path, "").unwrap();
        refused(dir.path(), &path);
    }
}

fn refused(dir: &Path, path: &Path) {
    let error = open_error(dir);
    assert!(matches!(error, StoreError::Damaged(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
}

#[test]
fn a_file_in_the_place_of_a_folder_and_the_other_way_round_are_refused_by_name() {
    let log = crashed(3);
    for name in [
        "db",
        "db/keyspaces",
        "db/keyspaces/0",
        "db/keyspaces/2",
        "db/keyspaces/2/tables",
    ] {
        let dir = copy(log.path());
        let path = dir.path().join(name);
        fs::remove_dir_all(&path).unwrap();
        fs::write(&path, "").unwrap();
        refused(dir.path(), &path);
    }
    for name in ["0.jnl", "lock", "keyspaces/2/current"] {
        let dir = copy(log.path());
        let path = dir.path().join("db").join(name);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused(dir.path(), &path);
    }
}

#[test]
fn what_every_database_has_is_missed_by_name() {
    let log = crashed(3);
    for name in ["version", "lock"] {
        let dir = copy(log.path());
        let path = dir.path().join("db").join(name);
        fs::remove_file(&path).unwrap();
        refused(dir.path(), &path);
    }
    let dir = copy(log.path());
    let path = dir.path().join("db/keyspaces/0");
    fs::remove_dir_all(&path).unwrap();
    refused(dir.path(), &path);
}

#[test]
fn what_the_database_names_and_is_not_there_is_damage() {
    let log = flushed();
    let mut all = Vec::new();
    files(&log.path().join("db/keyspaces"), &mut all);
    let is_named = |path: &&PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap();
        name == "current"
            || path
                .parent()
                .is_some_and(|folder| folder.ends_with("tables"))
    };
    let mut tables = 0;
    for path in all.iter().filter(is_named) {
        let dir = copy(log.path());
        let path = dir.path().join(path.strip_prefix(log.path()).unwrap());
        let is_table = path
            .parent()
            .is_some_and(|folder| folder.ends_with("tables"));
        if is_table {
            tables += 1;
            fs::remove_file(&path).unwrap();
        } else {
            // The number of a version that is not there.
            let mut bytes = fs::read(&path).unwrap();
            bytes[0] ^= 0x40;
            fs::write(&path, bytes).unwrap();
        }
        let error = open_error(dir.path());
        assert!(matches!(error, StoreError::Damaged(_)), "{path:?}: {error}");
        let text = error.to_string();
        assert!(text.contains(&dir.path().display().to_string()), "{text}");
    }
    assert!(tables > 0);
}

/// Everything below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

type Harm = fn(&Path);

const HARMS: [(&str, Harm); 5] = [
    ("emptied", |path| fs::write(path, "").unwrap()),
    ("removed", |path| fs::remove_file(path).unwrap()),
    ("halved", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("zeroed", |path| {
        let length = fs::read(path).unwrap().len();
        fs::write(path, vec![0; length]).unwrap();
    }),
    ("filled with ones", |path| {
        let length = fs::read(path).unwrap().len();
        fs::write(path, vec![0xff; length]).unwrap();
    }),
];

/// The child's part of the next test; on its own it does nothing.
#[test]
fn shape_child() {
    let Ok(dir) = std::env::var(DIR_VARIABLE) else {
        return;
    };
    match FjallStore::open(Path::new(&dir), &Options::default()) {
        Ok(_) => println!("it opened"),
        Err(error) => println!("the error was: {error}"),
    }
}

fn open_in_child(dir: &Path) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "store::tests::shapes::shape_child",
            "--nocapture",
        ])
        .env(DIR_VARIABLE, dir)
        .output()
        .unwrap()
}

#[test]
fn whatever_happens_to_a_file_opening_ends_with_the_log_or_an_error_that_says_where() {
    let log = flushed();
    let mut all = Vec::new();
    files(log.path(), &mut all);
    let is_harmed = |path: &&PathBuf| !path.ends_with("LOCK") && !path.ends_with("db/lock");
    for file in all.iter().filter(is_harmed) {
        for (how, harm) in HARMS {
            let dir = copy(log.path());
            let name = file.strip_prefix(log.path()).unwrap();
            harm(&dir.path().join(name));
            let output = open_in_child(dir.path());
            let text = String::from_utf8_lossy(&output.stdout);
            let what = format!("{} {how}: {text}{:?}", name.display(), output.status);
            assert!(output.status.success(), "{what}");
            let says_where = text.contains(&dir.path().display().to_string());
            assert!(text.contains("it opened") || says_where, "{what}");
        }
    }
}
