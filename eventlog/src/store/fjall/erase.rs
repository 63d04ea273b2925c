//! Making erased text leave the disk.
//!
//! Deleting a row only adds a mark; the text stays in older tables and in the journals. After
//! [`Shared::erase_from_disk`] returns `Ok`, no file in the data directory holds a body (or a row
//! of the given spaces) whose deletion was committed before the call:
//!
//! 1. wait until no reader uses a moment from before the call, since fjall keeps what they see;
//! 2. flush `bodies` and the spaces and rewrite them whole, without what is deleted;
//! 3. fill the active journal up to its limit with zeros, so that fjall seals it, flush every
//!    keyspace, and wait until all journals from before the call are gone.
//!
//! It does not reach: the blocks the deleted files had on the device until they are reused,
//! copies (backups, exported bundles, `journals-kept`, which a good opening has removed), and
//! memory. If the process dies in between, the call must be made again.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use fjall::{AbstractTree, Keyspace, KeyspaceCreateOptions};

use super::{Shared, failure, kept};
use crate::store::{Space, StoreError};

const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);
/// Not a view, and gone afterwards: what fills the journal.
const FILLER: &str = "filler";
const FILLER_BYTES: usize = 1 << 20;
const FILLER_MEMTABLE: u64 = 4 << 20;

impl Shared {
    pub(super) fn erase_from_disk(&self, spaces: &[Space]) -> Result<(), StoreError> {
        let mut rewritten = vec![self.tables.bodies.clone()];
        for space in spaces {
            rewritten.push(self.spaces.read().keyspace(*space)?.clone());
        }
        let old_journals = self.journals()?;
        let filler = self.filler()?;
        let done = self.erase_with(&filler, &rewritten, &old_journals);
        self.delete_keyspace(filler)?;
        done
    }

    fn erase_with(
        &self,
        filler: &Keyspace,
        rewritten: &[Keyspace],
        old_journals: &[PathBuf],
    ) -> Result<(), StoreError> {
        self.outlive_readers(filler)?;
        for keyspace in rewritten {
            self.flush(keyspace)?;
            keyspace.major_compact().map_err(failure)?;
        }
        self.seal_journal(filler, old_journals)?;
        self.until("the old journals to go", || {
            self.flush_all(filler)?;
            let journals = self.journals()?;
            Ok(!old_journals.iter().any(|old| journals.contains(old)))
        })?;
        self.until("the old tables to go", || {
            // A rotation is also what makes fjall delete tables nobody sees any more.
            self.flush_all(filler)?;
            only_current_tables(rewritten)
        })
    }

    fn journals(&self) -> Result<Vec<PathBuf>, StoreError> {
        let found = kept::journals(&self.dir.join(super::open::DB_DIR))
            .map_err(|e| StoreError::Io(e.to_string()))?;
        Ok(found.into_iter().map(|(path, _)| path).collect())
    }

    fn filler(&self) -> Result<Keyspace, StoreError> {
        let options = || KeyspaceCreateOptions::default().max_memtable_size(FILLER_MEMTABLE);
        self.keyspace(FILLER, options)
    }

    /// Tells fjall that nobody needs what was deleted before now.
    fn outlive_readers(&self, filler: &Keyspace) -> Result<(), StoreError> {
        let now = self.db.supervisor.snapshot_tracker.get();
        self.until("readers of an older moment", || {
            self.touch(filler)?;
            // A rotation moves fjall's mark of the oldest moment in use.
            self.flush(filler)?;
            Ok(self.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc() >= now)
        })
    }

    /// Writes a row nobody wants, and publishes, so that readers move on.
    fn touch(&self, filler: &Keyspace) -> Result<(), StoreError> {
        let turn = self.turn.lock();
        filler
            .insert([0], vec![0; FILLER_BYTES])
            .map_err(|e| self.poison(failure(e)))?;
        let head = self.published().head.clone();
        self.publish(head);
        drop(turn);
        Ok(())
    }

    fn seal_journal(&self, filler: &Keyspace, old: &[PathBuf]) -> Result<(), StoreError> {
        self.until("the journal to be sealed", || {
            self.touch(filler)?;
            let journals = self.journals()?;
            Ok(journals.iter().any(|journal| !old.contains(journal)))
        })
    }

    fn flush_all(&self, filler: &Keyspace) -> Result<(), StoreError> {
        let spaces: Vec<Keyspace> = self.spaces.read().open().cloned().collect();
        self.touch(filler)?;
        for keyspace in self.tables.all().into_iter().chain(&spaces).chain([filler]) {
            self.flush(keyspace)?;
        }
        Ok(())
    }

    fn flush(&self, keyspace: &Keyspace) -> Result<(), StoreError> {
        keyspace
            .rotate_memtable()
            .map_err(|e| self.poison(failure(e)))?;
        self.until("a memtable to be flushed", || {
            Ok(keyspace.sealed_memtable_count() == 0)
        })
    }

    fn until(
        &self,
        what: &str,
        mut done: impl FnMut() -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let started = Instant::now();
        while !done()? {
            self.usable()?;
            if started.elapsed() > PATIENCE {
                return Err(StoreError::Refused(format!(
                    "waited in vain for {what}: try again"
                )));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// Whether the tables on disk are the ones in use.
fn only_current_tables(keyspaces: &[Keyspace]) -> Result<bool, StoreError> {
    for keyspace in keyspaces {
        let tables = std::fs::read_dir(keyspace.path().join("tables"))
            .map_err(|e| StoreError::Io(e.to_string()))?;
        if tables.count() != keyspace.tree.table_count() {
            return Ok(false);
        }
    }
    Ok(true)
}
