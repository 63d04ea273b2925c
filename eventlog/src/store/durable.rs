//! Files that survive a power cut: the bytes are synced before the name, and the name before
//! anybody relies on it.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Replaces a file: afterwards either the old content is there or the new, never a mixture.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    match path.parent() {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Makes the names in a directory durable.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
