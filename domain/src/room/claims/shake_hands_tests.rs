//! Who may shake hands on what, and every reason why not.

use super::*;
use crate::{
    EventKind,
    actor::Actor,
    room::claims::{self, EMPTY_CONTEXT_HASH},
    testing::*,
};

/// One row per reason to take or refuse a handshake.
pub(crate) fn rows() -> Vec<Row> {
    [plain_rows(), signed_rows(), erased_rows()]
        .into_iter()
        .flatten()
        .collect()
}

fn on(agent: &str, context_hash: &str) -> Step {
    service(ask_handshake(shake(agent, context_hash)))
}

fn opened() -> Vec<Step> {
    vec![owner(open()), service(propose("alice"))]
}

fn made(agent: &str, id: u64, context_hash: &str) -> claims::Event {
    claims::Event::HandshakeMade(HandshakeMade {
        agent: name(agent),
        context_hash: context_hash.to_owned(),
        id,
        signature: None,
    })
}

fn plain_rows() -> Vec<Row> {
    let empty = EMPTY_CONTEXT_HASH;
    let proposed = context_of("$8", "proposed");
    let stale = |current: &str| {
        let current = current.to_owned();
        refused(Rejection::ContextStale { current })
    };
    let out_of_order = Rejection::HandshakeOutOfOrder {
        expected: 2,
        found: 1,
    };
    let long = Rejection::TextTooLong {
        what: "context_hash",
        max: 64,
        unit: "characters",
    };
    let and = |steps: Vec<Step>| [opened(), steps].concat();
    rows! {
        "hands are shaken on what there is":
            opened() => on("bob", &proposed) => makes(made("bob", 1, &proposed));
        "also on nothing": [owner(open())] => on("bob", empty) => makes(made("bob", 1, empty));
        "as often as one likes":
            [owner(open()), on("bob", empty)] => on("bob", empty) => makes(made("bob", 2, empty));
        "on nothing else": opened() => on("bob", empty) => stale(&proposed);
        "in lower case": [owner(open())] => on("bob", &empty.to_uppercase()) => stale(empty);
        "it is as long as a hash":
            [owner(open())] => on("bob", &format!("{empty}0")) => refused(long);
        "agreeing changes it":
            and(vec![service(confirm("bob", "$8")), service(confirm("carol", "$8"))])
            => on("bob", &proposed) => stale(&context_of("$8", "agreed"));
        "a dispute changes it":
            and(vec![
                service(confirm("bob", "$8")),
                service(confirm("carol", "$8")),
                on("bob", &context_of("$8", "agreed")),
                service(contradict("carol")),
            ])
            => on("bob", &context_of("$8", "disputed")) => accepted();
        "an update changes it":
            and(vec![on("bob", &proposed), service(update("alice", "$9"))])
            => on("bob", &proposed) => stale(&context_of("$9", "proposed"));
        "what is cancelled is not in it":
            and(vec![service(retract("alice"))]) => on("bob", empty) => accepted();
        "no such room": [] => on("bob", empty) => refused(Rejection::RoomNotFound);
        "not in a closed room":
            [owner(open()), owner(close())] => on("bob", empty) => refused(Rejection::RoomClosed);
        "not for another":
            [owner(open())]
            => agent("bob", ask_handshake(shake("carol", empty)))
            => refused(Rejection::SpeaksForAnother { actor: name("bob") });
        "the arbiter does not":
            [owner(open())]
            => arbiter(ask_handshake(shake("bob", empty)))
            => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
        "a name is no twin":
            opened()
            => on("Alice", &proposed)
            => refused(Rejection::NameTwin { taken: name("alice") });
        "a record counts right":
            [owner(open()), on("bob", empty)]
            => recorded(made("carol", 1, empty)) => refused(out_of_order);
        "order: the actor before the context":
            [owner(open())]
            => agent("bob", ask_handshake(shake("carol", "")))
            => refused(Rejection::SpeaksForAnother { actor: name("bob") });
    }
}

fn signed_rows() -> Vec<Row> {
    let proposed = context_of("$8", "proposed");
    let signed = |agent: &str, surface, position| {
        let command = shake(agent, &proposed);
        service(ask_handshake(signed_shake(command, 7, surface, position)))
    };
    let renamed = || {
        let mut command = signed_shake(shake("bob", &proposed), 7, V2, Some(1));
        command.agent = name("bobby");
        service(ask_handshake(command))
    };
    let used = || [opened(), vec![signed("bob", V1, None)]].concat();
    let confirmed = || [opened(), vec![service(confirm("carol", "$8"))]].concat();
    let misplaced = || refused(Rejection::SignaturePositionMisplaced);
    rows! {
        "it may be signed as the seed says": opened() => signed("bob", V1, None) => accepted();
        "or as we say": opened() => signed("bob", V2, Some(1)) => accepted();
        "it says what was read last":
            confirmed()
            => signed("bob", V2, Some(1))
            => refused(Rejection::SignaturePositionStale { current: 2 });
        "and that is the newest": confirmed() => signed("bob", V2, Some(2)) => accepted();
        "ours has a position":
            opened()
            => service(ask_handshake({
                let mut command = signed_shake(shake("bob", &proposed), 7, V1, None);
                command.signature.as_mut().unwrap().surface = V2.to_owned();
                command
            }))
            => misplaced();
        "ours signs the agent":
            opened()
            => renamed() => refused(Rejection::LedgerSignatureInvalid { what: "context_hash" });
        "a signature is used once":
            used() => signed("bob", V1, None).after(86_400)
            => refused(Rejection::SignatureReplayed);
        "under any name":
            used() => signed("bobby", V1, None) => refused(Rejection::SignatureReplayed);
        "order: the context before the signature's use":
            [used(), vec![service(update("alice", "$9"))]].concat()
            => signed("bob", V1, None)
            => refused(Rejection::ContextStale { current: context_of("$9", "proposed") });
    }
}

fn erased_rows() -> Vec<Row> {
    let gone = |actor| erased(actor, EventKind::HandshakeMade);
    rows! {
        "a body may be erased": [owner(open())] => gone(Actor::Owner) => accepted();
        "the arbiter shook no hands":
            [owner(open())]
            => gone(Actor::Arbiter)
            => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
        "after which the context is not known":
            [owner(open()), gone(Actor::Owner)]
            => recorded(made("bob", 7, "any")) => accepted();
    }
}

#[test]
fn hands_are_shaken_on_what_there_is() {
    check_all(rows());
}
