//! What every store refuses before it writes anything: the checks are shared so that the
//! in-memory store accepts exactly what the one on disk accepts.

use super::{Commit, Head, RowOp, StoreError};

/// Longest key of a derived row.
pub const MAX_KEY_BYTES: usize = 4096;
/// Longest value of a row, envelope or body. Larger blobs (snapshots) are cut by the caller.
pub const MAX_VALUE_BYTES: usize = 4 << 20;
/// Bytes in a complete tile: 256 hashes.
pub const TILE_BYTES: usize = 256 * 32;
/// The space that is always there. Keys starting with a zero byte are the store's own in it.
pub const META_SPACE: &str = "meta";
/// First byte of the store's own keys in [`META_SPACE`].
pub(super) const OWN_KEY: u8 = 0;

/// Most spaces open at once.
pub(super) const MAX_SPACES: usize = 1024;
const MAX_SPACE_NAME: usize = 64;

fn refused(what: impl Into<String>) -> StoreError {
    StoreError::Refused(what.into())
}

/// Whether a commit follows the head and keeps the limits.
pub(super) fn commit(commit: &Commit, head: &Head) -> Result<(), StoreError> {
    if commit.expected_seq != head.seq {
        return Err(StoreError::Fenced {
            expected: commit.expected_seq,
            found: head.seq,
        });
    }
    if commit.records.is_empty() != commit.checkpoint.is_empty() {
        return Err(refused(
            "records need a checkpoint, and a checkpoint records",
        ));
    }
    records(commit)?;
    if commit.erase.iter().any(|seq| *seq == 0 || *seq > head.seq) {
        return Err(refused("only bodies of earlier records can be erased"));
    }
    if commit.tiles.iter().any(|tile| tile.2.len() != TILE_BYTES) {
        return Err(refused("a tile is not 256 hashes wide"));
    }
    commit.rows.iter().try_for_each(row)
}

fn records(commit: &Commit) -> Result<(), StoreError> {
    for (expected, new) in (commit.expected_seq + 1..).zip(&commit.records) {
        if new.seq != expected {
            return Err(refused(format!("seq {} where {expected} is due", new.seq)));
        }
        if new.sseq == 0 || new.stream.is_empty() {
            return Err(refused(format!("seq {expected} has no place in a stream")));
        }
        let body = new.record.body.as_ref().map_or(0, |body| body.bytes.len());
        if new.record.envelope.is_empty() || new.record.envelope.len().max(body) > MAX_VALUE_BYTES {
            return Err(refused(format!("seq {expected} is empty or too long")));
        }
    }
    Ok(())
}

/// Whether a derived row keeps the limits.
pub(super) fn row(op: &RowOp) -> Result<(), StoreError> {
    if op.key.is_empty() || op.key.len() > MAX_KEY_BYTES {
        return Err(refused(format!("a row key of {} bytes", op.key.len())));
    }
    match &op.value {
        Some(value) if value.len() > MAX_VALUE_BYTES => Err(refused(format!(
            "a row of {} bytes: more than {MAX_VALUE_BYTES} must be cut",
            value.len()
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Whether these rows can fill a space at once: all of one space, in ascending order.
pub(super) fn filling(ops: &[RowOp]) -> Result<(), StoreError> {
    let is_in_order = |pair: &[RowOp]| match pair {
        [a, b] => a.space == b.space && a.key < b.key,
        _ => true,
    };
    if !ops.windows(2).all(is_in_order) {
        return Err(refused(
            "rows to fill a space are of several or not in ascending order",
        ));
    }
    ops.iter().try_for_each(row)
}

/// Whether a space may have this name.
pub(super) fn space_name(name: &str) -> Result<(), StoreError> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    if name.is_empty() || name.len() > MAX_SPACE_NAME || !name.bytes().all(allowed) {
        return Err(refused(format!("{name:?} cannot name a space")));
    }
    Ok(())
}
