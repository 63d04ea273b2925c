//! Come into a room.

use serde::{Deserialize, Serialize};

use super::{RoomState, state};
use crate::{Fact, Rejection, limits::ROOM_MEMBERS_MAX, text::AgentName};

/// `room.joined` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// Who joined.
    pub agent: AgentName,
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    event: Option<&Joined>,
) -> Result<(), Rejection> {
    let room = state::open(room)?;
    let Some(event) = event else {
        return fact.actor.may_take_part();
    };
    fact.actor.may_speak_as(&event.agent)?;
    if room.is_member(&event.agent) && !room.gaps.others {
        return Err(Rejection::AlreadyMember);
    }
    room.check_name(&event.agent)?;
    if room.members.len() >= ROOM_MEMBERS_MAX {
        let max = ROOM_MEMBERS_MAX;
        return Err(Rejection::RoomMembersFull { max });
    }
    Ok(())
}

pub(super) fn evolve(room: &mut RoomState, event: Option<&Joined>) {
    let Some(event) = event else {
        room.gaps.others = true;
        return;
    };
    room.names.add(&event.agent);
    room.members.insert(event.agent.clone());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let joined = room::Event::Joined(Joined {
            agent: name("alice"),
        });
        let twin = Rejection::NameTwin {
            taken: name("alice"),
        };
        let another = Rejection::SpeaksForAnother { actor: name("bob") };
        let full = || -> Vec<Step> {
            let members = (0..ROOM_MEMBERS_MAX).map(|n| service(join(&format!("agent-{n:04}"))));
            std::iter::once(owner(open())).chain(members).collect()
        };
        let max = ROOM_MEMBERS_MAX;
        rows! {
            "an agent joins": [owner(open())] => agent("alice", join("alice")) => makes(joined);
            "a facade lets it in": [owner(open())] => service(join("alice")) => accepted();
            "it may come again":
                [owner(open()), owner(join("alice")), owner(leave("alice"))]
                => owner(join("alice")) => accepted();
            "no such room": [] => service(join("alice")) => refused(Rejection::RoomNotFound);
            "not a closed one":
                [owner(open()), owner(close())]
                => service(join("alice")) => refused(Rejection::RoomClosed);
            "not an erased one":
                [owner(open()), owner(erase())]
                => service(join("alice")) => refused(Rejection::RoomErased);
            "not for another":
                [owner(open())] => agent("bob", join("alice")) => refused(another.clone());
            "not for the arbiter":
                [owner(open())]
                => arbiter(join("alice"))
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "not twice":
                [owner(open()), owner(join("alice"))]
                => service(join("alice")) => refused(Rejection::AlreadyMember);
            "not as a member's twin":
                [owner(open()), owner(join("alice"))]
                => service(join("Alice")) => refused(twin.clone());
            "not as a speaker's twin":
                [owner(open()), owner(say("alice"))]
                => service(join("\u{430}lice")) => refused(twin.clone());
            "not as the twin of one who left":
                [owner(open()), owner(join("alice")), owner(leave("alice"))]
                => service(join("ALICE")) => refused(twin);
            "not into a full room":
                full() => service(join("one more")) => refused(Rejection::RoomMembersFull { max });
            "order: the actor before membership":
                [owner(open()), owner(join("alice"))]
                => agent("bob", join("alice")) => refused(another);
            "order: the twin before the full room":
                full()
                => service(join("AGENT-0000"))
                => refused(Rejection::NameTwin { taken: name("agent-0000") });
            "its body may be erased":
                [owner(open())]
                => erased(Actor::Agent(name("alice")), EventKind::RoomJoined) => accepted();
            "after which the members are not known":
                [owner(open()), erased(Actor::Owner, EventKind::RoomJoined)]
                => owner(leave("alice")) => accepted();
        }
    }

    #[test]
    fn an_agent_joins_once_under_its_own_name() {
        check_all(rows());
    }
}
