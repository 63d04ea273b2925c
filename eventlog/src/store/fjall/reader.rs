//! The reading half: every call reads one published moment.

use std::{ops::RangeInclusive, sync::Arc};

use fjall::{Guard, Keyspace, Readable, UserValue};

use super::{Published, Shared, failure};
use crate::{
    format::record::Record,
    store::{
        CommandRow, Envelopes, Head, LogReader, Page, Row, Space, StoreError, StoreStats,
        keys::{body, checkpoint, command, envelope, stream, tile, view},
    },
};

/// Up to this many records are fetched one by one: cheaper than setting up two scans.
const FEW: usize = 4;
/// A stream's records are read in a scan if they are at least one in so many of those there are.
const SPARSE: usize = 3;
/// How much room a page gets before it is known how long it will be.
const ROOM: usize = 1024;

/// The reading half of a log on disk.
#[derive(Clone)]
pub struct FjallReader {
    pub(super) shared: Arc<Shared>,
    /// The moment it stays at; without one it follows.
    pub(super) pinned: Option<Arc<Published>>,
}

impl Published {
    fn get(&self, keyspace: &Keyspace, key: &[u8]) -> Result<Option<UserValue>, StoreError> {
        self.snapshot.get(keyspace, key).map_err(failure)
    }

    fn read(&self, shared: &Shared, seq: u64, limit: usize) -> Result<Page, StoreError> {
        let first = seq.max(1);
        let count = u64::try_from(limit).unwrap_or(u64::MAX);
        let last = self.head.seq.min(first.saturating_add(count) - 1);
        if limit == 0 || first > last {
            return Ok(Page::new());
        }
        if span(&(first..=last)) > FEW {
            return self.scan(shared, first..=last, first..=last);
        }
        (first..=last)
            .map(|seq| Ok((seq, self.record(shared, seq)?)))
            .collect()
    }

    /// The seqs of a stream's records from position `sseq` on.
    fn places(
        &self,
        shared: &Shared,
        stream: &str,
        sseq: u64,
    ) -> impl Iterator<Item = Result<u64, StoreError>> + use<> {
        let prefix = stream::prefix(stream);
        let keys = stream::ser_key(prefix, sseq)..=stream::ser_key(prefix, u64::MAX);
        let index = self.snapshot.range(&shared.tables.streams, keys);
        index.map(|guard| stream::deser_value(&guard.value().map_err(failure)?))
    }

    fn envelope(&self, shared: &Shared, seq: u64) -> Result<Vec<u8>, StoreError> {
        let envelope = self.get(&shared.tables.envelopes, &envelope::ser_key(seq))?;
        Ok(envelope.ok_or_else(|| missing(seq))?.to_vec())
    }

    fn record(&self, shared: &Shared, seq: u64) -> Result<Record, StoreError> {
        let envelope = self.envelope(shared, seq)?;
        let body = self.get(&shared.tables.bodies, &body::ser_key(seq))?;
        Ok(Record {
            envelope,
            body: body.map(|bytes| body::deser_value(&bytes)).transpose()?,
        })
    }

    /// Records in ascending order, with only few others between them.
    fn scan(
        &self,
        shared: &Shared,
        keys: RangeInclusive<u64>,
        seqs: impl Iterator<Item = u64>,
    ) -> Result<Page, StoreError> {
        let room = ROOM.min(span(&keys));
        let keys = envelope::ser_key(*keys.start())..=envelope::ser_key(*keys.end());
        let envelopes = self.snapshot.range(&shared.tables.envelopes, keys.clone());
        let bodies = self.snapshot.range(&shared.tables.bodies, keys);
        let mut envelopes = Side::new(envelopes, envelope::deser_key);
        let mut bodies = Side::new(bodies, body::deser_key);
        let mut page = Page::with_capacity(room);
        for seq in seqs {
            let envelope = envelopes.at(seq)?.ok_or_else(|| missing(seq))?.to_vec();
            // A body that is not there was erased.
            let body = bodies.at(seq)?.map(|value| body::deser_value(&value));
            let body = body.transpose()?;
            page.push((seq, Record { envelope, body }));
        }
        Ok(page)
    }

    /// Rows with `from <= key < to`; none if there can be none.
    fn rows(
        &self,
        shared: &Shared,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<fjall::Iter>, StoreError> {
        let keyspace = shared.spaces.read().keyspace(space)?.clone();
        let own = keyspace == shared.tables.meta && (from.is_empty() || view::is_own_key(from));
        let from = if own { view::FIRST_FREE_KEY } else { from };
        Ok((from < to).then(|| self.snapshot.range(&keyspace, from..to)))
    }

    /// Records of these seqs, which the index gave and so may be anything.
    fn records(&self, shared: &Shared, seqs: &[u64]) -> Result<Page, StoreError> {
        if let (Some(first), Some(last)) = (seqs.first(), seqs.last())
            && seqs.len() > FEW
            && seqs.is_sorted_by(|one, next| one < next)
            && span(&(*first..=*last)) / SPARSE < seqs.len()
        {
            return self.scan(shared, *first..=*last, seqs.iter().copied());
        }
        let records = seqs.iter().copied();
        records
            .map(|seq| Ok((seq, self.record(shared, seq)?)))
            .collect()
    }
}

/// One of two tables that are read side by side.
struct Side<I> {
    rows: I,
    seq_of: fn(&[u8]) -> Result<u64, StoreError>,
    next: Option<(u64, UserValue)>,
}

impl<I: Iterator<Item = Guard>> Side<I> {
    fn new(rows: I, seq_of: fn(&[u8]) -> Result<u64, StoreError>) -> Self {
        let next = None;
        Self { rows, seq_of, next }
    }

