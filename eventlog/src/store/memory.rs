//! The log in memory: the same rules, deterministic, for tests and the simulator.
//!
//! A [`MemoryStore`] is the "disk": its halves may be dropped at any point, as a crash would, and
//! opening again applies the three-case table to what was appended and what was recorded as head.

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::RwLock;

use super::{
    CommandRow, Commit, Head, LogReader, LogWriter, META_SPACE, Maintenance, NewRecord, Page, Row,
    RowOp, Space, StoreError, StoreStats, check, keys::view, opening,
};
use crate::format::{
    hash::{Hash, chain_hash},
    record::Record,
};

/// A log in memory. Cheap to clone: clones are the same log.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    disk: Arc<RwLock<Disk>>,
    open: Arc<AtomicBool>,
}

#[derive(Clone, Debug, Default)]
struct Disk {
    records: Vec<Record>,
    streams: BTreeMap<String, BTreeMap<u64, u64>>,
    commands: BTreeMap<[u8; 16], CommandRow>,
    checkpoints: BTreeMap<u64, String>,
    tiles: BTreeMap<(u8, u64), Vec<u8>>,
    spaces: Vec<Option<Rows>>,
    by_name: BTreeMap<String, Space>,
    /// The head file.
    saved: Option<Head>,
}

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// The writing half of a log in memory.
#[derive(Debug)]
pub struct MemoryWriter {
    store: MemoryStore,
    stopped: bool,
}

/// The reading half of a log in memory.
#[derive(Clone, Debug)]
pub struct MemoryReader {
    disk: Arc<RwLock<Disk>>,
}

impl MemoryStore {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the log; refused while the writer of an earlier opening lives.
    pub fn open(&self) -> Result<(MemoryWriter, Arc<MemoryReader>), StoreError> {
        if self.open.swap(true, Ordering::SeqCst) {
            return Err(StoreError::Locked {
                path: "memory".to_owned(),
                pid: std::process::id().to_string(),
            });
        }
        // From here on the writer's drop gives the log back.
        let writer = MemoryWriter {
            store: self.clone(),
            stopped: false,
        };
        let mut disk = self.disk.write();
        let head = disk.head();
        opening::compare(disk.saved.as_ref(), &head, |seq| Ok(disk.hash_at(seq)))?;
        disk.saved = Some(head);
        drop(disk);
        let disk = Arc::clone(&self.disk);
        Ok((writer, Arc::new(MemoryReader { disk })))
    }

    /// Loses every record after `seq`, as a damaged disk would: the next opening must notice.
    pub fn lose_after(&self, seq: u64) {
        let mut disk = self.disk.write();
        disk.records
            .truncate(usize::try_from(seq).unwrap_or(usize::MAX));
        drop(disk.checkpoints.split_off(&(seq + 1)));
        for stream in disk.streams.values_mut() {
            stream.retain(|_, at| *at <= seq);
        }
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.store.open.store(false, Ordering::SeqCst);
    }
}

impl Disk {
    fn head(&self) -> Head {
        let last = self.records.last();
        let checkpoint = self.checkpoints.last_key_value();
        Head {
            seq: self.records.len() as u64,
            hash: last.map_or(Hash::ZERO, |record| chain_hash(&record.envelope)),
            checkpoint: checkpoint.map_or_else(String::new, |(_, note)| note.clone()),
        }
    }

    fn record(&self, seq: u64) -> Option<&Record> {
        let index = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.records.get(index)
    }

    fn hash_at(&self, seq: u64) -> Hash {
        let record = self.record(seq);
        record.map_or(Hash::ZERO, |record| chain_hash(&record.envelope))
    }

    fn rows(&self, space: Space) -> Result<&Rows, StoreError> {
        self.spaces
            .get(usize::from(space.0))
            .and_then(Option::as_ref)
            .ok_or_else(|| StoreError::Refused(format!("space {} is not open", space.0)))
    }

    fn check_rows(&self, rows: &[RowOp]) -> Result<(), StoreError> {
        let meta = self.by_name.get(META_SPACE);
        rows.iter().try_for_each(|op| {
            check::row(op)?;
            if view::is_own_key(&op.key) && meta == Some(&op.space) {
                return Err(StoreError::Refused("a key of the store's own".to_owned()));
            }
            self.rows(op.space).map(drop)
        })
    }

    fn apply_rows(&mut self, rows: Vec<RowOp>) {
        for op in rows {
            let space = self.spaces.get_mut(usize::from(op.space.0));
            let Some(space) = space.and_then(Option::as_mut) else {
                continue;
            };
            match op.value {
                Some(value) => drop(space.insert(op.key, value)),
                None => drop(space.remove(&op.key)),
            }
        }
    }

    fn add_record(&mut self, new: NewRecord) {
        let stream = self.streams.entry(new.stream).or_default();
        stream.insert(new.sseq, new.seq);
        self.records.push(new.record);
    }

    fn apply(&mut self, commit: Commit) {
        for seq in commit.erase {
            let index = usize::try_from(seq - 1).unwrap_or(usize::MAX);
            if let Some(record) = self.records.get_mut(index) {
                record.body = None;
            }
        }
        if let Some(last) = commit.records.last() {
            self.checkpoints.insert(last.seq, commit.checkpoint);
        }
        for new in commit.records {
            self.add_record(new);
        }
        self.commands.extend(commit.commands);
        for (level, index, hashes) in commit.tiles {
            self.tiles.insert((level, index), hashes);
        }
        self.apply_rows(commit.rows);
    }
}

