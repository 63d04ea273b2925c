//! All events, their persisted names and their bytes.
//!
//! Invariants
//! * A body has one spelling: `decode` takes exactly the bytes `encode_body` makes, so no two
//!   bodies mean the same event. White space, other key orders, repeated or unknown keys, nulls
//!   and needless escapes are all refused.
//! * A kind's name and version are for ever. A changed body is a new version.

mod codec;
mod kind;
mod plain;
mod plain_claim;

use crate::{actor::Actor, ids::StreamId, keys, room, skills, time::Timestamp};

pub use codec::DecodeError;
pub use kind::EventKind;
pub(crate) use kind::Home;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// In a room.
    Room(room::Event),
    /// To the keys or the log.
    Keys(keys::Event),
    /// To shared skills.
    Skills(skills::Event),
}

impl Event {
    /// The event's kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Room(event) => event.kind(),
            Self::Keys(event) => event.kind(),
            Self::Skills(event) => event.kind(),
        }
    }
}

/// An event in its place: what rules and folds get to see.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Position in the log.
    pub seq: u64,
    /// Its stream.
    pub stream: StreamId,
    /// Position in its stream.
    pub sseq: u64,
    /// Who acted.
    pub actor: &'a Actor,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: What<'a>,
}

/// The event, or what is left of it.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// With its body.
    Present(&'a Event),
    /// Erased with authority: only the kind is known.
    Erased(EventKind),
}

impl What<'_> {
    /// The event's kind, which erasure leaves.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Present(event) => event.kind(),
            Self::Erased(kind) => *kind,
        }
    }
}
