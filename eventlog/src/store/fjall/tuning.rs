//! How fjall is set up, and why.
//!
//! * Memtables are small (8 MiB at most): all of them together stay far below the memory budget,
//!   a skip list that fits the caches is faster, and what has to be replayed at the next start is
//!   short. They are not smaller because each flush and each compaction ends with five syncs
//!   under the lock an insert into that keyspace needs, so that a commit waits for them. They are
//!   not larger either, which was tried (12 to 24 MiB): commits over 8 ms beside a flush became
//!   fewer, but the slowest ones much slower, and the slowest hundredth did not improve.
//! * A journal is rotated at 64 MB, and with the smallest permitted limit on journals fjall then
//!   also flushes every keyspace the oldest journal waits for: an idle keyspace cannot pin it.
//! * One worker. Of two, fjall lets the first one only flush, and while the other one compacts it
//!   spins; and two would hold two of those locks at once. With one, a flush can wait for a
//!   compaction, and so can the request to start a new memtable: they grow meanwhile. Therefore
//!   compactions are kept short (small tables, small first level), and a commit waits a little
//!   when memtables take much ([`longest_wait`]). That bounds the memory, and it comes before
//!   fjall's own brake, which stops writers in steps of 100 ms.
//! * Envelopes and bodies come in key order, so that their tables move to the last level without
//!   ever being rewritten; what they are to be compressed with has to be there from the start.
//! * Bodies of a few hundred bytes are not kept in blob files: nothing rewrites them anyway, and
//!   with blob files the slow commits were slower (measured).
//! * Keys that are only asked for when they exist need no bloom filter.
//! * The worker keeps its priority: one that is made nice is put aside while it holds such a lock
//!   (measured: the slowest hundredth was slower).
//! * The journal is not compressed: 4 KiB values are rare, and what is in it can be found.

use std::{path::Path, sync::Arc, time::Duration};

use fjall::{
    CompressionType, Database, Keyspace, KeyspaceCreateOptions,
    compaction::Leveled,
    config::{BlockSizePolicy, CompressionPolicy, FilterPolicy},
};

use super::{Options, failure};
use crate::store::{StoreError, keys::KeyKind};

const MIB: u64 = 1 << 20;
/// The least fjall accepts.
const JOURNAL_BYTES: u64 = 64 * MIB;
const WORKERS: usize = 1;
/// Tables that are rewritten by compactions are of this size at most.
const TABLE_BYTES: u64 = 8 * MIB;
/// How many flushed memtables are gathered before they are merged into the next level.
const FIRST_LEVEL_TABLES: u8 = 8;

/// How often a waiting commit looks again.
pub(super) const WAIT_STEP: Duration = Duration::from_millis(1);
/// While memtables take less than this no commit waits for their flushes.
const FREE_BYTES: u64 = 48 * MIB;
/// What is above that, in steps of this,
const EXCESS_STEP: u64 = 8 * MIB;
/// makes a commit wait this long times its square.
const EXCESS_WAIT: Duration = Duration::from_millis(10);

/// How long a commit waits at most while memtables take so many bytes: hardly at first, and soon
/// so long that they will not take more.
pub(super) fn longest_wait(memtable_bytes: u64) -> Duration {
    let excess = memtable_bytes
        .saturating_sub(FREE_BYTES)
        .div_ceil(EXCESS_STEP);
    let excess = u32::try_from(excess).unwrap_or(u32::MAX);
    EXCESS_WAIT.saturating_mul(excess.saturating_mul(excess))
}

/// The keyspaces of the log itself.
pub(super) struct Tables {
    pub(super) envelopes: Keyspace,
    pub(super) bodies: Keyspace,
    pub(super) streams: Keyspace,
    pub(super) commands: Keyspace,
    pub(super) checkpoints: Keyspace,
    pub(super) tiles: Keyspace,
    pub(super) meta: Keyspace,
}

impl Tables {
    /// What they hold.
    pub(super) const KINDS: [KeyKind; 7] = [
        KeyKind::Envelope,
        KeyKind::Body,
        KeyKind::Stream,
        KeyKind::Command,
        KeyKind::Checkpoint,
        KeyKind::Tile,
        KeyKind::Meta,
    ];

    pub(super) fn open(db: &Database) -> Result<Self, StoreError> {
        let open = |kind: KeyKind| {
            db.keyspace(kind.keyspace(), || keyspace_options(kind))
                .map_err(failure)
        };
        Ok(Self {
            envelopes: open(KeyKind::Envelope)?,
            bodies: open(KeyKind::Body)?,
            streams: open(KeyKind::Stream)?,
            commands: open(KeyKind::Command)?,
            checkpoints: open(KeyKind::Checkpoint)?,
            tiles: open(KeyKind::Tile)?,
            meta: open(KeyKind::Meta)?,
        })
    }

    pub(super) fn all(&self) -> [&Keyspace; 7] {
        [
            &self.envelopes,
            &self.bodies,
            &self.streams,
            &self.commands,
            &self.checkpoints,
            &self.tiles,
            &self.meta,
        ]
    }
}

/// Opens the database.
pub(super) fn database(path: &Path, options: &Options) -> Result<Database, fjall::Error> {
    Database::builder(path)
        .cache_size(options.cache_bytes)
        .worker_threads(WORKERS)
        .max_journaling_size(JOURNAL_BYTES)
        .journal_compression(CompressionType::None)
        .open()
}

/// The options a keyspace is created with; fjall keeps them with it.
pub(super) fn keyspace_options(kind: KeyKind) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default();
    let leveled = || {
        let strategy = Leveled::default()
            .with_table_target_size(TABLE_BYTES)
            .with_l0_threshold(FIRST_LEVEL_TABLES);
        Arc::new(strategy)
    };
    let lz4 = CompressionPolicy::all(CompressionType::Lz4);
    match kind {
        KeyKind::Envelope | KeyKind::Body => options
            .max_memtable_size(8 * MIB)
            .data_block_compression_policy(lz4)
            .data_block_size_policy(BlockSizePolicy::all(8 * 1024))
            .filter_policy(FilterPolicy::disabled()),
        KeyKind::Stream => options
            .max_memtable_size(4 * MIB)
            .compaction_strategy(leveled())
            .filter_policy(FilterPolicy::disabled()),
        KeyKind::Command => options
            .max_memtable_size(4 * MIB)
            .compaction_strategy(leveled()),
        KeyKind::Checkpoint => options
            .max_memtable_size(2 * MIB)
            .data_block_compression_policy(lz4)
            .filter_policy(FilterPolicy::disabled()),
        KeyKind::Tile => options
            .max_memtable_size(2 * MIB)
            .data_block_compression_policy(CompressionPolicy::disabled())
            .filter_policy(FilterPolicy::disabled()),
        KeyKind::Meta => options.max_memtable_size(2 * MIB),
        KeyKind::View => options
            .max_memtable_size(8 * MIB)
            .compaction_strategy(leveled()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MIB, longest_wait};

    #[test]
    fn commits_wait_only_for_memtables_that_take_much_and_then_more_and_more() {
        for (mib, millis) in [(0, 0), (48, 0), (50, 10), (56, 10), (64, 40), (88, 250)] {
            assert_eq!(
                longest_wait(mib * MIB),
                Duration::from_millis(millis),
                "{mib} MiB"
            );
        }
        assert!(longest_wait(u64::MAX) > Duration::from_hours(1));
    }
}
