//! A room's rows against a fold of its own log.

use minutebook_domain::{actor::Actor, ids::StreamId};
use minutebook_projections::{
    Kind, MemoryRows, RowOp, Rows,
    audit::{About, DIFFERENCES_MAX, Differences, How, RoomAudit},
};
use proptest::{collection::vec, prelude::*};

use crate::agreement::{a_move, play};
use crate::world::{World, room_id};

const KINDS: [Kind; 3] = [Kind::Rooms, Kind::History, Kind::Threads];

fn audit(world: &World, room: usize, live: &[(Kind, MemoryRows)]) -> Differences {
    let id = room_id(room);
    let rows = live.iter().map(|(kind, rows)| (*kind, rows as &dyn Rows));
    let mut audit = RoomAudit::new(id, rows);
    let its = world.log.iter();
    for entry in its.filter(|entry| entry.stream == StreamId::Room(id)) {
        audit.fact(&entry.fact(&Actor::Owner)).unwrap();
    }
    audit.finish().unwrap()
}

fn live(world: &World) -> Vec<(Kind, MemoryRows)> {
    KINDS.map(|kind| (kind, world.fold(kind))).into()
}

proptest! {
    #[test]
    fn rows_that_follow_the_log_never_differ(moves in vec(a_move(), 1..120)) {
        let mut world = play(&moves);
        world.erase_log();
        let live = live(&world);
        for room in 0..world.rooms() {
            prop_assert_eq!(audit(&world, room, &live), Differences::default());
        }
    }
}

/// A room of several pages of messages, some erased.
fn long_room() -> World {
    let mut world = World::new();
    world.open(true, None);
    for n in 0..2_600 {
        world.post(0, &format!("agent {}", n % 7), "hello");
    }
    world.erase_bodies(0, 900, 1_100);
    world.erase_bodies(0, 2_500, 2_590);
    world.post(0, "agent 1", "the end");
    world.erase_log();
    world
}

#[test]
fn messages_are_compared_page_by_page_and_named_by_their_number() {
    let world = long_room();
    let clean = live(&world);
    assert_eq!(audit(&world, 0, &clean), Differences::default());
    let (_, messages) = &clean[1];
    let keys: Vec<Vec<u8>> = messages.iter().map(|(key, _)| key.to_vec()).collect();
    for n in [1, 950, 1_023, 1_024, 1_025, 2_048, 2_601] {
        let mut live = clean.clone();
        let key = keys[n - 1].clone();
        live[1].1.write([RowOp { key, value: None }]);
        let found = audit(&world, 0, &live).list;
        assert_eq!(found.len(), 1, "{n}");
        assert_eq!(found[0].about, About::Message(n as u64));
        assert_eq!(found[0].how, How::Missing);
    }
}

#[test]
fn an_erased_room_is_shown_nothing_of_and_what_is_still_shown_is_found() {
    let mut world = long_room();
    let before = live(&world);
    world.erase(0);
    world.erase_log();
    assert_eq!(audit(&world, 0, &live(&world)), Differences::default());
    let found = audit(&world, 0, &before);
    assert!(found.beyond > 2_000, "{}", found.beyond);
    assert!(found.list.iter().any(|one| one.kind == Kind::History));
}

#[test]
fn the_list_of_differences_is_bounded_and_the_rest_counted() {
    let world = long_room();
    let mut live = live(&world);
    live[1].1 = MemoryRows::default();
    let found = audit(&world, 0, &live);
    assert_eq!(found.list.len(), DIFFERENCES_MAX);
    assert_eq!(found.beyond, 2_601 - DIFFERENCES_MAX as u64);
}