impl LogWriter for MemoryWriter {
    fn append(&mut self, commit: Commit) -> Result<(), StoreError> {
        if self.stopped {
            return Err(StoreError::Io("the store was stopped".to_owned()));
        }
        let mut disk = self.store.disk.write();
        check::commit(&commit, &disk.head())?;
        disk.check_rows(&commit.rows)?;
        disk.apply(commit);
        Ok(())
    }

    fn record_head(&mut self, head: &Head) -> Result<(), StoreError> {
        if self.stopped {
            return Err(StoreError::Io("the store was stopped".to_owned()));
        }
        self.store.disk.write().saved = Some(head.clone());
        Ok(())
    }

    fn maintenance(&self) -> Arc<dyn Maintenance> {
        Arc::new(MemoryReader {
            disk: Arc::clone(&self.store.disk),
        })
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        let mut disk = self.store.disk.write();
        disk.saved = Some(disk.head());
        self.stopped = true;
        Ok(())
    }
}

impl Maintenance for MemoryReader {
    fn append_rows(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        let mut disk = self.disk.write();
        disk.check_rows(&ops)?;
        disk.apply_rows(ops);
        Ok(())
    }

    fn fill_space(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        check::filling(&ops)?;
        self.append_rows(ops)
    }

    fn persist(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn drop_space(&self, name: &str) -> Result<(), StoreError> {
        if name == META_SPACE {
            return Err(StoreError::Refused("the meta space stays".to_owned()));
        }
        check::space_name(name)?;
        let mut disk = self.disk.write();
        if let Some(space) = disk.by_name.remove(name)
            && let Some(slot) = disk.spaces.get_mut(usize::from(space.0))
        {
            *slot = None;
        }
        Ok(())
    }

    fn compact_erased(&self, spaces: &[Space]) -> Result<(), StoreError> {
        let disk = self.disk.read();
        spaces
            .iter()
            .try_for_each(|space| disk.rows(*space).map(drop))
    }
}

impl LogReader for MemoryReader {
    fn head(&self) -> Result<Head, StoreError> {
        Ok(self.disk.read().head())
    }

    fn read(&self, seq: u64, limit: usize) -> Result<Page, StoreError> {
        let disk = self.disk.read();
        let skip = usize::try_from(seq.saturating_sub(1)).unwrap_or(usize::MAX);
        let records = (1..).zip(&disk.records).skip(skip).take(limit);
        Ok(records.map(|(seq, record)| (seq, record.clone())).collect())
    }

    fn read_stream(&self, stream: &str, sseq: u64, limit: usize) -> Result<Page, StoreError> {
        let disk = self.disk.read();
        let Some(places) = disk.streams.get(stream) else {
            return Ok(Page::new());
        };
        let seqs = places.range(sseq..).map(|(_, seq)| *seq).take(limit);
        Ok(seqs
            .filter_map(|seq| Some((seq, disk.record(seq)?.clone())))
            .collect())
    }

    fn checkpoint_at_or_after(&self, size: u64) -> Result<Option<(u64, String)>, StoreError> {
        let disk = self.disk.read();
        let found = disk.checkpoints.range(size..).next();
        Ok(found.map(|(size, note)| (*size, note.clone())))
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.disk.read().tiles.get(&(level, index)).cloned())
    }

    fn command(&self, key: &[u8; 16]) -> Result<Option<CommandRow>, StoreError> {
        Ok(self.disk.read().commands.get(key).copied())
    }

    fn space(&self, name: &str) -> Result<Space, StoreError> {
        check::space_name(name)?;
        let mut disk = self.disk.write();
        if let Some(space) = disk.by_name.get(name) {
            return Ok(*space);
        }
        if disk.spaces.len() >= check::MAX_SPACES {
            return Err(StoreError::Refused("too many spaces".to_owned()));
        }
        let space = Space(u16::try_from(disk.spaces.len()).unwrap_or(u16::MAX));
        disk.spaces.push(Some(Rows::new()));
        disk.by_name.insert(name.to_owned(), space);
        Ok(space)
    }

    fn spaces(&self) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = self.disk.read().by_name.keys().cloned().collect();
        if let Err(at) = names.binary_search_by(|name| name.as_str().cmp(META_SPACE)) {
            names.insert(at, META_SPACE.to_owned());
        }
        Ok(names)
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.disk.read().rows(space)?.get(key).cloned())
    }

    fn range(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let disk = self.disk.read();
        let rows = disk.rows(space)?;
        if from >= to {
            return Ok(Vec::new());
        }
        let bounds = (Bound::Included(from), Bound::Excluded(to));
        let mut rows = rows.range::<[u8], _>(bounds);
        let next = || {
            if reverse {
                rows.next_back()
            } else {
                rows.next()
            }
        };
        Ok(std::iter::from_fn(next)
            .take(limit)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect())
    }

    fn pinned(&self) -> Arc<dyn LogReader> {
        let disk = Arc::new(RwLock::new(self.disk.read().clone()));
        Arc::new(Self { disk })
    }

    fn stats(&self) -> StoreStats {
        let disk = self.disk.read();
        StoreStats {
            spaces: disk.by_name.len() as u64,
            ..StoreStats::default()
        }
    }
}
