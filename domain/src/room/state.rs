//! What a room's rules need to remember.
//!
//! Invariants
//! * Bounded: members, guarded names, remembered signatures and all of `claims` have a limit or
//!   a time.
//! * A replay over erased bodies ends in the state the writer had, once the erasing event is
//!   folded in; between the two it knows less, and `gaps` says so. Rules that would need the lost
//!   bodies are then not applied: the writer did apply them, and less knowledge must never make
//!   an honest record unlawful.

use std::collections::BTreeSet;

use super::{
    CONFIRMATIONS_NEEDED, Dialect, ProtocolMode,
    claims::{Author, Claims},
    names::Names,
    replays::Replays,
};
use crate::{
    Rejection,
    text::{AgentName, RoomName},
};

/// A room as its rules see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct RoomState {
    /// Position of its newest event in its stream.
    pub(super) sseq: u64,
    pub(super) phase: Phase,
    /// None when the opening's body is erased.
    pub(super) facts: Option<Facts>,
    /// Messages posted, erased ones included.
    pub(super) messages: u64,
    pub(super) members: BTreeSet<AgentName>,
    pub(super) names: Names,
    pub(super) replays: Replays,
    /// None until a thread is opened or hands are shaken: most rooms only talk.
    pub(super) claims: Option<Box<Claims>>,
    pub(super) gaps: Gaps,
}

/// How far a room is in its life.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub enum Phase {
    /// Takes messages.
    Open,
    /// Can be read.
    Closed,
    /// Gone.
    Erased,
}

/// What was said at the opening, and the name it has now.
#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct Facts {
    pub(super) confirmations_needed: u8,
    pub(super) dialect: Dialect,
    pub(super) is_public: bool,
    pub(super) message_limit: Option<u64>,
    pub(super) name: Option<RoomName>,
    pub(super) protocol_mode: ProtocolMode,
}

/// Whether bodies were missing whose erasure still lies ahead.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(super) struct Gaps {
    /// Of messages: names are not all known.
    pub(super) messages: bool,
    /// Of other events: members and threads are not all known.
    pub(super) others: bool,
}

impl RoomState {
    /// A room just opened, about which nothing else is known.
    pub(super) fn new(sseq: u64) -> Self {
        Self {
            sseq,
            phase: Phase::Open,
            facts: None,
            messages: 0,
            members: BTreeSet::new(),
            names: Names::default(),
            replays: Replays::default(),
            claims: None,
            gaps: Gaps::default(),
        }
    }

    /// Position of its newest event in its stream.
    pub fn sseq(&self) -> u64 {
        self.sseq
    }

    /// How far the room is in its life.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The facade it was opened through; none when that is erased.
    pub fn dialect(&self) -> Option<Dialect> {
        self.facts.as_ref().map(|facts| facts.dialect)
    }

    /// Whether the directory lists it; an erased room is not listed.
    pub fn is_public(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.is_public)
    }

    /// When the arbiter reads it; none when that is erased.
    pub fn protocol_mode(&self) -> Option<ProtocolMode> {
        self.facts.as_ref().map(|facts| facts.protocol_mode)
    }

    /// Messages it takes, or none for no limit.
    pub fn message_limit(&self) -> Option<u64> {
        self.facts.as_ref().and_then(|facts| facts.message_limit)
    }

    /// Its unique name.
    pub fn name(&self) -> Option<&RoomName> {
        self.facts.as_ref().and_then(|facts| facts.name.as_ref())
    }

    /// Messages posted, erased ones included: the newest one's `n`.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Who is in it.
    pub fn members(&self) -> impl Iterator<Item = &AgentName> {
        self.members.iter()
    }

    /// Whether this agent is in it.
    pub fn is_member(&self, agent: &AgentName) -> bool {
        self.members.contains(agent)
    }

    /// Confirmations that make an agreement here.
    pub fn confirmations_needed(&self) -> u8 {
        let facts = self.facts.as_ref();
        facts.map_or(CONFIRMATIONS_NEEDED, |facts| facts.confirmations_needed)
    }

    /// Its threads, their ledger and its handshakes.
    pub fn claims(&self) -> &Claims {
        static NONE: Claims = Claims::new();
        self.claims.as_deref().unwrap_or(&NONE)
    }

    pub(super) fn claims_mut(&mut self) -> &mut Claims {
        self.claims.get_or_insert_default()
    }

    /// Whether an author's name is no twin of one known here.
    pub(super) fn check_author(&self, author: &Author) -> Result<(), Rejection> {
        match author {
            Author::Agent(agent) => self.check_name(agent),
            Author::Arbiter => Ok(()),
        }
    }

    /// Whether a new name is no twin of one known here.
    pub(super) fn check_name(&self, agent: &AgentName) -> Result<(), Rejection> {
        if self.gaps.messages || self.gaps.others {
            return Ok(());
        }
        self.names.check(agent)
    }
}

/// The room, if it was opened and is not erased.
pub(super) fn readable(room: Option<&RoomState>) -> Result<&RoomState, Rejection> {
    let room = room.ok_or(Rejection::RoomNotFound)?;
    match room.phase {
        Phase::Open | Phase::Closed => Ok(room),
        Phase::Erased => Err(Rejection::RoomErased),
    }
}

/// The room, if it takes new events.
pub(super) fn open(room: Option<&RoomState>) -> Result<&RoomState, Rejection> {
    let room = readable(room)?;
    match room.phase {
        Phase::Open => Ok(room),
        Phase::Closed | Phase::Erased => Err(Rejection::RoomClosed),
    }
}
