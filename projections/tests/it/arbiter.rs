//! What is kept of the arbiter's readings.

use minutebook_domain::room::claims::{Outcome, RevisionKind};
use minutebook_projections::{Kind, MemoryRows, ThreadsView};

use crate::{
    ledger_world::claim_id,
    world::{World, room_id},
};

fn rows(world: &World) -> MemoryRows {
    world.fold(Kind::Threads)
}

/// Three messages, and a thread of each: ann's and the arbiter's own.
fn two_threads() -> World {
    let mut world = World::new();
    world.open(true, None);
    for _ in 0..3 {
        world.post(0, "ann", "hello");
    }
    world.open_claim(0, "ann", "price", "$8", None);
    world.open_claim(0, "arbiter", "date", "May", None);
    world
}

#[test]
fn what_was_read_last_and_by_what_is_known() {
    let mut world = two_threads();
    world.read(0, 1, None);
    world.read(0, 2, None);
    world.read(0, 1, None);
    let rows = rows(&world);
    let ledger = ThreadsView::new(&rows).ledger(room_id(0)).unwrap();
    assert_eq!(ledger.last_extracted_msg_id, 2);
    let last = ledger.last_reading.unwrap();
    assert_eq!((last.message, last.seq), (1, ledger.last_seq));
    assert_eq!((&*last.adapter, &*last.model), ("openai-chat", "model-1"));
}

#[test]
fn an_outage_is_told_until_a_model_answers() {
    let mut world = two_threads();
    world.read(0, 1, None);
    world.fail(0, 2, Outcome::Unavailable);
    let ledger = |world: &World| {
        let rows = rows(world);
        ThreadsView::new(&rows).ledger(room_id(0)).unwrap()
    };
    let now = ledger(&world);
    assert_eq!(
        (now.outage.as_deref(), now.last_extracted_msg_id),
        (Some("no"), 1)
    );
    world.read(0, 2, None);
    let now = ledger(&world);
    assert_eq!((now.outage, now.last_extracted_msg_id), (None, 2));
}

#[test]
fn a_message_that_could_not_be_read_is_told_until_it_was() {
    let mut world = two_threads();
    world.fail(0, 1, Outcome::Skipped);
    world.fail(0, 1, Outcome::Skipped);
    world.fail(0, 2, Outcome::Skipped);
    world.read(0, 3, None);
    let skipped = |world: &World| {
        let rows = rows(world);
        let view = ThreadsView::new(&rows);
        let ledger = view.ledger(room_id(0)).unwrap();
        let listed = view.skipped(room_id(0), 9).unwrap();
        assert_eq!(listed.len() as u64, ledger.skipped);
        let numbers = listed.iter().map(|one| one.message);
        (numbers.collect::<Vec<_>>(), ledger.last_extracted_msg_id)
    };
    assert_eq!(skipped(&world), (vec![2, 1], 3));
    world.read(0, 2, None);
    assert_eq!(skipped(&world), (vec![1], 3));
    world.read(0, 2, None);
    assert_eq!(skipped(&world), (vec![1], 3));
}

#[test]
fn what_only_an_agent_may_do_becomes_a_suggestion() {
    let kinds = [
        RevisionKind::Update,
        RevisionKind::Confirm,
        RevisionKind::Contradict,
        RevisionKind::Retract,
    ];
    let mut world = two_threads();
    let mut messages = 1..;
    for kind in kinds {
        for thread in [0, 1, 7] {
            world.read(0, messages.next().unwrap(), Some((thread, kind)));
        }
    }
    // What was heard before is not heard again.
    world.read(0, 2, Some((0, RevisionKind::Confirm)));
    let rows = rows(&world);
    let suggested = ThreadsView::new(&rows)
        .suggestions(room_id(0), 100)
        .unwrap();
    let found: Vec<_> = suggested.iter().map(|one| (one.claim, one.kind)).collect();
    let (anns, its_own) = (claim_id(0, 0), claim_id(0, 1));
    let expected = vec![
        (anns, RevisionKind::Retract),
        (its_own, RevisionKind::Contradict),
        (anns, RevisionKind::Contradict),
        (its_own, RevisionKind::Confirm),
        (anns, RevisionKind::Confirm),
        // Another value for what another's message began is an objection to this one.
        (its_own, RevisionKind::Contradict),
        (anns, RevisionKind::Update),
    ];
    assert_eq!(found, expected, "the newest first");
    assert_eq!(suggested[0].quote.as_deref(), Some("so be it"));
}

#[test]
fn a_noted_discrepancy_is_resolved_with_its_thread() {
    let mut world = two_threads();
    world.note(0, 1, Some(0));
    world.note(0, 2, None);
    let unresolved = |world: &World| {
        let rows = rows(world);
        let found = ThreadsView::new(&rows).unresolved(room_id(0)).unwrap();
        found.iter().map(|one| one.id).collect::<Vec<_>>()
    };
    assert_eq!(unresolved(&world), [2, 1]);
    for agent in ["bob", "cid"] {
        world.revise(0, 0, agent, RevisionKind::Confirm, "$8", None);
    }
    assert_eq!(unresolved(&world), [2]);
}

#[test]
fn what_the_arbiter_did_because_of_a_message_is_found_by_it() {
    let mut world = two_threads();
    world.revise(0, 1, "arbiter", RevisionKind::Update, "June", None);
    world.revise(0, 0, "ann", RevisionKind::Update, "$9", None);
    world.note(0, 1, Some(0));
    let rows = rows(&world);
    let view = ThreadsView::new(&rows);
    let made = view.made_from(room_id(0), 1).unwrap();
    let texts: Vec<_> = made
        .iter()
        .map(|one| (&*one.text, one.is_discrepancy))
        .collect();
    assert_eq!(texts, [("June", false), ("two prices", true)]);
    assert_eq!(view.made_from(room_id(0), 2).unwrap(), []);
}
