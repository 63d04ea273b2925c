//! Where the log lives. The contract any store keeps:
//!
//! * `append` is all or nothing and durable when it returns `Ok`; nobody can read any of it before.
//! * `append` refuses when the head is not `expected` ([`StoreError::Fenced`]) and when a commit
//!   contradicts itself ([`StoreError::Refused`]); then nothing was written.
//! * Any other error is fatal: whether the commit is durable is unknown; stop the process and let
//!   opening decide. A writer that failed once fails for ever.
//! * When `append` returns, the head of the commit before it is durable in the head file: what
//!   opening cannot notice is at most the loss of the very last commit.
//! * A reader sees whole commits only, and one call sees one moment of the log.
//!
//! [`fjall::FjallStore`] keeps it on disk, [`memory::MemoryStore`] in memory for tests and the
//! simulator; `conformance` holds both to the same rules and `fault` makes them fail on demand.

mod check;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
mod durable;
#[cfg(any(test, feature = "testing"))]
pub mod fault;
pub mod fjall;
mod head_file;
mod keys;
mod lock;
pub mod memory;
mod opening;
pub mod stats;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::check::{MAX_KEY_BYTES, MAX_VALUE_BYTES, META_SPACE, TILE_BYTES};
use self::stats::StoreStats;
use crate::format::{hash::Hash, record::Record};

/// Everything one commit writes, atomically.
#[derive(Debug, Default)]
pub struct Commit {
    /// Seq of the last record before this commit (0 for an empty log).
    pub expected_seq: u64,
    /// The records, in order.
    pub records: Vec<NewRecord>,
    /// The signed checkpoint (C2SP note text) over the log including these records.
    pub checkpoint: String,
    /// Command index entries: (index key, answer row).
    pub commands: Vec<([u8; 16], CommandRow)>,
    /// Bodies to erase (seqs of earlier records).
    pub erase: Vec<u64>,
    /// Rows of projections and other derived data.
    pub rows: Vec<RowOp>,
    /// Completed 256-wide Merkle tiles: (level, index, 8192 bytes).
    pub tiles: Vec<(u8, u64, Vec<u8>)>,
}

/// A record with its index keys.
#[derive(Debug)]
pub struct NewRecord {
    /// Envelope and body.
    pub record: Record,
    /// Its seq.
    pub seq: u64,
    /// Its stream's name.
    pub stream: String,
    /// Its position in the stream.
    pub sseq: u64,
}

/// What a command id was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// First 16 bytes of the request's hash: the same id with another request is a conflict.
    pub request: [u8; 16],
    /// First seq the command made.
    pub first: u64,
    /// How many events it made.
    pub count: u32,
}

/// A space of derived rows: one per projection generation, plus [`META_SPACE`].
/// A handle of the open store, not something to keep on disk: names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Space(pub u16);

/// One change to a derived row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOp {
    /// Which space.
    pub space: Space,
    /// Key.
    pub key: Vec<u8>,
    /// New value, or none to delete.
    pub value: Option<Vec<u8>>,
}

/// Where a log ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Seq of the last record, 0 when empty.
    pub seq: u64,
    /// Chain hash of the last envelope, zeros when empty.
    pub hash: Hash,
    /// Newest checkpoint's note text, empty when the log is empty.
    pub checkpoint: String,
}

/// Why a store could not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else appended: the head is not what the writer thought.
    #[error("the log's head is {found}, not {expected}: another writer appended")]
    Fenced {
        /// What the writer thought.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// Another process holds the directory.
    #[error("{path} is in use by process {pid}")]
    Locked {
        /// The directory.
        path: String,
        /// The holder.
        pid: String,
    },
    /// The head file is newer than the log: acknowledged events are gone.
    #[error(
        "{missing} acknowledged event(s) are missing: {path}/head says {head}, the log ends at \
         {log}; restore a backup that has them{}", kept_note(.kept)
    )]
    HeadAhead {
        /// The directory; empty for a log that has none.
        path: String,
        /// What the head file says.
        head: u64,
        /// Where the log ends.
        log: u64,
        /// The difference.
        missing: u64,
        /// Where the journals were copied to before anything was opened; empty when they were not.
        kept: String,
    },
    /// There is a log, but no head file to hold it against.
    #[error(
        "{path} is missing, but the log ends at {log}: restore the file, or, if you know \
         why it is gone, accept the log as it is: minutebook serve --accept-missing-head, once"
    )]
    HeadMissing {
        /// Where the head file should be.
        path: String,
        /// Where the log ends.
        log: u64,
    },
    /// There is no log in the directory, and it was not to be created.
    #[error(
        "there is no log in {path}; starting the server once makes one: minutebook serve --data \
         {path}"
    )]
    NoLog {
        /// The directory.
        path: String,
    },
    /// The request contradicts itself or a limit; nothing was written and the writer is intact.
    #[error("refused: {0}")]
    Refused(String),
    /// What is stored contradicts itself.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The engine below failed.
    #[error("storage failed: {0}")]
    Io(String),
}

fn kept_note(kept: &str) -> String {
    if kept.is_empty() {
        return String::new();
    }
    format!("; the journals as they were found are kept in {kept}")
}

