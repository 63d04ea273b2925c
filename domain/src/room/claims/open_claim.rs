//! Open a thread.

use serde::{Deserialize, Serialize};

use super::{
    super::RoomState,
    Author, Entry, SubjectKey, check_source,
    ledger::{PROPOSE, Said},
    with_enrolment,
};
use crate::{
    Context, Fact, Rejection,
    ids::{ClaimId, RoomId},
    keys::KeysState,
    signature::{LedgerAct, LedgerSignature},
    text::{ClaimValue, Quote, Subject},
    time::Timestamp,
};

/// Open a thread.
#[derive(Clone, Debug)]
pub struct OpenClaim {
    /// Who opens it.
    pub agent: Author,
    /// Words of the source message.
    pub quote: Option<Quote>,
    /// The agent's signature; whether its key is enrolled is decided here, not by the caller.
    pub signature: Option<LedgerSignature>,
    /// The message it was taken from, by its number in the room.
    pub source_msg_id: Option<u64>,
    /// What it is about.
    pub subject: Subject,
    /// A short name for that; made of the subject when left out.
    pub subject_key: Option<SubjectKey>,
    /// Its first value.
    pub value: ClaimValue,
}

/// `room.claim_opened` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimOpened {
    /// Who opened it.
    pub agent: Author,
    /// The thread's UUID.
    pub claim: ClaimId,
    /// Its place in the room's chain.
    pub entry: Box<Entry>,
    /// Words of the source message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// The agent's signature, when it signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Box<LedgerSignature>>,
    /// The message it was taken from, by its number in the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_msg_id: Option<u64>,
    /// What it is about: as sent if signed, else without white space around it.
    pub subject: Subject,
    /// A short name for that.
    pub subject_key: SubjectKey,
    /// Its first value: as sent if signed, else without white space around it.
    pub value: ClaimValue,
}

impl ClaimOpened {
    /// What the arbiter's chain says of it.
    pub fn said(&self, at: Timestamp) -> Said<'_> {
        Said {
            author: self.agent.as_str(),
            claim: self.claim,
            at,
            kind: PROPOSE,
            source_msg_id: self.source_msg_id,
            value: self.value.as_str(),
        }
    }
}

pub(super) fn check(command: &OpenClaim, room: RoomId) -> Result<(), Rejection> {
    let signature = command.signature.as_ref();
    body(
        &command.agent,
        &command.subject,
        &command.value,
        signature,
        room,
    )
}

pub(super) fn intrinsic(event: &ClaimOpened, room: RoomId, at: Timestamp) -> Result<(), Rejection> {
    let signature = event.signature.as_deref();
    body(&event.agent, &event.subject, &event.value, signature, room)?;
    if signature.is_none() && event.subject.trimmed() != event.subject.as_str() {
        return Err(Rejection::TextNotCanonical { what: "subject" });
    }
    if signature.is_none() && event.value.trimmed() != event.value.as_str() {
        return Err(Rejection::TextNotCanonical { what: "value" });
    }
    event.entry.intrinsic(event.said(at))
}

fn body(
    agent: &Author,
    subject: &Subject,
    value: &ClaimValue,
    signature: Option<&LedgerSignature>,
    room: RoomId,
) -> Result<(), Rejection> {
    match (agent, signature) {
        (_, None) => Ok(()),
        (Author::Arbiter, Some(_)) => Err(Rejection::SignatureNotAllowed),
        (Author::Agent(agent), Some(signature)) => {
            let act = LedgerAct::Opening {
                agent: agent.as_str(),
                subject: subject.as_str(),
                value: value.as_str(),
            };
            signature.intrinsic(&act, room)
        }
    }
}

pub(super) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: OpenClaim,
    context: &Context<'_>,
) -> ClaimOpened {
    let signature = with_enrolment(keys, command.agent.agent(), command.signature);
    let (subject, value) = if signature.is_some() {
        (command.subject, command.value)
    } else {
        (command.subject.into_trimmed(), command.value.into_trimmed())
    };
    let subject_key = command.subject_key;
    let subject_key = subject_key.unwrap_or_else(|| SubjectKey::derive(subject.as_str()));
    let claim = ClaimId::new(context.fresh);
    let said = Said {
        author: command.agent.as_str(),
        claim,
        at: context.at,
        kind: PROPOSE,
        source_msg_id: command.source_msg_id,
        value: value.as_str(),
    };
    let entry = Box::new(Entry::next(room, said, context.arbiter));
    ClaimOpened {
        agent: command.agent,
        claim,
        entry,
        quote: command.quote,
        signature,
        source_msg_id: command.source_msg_id,
        subject,
        subject_key,
        value,
    }
}

pub(super) fn contextual(
    room: &RoomState,
    fact: &Fact<'_>,
    event: &ClaimOpened,
) -> Result<(), Rejection> {
    fact.actor.may_write_as(&event.agent)?;
    room.check_author(&event.agent)?;
    if room.gaps.others {
        return Ok(());
    }
    let claims = room.claims();
    if claims.thread(event.claim).is_some() {
        return Err(Rejection::ClaimAlreadyOpen);
    }
    claims.check_thread_room()?;
    claims.check_entry_room()?;
    claims.check_signature(&event.agent, event.signature.as_deref(), &(0..=0))?;
    check_source(room, event.source_msg_id)?;
    claims.check_entry(&event.entry)
}

pub(super) fn evolve(room: &mut RoomState, event: &ClaimOpened) {
    if let Author::Agent(agent) = &event.agent {
        room.names.add(agent);
    }
    room.claims_mut().open(event);
}

#[cfg(test)]
#[path = "open_claim_tests.rs"]
pub(super) mod tests;
