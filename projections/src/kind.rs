//! The closed list of projections.

use std::fmt;

use crate::{Projection, history, rooms, skills, threads};

/// A projection. A new one is a variant here, a module, and nothing else outside its readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The directory: rooms, their agents, the public listing.
    Rooms,
    /// Messages per room.
    History,
    /// Claim threads per room, their ledger, discrepancies and handshakes.
    Threads,
    /// Shared skills.
    Skills,
}

impl Kind {
    /// All of them, in the order in which they are applied.
    pub const ALL: [Self; 4] = [Self::Rooms, Self::History, Self::Threads, Self::Skills];

    /// Its name, for ever: it is part of its space's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rooms => "rooms",
            Self::History => "history",
            Self::Threads => "threads",
            Self::Skills => "skills",
        }
    }

    /// Version of its rows. Another version is built anew beside the live generation.
    pub const fn version(self) -> u32 {
        match self {
            Self::Rooms => rooms::VERSION,
            Self::History => history::VERSION,
            Self::Threads => threads::VERSION,
            Self::Skills => skills::VERSION,
        }
    }

    /// The projection with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A fresh fold, to be given facts from wherever its rows end.
    pub fn fold(self) -> Box<dyn Projection> {
        match self {
            Self::Rooms => Box::<rooms::Rooms>::default(),
            Self::History => Box::<history::History>::default(),
            Self::Threads => Box::<threads::Threads>::default(),
            Self::Skills => Box::<skills::Skills>::default(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
