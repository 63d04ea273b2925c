//! The reading half: every call reads one published moment.

use std::{ops::RangeInclusive, sync::Arc};

use fjall::{Keyspace, Readable, UserValue};

use super::{Published, Shared, failure};
use crate::{
    format::record::Record,
    store::{
        CommandRow, Head, LogReader, Page, Row, Space, StoreError, StoreStats,
        keys::{body, checkpoint, command, envelope, stream, tile, view},
    },
};

/// Up to this many records are fetched one by one: cheaper than setting up two scans.
const FEW: usize = 4;
/// How much room a page gets before it is known how long it will be.
const ROOM: usize = 1024;

/// The reading half of a log on disk.
#[derive(Clone)]
pub struct FjallReader {
    pub(super) shared: Arc<Shared>,
}

impl Published {
    fn get(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<UserValue>, StoreError> {
        self.snapshot.get(keyspace, key).map_err(failure)
    }

    fn record(&self, shared: &Shared, seq: u64) -> Result<Record, StoreError> {
        let envelope = self
            .get(&shared.tables.envelopes, &envelope::ser_key(seq))?
            .ok_or_else(|| missing(seq))?;
        let body = self.get(&shared.tables.bodies, &body::ser_key(seq))?;
        Ok(Record {
            envelope: envelope.to_vec(),
            body: body.map(|bytes| body::deser_value(&bytes)).transpose()?,
        })
    }

    /// Envelopes and bodies side by side; a body that is not there was erased.
    fn scan(&self, shared: &Shared, seqs: RangeInclusive<u64>) -> Result<Page, StoreError> {
        let keys = envelope::ser_key(*seqs.start())..=envelope::ser_key(*seqs.end());
        let envelopes = self.snapshot.range(&shared.tables.envelopes, keys.clone());
        let mut bodies = self.snapshot.range(&shared.tables.bodies, keys);
        let mut next_body = None;
        let mut page = Page::with_capacity(ROOM.min(span(&seqs)));
        for (expected, guard) in seqs.clone().zip(envelopes) {
            let (key, envelope) = guard.into_inner().map_err(failure)?;
            if envelope::deser_key(&key)? != expected {
                return Err(missing(expected));
            }
            while next_body.as_ref().is_none_or(|(seq, _)| *seq < expected) {
                let Some(guard) = bodies.next() else { break };
                let (key, value) = guard.into_inner().map_err(failure)?;
                next_body = Some((body::deser_key(&key)?, value));
            }
            let body = next_body.take_if(|(seq, _)| *seq == expected);
            page.push((
                expected,
                Record {
                    envelope: envelope.to_vec(),
                    body: body
                        .map(|(_, value)| body::deser_value(&value))
                        .transpose()?,
                },
            ));
        }
        match page.last() {
            Some((last, _)) if last == seqs.end() => Ok(page),
            Some((last, _)) => Err(missing(last + 1)),
            None => Err(missing(*seqs.start())),
        }
    }
}

fn span(seqs: &RangeInclusive<u64>) -> usize {
    usize::try_from(seqs.end() - seqs.start())
        .unwrap_or(usize::MAX)
        .saturating_add(1)
}

fn missing(seq: u64) -> StoreError {
    StoreError::Damaged(format!(
        "event {seq} is missing although the log goes on after it"
    ))
}

impl LogReader for FjallReader {
    fn head(&self) -> Result<Head, StoreError> {
        Ok(Head::clone(&self.shared.published().head))
    }

    fn read(&self, seq: u64, limit: usize) -> Result<Page, StoreError> {
        let at = self.shared.published();
        let first = seq.max(1);
        let count = u64::try_from(limit).unwrap_or(u64::MAX);
        let last = at.head.seq.min(first.saturating_add(count) - 1);
        if limit == 0 || first > last {
            return Ok(Page::new());
        }
        if span(&(first..=last)) > FEW {
            return at.scan(&self.shared, first..=last);
        }
        (first..=last)
            .map(|seq| Ok((seq, at.record(&self.shared, seq)?)))
            .collect()
    }

