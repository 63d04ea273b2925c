//! Close a room: no more messages, ever.

use serde::{Deserialize, Serialize};

use super::{Phase, RoomState, state};
use crate::{Fact, Rejection, text::Reason};

/// `room.closed` v1: no more messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// Why.
    pub reason: Reason,
}

pub(super) fn contextual(room: Option<&RoomState>, fact: &Fact<'_>) -> Result<(), Rejection> {
    state::open(room)?;
    fact.actor.may_manage()
}

pub(super) fn evolve(room: &mut RoomState) {
    room.phase = Phase::Closed;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let closed = room::Event::Closed(Closed { reason: because() });
        rows! {
            "the owner closes a room": [owner(open())] => owner(close()) => makes(closed);
            "a facade too": [owner(open())] => service(close()) => accepted();
            "no such room": [] => owner(close()) => refused(Rejection::RoomNotFound);
            "not twice":
                [owner(open()), owner(close())] => owner(close()) => refused(Rejection::RoomClosed);
            "not an erased one":
                [owner(open()), owner(erase())] => owner(close()) => refused(Rejection::RoomErased);
            "an agent does not close":
                [owner(open())]
                => agent("alice", close())
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "nor does the arbiter":
                [owner(open())]
                => arbiter(close()) => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "order: the room before the actor":
                [owner(open()), owner(close())]
                => agent("alice", close()) => refused(Rejection::RoomClosed);
            "it closes even when its body is erased":
                [owner(open()), erased(Actor::Owner, EventKind::RoomClosed)]
                => owner(say("alice")) => refused(Rejection::RoomClosed);
        }
    }

    #[test]
    fn a_room_closes_once() {
        check_all(rows());
    }
}
