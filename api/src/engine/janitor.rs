//! Making erased text leave the disk.
//!
//! An erasure takes bodies and rows out of the log's tables in its own commit; their bytes stay in
//! older tables until those are rewritten, and in generations of projections that are kept to go
//! back to. This thread does both, off the writer.
//!
//! Invariants
//! * What is still to be done is a row of the erasure's own commit (`erasure/pending/<seq>`), so a
//!   crash forgets nothing: the next start goes on.
//! * It never touches records, and nobody waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use minutebook_eventlog::store::{META_SPACE, Maintenance, RowOp, Space, StoreError};

use crate::generations::{Access, GenerationError, LiveSpaces, forget_others};

/// Rewriting tables is dear, so erasures that come together are worked off together.
const QUIET: Duration = Duration::from_mins(1);

const PREFIX: &[u8] = b"erasure/pending/";
/// The first key after all that begin with [`PREFIX`].
const PREFIX_END: &[u8] = b"erasure/pending0";

/// The row that asks for the work, for the erasure's own commit.
pub(super) fn pending(meta: Space, seq: u64) -> RowOp {
    let mut key = PREFIX.to_vec();
    key.extend(seq.to_be_bytes());
    RowOp {
        space: meta,
        key,
        value: Some(Vec::new()),
    }
}

/// Works off what an earlier run left, then waits for erasures until the writer is gone.
pub(super) fn run(access: &Access, spaces: LiveSpaces, erasures: &Receiver<()>) {
    sweep(access, spaces);
    while erasures.recv().is_ok() {
        loop {
            match erasures.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                // The next start does it.
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        sweep(access, spaces);
    }
}

fn sweep(access: &Access, spaces: LiveSpaces) {
    match work_off(access, spaces) {
        Ok(0) => {}
        Ok(erasures) => tracing::info!(erasures, "erased text has left the disk"),
        Err(error) => tracing::warn!(%error, "erased text is still on the disk; tried again later"),
    }
}

/// Does what is pending; returns how many erasures that were.
pub fn work_off(access: &Access, spaces: LiveSpaces) -> Result<usize, GenerationError> {
    let meta = access.reader.space(META_SPACE)?;
    let rows = access
        .reader
        .range(meta, PREFIX, PREFIX_END, false, usize::MAX)?;
    if rows.is_empty() {
        return Ok(0);
    }
    forget_others(access)?;
    access
        .maintenance
        .compact_erased(&[spaces.rooms, spaces.history, meta])?;
    let erasures = rows.len();
    let done = rows.into_iter().map(|(key, _)| RowOp {
        space: meta,
        key,
        value: None,
    });
    finish(&*access.maintenance, done.collect())?;
    Ok(erasures)
}

fn finish(maintenance: &dyn Maintenance, ops: Vec<RowOp>) -> Result<(), StoreError> {
    maintenance.append_rows(ops)?;
    maintenance.persist()
}
