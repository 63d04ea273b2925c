//! The arbiter's key: 32 raw bytes, an Ed25519 seed, in a file only its owner may read.
//!
//! Whoever can read this file can sign anything in the log's name; whoever can change it can only
//! stop the server from starting, because the log names the key it expects.
//!
//! Beside it, while and after the log's key is rotated:
//! * `<key>.next`: the new key, whole and durable before the log names it;
//! * `<key>.retired-<epoch>`: the key that was given up. Only a log restored from a backup older
//!   than the rotation needs it; in other hands it can still sign a fork of the log's past, so it
//!   should be destroyed once no such backup is kept.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read or written.
    #[error("key file {path}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not 32 bytes.
    #[error("key file {path} holds {bytes} bytes; a key is exactly 32")]
    Length {
        /// Where.
        path: PathBuf,
        /// How many.
        bytes: usize,
    },
    /// Others may read it.
    #[error("key file {path} can be read by others (mode {mode:o}); run chmod 600 {path}")]
    Exposed {
        /// Where.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is gone, though a log was signed with it.
    #[error(
        "arbiter key {path} is missing, but the log was signed with one; put it back or name it \
         with --arbiter-key"
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// A link would be replaced by a file, and what it leads to be left behind.
    #[error("key file {path} is not a regular file; name the file itself with --arbiter-key")]
    NotAFile {
        /// Where.
        path: PathBuf,
    },
    /// The place for the key that is given up is taken by another.
    #[error("{path} holds another key; move it away")]
    Taken {
        /// Where.
        path: PathBuf,
    },
}

/// Reads the seed, or none when there is no file.
pub fn read(path: &Path) -> Result<Option<[u8; 32]>, KeyFileError> {
    let io = |source| KeyFileError::Io {
        path: path.to_owned(),
        source,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let metadata = file.metadata().map_err(io)?;
    if metadata.is_dir() {
        return Err(io(ErrorKind::IsADirectory.into()));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Exposed {
            path: path.to_owned(),
            mode,
        });
    }
    let mut bytes = Vec::new();
    // One byte too many is enough to tell a wrong file; a huge one is not read whole.
    file.take(33).read_to_end(&mut bytes).map_err(io)?;
    let length = bytes.len();
    let seed = bytes.try_into();
    seed.map(Some).map_err(|_| KeyFileError::Length {
        path: path.to_owned(),
        bytes: length,
    })
}

/// Writes a new seed, all of it or nothing; refuses to replace a file.
pub fn create(path: &Path, seed: &[u8; 32]) -> Result<(), KeyFileError> {
    let draft = beside(path, &format!(".partial-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let placed = write_draft(&draft, seed).and_then(|()| place(&draft, path));
        // Whatever came of it, the draft is a copy of the key.
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != ErrorKind::NotFound => placed.and(Err(error))?,
            Ok(()) | Err(_) => placed?,
        }
        sync_folder(path)
    };
    write().map_err(|source| KeyFileError::Io {
        path: path.to_owned(),
        source,
    })
}

fn write_draft(draft: &Path, seed: &[u8; 32]) -> std::io::Result<()> {
    match fs::remove_file(draft) {
        // Of a process that died over it.
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(draft)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(seed)?;
    file.sync_all()
}

/// Gives a whole file its name, unless that is taken: a link, unlike renaming, replaces nothing.
fn place(draft: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(draft, path) {
        // A file system without links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.try_exists()? => {
            fs::rename(draft, path)
        }
        done => done,
    }
}

/// Where the next key is between being made and being the log's.
pub fn next_path(path: &Path) -> PathBuf {
    beside(path, ".next")
}

/// Where a key goes that was given up.
pub fn retired_path(path: &Path, epoch: u64) -> PathBuf {
    beside(path, &format!(".retired-{epoch}"))
}

/// Whether the key of this epoch can be given up later without trouble: it is a file, and the
/// place where it will go is free, or holds it already.
pub fn may_retire(path: &Path, epoch: u64) -> Result<(), KeyFileError> {
    let io = |source| KeyFileError::Io {
        path: path.to_owned(),
        source,
    };
    if !fs::symlink_metadata(path).map_err(io)?.is_file() {
        let path = path.to_owned();
        return Err(KeyFileError::NotAFile { path });
    }
    let retired = retired_path(path, epoch);
    match read(&retired)? {
        Some(seed) if Some(seed) != read(path)? => Err(KeyFileError::Taken { path: retired }),
        Some(_) | None => Ok(()),
    }
}

/// Writes the next key, all of it or nothing: it is never found cut short.
pub fn write_next(path: &Path, seed: &[u8; 32]) -> Result<(), KeyFileError> {
    let draft = beside(path, ".next.partial");
    let next = next_path(path);
    let write = || -> std::io::Result<()> {
        write_draft(&draft, seed)?;
        fs::rename(&draft, &next)?;
        sync_folder(path)
    };
    write().map_err(|source| KeyFileError::Io { path: next, source })
}

/// Gives the key of this epoch up, and makes the next one the key. May be repeated after a crash.
pub fn promote(path: &Path, retired_epoch: u64) -> Result<(), KeyFileError> {
    let rename = || -> std::io::Result<()> {
        match fs::rename(path, retired_path(path, retired_epoch)) {
            // An earlier attempt came this far.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done?,
        }
        // Or the disk may do the second first, and the old key is gone.
        sync_folder(path)?;
        fs::rename(next_path(path), path)?;
        sync_folder(path)
    };
    rename().map_err(|source| KeyFileError::Io {
        path: path.to_owned(),
        source,
    })
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
