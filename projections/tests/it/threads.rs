//! What the threads answer.

use minutebook_domain::room::claims::{EMPTY_CONTEXT_HASH, RevisionKind, Status};
use minutebook_projections::{Kind, MemoryRows, ThreadsView};

use crate::{
    ledger_world::claim_id,
    world::{World, room_id},
};

const CONFIRM: RevisionKind = RevisionKind::Confirm;
const CONTRADICT: RevisionKind = RevisionKind::Contradict;

/// One thread in one room that needs two confirmations.
fn one_thread() -> World {
    let mut world = World::new();
    world.open(true, None);
    world.open_claim(0, "ann", "price", "$8", None);
    world
}

fn rows(world: &World) -> MemoryRows {
    world.fold(Kind::Threads)
}

fn status(world: &World) -> Status {
    let rows = rows(world);
    let found = ThreadsView::new(&rows).thread(room_id(0), claim_id(0, 0));
    found.unwrap().unwrap().1.thread.status()
}

#[test]
fn a_room_where_nothing_happened_has_no_rows() {
    let mut world = World::new();
    world.open(true, None);
    world.post(0, "ann", "hello");
    let rows = rows(&world);
    assert!(rows.is_empty());
    let context = ThreadsView::new(&rows).context(room_id(0)).unwrap();
    assert_eq!(context.context_hash, EMPTY_CONTEXT_HASH);
    assert_eq!(context.ledger.confirmations_needed, 2);
    assert!(!context.is_sealed && context.threads.is_empty());
}

#[test]
fn a_threads_ledger_is_read_by_range_and_by_number() {
    let mut world = one_thread();
    world.open_claim(0, "bob", "date", "May", None);
    for number in 0..5 {
        let value = number.to_string();
        world.revise(0, number % 2, "cid", CONTRADICT, &value, None);
    }
    let rows = rows(&world);
    let view = ThreadsView::new(&rows);
    let (place, row) = view.thread(room_id(0), claim_id(0, 0)).unwrap().unwrap();
    assert_eq!(row.thread.revisions(), 4);
    let ids = |first, limit| -> Vec<u64> {
        let found = view.revisions(room_id(0), place, first, limit).unwrap();
        found.iter().map(|row| row.id).collect()
    };
    assert_eq!(ids(0, 9), [1, 3, 5, 7]);
    assert_eq!(ids(1, 2), [3, 5]);
    assert_eq!(ids(4, 9), [0; 0]);
    assert_eq!(view.last(room_id(0), place, &row).unwrap().id, 7);
    let (other, found) = view.revision(room_id(0), 6).unwrap().unwrap();
    assert_ne!(other, place);
    assert_eq!((found.id, found.value.as_str()), (6, "3"));
    assert_eq!(view.revision(room_id(0), 8).unwrap(), None);
    assert_eq!(view.thread(room_id(0), claim_id(0, 2)).unwrap(), None);
}

#[test]
fn a_status_is_the_rules_own() {
    let mut world = one_thread();
    world.revise(0, 0, "bob", CONFIRM, "$8", None);
    assert_eq!(status(&world), Status::Proposed);
    world.revise(0, 0, "cid", CONFIRM, "$8", None);
    assert_eq!(status(&world), Status::Agreed);
    world.revise(0, 0, "cid", CONTRADICT, "$7", None);
    assert_eq!(status(&world), Status::Disputed);
    world.revise(0, 0, "ann", RevisionKind::Retract, "$8", None);
    assert_eq!(status(&world), Status::Cancelled);
}

#[test]
fn discrepancies_are_listed_newest_first_while_unresolved() {
    let mut world = World::new();
    world.open_needing(true, None, Some(1));
    for _ in 0..2 {
        world.open_claim(0, "ann", "price", "$8", None);
    }
    for claim in [1, 0] {
        world.revise(0, claim, "bob", CONFIRM, "$8", None);
        world.revise(0, claim, "cid", CONTRADICT, "$8", None);
    }
    let unresolved = |world: &World| -> Vec<(u64, String)> {
        let rows = rows(world);
        let found = ThreadsView::new(&rows).unresolved(room_id(0)).unwrap();
        found
            .into_iter()
            .map(|one| (one.id, one.row.claim.unwrap().to_string()))
            .collect()
    };
    let [one, other] = [1, 2].map(|id: u64| (id, claim_id(0, 2 - id as usize).to_string()));
    assert_eq!(unresolved(&world), [other.clone(), one.clone()]);
    // The others cannot agree an objection away; its own agent can give it up.
    world.revise(0, 0, "dan", CONFIRM, "$8", None);
    assert_eq!(unresolved(&world), [other.clone(), one.clone()]);
    world.revise(0, 0, "cid", CONFIRM, "$8", None);
    assert_eq!(unresolved(&world), std::slice::from_ref(&one));
    // Agreement on another value leaves nothing of it, a value that is only proposed does.
    world.revise(0, 1, "ann", RevisionKind::Update, "$9", None);
    assert_eq!(unresolved(&world), [one]);
    world.revise(0, 1, "bob", CONFIRM, "$9", None);
    assert!(unresolved(&world).is_empty());
}

