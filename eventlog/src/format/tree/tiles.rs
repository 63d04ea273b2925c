//! Tiles: 256 neighbouring hashes of a level, stored together once they are complete.

use super::{
    frontier::Frontier,
    prove::{ProveError, TileSource, level_hashes, tile_root},
};
use crate::format::hash::Hash;

/// How many hashes a complete tile has.
pub const TILE_WIDTH: u16 = 256;
/// How many bytes a complete tile has.
pub const TILE_BYTES: usize = 256 * 32;
/// Levels a tree of 2^63 leaves can have.
const LEVELS_MAX: usize = 8;

/// A complete tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// 0 for leaf hashes; a hash of level L is the root of a tile of level L - 1.
    pub level: u8,
    /// Its number within its level.
    pub index: u64,
    /// 256 hashes.
    pub bytes: Vec<u8>,
}

/// Collects leaves into tiles. Holds the partial tile of every level: at most 255 hashes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiler {
    size: u64,
    /// The partial tiles, level 0 first.
    partial: Vec<Vec<Hash>>,
}

impl Tiler {
    /// The empty tree.
    pub const fn new() -> Self {
        Self {
            size: 0,
            partial: Vec::new(),
        }
    }

    /// The tiler of a tree of this size, made again from what is stored. Reads one complete tile
    /// for each hash above level 0: at most 255 for a level, so some milliseconds.
    pub fn restore<S: TileSource>(source: &S, size: u64) -> Result<Self, ProveError<S::Error>> {
        let mut partial = Vec::new();
        let mut count = size;
        for level in 0..LEVELS_MAX {
            if count == 0 {
                break;
            }
            let width = count % u64::from(TILE_WIDTH);
            partial.push(partial_tile(source, level, count - width, width)?);
            count /= u64::from(TILE_WIDTH);
        }
        Ok(Self { size, partial })
    }

    /// How many leaves.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf hash; appends the tiles it completes, lowest level first.
    pub fn push(&mut self, leaf: Hash, completed: &mut Vec<Tile>) {
        let mut hash = leaf;
        self.size += 1;
        for level in 0..LEVELS_MAX {
            if self.partial.len() == level {
                self.partial
                    .push(Vec::with_capacity(usize::from(TILE_WIDTH)));
            }
            let Some(tile) = self.partial.get_mut(level) else {
                return;
            };
            tile.push(hash);
            if tile.len() < usize::from(TILE_WIDTH) {
                return;
            }
            let bytes = tile.iter().flat_map(|hash| *hash.as_bytes()).collect();
            hash = tile_root(tile);
            tile.clear();
            let index = (self.size >> (8 * (level + 1))) - 1;
            completed.push(Tile {
                level: u8::try_from(level).unwrap_or(u8::MAX),
                index,
                bytes,
            });
        }
    }

    /// The frontier of the same tree.
    pub fn frontier(&self) -> Frontier {
        let mut hashes = Vec::new();
        for tile in self.partial.iter().rev() {
            let mut rest = tile.as_slice();
            for bit in (0..8).rev() {
                let width = 1 << bit;
                if tile.len() & width != 0
                    && let Some((subtree, tail)) = rest.split_at_checked(width)
                {
                    hashes.push(tile_root(subtree));
                    rest = tail;
                }
            }
        }
        Frontier::restore(self.size, hashes).unwrap_or_default()
    }

    /// The hashes of the partial tile of a level.
    pub fn partial(&self, level: u8) -> &[Hash] {
        self.partial
            .get(usize::from(level))
            .map_or(&[], Vec::as_slice)
    }
}

fn partial_tile<S: TileSource>(
    source: &S,
    level: usize,
    first: u64,
    width: u64,
) -> Result<Vec<Hash>, ProveError<S::Error>> {
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    let mut hashes = Vec::with_capacity(usize::from(TILE_WIDTH));
    hashes.extend(level_hashes(source, level, first, width)?);
    Ok(hashes)
}
