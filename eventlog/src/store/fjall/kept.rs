//! A copy of fjall's journals from before it opened them: opening cuts a journal at the first
//! thing it cannot read, and what was behind that would be gone.
//!
//! Made only after an unclean stop, removed by the next opening that ends well, and never made
//! over an older one: the first copy is the one with everything in it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

const DIR: &str = "journals-kept";
/// More than this is not copied: fjall's journals stay far below it.
const MAX_BYTES: u64 = 1 << 30;

/// The journals of a database, with their sizes.
pub(super) fn journals(db: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(db)? {
        let entry = entry?;
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "jnl")
        {
            found.push((entry.path(), entry.metadata()?.len()));
        }
    }
    Ok(found)
}

/// The copy, if there is one.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    there: bool,
}

impl Kept {
    /// Looks for a copy that is already there.
    pub(super) fn find(dir: &Path) -> Self {
        let path = dir.join(DIR);
        let there = path.is_dir();
        Self { path, there }
    }

    /// Copies the journals, unless there is a copy. A full disk must not keep the log from being
    /// opened: then there is none.
    pub(super) fn make(&mut self, journals: &[(PathBuf, u64)]) {
        let bytes: u64 = journals.iter().map(|(_, bytes)| bytes).sum();
        if self.there || bytes > MAX_BYTES {
            return;
        }
        self.there = self.copy(journals).is_ok();
        if !self.there {
            self.remove();
        }
    }

    fn copy(&self, journals: &[(PathBuf, u64)]) -> io::Result<()> {
        // Under another name until it is complete.
        let partial = self.path.with_extension("tmp");
        if partial.is_dir() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir(&partial)?;
        for (journal, _) in journals {
            let name = journal.file_name().unwrap_or_default();
            fs::copy(journal, partial.join(name))?;
        }
        fs::rename(&partial, &self.path)
    }

    /// Where the copy is, made durable because somebody will need it; empty when there is none.
    pub(super) fn secure(&self) -> String {
        if !self.there {
            return String::new();
        }
        let synced = journals(&self.path).and_then(|files| {
            files
                .iter()
                .try_for_each(|(path, _)| File::open(path)?.sync_all())
        });
        match synced {
            Ok(()) => self.path.display().to_string(),
            Err(e) => format!("{} (not surely: {e})", self.path.display()),
        }
    }

    /// Removes the copy after an opening that ended well.
    pub(super) fn remove(&mut self) {
        // What cannot be removed now is found and removed by the next good opening.
        drop(fs::remove_dir_all(&self.path));
        drop(fs::remove_dir_all(self.path.with_extension("tmp")));
        self.there = false;
    }
}