    /// The row of this seq. Seqs must ascend.
    fn at(&mut self, seq: u64) -> Result<Option<UserValue>, StoreError> {
        while self.next.as_ref().is_none_or(|(next, _)| *next < seq) {
            let Some(guard) = self.rows.next() else {
                return Ok(None);
            };
            let (key, value) = guard.into_inner().map_err(failure)?;
            self.next = Some(((self.seq_of)(&key)?, value));
        }
        let found = self.next.take_if(|(next, _)| *next == seq);
        Ok(found.map(|(_, value)| value))
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

impl FjallReader {
    /// The moment it looks at.
    fn at(&self) -> Arc<Published> {
        match &self.pinned {
            Some(at) => Arc::clone(at),
            None => self.shared.published(),
        }
    }

    /// One look at one moment of the log; what goes wrong says where.
    fn look<T>(
        &self,
        look: impl FnOnce(&Published, &Shared) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = &*self.shared;
        look(&self.at(), shared).map_err(|e| shared.located(e))
    }
}

impl LogReader for FjallReader {
    fn head(&self) -> Result<Head, StoreError> {
        Ok(Head::clone(&self.at().head))
    }

    fn read(&self, seq: u64, limit: usize) -> Result<Page, StoreError> {
        self.look(|at, shared| at.read(shared, seq, limit))
    }

    fn read_stream(&self, stream: &str, sseq: u64, limit: usize) -> Result<Page, StoreError> {
        self.look(|at, shared| {
            let seqs = at.places(shared, stream, sseq).take(limit);
            let seqs: Vec<u64> = seqs.collect::<Result<_, _>>()?;
            at.records(shared, &seqs)
        })
    }

    fn read_stream_envelopes(
        &self,
        stream: &str,
        sseq: u64,
        limit: usize,
    ) -> Result<Envelopes, StoreError> {
        self.look(|at, shared| {
            at.places(shared, stream, sseq)
                .take(limit)
                .map(|seq| seq.and_then(|seq| Ok((seq, at.envelope(shared, seq)?))))
                .collect()
        })
    }

    fn checkpoint_at_or_after(&self, size: u64) -> Result<Option<(u64, String)>, StoreError> {
        self.look(|at, shared| {
            let keys = checkpoint::ser_key(size)..=checkpoint::ser_key(u64::MAX);
            let mut found = at.snapshot.range(&shared.tables.checkpoints, keys);
            let Some(guard) = found.next() else {
                return Ok(None);
            };
            let (key, note) = guard.into_inner().map_err(failure)?;
            Ok(Some((
                checkpoint::deser_key(&key)?,
                checkpoint::deser_value(&note)?,
            )))
        })
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.look(|at, shared| {
            at.get(&shared.tables.tiles, &tile::ser_key(level, index))?
                .map(|hashes| tile::deser_value(&hashes))
                .transpose()
        })
    }

    fn command(&self, key: &[u8; 16]) -> Result<Option<CommandRow>, StoreError> {
        self.look(|at, shared| {
            at.get(&shared.tables.commands, key)?
                .map(|row| command::deser_value(&row))
                .transpose()
        })
    }

    fn space(&self, name: &str) -> Result<Space, StoreError> {
        self.look(|_, shared| shared.space(name))
    }

    fn spaces(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.shared.space_names())
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.look(|at, shared| {
            let spaces = shared.spaces.read();
            let keyspace = spaces.keyspace(space)?.clone();
            drop(spaces);
            if key.is_empty() || (view::is_own_key(key) && keyspace == shared.tables.meta) {
                return Ok(None);
            }
            let found = at.get(&keyspace, key)?;
            Ok(found.map(|value| value.to_vec()))
        })
    }

    fn range(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        self.look(|at, shared| {
            let Some(rows) = at.rows(shared, space, from, to)? else {
                return Ok(Vec::new());
            };
            if reverse {
                collect(rows.rev().take(limit))
            } else {
                collect(rows.take(limit))
            }
        })
    }

    fn each_row(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), StoreError> {
        self.look(|at, shared| {
            for guard in at.rows(shared, space, from, to)?.into_iter().flatten() {
                let (key, value) = guard.into_inner().map_err(failure)?;
                visit(&key, &value);
            }
            Ok(())
        })
    }

    fn pinned(&self) -> Arc<dyn LogReader> {
        Arc::new(Self {
            shared: Arc::clone(&self.shared),
            pinned: Some(self.at()),
        })
    }

    fn stats(&self) -> StoreStats {
        self.shared.stats()
    }
}

fn collect(rows: impl Iterator<Item = Guard>) -> Result<Vec<Row>, StoreError> {
    rows.map(|guard| {
        let (key, value) = guard.into_inner().map_err(failure)?;
        Ok((key.to_vec(), value.to_vec()))
    })
    .collect()
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

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
