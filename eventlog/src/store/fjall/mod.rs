//! The log on disk, in fjall.
//!
//! ```text
//! DIR/LOCK            held while open; the holder's pid
//! DIR/head            the head file: newest signed checkpoint, outside the database
//! DIR/db/             fjall: envelopes, bodies, streams, commands, checkpoints, tiles, meta, v.*
//! DIR/journals-kept/  only after an unclean stop that did not end well: fjall's journals as they
//!                     were before they were opened (opening may cut them)
//! ```
//!
//! Invariants
//! * One commit is one fjall batch with `SyncData`, all keyspaces together: it is there or not.
//! * Readers read through a snapshot that is published after the commit is durable, together with
//!   the head: they never see a part of a commit, nor more than the head says.
//! * Everything of the log is written once under a new key; only bodies are ever deleted.
//! * `clear()` is never used; a rebuilt projection gets a new space.
//!
//! fjall is pinned exactly and two of its undocumented doors are used, both only for erasure:
//! `rotate_memtable`/`major_compact` and the oldest snapshot still open.

mod bulk;
mod checks;
mod erase;
mod kept;
mod layout;
mod numbers;
mod open;
mod reader;
mod spaces;
#[cfg(any(test, feature = "testing"))]
pub mod tamper;
mod tuning;
mod writer;

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use parking_lot::{Mutex, RwLock};

pub use self::{
    open::{FjallStore, Options},
    reader::FjallReader,
    writer::FjallWriter,
};
use self::{spaces::Spaces, tuning::Tables};
use super::{Head, StoreError, lock::DirLock, stats::Stopwatch};

/// What the halves of an open store share. Fields are dropped in this order: the lock goes last.
struct Shared {
    /// What readers see.
    published: RwLock<Arc<Published>>,
    spaces: RwLock<Spaces>,
    tables: Tables,
    /// Held while a batch is committed and published, so that what readers see is whole batches.
    turn: Mutex<()>,
    /// Set by the first failure of a write: what is on the disk is unknown from then on.
    failed: OnceLock<String>,
    commits: Stopwatch,
    heads: Arc<Stopwatch>,
    head_waits: Stopwatch,
    db: fjall::Database,
    dir: PathBuf,
    _lock: DirLock,
}

/// One moment of the log.
struct Published {
    head: Arc<Head>,
    snapshot: fjall::Snapshot,
}

impl Shared {
    fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.read())
    }

    /// Shows readers everything committed so far. Only under `turn`.
    fn publish(&self, head: Arc<Head>) {
        let next = Arc::new(Published {
            head,
            snapshot: self.db.snapshot(),
        });
        let before = std::mem::replace(&mut *self.published.write(), next);
        // Dropped outside the lock.
        drop(before);
    }

    fn usable(&self) -> Result<(), StoreError> {
        match self.failed.get() {
            Some(why) => Err(StoreError::Io(format!("the store failed before: {why}"))),
            None => Ok(()),
        }
    }

    /// An error with where it was.
    fn located(&self, error: StoreError) -> StoreError {
        error.located(&self.dir)
    }

    /// Remembers a fatal error.
    fn poison(&self, error: StoreError) -> StoreError {
        let error = self.located(error);
        // Only the first failure is kept: the others follow from it.
        drop(self.failed.set(error.to_string()));
        error
    }
}

/// Says what fjall's error means for us.
fn failure(error: fjall::Error) -> StoreError {
    use fjall::{Error, LsmError};
    use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    let damage = format!("the database says {error:?}");
    if let Error::Io(e) | Error::Storage(LsmError::Io(e)) = error {
        // What the database looks for it has made: where it is missing, somebody took it away.
        if matches!(e.kind(), InvalidData | NotFound | UnexpectedEof) {
            return StoreError::Damaged(damage);
        }
        return StoreError::Io(e.to_string());
    }
    if matches!(error, Error::Poisoned) {
        return StoreError::Io("an earlier write failed".to_owned());
    }
    if matches!(error, Error::KeyspaceDeleted) {
        return StoreError::Refused("the space was dropped".to_owned());
    }
    if let Error::JournalRecovery(why) = error {
        return StoreError::Damaged(format!("a journal cannot be read back: {why:?}"));
    }
    StoreError::Damaged(damage)
}
