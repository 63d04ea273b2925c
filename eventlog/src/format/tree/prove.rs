//! Making proofs from tiles.
//!
//! A proof needs the roots of O(log n) complete subtrees. Each lies inside one tile: reading that
//! tile and folding a part of it gives the root. Where a tile is not stored because the tree's
//! right edge runs through it, its hashes are made from the complete tiles one level below, and
//! at the bottom from the entries themselves.

use super::tiles::TILE_WIDTH;
use crate::format::hash::{Hash, empty_root, node_hash};

/// Where tiles and leaves come from.
pub trait TileSource {
    /// Why it could not read.
    type Error;

    /// As many hashes of this tile as are known, from its beginning: usually all 256 of a
    /// complete tile or none. What is missing is made from the level below.
    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Self::Error>;

    /// The hashes of these leaves: at most 256, all within one tile of level 0. Asked for only
    /// where [`Self::tile`] had too few.
    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, Self::Error>;
}

/// Why a proof could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProveError<E> {
    /// The leaf or the smaller tree lies outside the tree.
    #[error("index or size lies outside the tree")]
    Outside,
    /// The source gave fewer hashes than there must be, or half a one.
    #[error("tile {index} of level {level} is damaged")]
    Damaged {
        /// Level of the tile.
        level: u8,
        /// Its number.
        index: u64,
    },
    /// The source failed.
    #[error(transparent)]
    Source(#[from] E),
}

/// The inclusion proof of leaf `index` in the tree of `size` leaves: the leaf's sibling first.
pub fn inclusion_proof<S: TileSource>(
    source: &S,
    index: u64,
    size: u64,
) -> Result<Vec<Hash>, ProveError<S::Error>> {
    if index >= size {
        return Err(ProveError::Outside);
    }
    let mut proof = Vec::new();
    let (mut low, mut high) = (0, size);
    while high - low > 1 {
        let middle = low + split(high - low);
        if index < middle {
            proof.push(subtree_root(source, middle, high)?);
            high = middle;
        } else {
            proof.push(subtree_root(source, low, middle)?);
            low = middle;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// The consistency proof between the trees of `from` and `to` leaves.
pub fn consistency_proof<S: TileSource>(
    source: &S,
    from: u64,
    to: u64,
) -> Result<Vec<Hash>, ProveError<S::Error>> {
    if from > to {
        return Err(ProveError::Outside);
    }
    let mut proof = Vec::new();
    if from == 0 || from == to {
        return Ok(proof);
    }
    let (mut low, mut high) = (0, to);
    // Walk down to the subtree that ends where the smaller tree ends.
    while high != from {
        let middle = low + split(high - low);
        if from <= middle {
            proof.push(subtree_root(source, middle, high)?);
            high = middle;
        } else {
            proof.push(subtree_root(source, low, middle)?);
            low = middle;
        }
    }
    // A verifier of a complete smaller tree has this hash already: it is that tree's root.
    if low != 0 {
        proof.push(subtree_root(source, low, high)?);
    }
    proof.reverse();
    Ok(proof)
}

/// The root over the leaves `low..high`, which must be a subtree of some tree: `low` is a
/// multiple of the smallest power of two not below `high - low`.
pub fn subtree_root<S: TileSource>(
    source: &S,
    low: u64,
    high: u64,
) -> Result<Hash, ProveError<S::Error>> {
    if low >= high {
        return Ok(empty_root());
    }
    let mut complete = Vec::new();
    let mut low = low;
    while !(high - low).is_power_of_two() {
        let middle = low + split(high - low);
        complete.push(complete_root(source, low, (middle - low).trailing_zeros())?);
        low = middle;
    }
    let last = complete_root(source, low, (high - low).trailing_zeros())?;
    Ok(complete
        .iter()
        .rev()
        .fold(last, |right, left| node_hash(left, &right)))
}

/// The largest power of two below `n`, for `n` of two or more.
const fn split(n: u64) -> u64 {
    1 << (u64::BITS - 1 - (n - 1).leading_zeros())
}

/// The root over the `2^height` leaves from `low` on: part of one tile, folded.
fn complete_root<S: TileSource>(
    source: &S,
    low: u64,
    height: u32,
) -> Result<Hash, ProveError<S::Error>> {
    let level = u8::try_from(height / 8).unwrap_or(u8::MAX);
    let first = low >> (8 * (height / 8));
    let hashes = level_hashes(source, level, first, 1 << (height % 8))?;
    Ok(tile_root(&hashes))
}

/// `count` hashes of a level from number `first` on, all within one tile.
pub(super) fn level_hashes<S: TileSource>(
    source: &S,
    level: u8,
    first: u64,
    count: u64,
) -> Result<Vec<Hash>, ProveError<S::Error>> {
    let width = u64::from(TILE_WIDTH);
    let (index, offset) = (first / width, first % width);
    if count == 0 {
        return Ok(Vec::new());
    }
    if let Some(bytes) = source.tile(level, index)?
        && let Some(part) = part_of_tile(&bytes, offset, count)
    {
        return Ok(part);
    }
    let hashes = if level == 0 {
        source.leaves(first, u16::try_from(count).unwrap_or(TILE_WIDTH))?
    } else {
        (first..first + count)
            .map(|below| tile_below(source, level - 1, below))
            .collect::<Result<_, _>>()?
    };
    if u64::try_from(hashes.len()) != Ok(count) {
        return Err(ProveError::Damaged { level, index });
    }
    Ok(hashes)
}

/// The root of a complete tile, which is one hash of the level above.
fn tile_below<S: TileSource>(
    source: &S,
    level: u8,
    index: u64,
) -> Result<Hash, ProveError<S::Error>> {
    let width = u64::from(TILE_WIDTH);
    Ok(tile_root(&level_hashes(
        source,
        level,
        index * width,
        width,
    )?))
}

fn part_of_tile(bytes: &[u8], offset: u64, count: u64) -> Option<Vec<Hash>> {
    let (hashes, _) = bytes.as_chunks::<32>();
    let offset = usize::try_from(offset).ok()?;
    let count = usize::try_from(count).ok()?;
    let part = hashes.get(offset..offset + count)?;
    Some(part.iter().map(|bytes| Hash::new(*bytes)).collect())
}

/// The root of a complete tile or of an aligned part of it: a power of two of hashes.
pub(super) fn tile_root(row: &[Hash]) -> Hash {
    let mut row = row.to_vec();
    while row.len() > 1 {
        row = row.chunks(2).map(pair).collect();
    }
    row.first().copied().unwrap_or_default()
}

fn pair(two: &[Hash]) -> Hash {
    match two {
        [left, right] => node_hash(left, right),
        [one, ..] => *one,
        [] => Hash::ZERO,
    }
}
