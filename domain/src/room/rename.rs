//! Give a room another name, or none.

use serde::{Deserialize, Serialize};

use super::{RoomState, state};
use crate::{Fact, Rejection, text::RoomName};

/// `room.renamed` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// The new name, or none to drop it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RoomName>,
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    event: Option<&Renamed>,
) -> Result<(), Rejection> {
    let room = state::open(room)?;
    fact.actor.may_manage()?;
    let unchanged = event.is_some_and(|event| event.name.as_ref() == room.name());
    if unchanged && !room.gaps.others {
        return Err(Rejection::RoomNameUnchanged);
    }
    Ok(())
}

pub(super) fn evolve(room: &mut RoomState, event: Option<&Renamed>) {
    match (event, &mut room.facts) {
        (Some(event), Some(facts)) => facts.name.clone_from(&event.name),
        (None, _) | (_, None) => room.gaps.others = true,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let renamed = |name: &str| {
            room::Event::Renamed(Renamed {
                name: Some(room_name(name)),
            })
        };
        let not_agent = Rejection::ActorNotAllowed { actor: "an agent" };
        rows! {
            "the owner names a room":
                [owner(open())] => owner(rename(Some("lobby"))) => makes(renamed("lobby"));
            "a name can go": [owner(open_named("lobby"))] => service(rename(None)) => accepted();
            "a name that was dropped is free":
                [owner(open_named("lobby")), owner(rename(None))]
                => owner(open_named("lobby")).of_room(2) => accepted();
            "a name may change its case":
                [owner(open_named("lobby"))] => owner(rename(Some("Lobby"))) => accepted();
            "no such room": [] => owner(rename(None)) => refused(Rejection::RoomNotFound);
            "a closed room keeps its name":
                [owner(open()), owner(close())]
                => owner(rename(Some("lobby"))) => refused(Rejection::RoomClosed);
            "an erased room has none":
                [owner(open()), owner(erase())]
                => owner(rename(Some("lobby"))) => refused(Rejection::RoomErased);
            "an agent does not rename":
                [owner(open())]
                => agent("alice", rename(Some("lobby"))) => refused(not_agent.clone());
            "a change changes something":
                [owner(open_named("lobby"))]
                => owner(rename(Some("lobby"))) => refused(Rejection::RoomNameUnchanged);
            "also no name to no name":
                [owner(open())] => owner(rename(None)) => refused(Rejection::RoomNameUnchanged);
            "another room has the name":
                [owner(open_named("lobby")), owner(open()).of_room(2)]
                => owner(rename(Some("LOBBY"))).of_room(2) => refused(Rejection::RoomNameTaken);
            "order: the room before the actor":
                [] => agent("alice", rename(None)) => refused(Rejection::RoomNotFound);
            "order: the actor before the name":
                [owner(open())] => agent("alice", rename(None)) => refused(not_agent);
            "its body may be erased":
                [owner(open())] => erased(Actor::Owner, EventKind::RoomRenamed) => accepted();
            "after which any name may be new":
                [owner(open_named("lobby")), erased(Actor::Owner, EventKind::RoomRenamed)]
                => recorded(renamed("lobby")) => accepted();
        }
    }

    #[test]
    fn a_room_is_renamed_by_those_who_manage_it() {
        check_all(rows());
    }
}
