//! What a store tells about itself, as plain numbers for `/metrics`.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Upper bounds of the buckets of a [`Timing`], in microseconds; one more bucket has no bound.
pub const BUCKET_MICROS: [u64; 15] = [
    64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144,
    524_288, 1_048_576,
];

/// Figures of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Commits: serialising, sync and memtable together.
    pub commits: Timing,
    /// Writes of the head file, sync included.
    pub heads: Timing,
    /// How long commits waited for the head file of the commit before.
    pub head_waits: Timing,
    /// Journal files on disk, the active one included.
    pub journals: u64,
    /// Their bytes (the active one is preallocated).
    pub journal_bytes: u64,
    /// Bytes on disk, journals included.
    pub disk_bytes: u64,
    /// Bytes in memtables.
    pub memtable_bytes: u64,
    /// Memtables waiting to be written out.
    pub flushes_waiting: u64,
    /// Compactions running now.
    pub compactions_running: u64,
    /// Compactions done since the store was opened.
    pub compactions_done: u64,
    /// Microseconds spent compacting since the store was opened.
    pub compaction_micros: u64,
    /// Bytes in the block cache.
    pub cache_bytes: u64,
    /// Its capacity.
    pub cache_capacity: u64,
    /// Spaces of derived rows.
    pub spaces: u64,
}

/// How often something was done and how long it took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// How often.
    pub count: u64,
    /// All of it together, in microseconds.
    pub total_micros: u64,
    /// The longest, in microseconds.
    pub max_micros: u64,
    /// How many took at most [`BUCKET_MICROS`] of the same index (and more than the bound before).
    pub buckets: [u64; BUCKET_MICROS.len() + 1],
}

/// A [`Timing`] being taken, by any thread.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    total_micros: AtomicU64,
    max_micros: AtomicU64,
    buckets: [AtomicU64; BUCKET_MICROS.len() + 1],
}

impl Stopwatch {
    pub(super) fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_micros.fetch_add(micros, Relaxed);
        self.max_micros.fetch_max(micros, Relaxed);
        let index = BUCKET_MICROS.partition_point(|bound| *bound < micros);
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn read(&self) -> Timing {
        let buckets = self.buckets.each_ref().map(|bucket| bucket.load(Relaxed));
        Timing {
            count: buckets.iter().sum(),
            total_micros: self.total_micros.load(Relaxed),
            max_micros: self.max_micros.load(Relaxed),
            buckets,
        }
    }
}
