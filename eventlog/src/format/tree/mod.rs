//! The Merkle tree of RFC 6962 over envelopes.
//!
//! Invariants
//! * Leaf number `seq - 1` is the leaf hash of envelope `seq`.
//! * Everything is derived: a frontier, tiles and proofs can be made again from the leaves.
//! * Verifying looks only at what it is given and never allocates by a claimed size.

mod frontier;
mod path;
mod prove;
mod tiles;
mod verify;

pub use frontier::Frontier;
pub use path::{TileLevel, TilePath};
pub use prove::{ProveError, TileSource, consistency_proof, inclusion_proof, subtree_root};
pub use tiles::{TILE_BYTES, TILE_WIDTH, Tile, Tiler};
pub use verify::{TreeError, inclusion_root, verify_consistency, verify_inclusion};

#[cfg(test)]
mod tests;
