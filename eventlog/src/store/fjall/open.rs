//! Opening, step by step. Nothing is believed before it is compared with the head file.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use fjall::Database;
use parking_lot::{Mutex, RwLock};

use super::{
    FjallReader, FjallWriter, Published, Shared, checks, failure, kept, kept::Kept, layout,
    spaces::Spaces, tuning, tuning::Tables,
};
use crate::store::{
    Head, StoreError,
    head_file::{self, HeadFile, RunState, SavedHead},
    keys::head::HeadRow,
    lock::DirLock,
    opening,
    stats::Stopwatch,
};

const HEAD_FILE: &str = "head";
pub(super) const DB_DIR: &str = "db";
/// fjall's own mark of a database that was made completely.
const DB_MARK: &str = "version";

/// How to open. Commands beside the server open with the same lock, and stop the writer when they
/// are done: a writer that is only dropped counts as a crash.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of the block cache.
    pub cache_bytes: u64,
    /// Make the directory and an empty log if there is none. Commands that only look set it off.
    pub create: bool,
    /// Take the log as it is although the head file is missing or unreadable. Events that were
    /// lost before this go unnoticed: for an operator who knows why it is gone.
    pub accept_missing_head: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 32 << 20,
            create: true,
            accept_missing_head: false,
        }
    }
}

/// The log on disk.
#[derive(Debug)]
pub struct FjallStore;

impl FjallStore {
    /// Opens the log in a directory, alone: the lock is held until both halves are dropped.
    ///
    /// 1. Take the lock.
    /// 2. Read the head file.
    /// 3. After an unclean stop, copy the journals.
    /// 4. Open fjall, which may cut them.
    /// 5. Check that the head is whole, compare it with the head file
    ///    ([`StoreError::HeadAhead`] and the other cases), and look for gaps before it.
    /// 6. Write a new head file, and remove the copy.
    pub fn open(
        dir: &Path,
        options: &Options,
    ) -> Result<(FjallWriter, Arc<FjallReader>), StoreError> {
        let lock = DirLock::take(dir, options.create)?;
        let db_dir = dir.join(DB_DIR);
        let saved = saved_head(dir, options)?;
        layout::check(&db_dir)?;
        let exists = db_dir.join(DB_MARK).is_file();
        if !exists {
            if saved.as_ref().is_some_and(|saved| saved.head.seq > 0) {
                layout::check_mark(&db_dir, DB_MARK)?;
            }
            may_create(dir, options, saved.as_ref()).map_err(|e| e.located(dir))?;
        }
        let unclean = saved
            .as_ref()
            .is_none_or(|saved| saved.state == RunState::Running);
        let journals = if exists {
            find_journals(&db_dir)?
        } else {
            Vec::new()
        };
        let mut kept = Kept::find(dir);
        if exists && unclean {
            kept.make(&journals);
        }
        let opened = Opened::open(dir, &db_dir, options, saved.as_ref(), &journals)
            .map_err(|e| name_kept(e.located(dir), &kept))?;
        let store = opened.start(dir, lock)?;
        kept.remove();
        Ok(store)
    }
}

fn saved_head(dir: &Path, options: &Options) -> Result<Option<SavedHead>, StoreError> {
    match head_file::read(&dir.join(HEAD_FILE)) {
        Err(StoreError::Damaged(_)) if options.accept_missing_head => Ok(None),
        Err(StoreError::Damaged(why)) => Err(StoreError::Damaged(format!(
            "{why}; restore the file, or accept the log as it is: minutebook serve \
             --accept-missing-head, once"
        ))),
        read => read,
    }
}

/// Without a database: is a new one in order?
fn may_create(dir: &Path, options: &Options, saved: Option<&SavedHead>) -> Result<(), StoreError> {
    match saved {
        Some(saved) if saved.head.seq > 0 => {
            opening::compare(Some(&saved.head), &checks::empty(), |_| {
                Err(StoreError::Damaged("the log is empty".to_owned()))
            })
        }
        _ if !options.create => Err(StoreError::NoLog {
            path: dir.display().to_string(),
        }),
        _ => Ok(()),
    }
}

fn find_journals(db_dir: &Path) -> Result<Vec<(PathBuf, u64)>, StoreError> {
    kept::journals(db_dir).map_err(|e| StoreError::Io(format!("{}: {e}", db_dir.display())))
}

/// Says in an error where the journals were copied to.
fn name_kept(mut error: StoreError, kept: &Kept) -> StoreError {
    let copy = kept.secure();
    if let StoreError::HeadAhead { kept, .. } = &mut error {
        *kept = copy;
    } else if let StoreError::Damaged(why) = &mut error
        && !copy.is_empty()
    {
        why.push_str("; the journals as they were found are kept in ");
        why.push_str(&copy);
    }
    error
}

/// A database that passed.
struct Opened {
    db: Database,
    tables: Tables,
    head: Head,
    row: Option<HeadRow>,
}

impl Opened {
    fn open(
        dir: &Path,
        db_dir: &Path,
        options: &Options,
        saved: Option<&SavedHead>,
        journals: &[(PathBuf, u64)],
    ) -> Result<Self, StoreError> {
        let db = database(db_dir, options)?;
        let saved_seq = saved.map_or(0, |saved| saved.head.seq);
        checks::all_there(&db, saved_seq)?;
        let tables = Tables::open(&db)?;
        let (head, row) = checks::log_head(&tables)?;
        if saved.is_none() && head.seq > 0 && !options.accept_missing_head {
            return Err(StoreError::HeadMissing {
                path: dir.join(HEAD_FILE).display().to_string(),
                log: head.seq,
            });
        }
        opening::compare(saved.map(|saved| &saved.head), &head, |seq| {
            checks::hash_at(&tables, seq)
        })?;
        checks::no_gaps(&tables.envelopes, head.seq, journals)?;
        Ok(Self {
            db,
            tables,
            head,
            row,
        })
    }

    fn start(
        self,
        dir: &Path,
        lock: DirLock,
    ) -> Result<(FjallWriter, Arc<FjallReader>), StoreError> {
        let heads = Arc::new(Stopwatch::default());
        let head_file = HeadFile::start(&dir.join(HEAD_FILE), &self.head, Arc::clone(&heads))?;
        let head = Arc::new(self.head);
        let published = Published {
            head: Arc::clone(&head),
            snapshot: self.db.snapshot(),
        };
        let shared = Arc::new(Shared {
            published: RwLock::new(Arc::new(published)),
            spaces: RwLock::new(Spaces::default()),
            tables: self.tables,
            turn: Mutex::new(()),
            failed: OnceLock::new(),
            commits: Stopwatch::default(),
            heads,
            head_waits: Stopwatch::default(),
            db: self.db,
            dir: dir.to_owned(),
            _lock: lock,
        });
        let writer = FjallWriter {
            shared: Arc::clone(&shared),
            head,
            row: self.row,
            head_file: Some(head_file),
        };
        Ok((
            writer,
            Arc::new(FjallReader {
                shared,
                pinned: None,
            }),
        ))
    }
}

/// Opens fjall. It panics over damage it does not expect, and where it can still be caught that is
/// damage like any other (some of it aborts the process: [`layout::check`] looks first).
fn database(path: &Path, options: &Options) -> Result<Database, StoreError> {
    layout::check(path)?;
    match catch_unwind(AssertUnwindSafe(|| tuning::database(path, options))) {
        Ok(opened) => opened.map_err(failure),
        Err(_) => Err(StoreError::Damaged(
            "the database contradicts itself (it panicked while it was opened)".to_owned(),
        )),
    }
}
