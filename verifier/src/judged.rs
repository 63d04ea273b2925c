//! Records that were found to hold by themselves before: signatures need not be checked twice.
//!
//! Invariants
//! * What is remembered is the hash of an envelope, and only once its body was found to be the one
//!   it commits to. The rules that need no state see nothing else, so another answer is not
//!   possible: a changed byte is another hash.
//! * Only good answers are remembered, so that a finding is made anew each time.
//! * Memory is bounded; what is forgotten is judged again.
//! * Nothing is stored: a process begins with an empty memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use minutebook_domain::{Event, room};
use minutebook_eventlog::format::hash::Hash;
use rustc_hash::FxHashSet;

/// Hashes per half; when one is full, the older half is forgotten. At most about 36 MB.
const HALF_MAX: usize = 1 << 18;

/// The memory. One per log and process.
#[derive(Debug, Default)]
pub struct Judged(Mutex<Halves>);

#[derive(Debug, Default)]
struct Halves {
    new: FxHashSet<[u8; 32]>,
    old: FxHashSet<[u8; 32]>,
}

impl Judged {
    /// Whether judging this event costs enough to be remembered: it carries a signature.
    pub(crate) fn is_worth(event: &Event) -> bool {
        match event {
            Event::Room(room::Event::Claim(_)) => true,
            Event::Room(room::Event::MessagePosted(message)) => message.signature.is_some(),
            Event::Room(
                room::Event::Opened(_)
                | room::Event::Renamed(_)
                | room::Event::Joined(_)
                | room::Event::Left(_)
                | room::Event::BodiesErased(_)
                | room::Event::Closed(_)
                | room::Event::Erased(_),
            )
            | Event::Keys(_)
            | Event::Skills(_) => false,
        }
    }

    /// Takes a record from the engine that makes it: the door checked what the agent sent, and the
    /// seal was made a moment ago. Gives the hash back.
    pub fn made(&self, event: &Event, chain: Hash) -> Hash {
        if Self::is_worth(event) {
            self.learn(chain);
        }
        chain
    }

    /// Remembers that the rules that need no state hold for the record with this chain hash,
    /// whose body is the committed one.
    pub(crate) fn learn(&self, chain: Hash) {
        let mut halves = self.lock();
        if halves.new.len() >= HALF_MAX {
            halves.old = std::mem::take(&mut halves.new);
        }
        halves.new.insert(*chain.as_bytes());
    }

    /// Whether that is known.
    pub(crate) fn holds(&self, chain: &Hash) -> bool {
        let mut halves = self.lock();
        if halves.new.contains(chain.as_bytes()) {
            return true;
        }
        let is_old = halves.old.contains(chain.as_bytes());
        if is_old && halves.new.len() < HALF_MAX {
            halves.new.insert(*chain.as_bytes());
        }
        is_old
    }

    /// A panic elsewhere leaves a set of hashes that are true one by one.
    fn lock(&self) -> MutexGuard<'_, Halves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
