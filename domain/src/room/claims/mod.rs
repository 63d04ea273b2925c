//! Claim threads: what agents propose, confirm and agree on, and the handshakes on the whole.
//!
//! Invariants
//! * A status is never recorded. It follows from the thread's own revisions, and moves with no
//!   other event ([`Thread::revise`]).
//! * Openings and revisions are entries of one chain per room, the seed's own, each signed by the
//!   arbiter ([`ledger`]); it says less than the log does, and nothing else.
//! * An agreement takes confirmations of the very value by different principals, none of whom is
//!   the opener ([`Principals`]).
//! * Bodies of this ledger are erased only with the whole room, so outside of `gaps.others` the
//!   state knows all of it.
//! * The arbiter reads, proposes and notes; it never confirms or contradicts.
//! * The files of commands (`open_claim`, `extract_context` …) have the shape of a command's file
//!   in [`super`].

mod author;
mod context;
mod extract_context;
pub mod ledger;
mod open_claim;
mod principals;
mod record_discrepancy;
mod revise_claim;
pub mod sealed;
mod shake_hands;
mod state;
mod subject_key;
mod threads;
mod unresolved;

pub use author::Author;
pub use context::{ContextThread, EMPTY_CONTEXT_HASH, context_hash};
pub use extract_context::{ContextExtracted, Outcome, Proposal, Severity};
pub use ledger::Entry;
pub use open_claim::{ClaimOpened, OpenClaim};
pub use principals::Principals;
pub use record_discrepancy::{DiscrepancyRecorded, RecordDiscrepancy};
pub use revise_claim::{ClaimRevised, ReviseClaim, RevisionKind};
pub use shake_hands::{HandshakeMade, ShakeHands};
pub use state::Claims;
pub use subject_key::SubjectKey;
pub use threads::{Moved, Status, Thread};
pub use unresolved::Unresolved;

use super::{RoomState, state as room_state};
use crate::{
    Context, EventKind, Fact, Rejection, ids::RoomId, keys::KeysState, signature::LedgerSignature,
    text::AgentName, time::Timestamp,
};

/// Everything that can happen on a room's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `room.claim_opened`
    Opened(ClaimOpened),
    /// `room.claim_revised`
    Revised(ClaimRevised),
    /// `room.handshake_made`
    HandshakeMade(HandshakeMade),
    /// `room.context_extracted`
    ContextExtracted(ContextExtracted),
    /// `room.discrepancy_recorded`
    DiscrepancyRecorded(DiscrepancyRecorded),
}

/// What can be asked of a room's ledger.
#[derive(Clone, Debug)]
pub enum Command {
    /// Open a thread.
    Open(OpenClaim),
    /// Update, confirm, contradict or retract.
    Revise(ReviseClaim),
    /// Agree to all there is.
    ShakeHands(ShakeHands),
    /// Write down what the arbiter made of a message.
    ExtractContext(ContextExtracted),
    /// Write down what does not fit.
    RecordDiscrepancy(RecordDiscrepancy),
}

impl Event {
    /// The event's kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Opened(_) => EventKind::ClaimOpened,
            Self::Revised(_) => EventKind::ClaimRevised,
            Self::HandshakeMade(_) => EventKind::HandshakeMade,
            Self::ContextExtracted(_) => EventKind::ContextExtracted,
            Self::DiscrepancyRecorded(_) => EventKind::DiscrepancyRecorded,
        }
    }

    /// The agent this event speaks for: none if it is the arbiter's.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Opened(event) => event.agent.agent(),
            Self::Revised(event) => event.agent.agent(),
            Self::HandshakeMade(event) => Some(&event.agent),
            Self::ContextExtracted(_) | Self::DiscrepancyRecorded(_) => None,
        }
    }

    /// Its place in the arbiter's chain, if it has one.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Opened(event) => Some(&event.entry),
            Self::Revised(event) => Some(&event.entry),
            Self::HandshakeMade(_) | Self::ContextExtracted(_) | Self::DiscrepancyRecorded(_) => {
                None
            }
        }
    }

    /// The agent's signature, if it signed.
    pub fn signature(&self) -> Option<&LedgerSignature> {
        match self {
            Self::Opened(event) => event.signature.as_deref(),
            Self::Revised(event) => event.signature.as_deref(),
            Self::HandshakeMade(event) => event.signature.as_deref(),
            Self::ContextExtracted(_) | Self::DiscrepancyRecorded(_) => None,
        }
    }

    pub(super) fn intrinsic(&self, room: RoomId, at: Timestamp) -> Result<(), Rejection> {
        match self {
            Self::Opened(event) => open_claim::intrinsic(event, room, at),
            Self::Revised(event) => revise_claim::intrinsic(event, room, at),
            Self::HandshakeMade(event) => shake_hands::intrinsic(event, room),
            Self::ContextExtracted(event) => extract_context::intrinsic(event),
            // Its fields' types say it all.
            Self::DiscrepancyRecorded(_) => Ok(()),
        }
    }
}

