//! Repeats, found at the door: what was done is answered again before anything is judged again.
//!
//! Invariants
//! * This only looks. The writer looks again, so two equal requests at once still do one thing.
//! * After the log failed nothing is answered from it: what its last commit left is unknown until
//!   it is opened again.

use std::sync::atomic::Ordering::Relaxed;

use minutebook_domain::actor::Actor;
use minutebook_domain::ids::StreamId;
use minutebook_domain::{Command, room};

use super::{Committed, Handle, Health, Idempotency, SubmitError, replay};

/// What a request is about, to which its idempotency key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A room to be opened, which has no stream yet.
    NewRoom,
    /// A stream there is.
    Stream(StreamId),
}

impl Handle {
    /// The answer to this request if it was done before; an error if the key stands for another.
    pub fn replayed(
        &self,
        actor: &Actor,
        target: Target,
        id: &Idempotency,
    ) -> Result<Option<Committed>, SubmitError> {
        if matches!(*self.inner.health.borrow(), Health::Failed(_)) {
            return Err(SubmitError::Stopped);
        }
        let scope = match target {
            Target::NewRoom => OPENING_SCOPE.to_owned(),
            Target::Stream(stream) => stream.to_string(),
        };
        let reader = &*self.inner.reader;
        let row = reader
            .command(&index_key(actor, &scope, id))
            .map_err(|_| SubmitError::Stopped)?;
        let Some(row) = row else {
            return Ok(None);
        };
        if row.request != id.request {
            return Err(SubmitError::KeyConflict { first: row.first });
        }
        let committed = replay::committed(reader, row.first, row.count)?;
        self.inner.stats.replayed.fetch_add(1, Relaxed);
        Ok(Some(committed))
    }
}

/// First 16 bytes of BLAKE3(actor 0x00 scope 0x00 key [0x00 asker]): who asked, for what, under
/// which name. A key holds no NUL, so no two of these read alike.
pub(super) fn index_key(actor: &Actor, scope: &str, id: &Idempotency) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(actor.to_string().as_bytes());
    hasher.update(&[0]);
    hasher.update(scope.as_bytes());
    hasher.update(&[0]);
    hasher.update(id.key.as_bytes());
    if !id.asker.is_empty() {
        hasher.update(&[0]);
        hasher.update(id.asker.as_bytes());
    }
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    key
}

/// What opening a room is asked of.
const OPENING_SCOPE: &str = "rooms";

/// A room that is being opened has no stream yet, so its repeat must be found without one.
pub(super) fn scope(command: &Command) -> String {
    match command {
        Command::Room(_, room::Command::Open(_)) => OPENING_SCOPE.to_owned(),
        Command::Room(..) | Command::Keys(_) | Command::Skills(_) => command.stream().to_string(),
    }
}
