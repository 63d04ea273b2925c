//! What the offline commands stand on: a data directory opened alone, read, and let go.
//!
//! Invariants
//! * Nothing here needs the arbiter's key: reading, exporting and rebuilding sign nothing.
//! * The directory is never created, and always let go with a clean stop.
//! * No axum, no clap, no terminal: HTTP streams the same bundles ([`export`]).

pub mod bisect;
pub mod display;
pub mod export;
pub mod moment;
pub mod predicate;
pub mod receipt;
pub mod records;
pub mod step;
pub mod streams;

mod error;
mod ledger;
mod sink;
mod walk;

pub use error::OfflineError;
pub use sink::Lines;

use std::{path::Path, sync::Arc};

use minutebook_eventlog::store::{
    Head, LogReader, LogWriter,
    fjall::{FjallStore, FjallWriter, Options},
};

use crate::generations::Access;

/// A log opened by a command.
pub struct OpenLog {
    /// Reading, and writing rows.
    pub access: Access,
    /// Where the log ends.
    pub head: Head,
    writer: FjallWriter,
}

impl OpenLog {
    /// Opens the log in a directory, runs `work`, and lets go of the directory again.
    pub fn with<T, E: From<OfflineError>>(
        data: &Path,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut log = Self::open(data)?;
        let done = work(&log);
        let stopped = log.writer.stop().map_err(OfflineError::from);
        let done = done?;
        stopped?;
        Ok(done)
    }

    fn open(data: &Path) -> Result<Self, OfflineError> {
        let options = Options {
            create: false,
            ..Options::default()
        };
        let (writer, reader) = FjallStore::open(data, &options)?;
        let head = reader.head()?;
        let reader: Arc<dyn LogReader> = reader;
        let access = Access {
            reader,
            maintenance: writer.maintenance(),
        };
        Ok(Self {
            access,
            head,
            writer,
        })
    }

    /// The reading half.
    pub fn reader(&self) -> &dyn LogReader {
        &*self.access.reader
    }
}
