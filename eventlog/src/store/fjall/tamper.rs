//! The database as whoever holds the disk sees it: any row of any table, read and written without
//! a rule. For tests of what is noticed afterwards.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{failure, tuning};
use crate::store::{Row, StoreError};

/// The database of a directory whose server is stopped.
pub struct Disk {
    db: Database,
}

impl Disk {
    /// Opens it, past every lock and check.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let options = super::Options::default();
        let db = tuning::database(&dir.join("db"), &options).map_err(failure)?;
        Ok(Self { db })
    }

    fn table(&self, table: &str) -> Result<Keyspace, StoreError> {
        let options = KeyspaceCreateOptions::default;
        self.db.keyspace(table, options).map_err(failure)
    }

    /// All rows of a table (`envelopes`, `bodies`, `streams`, `v.rooms.g1` …) in key order.
    pub fn rows(&self, table: &str) -> Result<Vec<Row>, StoreError> {
        let rows = self.table(table)?.iter();
        rows.map(|guard| {
            let (key, value) = guard.into_inner().map_err(failure)?;
            Ok((key.to_vec(), value.to_vec()))
        })
        .collect()
    }

    /// Writes a row, or deletes it, at once and for good.
    pub fn put(&self, table: &str, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        let table = self.table(table)?;
        match value {
            Some(value) => table.insert(key, value).map_err(failure)?,
            None => table.remove(key).map_err(failure)?,
        }
        self.db.persist(PersistMode::SyncAll).map_err(failure)
    }
}