#[test]
fn an_agent_objects_once_to_one_thread() {
    let mut world = World::new();
    world.open_needing(true, None, Some(1));
    world.open_claim(0, "ann", "price", "$8", None);
    let unresolved = |world: &World| -> Vec<u64> {
        let rows = rows(world);
        let found = ThreadsView::new(&rows).unresolved(room_id(0)).unwrap();
        found.iter().map(|one| one.id).collect()
    };
    for _ in 0..3 {
        world.revise(0, 0, "bob", CONFIRM, "$8", None);
        world.revise(0, 0, "cid", CONTRADICT, "$8", None);
    }
    assert_eq!(unresolved(&world), [3]);
    world.revise(0, 0, "bob", CONFIRM, "$8", None);
    world.revise(0, 0, "dan", CONTRADICT, "$8", None);
    assert_eq!(unresolved(&world), [4, 3]);
    world.revise(0, 0, "ann", RevisionKind::Retract, "$8", None);
    assert!(unresolved(&world).is_empty());
}

#[test]
fn who_said_how_far_it_had_read_seals_no_later_value() {
    let mut world = one_thread();
    let first = hash(&world);
    world.shake_hands_at(0, "ann", &first, (1, 1));
    world.shake_hands_at(0, "bob", &first, (2, 1));
    assert!(sealed(&world));
    for value in ["$9", "$8"] {
        world.revise(0, 0, "ann", RevisionKind::Update, value, None);
        assert!(!sealed(&world), "{value}");
    }
    assert_eq!(hash(&world), first);
    // One that does not say so counts for the hash, and a new one for what is read now.
    world.shake_hands_on(0, "cid", &first, None);
    assert!(!sealed(&world));
    world.shake_hands_at(0, "bob", &first, (2, 3));
    assert!(sealed(&world));
}

fn hash(world: &World) -> String {
    let rows = rows(world);
    ThreadsView::new(&rows).context_hash(room_id(0)).unwrap()
}

fn sealed(world: &World) -> bool {
    let rows = rows(world);
    let context = ThreadsView::new(&rows).context(room_id(0)).unwrap();
    context.is_sealed
}

#[test]
fn names_of_one_key_seal_nothing() {
    let mut world = one_thread();
    let now = hash(&world);
    world.shake_hands_on(0, "bob", &now, Some(1));
    world.shake_hands_on(0, "bob", &now, None);
    assert!(!sealed(&world));
    world.shake_hands_on(0, "robert", &now, Some(1));
    assert!(!sealed(&world));
    world.shake_hands_on(0, "ann", &now, None);
    assert!(sealed(&world));
    world.revise(0, 0, "ann", RevisionKind::Update, "$9", None);
    assert!(!sealed(&world));
    let rows = rows(&world);
    let made = ThreadsView::new(&rows)
        .handshakes(room_id(0), 1, 2)
        .unwrap();
    let ids: Vec<u64> = made.iter().map(|one| one.id).collect();
    assert_eq!(ids, [2, 3]);
}

#[test]
fn an_erased_room_leaves_nothing() {
    let mut world = one_thread();
    world.open_needing(true, None, Some(1));
    world.open_claim(1, "ann", "price", "$8", Some(1));
    let before = rows(&world).len();
    world.revise(0, 0, "bob", CONFIRM, "$8", Some(2));
    world.shake_hands(0, "bob", Some(2));
    world.erase(0);
    let rows = rows(&world);
    let rooms: std::collections::BTreeSet<&[u8]> =
        rows.iter().map(|(key, _)| &key[1..17]).collect();
    assert_eq!(
        rooms.into_iter().collect::<Vec<_>>(),
        [room_id(1).uuid().as_bytes()]
    );
    assert!(rows.len() < before);
}

#[test]
fn a_revision_costs_as_many_rows_however_long_the_thread_is() {
    let mut world = one_thread();
    let mut fold = crate::world::Fold {
        rows: MemoryRows::default(),
        fold: Kind::Threads.fold(),
    };
    fold.batch(&world.log);
    let mut done = world.log.len();
    for number in 0..300 {
        world.revise(0, 0, "bob", CONTRADICT, &number.to_string(), None);
        let before = fold.rows.len();
        fold.batch(&world.log[done..]);
        done = world.log.len();
        assert_eq!(fold.rows.len(), before + 2, "the revision and its number");
    }
}
