//! The writing half.

use std::{sync::Arc, time::Instant};

use fjall::{OwnedWriteBatch, PersistMode};

use super::{Shared, bulk, failure, tuning};
use crate::{
    format::hash::chain_hash,
    store::{
        Commit, Head, LogWriter, Maintenance, NewRecord, StoreError, check,
        head_file::HeadFile,
        keys::{
            body, checkpoint, command, envelope,
            head::{self, HeadRow},
            stream, tile,
        },
    },
};

/// The writing half of a log on disk. Dropping it without [`LogWriter::stop`] is a crash: nothing
/// acknowledged is lost, and the next opening looks closer.
pub struct FjallWriter {
    pub(super) shared: Arc<Shared>,
    pub(super) head: Arc<Head>,
    /// The head's place in the other keyspaces; none when the log is empty.
    pub(super) row: Option<HeadRow>,
    /// None once stopped.
    pub(super) head_file: Option<HeadFile>,
}

impl FjallWriter {
    fn usable(&self) -> Result<&HeadFile, StoreError> {
        self.shared.usable()?;
        self.head_file
            .as_ref()
            .ok_or_else(|| StoreError::Io("the store was stopped".to_owned()))
    }

    /// The commit as one batch, and the head after it. Nothing is written.
    fn batch(
        &self,
        commit: Commit,
    ) -> Result<(OwnedWriteBatch, Arc<Head>, Option<HeadRow>), StoreError> {
        let tables = &self.shared.tables;
        let rows = 4 * commit.records.len() + commit.rows.len() + commit.commands.len() + 4;
        let mut batch = OwnedWriteBatch::with_capacity(self.shared.db.clone(), rows)
            .durability(Some(PersistMode::SyncData));
        let mut row = self.row;
        for seq in commit.erase {
            batch.remove(&tables.bodies, body::ser_key(seq));
            row = row.map(|row| HeadRow {
                has_body: row.has_body && row.seq != seq,
                ..row
            });
        }
        let head = match commit.records.last() {
            None => Arc::clone(&self.head),
            Some(last) => {
                batch.insert(
                    &tables.checkpoints,
                    checkpoint::ser_key(last.seq),
                    commit.checkpoint.as_str(),
                );
                let (head, last_row) = end(last, commit.checkpoint);
                row = Some(last_row);
                head
            }
        };
        for new in commit.records {
            self.add_record(&mut batch, new);
        }
        for (key, answer) in &commit.commands {
            batch.insert(&tables.commands, *key, command::ser_value(answer));
        }
        for (level, index, hashes) in commit.tiles {
            batch.insert(&tables.tiles, tile::ser_key(level, index), hashes);
        }
        bulk::add_rows(
            &mut batch,
            &self.shared.spaces.read(),
            &tables.meta,
            commit.rows,
        )?;
        if let Some(row) = &row {
            batch.insert(&tables.meta, head::KEY, head::ser_value(row));
        }
        Ok((batch, head, row))
    }

    fn add_record(&self, batch: &mut OwnedWriteBatch, new: NewRecord) {
        let tables = &self.shared.tables;
        if let Some(salted) = &new.record.body {
            batch.insert(
                &tables.bodies,
                body::ser_key(new.seq),
                body::ser_value(salted),
            );
        }
        let place = stream::ser_key(stream::prefix(&new.stream), new.sseq);
        batch.insert(&tables.streams, place, stream::ser_value(new.seq));
        batch.insert(
            &tables.envelopes,
            envelope::ser_key(new.seq),
            new.record.envelope,
        );
    }

    /// **The commit point.** Afterwards readers see the commit, and the head file knows the commit
    /// before it.
    fn commit(&mut self, batch: OwnedWriteBatch, head: Arc<Head>) -> Result<(), StoreError> {
        let started = Instant::now();
        self.let_flushes_catch_up();
        let turn = self.shared.turn.lock();
        batch.commit().map_err(failure)?;
        self.shared.publish(head);
        drop(turn);
        let committed = Instant::now();
        self.shared.commits.record(committed - started);
        self.usable()?.settle()?;
        self.shared.head_waits.record(committed.elapsed());
        Ok(())
    }
}

impl FjallWriter {
    /// Slows down a little rather than run into fjall's own, coarse brake.
    fn let_flushes_catch_up(&self) {
        let started = Instant::now();
        let bytes = || self.shared.db.write_buffer_size();
        while started.elapsed() < tuning::longest_wait(bytes()) {
            std::thread::sleep(tuning::WAIT_STEP);
        }
    }
}

/// The head a commit with this last record leaves.
fn end(last: &NewRecord, checkpoint: String) -> (Arc<Head>, HeadRow) {
    let hash = chain_hash(&last.record.envelope);
    let row = HeadRow {
        seq: last.seq,
        hash,
        stream_key: stream::ser_key(stream::prefix(&last.stream), last.sseq),
        has_body: last.record.body.is_some(),
    };
    let head = Head {
        seq: last.seq,
        hash,
        checkpoint,
    };
    (Arc::new(head), row)
}

impl LogWriter for FjallWriter {
    fn append(&mut self, commit: Commit) -> Result<(), StoreError> {
        self.usable()?;
        check::commit(&commit, &self.head)?;
        let (batch, head, row) = self.batch(commit)?;
        self.commit(batch, Arc::clone(&head))
            .map_err(|e| self.shared.poison(e))?;
        self.head = head;
        self.row = row;
        Ok(())
    }

    fn record_head(&mut self, head: &Head) -> Result<(), StoreError> {
        match self.usable()?.record(head) {
            Err(e) if !e.is_refusal() => Err(self.shared.poison(e)),
            done => done,
        }
    }

    fn maintenance(&self) -> Arc<dyn Maintenance> {
        Arc::clone(&self.shared) as Arc<dyn Maintenance>
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        self.usable()?;
        self.shared.persist()?;
        match self.head_file.take() {
            Some(file) => file.stop(&self.head).map_err(|e| self.shared.poison(e)),
            None => Ok(()),
        }
    }
}
