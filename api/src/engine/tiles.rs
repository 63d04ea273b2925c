//! The Merkle tree as the store holds it: complete tiles, and envelopes for the rest.

use minutebook_eventlog::format::hash::{Hash, leaf_hash};
use minutebook_eventlog::format::tree::{Frontier, ProveError, Tile, TileSource, Tiler};
use minutebook_eventlog::store::{LogReader, StoreError};

/// The stored tree, for proofs.
#[derive(Clone, Copy)]
pub struct StoreTiles<'a>(pub &'a dyn LogReader);

impl TileSource for StoreTiles<'_> {
    type Error = StoreError;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.tile(level, index)
    }

    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, StoreError> {
        let page = self.0.read(first + 1, usize::from(count))?;
        Ok(page
            .iter()
            .map(|(_, record)| leaf_hash(&record.envelope))
            .collect())
    }
}

/// The growing tree: its frontier gives the root, its tiler the tiles to store.
#[derive(Debug)]
pub(super) struct Tree {
    frontier: Frontier,
    tiler: Tiler,
}

impl Tree {
    /// The tree of this size, made again from the store.
    pub(super) fn restore(
        reader: &dyn LogReader,
        size: u64,
    ) -> Result<Self, ProveError<StoreError>> {
        let tiler = Tiler::restore(&StoreTiles(reader), size)?;
        Ok(Self {
            frontier: tiler.frontier(),
            tiler,
        })
    }

    /// Adds a leaf; appends the tiles it completes.
    pub(super) fn push(&mut self, leaf: Hash, completed: &mut Vec<Tile>) {
        self.frontier.push(leaf);
        self.tiler.push(leaf, completed);
    }

    /// The root over all leaves so far.
    pub(super) fn root(&self) -> Hash {
        self.frontier.root()
    }
}
