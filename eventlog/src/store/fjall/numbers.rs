//! Making and dropping keyspaces so that none is lost.
//!
//! fjall 3.1.13 counts on from the newest write it finds in its journals and tables when it is
//! opened, but not from what it noted when it dropped a keyspace, and gives numbers of dropped
//! keyspaces again. So after a drop, a reopening and a creation the note "this number is dropped"
//! can be newer than the new keyspace of that number: at the next opening the keyspace is gone,
//! with its rows, or opening panics. Hence here
//! * a drop is followed by a durable write, which is newer than the note;
//! * should the process die between the two, [`STEPS`] writes before every creation are.

use fjall::{Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use super::{Shared, failure};
use crate::store::StoreError;

/// A row of the store's own in `meta`, written again and again; its value says nothing.
const KEY: &[u8] = b"\0steps";
/// A drop takes two steps of fjall's count. Some more cost nothing.
const STEPS: usize = 8;

impl Shared {
    /// The keyspace of this name, made if it is not there.
    pub(super) fn keyspace(
        &self,
        name: &str,
        options: impl FnOnce() -> KeyspaceCreateOptions,
    ) -> Result<Keyspace, StoreError> {
        if !self.db.keyspace_exists(name) {
            for _ in 0..STEPS {
                self.tables.meta.insert(KEY, []).map_err(failure)?;
            }
        }
        self.db.keyspace(name, options).map_err(failure)
    }

    /// Drops a keyspace for good.
    pub(super) fn delete_keyspace(&self, keyspace: Keyspace) -> Result<(), StoreError> {
        self.db.delete_keyspace(keyspace).map_err(failure)?;
        let mut batch = OwnedWriteBatch::with_capacity(self.db.clone(), 1)
            .durability(Some(PersistMode::SyncData));
        batch.insert(&self.tables.meta, KEY, []);
        batch.commit().map_err(failure)
    }
}
