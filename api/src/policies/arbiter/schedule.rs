//! Which premium room is read next, and when one is tried again.
//!
//! Invariants
//! * A room is read by one task at a time, so that however much is posted in it, it takes one of
//!   the places for readings and not all of them.
//! * Rooms are read in the order in which they asked.
//! * A room that an outage hit waits out the pause, whatever is posted in it meanwhile: the more is
//!   said, the more often an overloaded model must not be asked.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use minutebook_domain::ids::RoomId;
use tokio::time::Instant;

/// First and longest pause after an outage.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(5);

/// Rooms in the order in which they asked, each once.
#[derive(Default)]
pub(super) struct Queue {
    order: VecDeque<RoomId>,
    rooms: HashSet<RoomId>,
}

impl Queue {
    /// Whether it was not in it.
    pub(super) fn push(&mut self, room: RoomId) -> bool {
        let is_new = self.rooms.insert(room);
        if is_new {
            self.order.push_back(room);
        }
        is_new
    }

    pub(super) fn pop(&mut self) -> Option<RoomId> {
        let room = self.order.pop_front()?;
        self.rooms.remove(&room);
        Some(room)
    }
}

/// How a reading in the background ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Done,
    More,
    Outage,
}

/// The rooms that are being read, and those that wait for an outage to pass.
pub(super) struct Schedule {
    busy: HashSet<RoomId>,
    /// Of those being read: asked again meanwhile.
    asked: HashSet<RoomId>,
    later: HashSet<RoomId>,
    pause: Duration,
    again: Instant,
}

impl Schedule {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            busy: HashSet::new(),
            asked: HashSet::new(),
            later: HashSet::new(),
            pause: PAUSE_MIN,
            again: now,
        }
    }

    /// Whether a room that asks is to be read now. If not, it is not forgotten.
    pub(super) fn start(&mut self, room: RoomId) -> bool {
        if self.later.contains(&room) {
            return false;
        }
        let is_free = self.busy.insert(room);
        if !is_free {
            self.asked.insert(room);
        }
        is_free
    }

    /// Notes how a reading ended. Says whether the room asks again at once.
    pub(super) fn end(&mut self, room: RoomId, ended: Ended, now: Instant) -> bool {
        self.busy.remove(&room);
        let was_asked = self.asked.remove(&room);
        match ended {
            Ended::Done | Ended::More => {
                // The model answers: who waits for it need not wait out a long pause.
                self.pause = PAUSE_MIN;
                self.again = self.again.min(now + PAUSE_MIN);
                was_asked || ended == Ended::More
            }
            Ended::Outage => {
                if self.later.is_empty() {
                    self.again = now + self.pause;
                    self.pause = (self.pause * 2).min(PAUSE_MAX);
                }
                self.later.insert(room);
                false
            }
        }
    }

    /// When the rooms that wait are tried again; none if none waits.
    pub(super) fn again(&self) -> Option<Instant> {
        (!self.later.is_empty()).then_some(self.again)
    }

    /// The rooms that waited; they wait no longer.
    pub(super) fn take_later(&mut self) -> HashSet<RoomId> {
        std::mem::take(&mut self.later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn room(number: u128) -> RoomId {
        RoomId::new(Uuid::from_u128(number))
    }

    fn schedule() -> (Schedule, Instant) {
        let now = Instant::now();
        (Schedule::new(now), now)
    }

    #[test]
    fn a_busy_room_takes_one_place_and_is_read_once_more() {
        let (mut schedule, now) = schedule();
        assert!(schedule.start(room(1)));
        for _ in 0..9 {
            assert!(!schedule.start(room(1)), "it is being read");
        }
        assert!(schedule.start(room(2)));
        assert!(
            schedule.end(room(1), Ended::Done, now),
            "it asked meanwhile"
        );
        assert!(schedule.start(room(1)));
        assert!(
            !schedule.end(room(1), Ended::Done, now),
            "nothing came since"
        );
        assert!(schedule.end(room(2), Ended::More, now));
    }

    #[test]
    fn rooms_take_turns() {
        let mut queue = Queue::default();
        assert!(queue.push(room(9)) && queue.push(room(1)));
        assert!(!queue.push(room(9)), "it waits already");
        assert_eq!(queue.pop(), Some(room(9)));
        assert!(queue.push(room(9)), "behind the others");
        assert_eq!((queue.pop(), queue.pop()), (Some(room(1)), Some(room(9))));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn posts_do_not_shorten_an_outage() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.again(), None);
        assert!(schedule.start(room(1)));
        assert!(!schedule.start(room(1)));
        assert!(!schedule.end(room(1), Ended::Outage, now));
        assert!(!schedule.start(room(1)), "it waits");
        assert_eq!(schedule.again(), Some(now + PAUSE_MIN));
        assert_eq!(schedule.take_later(), HashSet::from([room(1)]));
        assert!(schedule.start(room(1)));
    }

    #[test]
    fn pauses_grow_to_a_bound_and_end_when_the_model_answers() {
        let (mut schedule, now) = schedule();
        let mut pauses = Vec::new();
        for _ in 0..12 {
            assert!(schedule.start(room(1)));
            schedule.end(room(1), Ended::Outage, now);
            pauses.push(schedule.again().unwrap() - now);
            schedule.take_later();
        }
        assert_eq!(pauses[..3], [1, 2, 4].map(Duration::from_secs));
        assert_eq!(pauses.last(), Some(&PAUSE_MAX));
        assert!(schedule.start(room(1)) && schedule.start(room(2)));
        schedule.end(room(1), Ended::Outage, now);
        schedule.end(room(2), Ended::Done, now);
        assert_eq!(schedule.again(), Some(now + PAUSE_MIN));
    }

    #[test]
    fn rooms_that_an_outage_hits_together_wait_together() {
        let (mut schedule, now) = schedule();
        for number in 1..=8 {
            assert!(schedule.start(room(number)));
        }
        for number in 1..=8 {
            schedule.end(room(number), Ended::Outage, now);
        }
        assert_eq!(schedule.again(), Some(now + PAUSE_MIN), "one outage");
        assert_eq!(schedule.take_later().len(), 8);
    }
}
