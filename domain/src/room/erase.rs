//! Erase a room: it is gone, and all bodies before this event with it.

use serde::{Deserialize, Serialize};

use super::{Phase, RoomState, state};
use crate::{Fact, Rejection, text::Reason};

/// `room.erased` v1: the room is gone, all bodies before this event with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erased {
    /// Why.
    pub reason: Reason,
}

pub(super) fn contextual(room: Option<&RoomState>, fact: &Fact<'_>) -> Result<(), Rejection> {
    state::readable(room)?;
    fact.actor.may_manage()
}

/// What is left is what a replay without any body knows.
pub(super) fn evolve(room: &mut RoomState) {
    *room = RoomState {
        phase: Phase::Erased,
        messages: room.messages,
        ..RoomState::new(room.sseq)
    };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let gone = room::Event::Erased(Erased { reason: because() });
        rows! {
            "the owner erases a room": [owner(open())] => owner(erase()) => makes(gone);
            "also a closed one": [owner(open()), owner(close())] => service(erase()) => accepted();
            "no such room": [] => owner(erase()) => refused(Rejection::RoomNotFound);
            "not twice":
                [owner(open()), owner(erase())] => owner(erase()) => refused(Rejection::RoomErased);
            "an agent does not erase":
                [owner(open())]
                => agent("alice", erase())
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "order: the room before the actor":
                [] => agent("alice", erase()) => refused(Rejection::RoomNotFound);
            "nothing erases the erasure":
                [owner(open())]
                => erased(Actor::Owner, EventKind::RoomErased) => refused(Rejection::BodyMissing);
        }
    }

    #[test]
    fn a_room_is_erased_once() {
        check_all(rows());
    }
}
