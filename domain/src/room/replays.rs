//! Signatures used in a room whose time window is still open.
//!
//! Bounded by time: what has lapsed at an event's `at` is dropped when the event is folded in, and
//! one agent's signatures are as many as its messages in ten minutes. Bounded by count where the
//! room's messages are: at 1,000 in a room opened over REST, unless the operator lifts it. In a
//! room without a limit only time bounds them: one forgotten early could be used again.

use std::{
    collections::BTreeSet,
    hash::{Hash, Hasher},
};

use crate::time::Timestamp;

/// Used signatures, the first to lapse first.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub(super) struct Replays(BTreeSet<Used>);

#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
#[rkyv(derive(PartialEq, Eq, PartialOrd, Ord))]
struct Used {
    /// The last moment at which it would be taken again.
    until: Timestamp,
    digest: [u8; 16],
}

impl Used {
    fn new(until: Timestamp, sig: &str) -> Self {
        let hash = blake3::hash(sig.as_bytes());
        let mut digest = [0; 16];
        for (to, from) in digest.iter_mut().zip(hash.as_bytes()) {
            *to = *from;
        }
        Self { until, digest }
    }
}

impl Replays {
    /// Whether this signature was used. Its own time is signed, so `until` is always the same.
    pub(super) fn contains(&self, until: Timestamp, sig: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&Used::new(until, sig))
    }

    /// Remembers a signature.
    pub(super) fn add(&mut self, until: Timestamp, sig: &str) {
        self.0.insert(Used::new(until, sig));
    }

    /// Forgets what has lapsed.
    pub(super) fn prune(&mut self, at: Timestamp) {
        while self.0.first().is_some_and(|used| used.until < at) {
            self.0.pop_first();
        }
    }
}

/// Hashed as nothing: the digest of a state leaves signatures out, because a replay cannot know
/// those of erased messages, and they lapse within minutes anyway.
impl Hash for Replays {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
