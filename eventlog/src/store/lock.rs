//! The data directory and its lock: one process at a time, and the next one is told which.
//!
//! The lock is advisory and the kernel's: it ends with the process, however that ends. The pid in
//! the file is only there to be shown; a stale one means nothing.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use super::StoreError;

const LOCK_FILE: &str = "LOCK";

/// Held for as long as the store is open.
#[derive(Debug)]
pub(super) struct DirLock {
    _file: File,
}

impl DirLock {
    /// Takes the directory, making it (0700) if allowed.
    pub(super) fn take(dir: &Path, create: bool) -> Result<Self, StoreError> {
        prepare(dir, create)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join(LOCK_FILE))
            .map_err(|e| failed(dir, "cannot be written to", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(dir, &mut file)),
            Err(TryLockError::Error(e)) => return Err(failed(dir, "cannot be locked", &e)),
        }
        write_pid(&mut file).map_err(|e| failed(dir, "cannot be written to", &e))?;
        Ok(Self { _file: file })
    }
}

fn prepare(dir: &Path, create: bool) -> Result<(), StoreError> {
    match fs::metadata(dir) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(StoreError::Io(format!(
            "{} is not a directory",
            dir.display()
        ))),
        Err(e) if e.kind() == io::ErrorKind::NotFound && !create => Err(StoreError::NoLog {
            path: dir.display().to_string(),
        }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|e| failed(dir, "cannot be created", &e)),
        Err(e) => Err(failed(dir, "cannot be opened", &e)),
    }
}

fn failed(dir: &Path, how: &str, error: &io::Error) -> StoreError {
    StoreError::Io(format!(
        "the data directory {} {how}: {error}",
        dir.display()
    ))
}

fn held(dir: &Path, file: &mut File) -> StoreError {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    let pid = text.trim();
    // The holder may not have written its pid yet: say so rather than show an empty name.
    let known = read.is_ok() && !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
    StoreError::Locked {
        path: dir.display().to_string(),
        pid: if known { pid } else { "unknown" }.to_owned(),
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