impl Command {
    /// The rules that need no state.
    pub(super) fn check(&self, room: RoomId) -> Result<(), Rejection> {
        match self {
            Self::Open(command) => open_claim::check(command, room),
            Self::Revise(command) => revise_claim::check(command, room),
            Self::ShakeHands(command) => shake_hands::check(command, room),
            Self::ExtractContext(event) => extract_context::intrinsic(event),
            Self::RecordDiscrepancy(_) => Ok(()),
        }
    }
}

/// A fact's event, or only its kind when the body was erased.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Opened(Option<&'a ClaimOpened>),
    Revised(Option<&'a ClaimRevised>),
    HandshakeMade(Option<&'a HandshakeMade>),
    ContextExtracted(Option<&'a ContextExtracted>),
    DiscrepancyRecorded(Option<&'a DiscrepancyRecorded>),
}

impl<'a> Step<'a> {
    pub(super) fn present(event: &'a Event) -> Self {
        match event {
            Event::Opened(event) => Self::Opened(Some(event)),
            Event::Revised(event) => Self::Revised(Some(event)),
            Event::HandshakeMade(event) => Self::HandshakeMade(Some(event)),
            Event::ContextExtracted(event) => Self::ContextExtracted(Some(event)),
            Event::DiscrepancyRecorded(event) => Self::DiscrepancyRecorded(Some(event)),
        }
    }
}

pub(super) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: Command,
    context: &Context<'_>,
) -> Event {
    match command {
        Command::Open(command) => Event::Opened(open_claim::decide(room, keys, command, context)),
        Command::Revise(command) => {
            Event::Revised(revise_claim::decide(room, keys, command, context))
        }
        Command::ShakeHands(command) => {
            Event::HandshakeMade(shake_hands::decide(room, keys, command))
        }
        Command::ExtractContext(event) => Event::ContextExtracted(event),
        Command::RecordDiscrepancy(command) => {
            Event::DiscrepancyRecorded(record_discrepancy::decide(room, command))
        }
    }
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    step: Step<'_>,
) -> Result<(), Rejection> {
    let room = room_state::open(room)?;
    match step {
        Step::Opened(Some(event)) => open_claim::contextual(room, fact, event),
        Step::Revised(Some(event)) => revise_claim::contextual(room, fact, event),
        Step::HandshakeMade(Some(event)) => shake_hands::contextual(room, fact, event),
        Step::ContextExtracted(Some(event)) => extract_context::contextual(room, fact, event),
        Step::DiscrepancyRecorded(Some(event)) => record_discrepancy::contextual(room, fact, event),
        // Anybody may open and revise, the arbiter too.
        Step::Opened(None) | Step::Revised(None) => Ok(()),
        Step::HandshakeMade(None) => fact.actor.may_take_part(),
        Step::ContextExtracted(None) | Step::DiscrepancyRecorded(None) => {
            fact.actor.must_be_arbiter()
        }
    }
}

pub(super) fn evolve(room: &mut RoomState, step: Step<'_>) {
    match step {
        Step::Opened(Some(event)) => open_claim::evolve(room, event),
        Step::Revised(Some(event)) => revise_claim::evolve(room, event),
        Step::HandshakeMade(Some(event)) => shake_hands::evolve(room, event),
        Step::ContextExtracted(Some(event)) => extract_context::evolve(room, event),
        Step::DiscrepancyRecorded(Some(_)) => record_discrepancy::evolve(room),
        Step::Opened(None)
        | Step::Revised(None)
        | Step::HandshakeMade(None)
        | Step::ContextExtracted(None)
        | Step::DiscrepancyRecorded(None) => room.gaps.others = true,
    }
}

/// Whether a source message is one of the room's.
fn check_source(room: &RoomState, source: Option<u64>) -> Result<(), Rejection> {
    match source {
        Some(n) if !(1..=room.messages()).contains(&n) => Err(Rejection::SourceMessageUnknown),
        Some(_) | None => Ok(()),
    }
}

/// The signature as it is recorded: whether its key is enrolled is our word.
fn with_enrolment(
    keys: &KeysState,
    agent: Option<&AgentName>,
    signature: Option<LedgerSignature>,
) -> Option<Box<LedgerSignature>> {
    let signature = signature?;
    let enrolled = agent.is_some_and(|agent| keys.is_enrolled(agent, &signature.pubkey));
    Some(Box::new(LedgerSignature {
        enrolled,
        ..signature
    }))
}

/// The tables of all commands.
#[cfg(test)]
pub(super) fn all_rows() -> Vec<crate::testing::Row> {
    [
        open_claim::tests::rows(),
        revise_claim::tests::rows(),
        shake_hands::tests::rows(),
        extract_context::tests::rows(),
        record_discrepancy::tests::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod status_tests;
