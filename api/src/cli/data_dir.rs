//! Who else may look into the data directory.
//!
//! It holds the key that signs the log and every private message. What we make there is for its
//! owner alone; a directory that was there before is looked at and left as it is.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

use super::{Failure, Terminal};

/// Group and others.
const OTHERS: u32 = 0o077;
/// Their right to write.
const OTHERS_WRITE: u32 = 0o022;

/// From now on this process makes files and directories for its owner alone: those of the store
/// have no mode of their own.
pub(super) fn make_private() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(OTHERS));
}

/// Refuses a directory into which others may write, and warns of one they may read.
pub(super) fn check(data: &Path, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let mode = match fs::metadata(data) {
        Ok(found) if found.is_dir() => found.permissions().mode() & 0o7777,
        // Made private, or refused in words by who opens it.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::error(format!("{}: {error}", data.display()))),
    };
    let path = data.display();
    if mode & OTHERS_WRITE != 0 {
        return Err(Failure::error(format!(
            "{path} can be written to by others (mode {mode:o}): they could replace the log or \
             its key. Run chmod go-w {path}, or choose another directory with --data"
        )));
    }
    if mode & OTHERS != 0 {
        terminal.note(&format!(
            "minutebook: warning: {path} can be read by others (mode {mode:o}): chmod go= {path}"
        ));
    }
    Ok(())
}
