//! Telling a message that breaks a model's server from a server that is broken.
//!
//! A timeout or a 500 can be either. The message is given up after [`ATTEMPTS_MAX`] attempts in a
//! row, but only if some other message could be read since the first of them, or after
//! [`PATIENCE`] attempts over [`AT_LEAST`] in any case: one message must not keep a room from
//! being read for ever.
//! This is forgotten with the process, which only means more attempts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use minutebook_domain::ids::RoomId;
use parking_lot::Mutex;

const ATTEMPTS_MAX: u32 = 3;
const PATIENCE: u32 = 8;
const AT_LEAST: Duration = Duration::from_mins(10);
/// Rooms remembered at most; beyond, all begin anew.
const ROOMS_MAX: usize = 4096;

/// Attempts that failed for no clear reason.
#[derive(Default)]
pub(super) struct Doubts(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Messages read since the start.
    read: u64,
    rooms: HashMap<RoomId, Doubt>,
}

#[derive(Clone, Copy)]
struct Doubt {
    message: u64,
    attempts: u32,
    read_before: u64,
    since: Instant,
}

impl Doubts {
    /// A message could be read.
    pub(super) fn read(&self, room: RoomId) {
        let mut inner = self.0.lock();
        inner.read += 1;
        inner.rooms.remove(&room);
    }

    /// Whether any message could be read so far: if not, the fault may be in what all have in
    /// common.
    pub(super) fn has_read(&self) -> bool {
        self.0.lock().read > 0
    }

    /// Reading a message failed: whether to give it up.
    pub(super) fn failed(&self, room: RoomId, message: u64, now: Instant) -> bool {
        let mut inner = self.0.lock();
        if inner.rooms.len() >= ROOMS_MAX {
            inner.rooms.clear();
        }
        let read = inner.read;
        let doubt = inner.rooms.entry(room).or_insert(Doubt {
            message,
            attempts: 0,
            read_before: read,
            since: now,
        });
        if doubt.message != message {
            *doubt = Doubt {
                message,
                attempts: 0,
                read_before: read,
                since: now,
            };
        }
        doubt.attempts += 1;
        let others_could = read > doubt.read_before;
        let is_long = now.duration_since(doubt.since) >= AT_LEAST;
        let given_up = (doubt.attempts >= ATTEMPTS_MAX && others_could)
            || (doubt.attempts >= PATIENCE && is_long);
        if given_up {
            inner.rooms.remove(&room);
        }
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn room(number: u128) -> RoomId {
        RoomId::new(Uuid::from_u128(number))
    }

    #[test]
    fn a_message_is_given_up_when_others_can_be_read() {
        let (doubts, now) = (Doubts::default(), Instant::now());
        assert!(!doubts.failed(room(1), 7, now));
        doubts.read(room(2));
        assert!(!doubts.failed(room(1), 7, now));
        assert!(doubts.failed(room(1), 7, now));
        assert!(!doubts.failed(room(1), 7, now), "it begins anew");
    }

    #[test]
    fn a_broken_server_is_given_more_time_but_not_for_ever() {
        let (doubts, now) = (Doubts::default(), Instant::now());
        assert!((0..99).all(|_| !doubts.failed(room(1), 7, now)));
        assert!(!doubts.failed(room(1), 7, now + Duration::from_mins(9)));
        assert!(doubts.failed(room(1), 7, now + AT_LEAST));
    }

    #[test]
    fn another_message_begins_anew() {
        let (doubts, now) = (Doubts::default(), Instant::now());
        doubts.failed(room(1), 7, now);
        doubts.failed(room(1), 7, now);
        doubts.read(room(2));
        assert!(!doubts.failed(room(1), 8, now));
        assert!(!doubts.failed(room(1), 8, now));
    }
}
