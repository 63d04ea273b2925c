//! Checking inclusion and consistency proofs (RFC 9162 §2.1.3.2 and §2.1.4.2, which check the
//! proofs of RFC 6962).

use crate::format::{
    hash::{Hash, empty_root, node_hash},
    limits::PROOF_HASHES_MAX,
};

/// Why a proof does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// The leaf or the smaller tree lies outside the tree.
    #[error("index or size lies outside the tree")]
    Outside,
    /// Too few or too many hashes for this index and size.
    #[error("the proof has the wrong number of hashes")]
    Length,
    /// The hashes lead to another root.
    #[error("the proof leads to another root")]
    Root,
}

/// The root that this leaf at this index of a tree of this size leads to.
pub fn inclusion_root(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
) -> Result<Hash, TreeError> {
    if index >= size {
        return Err(TreeError::Outside);
    }
    if proof.len() > PROOF_HASHES_MAX {
        return Err(TreeError::Length);
    }
    let (mut node, mut last) = (index, size - 1);
    let mut root = *leaf;
    for sibling in proof {
        if last == 0 {
            return Err(TreeError::Length);
        }
        if node & 1 == 1 || node == last {
            root = node_hash(sibling, &root);
            // A node without a right sibling moves up until it has a left one.
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            root = node_hash(&root, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    if last == 0 {
        Ok(root)
    } else {
        Err(TreeError::Length)
    }
}

/// Whether this leaf is at this index of the tree of this size and root.
pub fn verify_inclusion(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), TreeError> {
    if inclusion_root(index, size, leaf, proof)? == *root {
        Ok(())
    } else {
        Err(TreeError::Root)
    }
}

/// Whether the tree of size `from` and root `from_root` is the beginning of the tree of size `to`
/// and root `to_root`.
pub fn verify_consistency(
    from: u64,
    to: u64,
    proof: &[Hash],
    from_root: &Hash,
    to_root: &Hash,
) -> Result<(), TreeError> {
    if from > to {
        return Err(TreeError::Outside);
    }
    if from == to || from == 0 {
        let same = if from == to {
            *from_root == *to_root
        } else {
            *from_root == empty_root()
        };
        return match (proof, same) {
            ([], true) => Ok(()),
            ([], false) => Err(TreeError::Root),
            ([_, ..], _) => Err(TreeError::Length),
        };
    }
    if proof.len() > PROOF_HASHES_MAX {
        return Err(TreeError::Length);
    }
    // A complete smaller tree is itself the first node; otherwise the proof begins with one.
    let (first, rest) = match proof.split_first() {
        _ if from.is_power_of_two() => (from_root, proof),
        Some((first, rest)) => (first, rest),
        None => return Err(TreeError::Length),
    };
    let shift = (from - 1).trailing_ones();
    let (mut node, mut last) = ((from - 1) >> shift, (to - 1) >> shift);
    let (mut old, mut new) = (*first, *first);
    for sibling in rest {
        if last == 0 {
            return Err(TreeError::Length);
        }
        if node & 1 == 1 || node == last {
            old = node_hash(sibling, &old);
            new = node_hash(sibling, &new);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            new = node_hash(&new, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return Err(TreeError::Length);
    }
    if old == *from_root && new == *to_root {
        Ok(())
    } else {
        Err(TreeError::Root)
    }
}