    fn read_stream(&self, stream: &str, sseq: u64, limit: usize) -> Result<Page, StoreError> {
        let at = self.shared.published();
        let prefix = stream::prefix(stream);
        let keys = stream::ser_key(prefix, sseq)..=stream::ser_key(prefix, u64::MAX);
        let index = at.snapshot.range(&self.shared.tables.streams, keys);
        index
            .take(limit)
            .map(|guard| {
                let at_seq = stream::deser_value(&guard.value().map_err(failure)?)?;
                Ok((at_seq, at.record(&self.shared, at_seq)?))
            })
            .collect()
    }

    fn checkpoint_at_or_after(&self, size: u64) -> Result<Option<(u64, String)>, StoreError> {
        let at = self.shared.published();
        let keys = checkpoint::ser_key(size)..=checkpoint::ser_key(u64::MAX);
        let mut found = at.snapshot.range(&self.shared.tables.checkpoints, keys);
        let Some(guard) = found.next() else {
            return Ok(None);
        };
        let (key, note) = guard.into_inner().map_err(failure)?;
        Ok(Some((
            checkpoint::deser_key(&key)?,
            checkpoint::deser_value(&note)?,
        )))
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let at = self.shared.published();
        at.get(&self.shared.tables.tiles, &tile::ser_key(level, index))?
            .map(|hashes| tile::deser_value(&hashes))
            .transpose()
    }

    fn command(&self, key: &[u8; 16]) -> Result<Option<CommandRow>, StoreError> {
        let at = self.shared.published();
        at.get(&self.shared.tables.commands, key)?
            .map(|row| command::deser_value(&row))
            .transpose()
    }

    fn space(&self, name: &str) -> Result<Space, StoreError> {
        self.shared.space(name)
    }

    fn spaces(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.shared.space_names())
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let spaces = self.shared.spaces.read();
        let keyspace = spaces.keyspace(space)?.clone();
        drop(spaces);
        if key.is_empty() || (view::is_own_key(key) && keyspace == self.shared.tables.meta) {
            return Ok(None);
        }
        let found = self.shared.published().get(&keyspace, key)?;
        Ok(found.map(|value| value.to_vec()))
    }

    fn range(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let keyspace = self.shared.spaces.read().keyspace(space)?.clone();
        let own =
            keyspace == self.shared.tables.meta && (from.is_empty() || view::is_own_key(from));
        let from = if own { view::FIRST_FREE_KEY } else { from };
        if from >= to {
            return Ok(Vec::new());
        }
        let mut rows = self.shared.published().snapshot.range(&keyspace, from..to);
        let mut next = || {
            if reverse {
                rows.next_back()
            } else {
                rows.next()
            }
        };
        std::iter::from_fn(&mut next)
            .take(limit)
            .map(|guard| {
                let (key, value) = guard.into_inner().map_err(failure)?;
                Ok((key.to_vec(), value.to_vec()))
            })
            .collect()
    }

    fn stats(&self) -> StoreStats {
        self.shared.stats()
    }
}

impl Shared {
    fn stats(&self) -> StoreStats {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        StoreStats {
            commits: self.commits.read(),
            heads: self.heads.read(),
            head_waits: self.head_waits.read(),
            journals: count(self.db.journal_count()),
            journal_bytes: self.db.journal_disk_space().unwrap_or_default(),
            disk_bytes: self.db.disk_space().unwrap_or_default(),
            memtable_bytes: self.db.write_buffer_size(),
            flushes_waiting: count(self.db.outstanding_flushes()),
            compactions_running: count(self.db.active_compactions()),
            compactions_done: count(self.db.compactions_completed()),
            compaction_micros: u64::try_from(self.db.time_compacting().as_micros())
                .unwrap_or(u64::MAX),
            cache_bytes: self.db.cache_size(),
            cache_capacity: self.db.cache_capacity(),
            spaces: count(self.space_names().len()),
        }
    }
}
