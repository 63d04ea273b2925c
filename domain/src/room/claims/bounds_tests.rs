//! The limits of a room's ledger, which no table could fill in reasonable time.

use super::{
    super::RoomState, ClaimRevised, DiscrepancyRecorded, EMPTY_CONTEXT_HASH, Event, HandshakeMade,
    Principals, RevisionKind, Thread,
};
use crate::{
    Fact, Rejection, State, What,
    actor::Actor,
    ids::StreamId,
    limits::{
        ROOM_DISCREPANCIES_MAX, ROOM_HANDSHAKES_MAX, ROOM_REREADINGS_MAX, ROOM_REVISIONS_MAX,
        ROOM_SIGNERS_MAX, ROOM_THREADS_MAX, THREAD_CONFIRMATIONS_MAX,
    },
    room,
    signature::LedgerSignature,
    testing::*,
};

fn room_of(state: &State) -> RoomState {
    state.room(&room_id(1)).unwrap().clone()
}

/// What a record by the owner at noon would come to in this room.
fn verdict(room: &RoomState, event: Event) -> Result<(), Rejection> {
    verdict_by(&Actor::Owner, room, event)
}

fn verdict_by(actor: &Actor, room: &RoomState, event: Event) -> Result<(), Rejection> {
    let event = crate::Event::from(event);
    let fact = Fact {
        seq: 9,
        stream: StreamId::Room(room_id(1)),
        sseq: 9,
        actor,
        at: NOON,
        what: What::Present(&event),
    };
    room::contextual(Some(room), &fact)
}

fn second_thread() -> Event {
    let steps = [
        owner(open()),
        service(propose("alice")).fresh(1),
        service(propose("bob")).fresh(2),
    ];
    Event::Opened(opening(&steps))
}

#[test]
fn a_room_has_so_many_threads() {
    let (state, _) = events_of(&[owner(open()), service(propose("alice")).fresh(1)]);
    let mut room = room_of(&state);
    assert_eq!(verdict(&room, second_thread()), Ok(()));
    room.claims_mut().fill(ROOM_THREADS_MAX);
    let max = ROOM_THREADS_MAX;
    assert_eq!(
        verdict(&room, second_thread()),
        Err(Rejection::ThreadsFull { max })
    );
}

#[test]
fn a_ledger_has_so_many_entries() {
    let (state, _) = events_of(&[owner(open()), service(propose("alice"))]);
    let confirmed = revised(&[
        owner(open()),
        service(propose("alice")),
        service(confirm("bob", "$8")),
    ]);
    let mut room = room_of(&state);
    assert_eq!(verdict(&room, Event::Revised(confirmed.clone())), Ok(()));
    room.claims_mut().revisions = ROOM_REVISIONS_MAX;
    let max = ROOM_REVISIONS_MAX;
    let full = Err(Rejection::RevisionsFull { max });
    assert_eq!(verdict(&room, Event::Revised(confirmed)), full);
    assert_eq!(verdict(&room, second_thread()), full);
}

#[test]
fn a_room_has_so_many_handshakes() {
    let (state, _) = events_of(&[owner(open())]);
    let mut room = room_of(&state);
    let made = |id| {
        Event::HandshakeMade(HandshakeMade {
            agent: name("bob"),
            context_hash: EMPTY_CONTEXT_HASH.to_owned(),
            id,
            signature: None,
        })
    };
    room.claims_mut().handshakes = ROOM_HANDSHAKES_MAX - 1;
    assert_eq!(verdict(&room, made(ROOM_HANDSHAKES_MAX)), Ok(()));
    room.claims_mut().handshakes = ROOM_HANDSHAKES_MAX;
    let max = ROOM_HANDSHAKES_MAX;
    assert_eq!(
        verdict(&room, made(ROOM_HANDSHAKES_MAX + 1)),
        Err(Rejection::HandshakesFull { max })
    );
}

#[test]
fn the_arbiter_notes_so_many_discrepancies() {
    let (state, _) = events_of(&[owner(open())]);
    let mut room = room_of(&state);
    let noted = |id| {
        Event::DiscrepancyRecorded(DiscrepancyRecorded {
            claim: None,
            description: note().description,
            id,
            severity: note().severity,
            source_msg_id: None,
        })
    };
    let max = ROOM_DISCREPANCIES_MAX;
    for _ in 1..max {
        room.claims_mut().record_discrepancy();
    }
    let verdict = |room: &RoomState, id| verdict_by(&Actor::Arbiter, room, noted(id));
    assert_eq!(verdict(&room, max), Ok(()));
    room.claims_mut().record_discrepancy();
    let full = Err(Rejection::DiscrepanciesFull { max });
    assert_eq!(verdict(&room, max + 1), full);
}

