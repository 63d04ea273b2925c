//! Whether fjall can make sense of the files of a database.
//!
//! fjall takes some odd files for bugs of its own: it panics with its locks held, and when they
//! are let go it panics again and the process aborts. Others it deletes, or it counts on from
//! their numbers until they overflow. So what is there is looked at first, by name and kind; what
//! is in the files fjall checks itself.

use std::{
    fs::{self, DirEntry, Metadata},
    io,
    path::Path,
};

use crate::store::StoreError;

/// Numbers of journals, keyspaces, tables and versions stay far below it.
const NUMBER_MAX: u64 = 1 << 48;
/// A keyspace that holds something has this file, and its folder of tables.
const CURRENT: &str = "current";

const NO_FOLDER: &str = "is not a directory, but should be: restore it from a backup";

/// Refuses a database that is not laid out as fjall lays it out.
pub(super) fn check(db: &Path) -> Result<(), StoreError> {
    if fs::metadata(db).is_ok_and(|db| !db.is_dir()) {
        return Err(damaged(db, NO_FOLDER));
    }
    each(db, |entry, name| {
        match name {
            "version" | "lock" => file(entry),
            "keyspaces" => keyspaces(entry),
            // Compared as fjall does it.
            _ if is_journal(name) => numbered(entry, name.strip_suffix(".jnl")).and(file(entry)),
            _ => Ok(()),
        }
    })?;
    if !db.join("version").exists() {
        return Ok(());
    }
    // Made before the version.
    for name in ["keyspaces", "keyspaces/0", "lock"] {
        present(&db.join(name))?;
    }
    Ok(())
}

/// Refuses what lost its mark of being complete, for a log that has records.
pub(super) fn check_mark(db: &Path, mark: &str) -> Result<(), StoreError> {
    if db.join("keyspaces").exists() {
        present(&db.join(mark))?;
    }
    Ok(())
}

fn present(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    Err(damaged(path, "is missing: restore it from a backup"))
}

fn is_journal(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("jnl"))
}

fn keyspaces(entry: &DirEntry) -> Result<(), StoreError> {
    folder(entry)?;
    each(&entry.path(), |entry, name| {
        // fjall leaves stray files alone, even one in the place of a keyspace.
        if kind(entry)?.is_file() && name.parse::<u64>().is_err() {
            return Ok(());
        }
        numbered(entry, Some(name))?;
        keyspace(entry)
    })
}

fn keyspace(entry: &DirEntry) -> Result<(), StoreError> {
    folder(entry)?;
    each(&entry.path(), |entry, name| match name {
        CURRENT => file(entry),
        "tables" => {
            folder(entry)?;
            each(&entry.path(), table)
        }
        "blobs" => folder(entry),
        _ if name.starts_with('v') => numbered(entry, name.strip_prefix('v')).and(file(entry)),
        // What an interrupted write left.
        _ => Ok(()),
    })
}

fn table(entry: &DirEntry, name: &str) -> Result<(), StoreError> {
    // Which fjall skips: file managers of another system leave them.
    if name == ".DS_Store" || name.starts_with("._") {
        return Ok(());
    }
    numbered(entry, Some(name)).and(file(entry))
}

/// Looks at everything in a folder.
fn each(
    folder: &Path,
    mut look: impl FnMut(&DirEntry, &str) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let unreadable = |e: io::Error| StoreError::Io(format!("{}: {e}", folder.display()));
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        match name.to_str() {
            Some(name) => look(&entry, name)?,
            None => return Err(foreign(&entry)),
        }
    }
    Ok(())
}

/// Of what a link leads to, since fjall follows it.
fn kind(entry: &DirEntry) -> Result<Metadata, StoreError> {
    let path = entry.path();
    fs::metadata(&path).map_err(|e| StoreError::Io(format!("{}: {e}", path.display())))
}

fn file(entry: &DirEntry) -> Result<(), StoreError> {
    if kind(entry)?.is_file() {
        return Ok(());
    }
    Err(damaged(
        &entry.path(),
        "is not a file, but should be: restore it from a backup",
    ))
}

fn folder(entry: &DirEntry) -> Result<(), StoreError> {
    if kind(entry)?.is_dir() {
        return Ok(());
    }
    Err(damaged(&entry.path(), NO_FOLDER))
}

/// A number as fjall writes it, and not one that it could not count on from.
fn numbered(entry: &DirEntry, digits: Option<&str>) -> Result<(), StoreError> {
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    match number {
        Some(number) if number < NUMBER_MAX && digits == Some(&*number.to_string()) => Ok(()),
        Some(_) | None => Err(foreign(entry)),
    }
}

fn foreign(entry: &DirEntry) -> StoreError {
    damaged(&entry.path(), "does not belong there; move it away")
}

fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged(format!("{} {what}", path.display()))
}
