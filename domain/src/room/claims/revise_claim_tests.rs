//! Who may revise a thread how, and every reason why not. What comes of it: `status_tests`.

use super::{RevisionKind::*, *};
use crate::{EventKind, keys::Scope, room::claims, testing::*};

/// One row per reason to take or refuse a revision.
pub(crate) fn rows() -> Vec<Row> {
    [
        plain_rows(),
        room_rows(),
        arbiter_rows(),
        record_rows(),
        signed_rows(),
        position_rows(),
        erased_rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn opened() -> Vec<Step> {
    vec![owner(open()), service(propose("alice"))]
}

fn elsewhere(command: ReviseClaim) -> crate::Command {
    ask_revision(ReviseClaim {
        claim: ClaimId::new(uuid::Uuid::from_u128(9)),
        ..command
    })
}

fn sourced(n: u64) -> crate::Command {
    ask_revision(ReviseClaim {
        source_msg_id: Some(n),
        ..revision("bob", Confirm, "$8")
    })
}

fn plain_rows() -> Vec<Row> {
    let expected = || {
        let steps = [opened(), vec![service(confirm("bob", "$8"))]].concat();
        let event = ClaimRevised {
            agent: author("bob"),
            claim: claim_id(),
            entry: revised(&steps).entry,
            kind: Confirm,
            quote: None,
            signature: None,
            source_msg_id: None,
            value: value("$8"),
        };
        assert_eq!(event.entry.id, 2);
        makes(claims::Event::Revised(event))
    };
    let owned = |what| refused(Rejection::ClaimOwned { what });
    let not_owned = |what| {
        let owner = author("alice");
        refused(Rejection::ClaimNotOwned { owner, what })
    };
    rows! {
        "others confirm": opened() => agent("bob", confirm("bob", "$8")) => expected();
        "white space around a value does not count":
            opened() => service(confirm("bob", "\u{1f}$8\n")) => expected();
        "any value can be confirmed":
            opened() => service(confirm("bob", "something else")) => accepted();
        "others contradict": opened() => service(contradict("bob")) => accepted();
        "the opener updates": opened() => agent("alice", update("alice", "$9")) => accepted();
        "and retracts": opened() => agent("alice", retract("alice")) => accepted();
        "others do not update": opened() => service(update("bob", "$9")) => not_owned("update");
        "nor retract": opened() => service(retract("bob")) => not_owned("retract");
        "the opener does not confirm":
            opened() => service(confirm("alice", "$8")) => owned("confirm");
        "nor contradict": opened() => service(contradict("alice")) => owned("contradict");
    }
}

fn room_rows() -> Vec<Row> {
    let not_mine = || refused(Rejection::SpeaksForAnother { actor: name("bob") });
    rows! {
        "no such room": [] => service(confirm("bob", "$8")) => refused(Rejection::RoomNotFound);
        "no such thread":
            [owner(open())]
            => service(confirm("bob", "$8")) => refused(Rejection::ClaimNotFound);
        "none of this id":
            opened()
            => service(elsewhere(revision("bob", Confirm, "$8")))
            => refused(Rejection::ClaimNotFound);
        "not in a closed room":
            [opened(), vec![owner(close())]].concat()
            => service(confirm("bob", "$8")) => refused(Rejection::RoomClosed);
        "not for another": opened() => agent("bob", confirm("carol", "$8")) => not_mine();
        "a name is no twin":
            opened()
            => service(confirm("Alice", "$8"))
            => refused(Rejection::NameTwin { taken: name("alice") });
        "and is known from then on":
            [opened(), vec![service(confirm("bob", "$8"))]].concat()
            => service(confirm("Bob", "$8"))
            => refused(Rejection::NameTwin { taken: name("bob") });
        "a message may be its source":
            [opened(), vec![service(say("bob"))]].concat() => service(sourced(1)) => accepted();
        "if it is one of the room's":
            opened() => service(sourced(1)) => refused(Rejection::SourceMessageUnknown);
        "with a key's scope":
            [opened(), vec![owner(issue(1, None, &[Scope::Auditor]))]].concat()
            => key(1, confirm("bob", "$8"))
            => refused(Rejection::KeyLacksScope { needed: Scope::Agent });
        "order: the actor before the thread":
            [owner(open())] => agent("bob", confirm("carol", "$8")) => not_mine();
        "order: the thread before the opener":
            opened()
            => service(elsewhere(revision("alice", Confirm, "$8")))
            => refused(Rejection::ClaimNotFound);
        "order: the opener before the source":
            opened()
            => service(ask_revision(ReviseClaim {
                source_msg_id: Some(7),
                ..revision("alice", Confirm, "$8")
            }))
            => refused(Rejection::ClaimOwned { what: "confirm" });
    }
}

fn arbiter_rows() -> Vec<Row> {
    let own = || vec![owner(open()), arbiter(propose("arbiter"))];
    let refused_arbiter = || {
        refused(Rejection::ActorNotAllowed {
            actor: "the arbiter",
        })
    };
    rows! {
        "the arbiter updates what it opened":
            own() => arbiter(update("arbiter", "$9")) => accepted();
        "and retracts it": own() => arbiter(retract("arbiter")) => accepted();
        "nothing else":
            opened()
            => arbiter(update("arbiter", "$9"))
            => refused(Rejection::ClaimNotOwned { owner: author("alice"), what: "update" });
        "nobody does so in its name":
            own()
            => owner(update("arbiter", "$9"))
            => refused(Rejection::ActorNotAllowed { actor: "the owner" });
        "it does not confirm": opened() => arbiter(confirm("arbiter", "$8")) => refused_arbiter();
        "nor contradict": opened() => arbiter(contradict("arbiter")) => refused_arbiter();
        "anybody else does": own() => service(confirm("bob", "$8")) => accepted();
        "it carries no signature":
            own()
            => arbiter(ask_revision(signed_revision(
                revision("arbiter", Update, "$9"), 7, V2, Some(1),
            )))
            => refused(Rejection::SignatureNotAllowed);
    }
}

fn record_rows() -> Vec<Row> {
    let made = || revised(&[opened(), vec![service(confirm("bob", "$8"))]].concat());
    let resealed = |change: fn(&mut ClaimRevised)| {
        let mut event = made();
        change(&mut event);
        recorded(seal_revision(event))
    };
    let unsealed = |change: fn(&mut ClaimRevised)| {
        let mut event = made();
        change(&mut event);
        recorded(claims::Event::Revised(event))
    };
    let out_of_order = Rejection::LedgerOutOfOrder {
        expected: 2,
        found: 3,
    };
    rows! {
        "a record is as it was made": opened() => unsealed(|_| ()) => accepted();
        "without white space around an unsigned value":
            opened()
            => resealed(|e| e.value = value("$8 "))
            => refused(Rejection::TextNotCanonical { what: "value" });
        "in its place": opened() => resealed(|e| e.entry.id = 3) => refused(out_of_order);
        "after the one before":
            opened()
            => resealed(|e| e.entry.prev_hash = "ab".repeat(32))
            => refused(Rejection::LedgerChainBroken);
        "its author is sealed":
            opened()
            => unsealed(|e| e.agent = author("carol")) => refused(Rejection::LedgerHashWrong);
        "and its kind":
            opened() => unsealed(|e| e.kind = Contradict) => refused(Rejection::LedgerHashWrong);
        "and its source":
            [opened(), vec![service(say("bob"))]].concat()
            => unsealed(|e| e.source_msg_id = Some(1)) => refused(Rejection::LedgerHashWrong);
    }
}

fn signed_rows() -> Vec<Row> {
    let signed = |agent: &str, surface, position| {
        let revision = revision(agent, Confirm, "$8");
        service(ask_revision(signed_revision(
            revision, 7, surface, position,
        )))
    };
    let with = |change: fn(&mut ReviseClaim)| {
        let mut command = signed_revision(revision("bob", Confirm, "$8"), 7, V2, Some(1));
        change(&mut command);
        service(ask_revision(command))
    };
    let invalid = || {
        let what = "revision canonical bytes";
        refused(Rejection::LedgerSignatureInvalid { what })
    };
    let misplaced = || refused(Rejection::SignaturePositionMisplaced);
    let stale = |current| refused(Rejection::SignaturePositionStale { current });
    let updated = || [opened(), vec![service(update("alice", "$8"))]].concat();
    let confirmed = || [opened(), vec![service(confirm("carol", "$8"))]].concat();
    let used = || [opened(), vec![signed("bob", V1, None)]].concat();
    let padded = || {
        let revision = revision("bob", Confirm, " $8");
        service(ask_revision(signed_revision(revision, 7, V1, None)))
    };
    rows! {
        "a revision may be signed as the seed says":
            opened() => signed("bob", V1, None) => accepted();
        "also with white space around its value": opened() => padded() => accepted();
        "or as we say": opened() => signed("bob", V2, Some(1)) => accepted();
        "the seed's has no position": opened() => signed("bob", V1, None).clone() => accepted();
        "so none goes with it":
            opened() => with(|c| c.signature.as_mut().unwrap().surface = V1.to_owned())
            => misplaced();
        "and one goes with ours":
            opened() => with(|c| c.signature.as_mut().unwrap().position = None) => misplaced();
        "it says which value was seen":
            updated() => signed("bob", V2, Some(1)) => stale(2);
        "the one there is": updated() => signed("bob", V2, Some(2)) => accepted();
        "not one to come": opened() => signed("bob", V2, Some(2)) => stale(1);
        "confirmations do not move it": confirmed() => signed("bob", V2, Some(1)) => accepted();
        "ours signs the agent": opened() => with(|c| c.agent = author("bobby")) => invalid();
        "the value": opened() => with(|c| c.value = value("$9")) => invalid();
        "the kind": opened() => with(|c| c.kind = Contradict) => invalid();
        "the position":
            updated() => with(|c| c.signature.as_mut().unwrap().position = Some(2)) => invalid();
        "the thread":
            opened() => with(|c| c.claim = ClaimId::new(uuid::Uuid::from_u128(9))) => invalid();
        "a signature is used once":
            used() => signed("bob", V1, None).after(86_400)
            => refused(Rejection::SignatureReplayed);
        "under any name":
            used() => signed("bobby", V1, None) => refused(Rejection::SignatureReplayed);
        "also after an update":
            [used(), vec![service(update("alice", "$9")), service(update("alice", "$8"))]].concat()
            => signed("bob", V1, None) => refused(Rejection::SignatureReplayed);
        "order: the owner before the signature":
            opened()
            => service(ask_revision(signed_revision(
                revision("bob", Update, "$8"), 7, V2, Some(9),
            )))
            => refused(Rejection::ClaimNotOwned { owner: author("alice"), what: "update" });
    }
}

fn position_rows() -> Vec<Row> {
    let confirm_at = |read| {
        let revision = revision("bob", Confirm, "$8");
        service(ask_revision(signed_revision(revision, 7, V2, Some(read))))
    };
    let confirmed = || [opened(), vec![service(confirm("carol", "$8"))]].concat();
    let reconsidered = || [opened(), vec![confirm_at(1), service(contradict("bob"))]].concat();
    rows! {
        "what did not change the value may have been read":
            confirmed() => confirm_at(2) => accepted();
        "so who confirmed and contradicted can confirm again":
            reconsidered() => confirm_at(3) => accepted();
        "not with what was signed before":
            reconsidered() => confirm_at(1) => refused(Rejection::SignatureReplayed);
        "an update is newer than what was read until then":
            [reconsidered(), vec![service(update("alice", "$8"))]].concat()
            => confirm_at(3) => refused(Rejection::SignaturePositionStale { current: 4 });
    }
}

fn erased_rows() -> Vec<Row> {
    let gone = |actor| erased(actor, EventKind::ClaimRevised);
    rows! {
        "a body may be erased": [owner(open())] => gone(Actor::Owner) => accepted();
        "also the arbiter's": [owner(open())] => gone(Actor::Arbiter) => accepted();
        "a key that may not speak may not have revised":
            [owner(open()), owner(issue(1, None, &[Scope::Auditor]))]
            => gone(Actor::Key(key_id(1)))
            => refused(Rejection::KeyLacksScope { needed: Scope::Agent });
        "after which a thread need not be known":
            [owner(open()), gone(Actor::Owner)]
            => recorded(claims::Event::Revised(revised(
                &[opened(), vec![service(confirm("bob", "$8"))]].concat()
            )))
            => accepted();
    }
}

#[test]
fn a_thread_is_revised_by_whose_turn_it_is() {
    check_all(rows());
}
