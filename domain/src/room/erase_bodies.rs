//! Erase messages of a room that lives on.

use serde::{Deserialize, Serialize};

use super::{RoomState, state};
use crate::{Fact, Rejection, text::Reason};

/// `room.bodies_erased` v1: the bodies of the messages in this range of stream positions are
/// gone. Other events in the range keep theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodiesErased {
    /// First stream position (`sseq`).
    pub first: u64,
    /// Last stream position (`sseq`), not before `first`.
    pub last: u64,
    /// Why.
    pub reason: Reason,
}

pub(super) fn intrinsic(event: &BodiesErased) -> Result<(), Rejection> {
    if event.first == 0 || event.first > event.last {
        return Err(range(event));
    }
    Ok(())
}

pub(super) fn contextual(
    room: Option<&RoomState>,
    fact: &Fact<'_>,
    event: Option<&BodiesErased>,
) -> Result<(), Rejection> {
    state::readable(room)?;
    fact.actor.may_manage()?;
    match event {
        Some(event) if event.last >= fact.sseq => Err(range(event)),
        Some(_) | None => Ok(()),
    }
}

fn range(event: &BodiesErased) -> Rejection {
    let (first, last) = (event.first, event.last);
    Rejection::ErasureRange { first, last }
}

/// Erasing means forgetting, and a replay cannot know who spoke in the erased messages. So the
/// names known from speaking are dropped, here as there, and those of members and of the ledger,
/// whose bodies stay, are kept.
pub(super) fn evolve(room: &mut RoomState) {
    room.names = room.members.iter().chain(room.claims().agents()).collect();
    room.gaps.messages = false;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{EventKind, actor::Actor, room, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let erased_1_2 = BodiesErased {
            first: 1,
            last: 2,
            reason: because(),
        };
        let spoken = || vec![owner(open()), owner(say("alice"))];
        let bad = |first, last| Rejection::ErasureRange { first, last };
        let message = || erased(Actor::Owner, EventKind::MessagePosted);
        rows! {
            "what was said before is erased":
                spoken()
                => owner(erase_bodies(1, 2)) => makes(room::Event::BodiesErased(erased_1_2));
            "also in a closed room":
                [spoken(), vec![owner(close())]].concat()
                => service(erase_bodies(2, 2)) => accepted();
            "positions begin at 1": spoken() => owner(erase_bodies(0, 1)) => refused(bad(0, 1));
            "a range runs forward": spoken() => owner(erase_bodies(2, 1)) => refused(bad(2, 1));
            "it lies in the past": spoken() => owner(erase_bodies(2, 3)) => refused(bad(2, 3));
            "no such room": [] => owner(erase_bodies(1, 2)) => refused(Rejection::RoomNotFound);
            "an erased room has nothing left":
                [owner(open()), owner(erase())]
                => owner(erase_bodies(1, 1)) => refused(Rejection::RoomErased);
            "an agent does not erase":
                spoken()
                => agent("alice", erase_bodies(2, 2))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "order: the body before the room":
                [] => owner(erase_bodies(2, 1)) => refused(bad(2, 1));
            "order: the actor before the past":
                spoken()
                => agent("alice", erase_bodies(2, 3))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "names known only from messages are forgotten":
                [spoken(), vec![owner(erase_bodies(2, 2))]].concat()
                => agent("Alice", say("Alice")) => accepted();
            "names of members are not":
                [spoken(), vec![owner(join("bob")), owner(erase_bodies(2, 2))]].concat()
                => agent("Bob", say("Bob")) => refused(Rejection::NameTwin { taken: name("bob") });
            "while a message is missing, names are not all known":
                vec![owner(open()), owner(join("bob")), message()]
                => agent("Bob", say("Bob")) => accepted();
            "once the erasure is seen, they are again":
                vec![owner(open()), owner(join("bob")), message(), owner(erase_bodies(3, 3))]
                => agent("Bob", say("Bob")) => refused(Rejection::NameTwin { taken: name("bob") });
            "its own body may be erased":
                spoken() => erased(Actor::Owner, EventKind::BodiesErased) => accepted();
        }
    }

    #[test]
    fn an_erasure_names_what_lies_before_it() {
        check_all(rows());
    }
}
