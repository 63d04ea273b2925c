//! Writing derived rows beside the writer.

use fjall::{OwnedWriteBatch, PersistMode};

use super::{Shared, failure, spaces::Spaces};
use crate::store::{Maintenance, RowOp, Space, StoreError, check, keys::view};

/// Adds rows to a batch; on a refusal the batch must not be used.
pub(super) fn add_rows(
    batch: &mut OwnedWriteBatch,
    spaces: &Spaces,
    meta: &fjall::Keyspace,
    rows: Vec<RowOp>,
) -> Result<(), StoreError> {
    for op in rows {
        let keyspace = spaces.keyspace(op.space)?;
        if view::is_own_key(&op.key) && keyspace == meta {
            return Err(StoreError::Refused("a key of the store's own".to_owned()));
        }
        match op.value {
            Some(value) => batch.insert(keyspace, op.key, value),
            None => batch.remove(keyspace, op.key),
        }
    }
    Ok(())
}

impl Maintenance for Shared {
    fn append_rows(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        self.usable()?;
        ops.iter().try_for_each(check::row)?;
        let mut batch = OwnedWriteBatch::with_capacity(self.db.clone(), ops.len())
            .durability(Some(PersistMode::Buffer));
        add_rows(&mut batch, &self.spaces.read(), &self.tables.meta, ops)?;
        let turn = self.turn.lock();
        batch.commit().map_err(|e| self.poison(failure(e)))?;
        let head = self.published().head.clone();
        self.publish(head);
        drop(turn);
        Ok(())
    }

    /// Writes tables as a flush would, without journal and memtable. What a memtable of the space
    /// held would be flushed too, behind the back of whoever counts memtables' bytes: therefore
    /// only spaces that have none.
    fn fill_space(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        self.usable()?;
        check::filling(&ops)?;
        let Some(first) = ops.first() else {
            return Ok(());
        };
        let keyspace = self.spaces.read().keyspace(first.space)?.clone();
        if keyspace == self.tables.meta {
            return Err(StoreError::Refused(
                "the meta space is not filled".to_owned(),
            ));
        }
        let poison = |e| self.poison(failure(e));
        let mut filling = keyspace.start_ingestion().map_err(poison)?;
        for RowOp { key, value, .. } in ops {
            match value {
                Some(value) => filling.write(key, value),
                None => filling.write_tombstone(key),
            }
            .map_err(poison)?;
        }
        let turn = self.turn.lock();
        filling.finish().map_err(poison)?;
        let head = self.published().head.clone();
        self.publish(head);
        drop(turn);
        Ok(())
    }

    fn persist(&self) -> Result<(), StoreError> {
        self.usable()?;
        self.db
            .persist(PersistMode::SyncData)
            .map_err(|e| self.poison(failure(e)))
    }

    fn drop_space(&self, name: &str) -> Result<(), StoreError> {
        self.usable()?;
        Self::drop_space(self, name)
    }

    fn compact_erased(&self, spaces: &[Space]) -> Result<(), StoreError> {
        self.usable()?;
        self.erase_from_disk(spaces)
    }
}
