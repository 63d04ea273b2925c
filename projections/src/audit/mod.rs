//! One room's live rows against a fold of its own log.
//!
//! Invariants
//! * Live rows are compared as bytes and never decoded to decide: no row can make this fail or
//!   panic, and none can say that it is right.
//! * Facts and live rows must be of one and the same moment; who calls sees to it.
//! * Memory is bounded by a page of messages, the room's threads and its agents: messages are
//!   compared as they are folded, and beyond [`expected::WHOLE_BYTES_MAX`] entries of the ledger
//!   are kept as digests.
//! * The list of differences is bounded; the rest is counted.
//!
//! The rows of other rooms are not looked at, so a listing that names this room at a place where
//! it never stood is found by a whole rebuild only (`minutebook projections check`).

mod about;
mod expected;
mod part;

pub use about::About;

use std::fmt;

use minutebook_domain::{Fact, ids::RoomId};

use self::part::Part;
use crate::{Kind, ProjectionError, Rows};

/// Differences kept per projection; more are only counted.
pub const DIFFERENCES_MAX: usize = 100;

/// How a row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The log demands it, and it is not there.
    Missing,
    /// It is there, and the log knows nothing of it.
    Added,
    /// It is not what the log says.
    Changed,
}

/// A row that is not what the log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whose row.
    pub kind: Kind,
    /// How.
    pub how: How,
    /// What it shows.
    pub about: About,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, how, about } = self;
        match how {
            How::Missing => write!(f, "{kind}: the row of {about} is missing"),
            How::Added => write!(f, "{kind}: a row of {about} is not from this room's log"),
            How::Changed => write!(f, "{kind}: the row of {about} is not what the log says"),
        }
    }
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first ones of each projection.
    pub list: Vec<Difference>,
    /// How many more there are.
    pub beyond: u64,
}

impl Differences {
    fn push(&mut self, difference: Difference) {
        if self.list.len() < DIFFERENCES_MAX {
            self.list.push(difference);
        } else {
            self.beyond += 1;
        }
    }
}

/// Folds a room's facts and compares what comes out with its live rows.
pub struct RoomAudit<'a> {
    parts: Vec<Part<'a>>,
}

impl<'a> RoomAudit<'a> {
    /// An audit of a room; `live`: the rows that readers are shown, by projection.
    pub fn new(room: RoomId, live: impl IntoIterator<Item = (Kind, &'a dyn Rows)>) -> Self {
        let parts = live.into_iter();
        let parts = parts.map(|(kind, live)| Part::new(kind, room, live));
        Self {
            parts: parts.collect(),
        }
    }

    /// Takes the room's next fact.
    pub fn fact(&mut self, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        self.parts.iter_mut().try_for_each(|part| part.fact(fact))
    }

    /// Ends it.
    pub fn finish(self) -> Result<Differences, ProjectionError> {
        let mut all = Differences::default();
        for part in self.parts {
            let mut found = part.finish()?;
            all.list.append(&mut found.list);
            all.beyond += found.beyond;
        }
        Ok(all)
    }
}
