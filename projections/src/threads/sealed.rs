//! Whether a room's context is sealed: two different principals shook hands on what it is now.
//!
//! Invariant: a handshake whose signature says up to where its agent had read does not count for
//! values that were set later, though they may be the same as before. One that does not say so
//! counts for the hash alone, as in the seed.

use minutebook_domain::{ids::RoomId, room::claims::Thread};

use super::{ShookRow, ThreadRow, keys, view::principals};
use crate::{ProjectionError, Rows, overlay::each_row, row};

/// Whether this is so of a context with this hash, made of these threads.
pub(super) fn is_sealed(
    rows: &dyn Rows,
    room: RoomId,
    context_hash: &str,
    threads: &[ThreadRow],
) -> Result<bool, ProjectionError> {
    let newest_value = newest_value(threads);
    let (from, to) = keys::all_who_shook(room, context_hash);
    let mut agents = Vec::new();
    each_row(rows, &from, &to, |_, value| {
        let shook = row::decode::<ShookRow>(&value)?;
        if shook.position.is_none_or(|read| read >= newest_value) {
            agents.push(shook.agent);
        }
        Ok(())
    })?;
    let [first, others @ ..] = agents.as_slice() else {
        return Ok(false);
    };
    if others.is_empty() {
        return Ok(false);
    }
    let principals = principals(rows, room)?;
    let first = principals.of(first);
    Ok(others.iter().any(|other| principals.of(other) != first))
}

/// The entry that set the newest of the values in the context.
fn newest_value(threads: &[ThreadRow]) -> u64 {
    let threads = threads.iter().map(|row| &row.thread);
    let in_context = threads.filter(|thread| thread.in_context().is_some());
    in_context.map(Thread::value_revision).max().unwrap_or(0)
}
