//! What discrepancies the arbiter may note, and every reason why not.

use super::*;
use crate::{EventKind, actor::Actor, room::claims, testing::*};

/// One row per reason to take or refuse a discrepancy.
pub(crate) fn rows() -> Vec<Row> {
    let on_thread = |note: RecordDiscrepancy| RecordDiscrepancy {
        claim: Some(claim_id()),
        ..note
    };
    let from = |source| RecordDiscrepancy {
        source_msg_id: Some(source),
        ..note()
    };
    let opened = || vec![owner(open()), service(propose("alice"))];
    let noted = |id| {
        claims::Event::DiscrepancyRecorded(DiscrepancyRecorded {
            claim: None,
            description: note().description,
            id,
            severity: note().severity,
            source_msg_id: None,
        })
    };
    let disputed = || {
        let steps = vec![
            service(confirm("bob", "$8")),
            service(confirm("carol", "$8")),
            service(contradict("carol")),
        ];
        [opened(), steps].concat()
    };
    let not = |actor| refused(Rejection::ActorNotAllowed { actor });
    let gone = |actor| erased(actor, EventKind::DiscrepancyRecorded);
    rows! {
        "the arbiter notes one": [owner(open())] => arbiter(ask_note(note())) => makes(noted(1));
        "on a thread": opened() => arbiter(ask_note(on_thread(note()))) => accepted();
        "the thread is the room's":
            [owner(open())]
            => arbiter(ask_note(on_thread(note()))) => refused(Rejection::ClaimNotFound);
        "and so is the message":
            [owner(open()), owner(say("alice"))]
            => arbiter(ask_note(from(2))) => refused(Rejection::SourceMessageUnknown);
        "of which there is one":
            [owner(open()), owner(say("alice"))] => arbiter(ask_note(from(1))) => accepted();
        "contradictions are counted with it":
            disputed() => arbiter(ask_note(note())) => makes(noted(2));
        "a record counts right":
            [owner(open())]
            => recorded(noted(2)).by(Actor::Arbiter)
            => refused(Rejection::DiscrepancyOutOfOrder { expected: 1, found: 2 });
        "it moves no status":
            [disputed(), vec![arbiter(ask_note(on_thread(note())))]].concat()
            => service(ask_handshake(shake("bob", &context_of("$8", "disputed"))))
            => accepted();
        "the owner does not": [owner(open())] => owner(ask_note(note())) => not("the owner");
        "nor an agent": [owner(open())] => agent("bob", ask_note(note())) => not("an agent");
        "nor a facade": [owner(open())] => service(ask_note(note())) => not("a service");
        "no such room": [] => arbiter(ask_note(note())) => refused(Rejection::RoomNotFound);
        "not in a closed room":
            [owner(open()), owner(close())]
            => arbiter(ask_note(note())) => refused(Rejection::RoomClosed);
        "a body may be erased": [owner(open())] => gone(Actor::Arbiter) => accepted();
        "whose it was is still seen": [owner(open())] => gone(Actor::Owner) => not("the owner");
        "after which the numbers are not known":
            [owner(open()), gone(Actor::Arbiter)]
            => recorded(noted(7)).by(Actor::Arbiter) => accepted();
    }
}

#[test]
fn the_arbiter_notes_what_does_not_fit() {
    check_all(rows());
}
