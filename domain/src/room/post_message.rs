//! Say something in a room, signed or not.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{RoomState, state};
use crate::{
    Context, Fact, Rejection,
    ids::RoomId,
    keys::KeysState,
    limits::MEMORY_ROOT_CHARS_MAX,
    signature::{MessageAct, MessageSignature},
    text::{self, AgentName, MessageText},
};

/// Say something in a room.
#[derive(Clone, Debug)]
pub struct PostMessage {
    /// Who speaks.
    pub agent: AgentName,
    /// What kind of message.
    pub kind: MessageKind,
    /// Opaque commitment (seed 003).
    pub memory_root: Option<String>,
    /// The agent's signature; whether its key is enrolled is decided here, not by the caller.
    pub signature: Option<MessageSignature>,
    /// The text.
    pub text: MessageText,
}

/// `room.message_posted` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessagePosted {
    /// Who speaks.
    pub agent: AgentName,
    /// The message's UUID.
    pub id: Uuid,
    /// What kind of message.
    pub kind: MessageKind,
    /// The agent's own commitment to its memory, opaque to us (seed 003).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_root: Option<String>,
    /// Position in the room: 1, 2, 3 …
    pub n: u64,
    /// The agent's signature, when it signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<MessageSignature>,
    /// The text as sent.
    pub text: MessageText,
}

/// Kinds of message; each dialect adds its own.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Plain talk.
    Chat,
}

impl MessageKind {
    /// Its persisted name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
        }
    }
}

pub(super) fn check(command: &PostMessage, room: RoomId) -> Result<(), Rejection> {
    let act = MessageAct {
        agent: command.agent.as_str(),
        kind: command.kind.name(),
        text: command.text.as_str(),
        memory_root: command.memory_root.as_deref(),
    };
    body(&act, command.signature.as_ref(), room)
}

pub(super) fn intrinsic(event: &MessagePosted, room: RoomId) -> Result<(), Rejection> {
    let act = MessageAct {
        agent: event.agent.as_str(),
        kind: event.kind.name(),
        text: event.text.as_str(),
        memory_root: event.memory_root.as_deref(),
    };
    body(&act, event.signature.as_ref(), room)
}

fn body(
    act: &MessageAct<'_>,
    signature: Option<&MessageSignature>,
    room: RoomId,
) -> Result<(), Rejection> {
    text::at_most(
        act.memory_root.unwrap_or_default(),
        "memory_root",
        MEMORY_ROOT_CHARS_MAX,
    )?;
    match signature {
        Some(signature) => signature.intrinsic(act, room),
        None => Ok(()),
    }
}

pub(super) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: PostMessage,
    context: &Context<'_>,
) -> MessagePosted {
    let signature = command.signature.map(|signature| MessageSignature {
        enrolled: keys.is_enrolled(&command.agent, &signature.pubkey),
        ..signature
    });
    MessagePosted {
        agent: command.agent,
        id: context.fresh,
        kind: command.kind,
        memory_root: command.memory_root,
        n: next_n(room),
        signature,
        text: command.text,
    }
}

fn next_n(room: Option<&RoomState>) -> u64 {
    room.map_or(0, RoomState::messages).saturating_add(1)
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    event: Option<&MessagePosted>,
) -> Result<(), Rejection> {
    let room = state::open(room)?;
    if let Some(limit) = room.message_limit()
        && room.messages >= limit
    {
        return Err(Rejection::RoomFull { limit });
    }
    let Some(event) = event else {
        return fact.actor.may_take_part();
    };
    let expected = next_n(Some(room));
    if event.n != expected {
        let found = event.n;
        return Err(Rejection::MessageOutOfOrder { expected, found });
    }
    fact.actor.may_speak_as(&event.agent)?;
    room.check_name(&event.agent)?;
    if let Some(signature) = &event.signature {
        let until = signature.window(fact.at)?;
        if room.replays.contains(until, &signature.sig) {
            return Err(Rejection::SignatureReplayed);
        }
    }
    Ok(())
}

pub(super) fn evolve(room: &mut RoomState, fact: &Fact<'_>, event: Option<&MessagePosted>) {
    room.messages = room.messages.saturating_add(1);
    room.replays.prune(fact.at);
    let Some(event) = event else {
        room.gaps.messages = true;
        return;
    };
    room.names.add(&event.agent);
    if let Some(signature) = &event.signature
        && let Ok(until) = signature.window(fact.at)
    {
        room.replays.add(until, &signature.sig);
    }
}

#[cfg(test)]
#[path = "post_message_tests.rs"]
pub(crate) mod tests;