#[test]
fn a_room_is_read_again_so_often() {
    let (state, _) = events_of(&[
        owner(open()),
        owner(say("alice")),
        owner(say("bob")).fresh(2),
    ]);
    let mut room = room_of(&state);
    let verdict = |room: &RoomState, reading| {
        verdict_by(&Actor::Arbiter, room, Event::ContextExtracted(reading))
    };
    room.claims_mut().extract(1, true);
    for _ in 0..ROOM_REREADINGS_MAX {
        assert_eq!(verdict(&room, unavailable(2)), Ok(()));
        room.claims_mut().extract(2, false);
    }
    let max = ROOM_REREADINGS_MAX;
    let full = Err(Rejection::RereadingsFull { max });
    assert_eq!(verdict(&room, reading(1)), full);
    assert_eq!(verdict(&room, unavailable(2)), full);
    assert_eq!(verdict(&room, reading(2)), Ok(()), "what is new is read");
}

fn signature(number: usize) -> LedgerSignature {
    LedgerSignature::from_client(V1, None, &format!("{number:064x}"), &"0".repeat(128))
}

#[test]
fn a_room_knows_so_many_signers() {
    let (state, _) = events_of(&[owner(open()), service(propose("alice"))]);
    let mut room = room_of(&state);
    let by = |agent: &str| {
        let mut event = revised(&[
            owner(open()),
            service(propose("alice")),
            service(confirm_signed("bob", 7)),
        ]);
        event.agent = author(agent);
        Event::Revised(event)
    };
    let principals = &mut room.claims_mut().principals;
    for number in 1..ROOM_SIGNERS_MAX {
        principals.learn(&author("dave"), Some(&signature(number)));
    }
    assert_eq!(verdict(&room, by("bob")), Ok(()));
    let Event::Revised(ClaimRevised {
        signature: known, ..
    }) = by("bob")
    else {
        panic!("a revision");
    };
    let principals = &mut room.claims_mut().principals;
    principals.learn(&author("bob"), known.as_deref());
    assert_eq!(verdict(&room, by("bob")), Ok(()), "who is known signs on");
    let max = ROOM_SIGNERS_MAX;
    assert_eq!(
        verdict(&room, by("bobby")),
        Err(Rejection::SignersFull { max })
    );
}

/// Whoever fills a thread's memory under many names, which then turn out to be one, keeps nobody
/// else from being counted.
#[test]
fn a_thread_remembers_so_many_confirmations_and_makes_room() {
    let (mut principals, opening) = (
        Principals::default(),
        opening(&[owner(open()), service(propose("alice"))]),
    );
    let mut thread = Thread::open(&opening);
    let confirm_by = |thread: &mut Thread, principals: &Principals, agent: &str| {
        let event = ClaimRevised {
            agent: author(agent),
            claim: claim_id(),
            entry: opening.entry.clone(),
            kind: RevisionKind::Confirm,
            quote: None,
            signature: None,
            source_msg_id: None,
            value: value("$8"),
        };
        thread.revise(&event, principals, 2);
    };
    for number in 0..THREAD_CONFIRMATIONS_MAX + 9 {
        confirm_by(&mut thread, &principals, &format!("m{number}"));
    }
    assert_eq!(thread.confirmations(&principals), THREAD_CONFIRMATIONS_MAX);
    for number in 0..THREAD_CONFIRMATIONS_MAX + 9 {
        principals.learn(&author(&format!("m{number}")), Some(&signature(7)));
    }
    assert_eq!(thread.confirmations(&principals), 1);
    confirm_by(&mut thread, &principals, "bob");
    assert_eq!(thread.confirmations(&principals), 2);
}

#[test]
fn a_dispute_is_one_discrepancy_and_ends_with_agreement_or_retreat() {
    let disputed = vec![
        owner(open()),
        service(propose("alice")),
        service(confirm("bob", "$8")),
        service(confirm("carol", "$8")),
        service(contradict("dave")),
        service(contradict("erin")),
    ];
    let count = |steps: &[Step]| room_of(&events_of(steps).0).claims().discrepancies();
    assert_eq!(count(&disputed[..4]), 0);
    assert_eq!(count(&disputed), 1);
    let again = [
        disputed,
        vec![service(confirm("bob", "$8")), service(contradict("bob"))],
    ]
    .concat();
    assert_eq!(count(&again), 2);
}
