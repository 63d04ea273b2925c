//! Revise a thread: update, confirm, contradict or retract.

use serde::{Deserialize, Serialize};

use super::{super::RoomState, Author, Entry, check_source, ledger::Said, with_enrolment};
use crate::{
    Context, Fact, Rejection,
    actor::Actor,
    ids::{ClaimId, RoomId},
    keys::KeysState,
    signature::{LedgerAct, LedgerSignature},
    text::{ClaimValue, Quote},
    time::Timestamp,
};

/// Revise a thread.
#[derive(Clone, Debug)]
pub struct ReviseClaim {
    /// Who revises it.
    pub agent: Author,
    /// Which thread.
    pub claim: ClaimId,
    /// How.
    pub kind: RevisionKind,
    /// Words of the source message.
    pub quote: Option<Quote>,
    /// The agent's signature; whether its key is enrolled is decided here, not by the caller.
    pub signature: Option<LedgerSignature>,
    /// The message it was taken from, by its number in the room.
    pub source_msg_id: Option<u64>,
    /// The value this is about: the new one, or the one confirmed, contradicted or withdrawn.
    pub value: ClaimValue,
}

/// `room.claim_revised` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimRevised {
    /// Who revised it.
    pub agent: Author,
    /// Which thread.
    pub claim: ClaimId,
    /// Its place in the room's chain.
    pub entry: Box<Entry>,
    /// How.
    pub kind: RevisionKind,
    /// Words of the source message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// The agent's signature, when it signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Box<LedgerSignature>>,
    /// The message it was taken from, by its number in the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_msg_id: Option<u64>,
    /// The value this is about: as sent if signed, else without white space around it.
    pub value: ClaimValue,
}

/// How a thread is revised.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RevisionKind {
    /// Its opener gives it another value.
    Update,
    /// Somebody else agrees to its value.
    Confirm,
    /// Somebody else disagrees.
    Contradict,
    /// Its opener withdraws it.
    Retract,
}

impl RevisionKind {
    /// Its persisted name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Confirm => "confirm",
            Self::Contradict => "contradict",
            Self::Retract => "retract",
        }
    }
}

impl ClaimRevised {
    /// What the arbiter's chain says of it.
    pub fn said(&self, at: Timestamp) -> Said<'_> {
        Said {
            author: self.agent.as_str(),
            claim: self.claim,
            at,
            kind: self.kind.name(),
            source_msg_id: self.source_msg_id,
            value: self.value.as_str(),
        }
    }
}

pub(super) fn check(command: &ReviseClaim, room: RoomId) -> Result<(), Rejection> {
    let Some(signature) = &command.signature else {
        return Ok(());
    };
    let (claim, kind) = (command.claim, command.kind);
    body(
        &command.agent,
        (claim, kind),
        &command.value,
        signature,
        room,
    )
}

pub(super) fn intrinsic(
    event: &ClaimRevised,
    room: RoomId,
    at: Timestamp,
) -> Result<(), Rejection> {
    match &event.signature {
        Some(signature) => {
            let (claim, kind) = (event.claim, event.kind);
            body(&event.agent, (claim, kind), &event.value, signature, room)?;
        }
        None if event.value.trimmed() != event.value.as_str() => {
            return Err(Rejection::TextNotCanonical { what: "value" });
        }
        None => {}
    }
    event.entry.intrinsic(event.said(at))
}

fn body(
    agent: &Author,
    (claim, kind): (ClaimId, RevisionKind),
    value: &ClaimValue,
    signature: &LedgerSignature,
    room: RoomId,
) -> Result<(), Rejection> {
    let Author::Agent(agent) = agent else {
        return Err(Rejection::SignatureNotAllowed);
    };
    let act = LedgerAct::Revision {
        claim,
        agent: agent.as_str(),
        kind: kind.name(),
        value: value.as_str(),
    };
    signature.intrinsic(&act, room)
}

pub(super) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: ReviseClaim,
    context: &Context<'_>,
) -> ClaimRevised {
    let signature = with_enrolment(keys, command.agent.agent(), command.signature);
    let value = if signature.is_some() {
        command.value
    } else {
        command.value.into_trimmed()
    };
    let said = Said {
        author: command.agent.as_str(),
        claim: command.claim,
        at: context.at,
        kind: command.kind.name(),
        source_msg_id: command.source_msg_id,
        value: value.as_str(),
    };
    let entry = Box::new(Entry::next(room, said, context.arbiter));
    ClaimRevised {
        agent: command.agent,
        claim: command.claim,
        entry,
        kind: command.kind,
        quote: command.quote,
        signature,
        source_msg_id: command.source_msg_id,
        value,
    }
}

pub(super) fn contextual(
    room: &RoomState,
    fact: &Fact<'_>,
    event: &ClaimRevised,
) -> Result<(), Rejection> {
    fact.actor.may_write_as(&event.agent)?;
    check_arbiter(fact.actor, event.kind)?;
    room.check_author(&event.agent)?;
    if room.gaps.others {
        return Ok(());
    }
    let claims = room.claims();
    let thread = claims.thread(event.claim).ok_or(Rejection::ClaimNotFound)?;
    thread.may_revise(&event.agent, event.kind)?;
    claims.check_entry_room()?;
    // Whoever read up to any of these saw the present value.
    let read = thread.value_revision()..=claims.revisions();
    claims.check_signature(&event.agent, event.signature.as_deref(), &read)?;
    check_source(room, event.source_msg_id)?;
    claims.check_entry(&event.entry)
}

/// The arbiter proposes; it does not judge.
fn check_arbiter(actor: &Actor, kind: RevisionKind) -> Result<(), Rejection> {
    match kind {
        RevisionKind::Update | RevisionKind::Retract => Ok(()),
        RevisionKind::Confirm | RevisionKind::Contradict => actor.may_take_part(),
    }
}

pub(super) fn evolve(room: &mut RoomState, event: &ClaimRevised) {
    if let Author::Agent(agent) = &event.agent {
        room.names.add(agent);
    }
    let needed = room.confirmations_needed();
    room.claims_mut().revise(event, needed);
}

#[cfg(test)]
#[path = "revise_claim_tests.rs"]
pub(super) mod tests;
