//! Shake hands on the room's context: all that is proposed, agreed and disputed in it.

use serde::{Deserialize, Serialize};

use super::{super::RoomState, Author, EMPTY_CONTEXT_HASH, with_enrolment};
use crate::{
    Fact, Rejection,
    ids::RoomId,
    keys::KeysState,
    limits::CONTEXT_HASH_CHARS_MAX,
    signature::{LedgerAct, LedgerSignature, SURFACE_ROOMCOMM_V1},
    text::{self, AgentName},
};

/// Shake hands.
#[derive(Clone, Debug)]
pub struct ShakeHands {
    /// Who.
    pub agent: AgentName,
    /// The hash of the context that was read.
    pub context_hash: String,
    /// The agent's signature; whether its key is enrolled is decided here, not by the caller.
    pub signature: Option<LedgerSignature>,
}

/// `room.handshake_made` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandshakeMade {
    /// Who.
    pub agent: AgentName,
    /// The context's hash then.
    pub context_hash: String,
    /// Its number in the room: 1, 2, 3 …
    pub id: u64,
    /// The agent's signature, when it signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Box<LedgerSignature>>,
}

impl HandshakeMade {
    /// Whether its signature can have been made for this room only. The seed's surface is the
    /// context's hash and no more, and the empty context has the same one everywhere: a handshake
    /// on it can be carried from room to room, under any name, by anybody who has seen it. So it
    /// proves nothing about who is who here, or a stranger could make two agents one.
    pub fn is_of_this_room(&self) -> bool {
        let signature = self.signature.as_deref();
        let seeds = signature.is_some_and(|signature| signature.surface == SURFACE_ROOMCOMM_V1);
        !(seeds && self.context_hash == EMPTY_CONTEXT_HASH)
    }
}

pub(super) fn check(command: &ShakeHands, room: RoomId) -> Result<(), Rejection> {
    let signature = command.signature.as_ref();
    body(&command.agent, &command.context_hash, signature, room)
}

pub(super) fn intrinsic(event: &HandshakeMade, room: RoomId) -> Result<(), Rejection> {
    let signature = event.signature.as_deref();
    body(&event.agent, &event.context_hash, signature, room)
}

fn body(
    agent: &AgentName,
    context_hash: &str,
    signature: Option<&LedgerSignature>,
    room: RoomId,
) -> Result<(), Rejection> {
    // Whether it is a hash, and of what, is seen when it is compared.
    text::at_most(context_hash, "context_hash", CONTEXT_HASH_CHARS_MAX)?;
    match signature {
        None => Ok(()),
        Some(signature) => {
            let agent = agent.as_str();
            signature.intrinsic(
                &LedgerAct::Handshake {
                    agent,
                    context_hash,
                },
                room,
            )
        }
    }
}

pub(super) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: ShakeHands,
) -> HandshakeMade {
    let signature = with_enrolment(keys, Some(&command.agent), command.signature);
    HandshakeMade {
        agent: command.agent,
        context_hash: command.context_hash,
        id: next_id(room),
        signature,
    }
}

fn next_id(room: Option<&RoomState>) -> u64 {
    room.map_or(0, |room| room.claims().handshakes())
        .saturating_add(1)
}

pub(super) fn contextual(
    room: &RoomState,
    fact: &Fact<'_>,
    event: &HandshakeMade,
) -> Result<(), Rejection> {
    fact.actor.may_speak_as(&event.agent)?;
    room.check_name(&event.agent)?;
    if room.gaps.others {
        return Ok(());
    }
    let claims = room.claims();
    let current = claims.context_hash();
    if event.context_hash != current {
        let current = current.to_owned();
        return Err(Rejection::ContextStale { current });
    }
    claims.check_handshake_room()?;
    let author = Author::Agent(event.agent.clone());
    let newest = claims.revisions();
    claims.check_signature(&author, event.signature.as_deref(), &(newest..=newest))?;
    let expected = next_id(Some(room));
    if event.id != expected {
        let found = event.id;
        return Err(Rejection::HandshakeOutOfOrder { expected, found });
    }
    Ok(())
}

pub(super) fn evolve(room: &mut RoomState, event: &HandshakeMade) {
    room.names.add(&event.agent);
    room.claims_mut().shake_hands(event);
}

#[cfg(test)]
#[path = "shake_hands_tests.rs"]
pub(super) mod tests;
