//! Open a room.

use serde::{Deserialize, Serialize};

use super::{
    RoomState,
    state::{Facts, Gaps},
};
use crate::{
    EventKind, Fact, Rejection,
    limits::CONFIRMATIONS_NEEDED_MAX,
    text::{Description, RoomName},
};

/// `room.opened`: version 2 says how many confirmations make an agreement, version 1 means
/// [`CONFIRMATIONS_NEEDED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// Confirmations by others than its opener that make a thread's value agreed, 1 to
    /// [`CONFIRMATIONS_NEEDED_MAX`]; none, and only none, means [`CONFIRMATIONS_NEEDED`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmations_needed: Option<u8>,
    /// What the room is for.
    pub description: Description,
    /// Which facade opened it; it decides the dialect's own rules.
    pub dialect: Dialect,
    /// Whether the directory lists it.
    pub is_public: bool,
    /// Messages it takes, or none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_limit: Option<u64>,
    /// Optional unique name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RoomName>,
    /// `standard` or `premium`.
    pub protocol_mode: ProtocolMode,
}

/// Confirmations that make an agreement where a room's opening says nothing else (seed 003).
pub const CONFIRMATIONS_NEEDED: u8 = 2;

impl Opened {
    /// The body's version.
    pub(super) fn kind(&self) -> EventKind {
        match self.confirmations_needed {
            None => EventKind::RoomOpened,
            Some(_) => EventKind::RoomOpenedV2,
        }
    }
}

/// The facade a room was opened through.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// REST rooms (seed 003).
    Rooms,
}

/// When the arbiter reads the room (seed 003).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolMode {
    /// On demand.
    Standard,
    /// After every message.
    Premium,
}

pub(super) fn intrinsic(event: &Opened) -> Result<(), Rejection> {
    if event.message_limit == Some(0) {
        return Err(Rejection::RoomLimitZero);
    }
    match event.confirmations_needed {
        None => Ok(()),
        Some(needed)
            if (1..=CONFIRMATIONS_NEEDED_MAX).contains(&needed)
                && needed != CONFIRMATIONS_NEEDED =>
        {
            Ok(())
        }
        Some(_) => Err(Rejection::RoomConfirmationsMalformed {
            max: CONFIRMATIONS_NEEDED_MAX,
        }),
    }
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    _: Option<&Opened>,
) -> Result<(), Rejection> {
    if room.is_some() {
        return Err(Rejection::RoomAlreadyOpen);
    }
    fact.actor.may_take_part()
}

pub(super) fn evolve(fact: &Fact<'_>, event: Option<&Opened>) -> RoomState {
    let mut room = RoomState::new(fact.sseq);
    room.facts = event.map(|event| Facts {
        confirmations_needed: event.confirmations_needed.unwrap_or(CONFIRMATIONS_NEEDED),
        dialect: event.dialect,
        is_public: event.is_public,
        message_limit: event.message_limit,
        name: event.name.clone(),
        protocol_mode: event.protocol_mode,
    });
    room.gaps = Gaps {
        messages: false,
        others: event.is_none(),
    };
    room
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{actor::Actor, ids::StreamId, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let zero = Opened {
            message_limit: Some(0),
            ..opened()
        };
        let malformed = || Rejection::RoomConfirmationsMalformed { max: 16 };
        let ask = |event| in_room(room::Command::Open(event));
        rows! {
            "anybody opens a room":
                [] => agent("alice", open()) => makes(room::Event::Opened(opened()));
            "the owner too": [] => owner(open()) => accepted();
            "a facade too": [] => service(open()) => accepted();
            "the arbiter does not":
                []
                => arbiter(open()) => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "a limit of no messages is none":
                [] => owner(ask(zero.clone())) => refused(Rejection::RoomLimitZero);
            "agreement takes 2 confirmations, or as many as are said":
                []
                => owner(ask(needing(1))) => makes(room::Event::Opened(needing(1)));
            "up to 16": [] => owner(ask(needing(16))) => accepted();
            "no more": [] => owner(ask(needing(17))) => refused(malformed());
            "at least one": [] => owner(ask(needing(0))) => refused(malformed());
            "2 is not said": [] => owner(ask(needing(2))) => refused(malformed());
            "its body may be erased in either version":
                [] => erased(Actor::Owner, EventKind::RoomOpenedV2) => accepted();
            "an id is used once":
                [owner(open())] => agent("bob", open()) => refused(Rejection::RoomAlreadyOpen);
            "also after erasure":
                [owner(open()), owner(erase())]
                => owner(open()) => refused(Rejection::RoomAlreadyOpen);
            "a name is unique":
                [owner(open_named("lobby"))]
                => owner(open_named("lobby")).of_room(2) => refused(Rejection::RoomNameTaken);
            "a name that looks alike is the same name":
                [owner(open_named("lobby"))]
                => owner(open_named("L0bby")).of_room(2) => refused(Rejection::RoomNameTaken);
            "a closed room keeps its name":
                [owner(open_named("lobby")), owner(close())]
                => owner(open_named("lobby")).of_room(2) => refused(Rejection::RoomNameTaken);
            "an erased room frees its name":
                [owner(open_named("lobby")), owner(erase())]
                => owner(open_named("lobby")).of_room(2) => accepted();
            "order: the body before the room":
                [owner(open())] => arbiter(ask(zero)) => refused(Rejection::RoomLimitZero);
            "order: the room before the actor":
                [owner(open())] => arbiter(open()) => refused(Rejection::RoomAlreadyOpen);
            "order: the actor before the name":
                [owner(open_named("lobby"))]
                => arbiter(open_named("lobby")).of_room(2)
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "its body may be erased":
                [] => erased(Actor::Owner, EventKind::RoomOpened) => accepted();
            "it belongs in its room":
                []
                => recorded(room::Event::Opened(opened())).in_stream(StreamId::Keys)
                => refused(Rejection::WrongStream);
        }
    }

    #[test]
    fn a_room_opens_once_under_a_name_of_its_own() {
        check_all(rows());
    }
}
