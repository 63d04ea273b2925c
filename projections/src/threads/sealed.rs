//! What the rules ask of a room's rows to say whether its context is sealed.

use minutebook_domain::{
    ids::RoomId,
    room::claims::sealed::{self, Shaken},
};

use super::{ShookRow, ThreadRow, keys, view::principals};
use crate::{ProjectionError, Rows, overlay::each_row, row};

/// Whether a context with this hash, made of these threads, is sealed.
pub(super) fn is_sealed(
    rows: &dyn Rows,
    room: RoomId,
    context_hash: &str,
    threads: &[ThreadRow],
) -> Result<bool, ProjectionError> {
    let (from, to) = keys::all_who_shook(room, context_hash);
    let mut shook = Vec::new();
    each_row(rows, &from, &to, |_, value| {
        shook.push(row::decode::<ShookRow>(&value)?);
        Ok(())
    })?;
    let shaken = shook.iter().map(|row| Shaken {
        by: &row.agent,
        position: row.position,
    });
    let shaken: Vec<_> = shaken.collect();
    let threads = threads.iter().map(|row| &row.thread);
    sealed::is_sealed(threads, &shaken, || principals(rows, room))
}
