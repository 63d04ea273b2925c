//! Whether a room's context is sealed: two different principals shook hands on what it is now.
//!
//! Invariant: a handshake whose signature says up to where its agent had read does not count for
//! values that were set later, though they may be the same as before. One that does not say so
//! counts for the hash alone, as in the seed.

use super::{Principals, Thread};
use crate::text::AgentName;

/// The newest handshake of an agent on the context as it is.
#[derive(Clone, Copy, Debug)]
pub struct Shaken<'a> {
    /// Whose.
    pub by: &'a AgentName,
    /// The newest entry it had read, if it says so.
    pub position: Option<u64>,
}

/// Whether these handshakes seal a context of these threads. `principals` is asked for only where
/// it matters.
pub fn is_sealed<'a, E>(
    threads: impl Iterator<Item = &'a Thread>,
    handshakes: &[Shaken<'_>],
    principals: impl FnOnce() -> Result<Principals, E>,
) -> Result<bool, E> {
    let newest = newest_value(threads);
    let counts = |shaken: &&Shaken<'_>| shaken.position.is_none_or(|read| read >= newest);
    let mut counting = handshakes.iter().filter(counts);
    let Some(first) = counting.next() else {
        return Ok(false);
    };
    let mut others = counting.peekable();
    if others.peek().is_none() {
        return Ok(false);
    }
    let principals = principals()?;
    let first = principals.of(first.by);
    Ok(others.any(|other| principals.of(other.by) != first))
}

/// The entry that set the newest of the values in the context.
fn newest_value<'a>(threads: impl Iterator<Item = &'a Thread>) -> u64 {
    let in_context = threads.filter(|thread| thread.in_context().is_some());
    in_context.map(Thread::value_revision).max().unwrap_or(0)
}
