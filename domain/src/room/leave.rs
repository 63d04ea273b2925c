//! Go out of a room.

use serde::{Deserialize, Serialize};

use super::{RoomState, state};
use crate::{Fact, Rejection, text::AgentName};

/// `room.left` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    /// Who left.
    pub agent: AgentName,
    /// Whether it said so or its connection ended.
    pub how: Leaving,
}

/// How a member left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// It asked to.
    Asked,
    /// Its connection ended.
    Disconnected,
}

/// One can leave a closed room: a connection ends whether or not the room takes messages.
pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    event: Option<&Left>,
) -> Result<(), Rejection> {
    let room = state::readable(room)?;
    let Some(event) = event else {
        return fact.actor.may_take_part();
    };
    fact.actor.may_speak_as(&event.agent)?;
    if !room.is_member(&event.agent) && !room.gaps.others {
        return Err(Rejection::NotMember);
    }
    Ok(())
}

/// The name stays known: what it said stays in the room.
pub(super) fn evolve(room: &mut RoomState, event: Option<&Left>) {
    let Some(event) = event else {
        room.gaps.others = true;
        return;
    };
    room.members.remove(&event.agent);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let left = room::Event::Left(Left {
            agent: name("alice"),
            how: Leaving::Asked,
        });
        let inside = || [owner(open()), owner(join("alice"))];
        rows! {
            "a member leaves": inside() => agent("alice", leave("alice")) => makes(left);
            "its connection ends": inside() => service(leave("alice")) => accepted();
            "also from a closed room":
                [owner(open()), owner(join("alice")), owner(close())]
                => service(leave("alice")) => accepted();
            "no such room": [] => service(leave("alice")) => refused(Rejection::RoomNotFound);
            "an erased room has no members":
                [owner(open()), owner(join("alice")), owner(erase())]
                => service(leave("alice")) => refused(Rejection::RoomErased);
            "nobody is sent out by an agent":
                inside()
                => agent("bob", leave("alice"))
                => refused(Rejection::SpeaksForAnother { actor: name("bob") });
            "nor by the arbiter":
                inside()
                => arbiter(leave("alice"))
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "who is not in does not leave":
                [owner(open()), owner(say("alice"))]
                => service(leave("alice")) => refused(Rejection::NotMember);
            "order: the actor before membership":
                [owner(open())]
                => agent("bob", leave("alice"))
                => refused(Rejection::SpeaksForAnother { actor: name("bob") });
            "its body may be erased":
                inside() => erased(Actor::Owner, EventKind::RoomLeft) => accepted();
            "after which one may be in or not":
                [owner(open()), owner(join("alice")), erased(Actor::Owner, EventKind::RoomLeft)]
                => owner(join("alice")) => accepted();
            "an erased leaving still has an actor":
                inside()
                => erased(Actor::Arbiter, EventKind::RoomLeft)
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
        }
    }

    #[test]
    fn only_a_member_leaves() {
        check_all(rows());
    }
}
