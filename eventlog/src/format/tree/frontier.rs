//! The right edge of a growing tree: what is needed to go on and to tell the root.

use crate::format::hash::{Hash, empty_root, node_hash};

/// The roots of the largest complete subtrees of a tree, largest first: one for each one-bit of
/// its size. Pushing a leaf costs one hash on average.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    hashes: Vec<Hash>,
}

impl Frontier {
    /// The empty tree.
    pub const fn new() -> Self {
        Self {
            size: 0,
            hashes: Vec::new(),
        }
    }

    /// A tree of this size with these subtree roots, as [`Self::hashes`] gave them. None if their
    /// number is not the size's.
    pub fn restore(size: u64, hashes: Vec<Hash>) -> Option<Self> {
        (u32::try_from(hashes.len()) == Ok(size.count_ones())).then_some(Self { size, hashes })
    }

    /// How many leaves.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The subtree roots, largest first: with the size, all there is to keep.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Adds a leaf hash.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        // Each one-bit at the low end of the size is a complete subtree that the leaf completes
        // to one twice as large.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.hashes.pop() {
                hash = node_hash(&left, &hash);
            }
        }
        self.hashes.push(hash);
        self.size += 1;
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let mut from_right = self.hashes.iter().rev();
        let Some(last) = from_right.next() else {
            return empty_root();
        };
        from_right.fold(*last, |right, left| node_hash(left, &right))
    }
}