impl StoreError {
    /// The error with the directory it is about and what to do, where it does not say so yet.
    pub(crate) fn located(self, dir: &std::path::Path) -> Self {
        let dir = dir.display().to_string();
        match self {
            Self::Damaged(why) if !why.contains(&dir) => Self::Damaged(format!(
                "{dir}: {why}; keep a copy of it as it is, and restore a backup"
            )),
            Self::Io(why) if !why.contains(&dir) => Self::Io(format!(
                "{dir}: {why}; look after its disk (space, permissions, health) and start again"
            )),
            Self::HeadAhead {
                head,
                log,
                missing,
                kept,
                ..
            } => Self::HeadAhead {
                path: dir,
                head,
                log,
                missing,
                kept,
            },
            other @ (Self::Damaged(_)
            | Self::Io(_)
            | Self::Fenced { .. }
            | Self::Locked { .. }
            | Self::HeadMissing { .. }
            | Self::NoLog { .. }
            | Self::Refused(_)) => other,
        }
    }

    /// Whether nothing was written and the writer can go on.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Fenced { .. } | Self::Refused(_))
    }
}

/// The writing half: exactly one owner.
pub trait LogWriter: Send {
    /// Appends a commit.
    fn append(&mut self, commit: Commit) -> Result<(), StoreError>;
    /// Hands the newest signed checkpoint to the head file, after a commit; returns at once.
    /// The next `append` returns only when it is durable.
    fn record_head(&mut self, head: &Head) -> Result<(), StoreError>;
    /// What may run beside the writer, on other threads.
    fn maintenance(&self) -> Arc<dyn Maintenance>;
    /// A clean stop: the head file is brought up to date and says that the stop was clean.
    /// Later appends fail. Without it the next opening treats the stop as a crash.
    fn stop(&mut self) -> Result<(), StoreError>;
}

/// Work on derived rows beside the writer: rebuilds and erasure. Never touches records.
pub trait Maintenance: Send + Sync {
    /// Writes derived rows, atomically, without waiting for the disk: readers see them at once,
    /// a power cut may take back the newest calls (never an older one alone).
    fn append_rows(&self, ops: Vec<RowOp>) -> Result<(), StoreError>;
    /// Writes many rows of one space, in ascending order of their keys: all or nothing, durable
    /// when it returns, and past whatever makes small writes safe, so that it is the fastest way to
    /// fill a space. Only for a space to which nothing else was written since it was created.
    fn fill_space(&self, ops: Vec<RowOp>) -> Result<(), StoreError>;
    /// Makes all rows so far durable.
    fn persist(&self) -> Result<(), StoreError>;
    /// Deletes a space with all its rows; its handles are refused from then on.
    fn drop_space(&self, name: &str) -> Result<(), StoreError>;
    /// Makes erased bodies, and deleted rows of `spaces`, leave the disk: see the store's own
    /// documentation for what that covers. Slow: it rewrites the bodies and these spaces.
    fn compact_erased(&self, spaces: &[Space]) -> Result<(), StoreError>;
}

/// A page of records, oldest first.
pub type Page = Vec<(u64, Record)>;

/// Envelopes of a page of records, with their seqs, oldest first.
pub type Envelopes = Vec<(u64, Vec<u8>)>;

/// A derived row: key and value.
pub type Row = (Vec<u8>, Vec<u8>);

/// Rows read at a time where all are wanted: one may be large.
const EACH_ROWS: usize = 256;

/// The reading half: cheap to clone, any thread, sees only what is durable.
pub trait LogReader: Send + Sync {
    /// Where the log ends.
    fn head(&self) -> Result<Head, StoreError>;
    /// Up to `limit` records from `seq` on.
    fn read(&self, seq: u64, limit: usize) -> Result<Page, StoreError>;
    /// Up to `limit` records of a stream from position `sseq` on.
    fn read_stream(&self, stream: &str, sseq: u64, limit: usize) -> Result<Page, StoreError>;
    /// [`Self::read_stream`] without the bodies, which may be large.
    fn read_stream_envelopes(
        &self,
        stream: &str,
        sseq: u64,
        limit: usize,
    ) -> Result<Envelopes, StoreError> {
        let page = self.read_stream(stream, sseq, limit)?;
        let envelopes = page.into_iter().map(|(seq, record)| (seq, record.envelope));
        Ok(envelopes.collect())
    }
    /// The signed checkpoint of the smallest commit whose size is at least `size`.
    fn checkpoint_at_or_after(&self, size: u64) -> Result<Option<(u64, String)>, StoreError>;
    /// A complete tile.
    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError>;
    /// What a command id was answered with.
    fn command(&self, key: &[u8; 16]) -> Result<Option<CommandRow>, StoreError>;
    /// Opens (or creates) a space of rows. Names: 1 to 64 of `a-z`, `0-9`, `.`, `_`, `-`.
    fn space(&self, name: &str) -> Result<Space, StoreError>;
    /// The names of all spaces there are, sorted, [`META_SPACE`] among them.
    fn spaces(&self) -> Result<Vec<String>, StoreError>;
    /// One derived row.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
    /// Derived rows with `from <= key < to`, in key order or reversed, up to `limit`.
    fn range(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError>;
    /// Shows all derived rows with `from <= key < to`, in key order. Between two of them the rows
    /// may change, unless the reader is pinned.
    fn each_row(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), StoreError> {
        let mut from = from.to_vec();
        loop {
            let page = self.range(space, &from, to, false, EACH_ROWS)?;
            for (key, value) in &page {
                visit(key, value);
            }
            match page.last() {
                Some((last, _)) if page.len() == EACH_ROWS => {
                    from.clone_from(last);
                    from.push(0);
                }
                Some(_) | None => return Ok(()),
            }
        }
    }
    /// A reader that keeps seeing the log and its rows as they are now. What is deleted from now
    /// on is only overwritten on the disk once it is gone.
    fn pinned(&self) -> Arc<dyn LogReader>;
    /// Figures for `/metrics`.
    fn stats(&self) -> StoreStats;
}
