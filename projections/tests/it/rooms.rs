//! What the directory answers.

use minutebook_projections::{
    Kind, MemoryRows, RoomsView,
    rooms::{RoomRow, Sort},
};

use crate::world::{NOON, World, room_id};

fn directory(world: &World) -> MemoryRows {
    world.fold(Kind::Rooms)
}

fn room(world: &World, room: usize) -> RoomRow {
    RoomsView::new(&directory(world))
        .room(room_id(room))
        .unwrap()
        .unwrap()
}

/// The listing as room numbers, paged by `limit`, and its total.
fn listing(world: &World, sort: Sort, limit: usize) -> (Vec<usize>, u64) {
    let rows = directory(world);
    let view = RoomsView::new(&rows);
    let mut rooms = Vec::new();
    loop {
        let page = view.public(sort, limit, rooms.len() as u64).unwrap();
        assert!(page.rooms.len() <= limit);
        if page.rooms.is_empty() {
            return (rooms, page.total);
        }
        let number = |row: &RoomRow| (0..world.rooms()).find(|n| room_id(*n) == row.id).unwrap();
        rooms.extend(page.rooms.iter().map(number));
    }
}

#[test]
fn active_lists_rooms_with_messages_first_then_silent_ones_newest_first() {
    let mut world = World::new();
    for _ in 0..5 {
        world.open(true, None);
    }
    world.open(false, None);
    world.post(3, "a", "x");
    world.post(1, "a", "x");
    world.post(5, "a", "private");
    world.post(3, "a", "x");
    for limit in [1, 2, 3, 200] {
        assert_eq!(
            listing(&world, Sort::Active, limit),
            (vec![3, 1, 4, 2, 0], 5),
            "{limit}"
        );
    }
}

#[test]
fn new_lists_by_creation_newest_first() {
    let mut world = World::new();
    for _ in 0..4 {
        world.open(true, None);
    }
    world.post(0, "a", "x");
    assert_eq!(listing(&world, Sort::New, 3), (vec![3, 2, 1, 0], 4));
}

#[test]
fn rooms_of_one_microsecond_are_listed_in_reverse_order_of_opening() {
    let mut world = World::new();
    world.step = 0;
    for _ in 0..3 {
        world.open(true, None);
    }
    assert_eq!(listing(&world, Sort::Active, 200).0, [2, 1, 0]);
    for room in [1, 0, 2] {
        world.post(room, "a", "x");
    }
    assert_eq!(listing(&world, Sort::Active, 200).0, [2, 1, 0]);
}

#[test]
fn a_page_far_down_the_listing_is_reached_from_the_nearer_end() {
    let mut world = World::new();
    for _ in 0..3000 {
        world.open(true, None);
    }
    let rows = directory(&world);
    let view = RoomsView::new(&rows);
    for offset in [0_u64, 1, 1023, 1024, 1499, 1500, 2000, 2950, 2999] {
        let page = view.public(Sort::New, 20, offset).unwrap();
        let wanted: Vec<_> = (offset..3000)
            .take(20)
            .map(|n| room_id(2999 - n as usize))
            .collect();
        assert_eq!(
            page.rooms.iter().map(|row| row.id).collect::<Vec<_>>(),
            wanted,
            "{offset}"
        );
    }
    for offset in [3000, u64::MAX] {
        assert!(
            view.public(Sort::New, 20, offset).unwrap().rooms.is_empty(),
            "{offset}"
        );
    }
}

#[test]
fn what_happens_on_a_rooms_ledger_moves_its_position() {
    let mut world = World::new();
    world.open(true, None);
    world.post(0, "ann", "x");
    let before = room(&world, 0);
    world.shake_hands(0, "ann", None);
    let after = room(&world, 0);
    assert_eq!((before.last_seq, after.last_seq), (2, 3));
    assert_eq!(after.last_message_at, before.last_message_at);
    assert_eq!(after.message_count, 1);
}

#[test]
fn a_room_counts_messages_different_agents_and_members() {
    let mut world = World::new();
    world.open(true, None);
    world.join(0, "ann");
    world.join(0, "bob");
    world.join(0, "ann");
    world.leave(0, "bob");
    world.leave(0, "nobody");
    for agent in ["ann", "cid", "ann"] {
        world.post(0, agent, "x");
    }
    let row = room(&world, 0);
    assert_eq!(
        (row.message_count, row.agent_count, row.member_count),
        (3, 2, 1)
    );
    assert_eq!(row.last_message_at.unwrap().as_micros(), NOON + 8000);
    assert_eq!((row.opened_seq, row.last_seq), (1, 9));
    let rows = directory(&world);
    let agents = RoomsView::new(&rows).agents(room_id(0), None, 10).unwrap();
    let seen: Vec<_> = agents
        .iter()
        .map(|row| {
            (
                row.agent.as_str(),
                row.member_since.is_some(),
                row.has_posted,
            )
        })
        .collect();
    assert_eq!(seen, [("ann", true, true), ("cid", false, true)]);
    let after = RoomsView::new(&rows)
        .agents(room_id(0), Some("ann"), 10)
        .unwrap();
    assert_eq!(after.len(), 1);
}

#[test]
fn agents_of_another_room_are_not_listed() {
    let mut world = World::new();
    world.open(true, None);
    world.open(true, None);
    world.post(1, "ann", "x");
    let rows = directory(&world);
    assert!(
        RoomsView::new(&rows)
            .agents(room_id(0), None, 10)
            .unwrap()
            .is_empty()
    );
    assert!(
        RoomsView::new(&rows)
            .agent(room_id(0), "ann")
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_name_finds_its_room_until_it_is_given_up() {
    let mut world = World::new();
    world.open(false, Some("lobby"));
    world.open(false, None);
    let find = |world: &World, name: &str| {
        RoomsView::new(&directory(world))
            .by_name(name)
            .unwrap()
            .map(|row| row.id)
    };
    assert_eq!(find(&world, "lobby"), Some(room_id(0)));
    world.rename(0, Some("hall"));
    world.rename(1, Some("lobby"));
    assert_eq!(find(&world, "hall"), Some(room_id(0)));
    assert_eq!(find(&world, "lobby"), Some(room_id(1)));
    world.rename(0, None);
    world.erase(1);
    assert_eq!((find(&world, "hall"), find(&world, "lobby")), (None, None));
}

#[test]
fn an_erased_room_leaves_a_grave_and_nothing_else() {
    let mut world = World::new();
    world.open(true, Some("lobby"));
    world.join(0, "silent");
    for _ in 0..50 {
        world.post(0, "ann", "x");
    }
    world.erase(0);
    let rows = directory(&world);
    let view = RoomsView::new(&rows);
    assert_eq!(view.room(room_id(0)).unwrap(), None);
    let grave = view.erased(room_id(0)).unwrap().unwrap();
    assert_eq!((grave.message_count, grave.erased_seq), (50, 53));
    assert_eq!(rows.len(), 1, "the grave");
    assert_eq!(view.public_total().unwrap(), 0);
}

#[test]
fn erased_messages_do_not_count_as_their_agents() {
    let mut world = World::new();
    world.open(true, None);
    world.post(0, "ann", "x");
    world.post(0, "bob", "x");
    world.join(0, "ann");
    world.post(0, "ann", "x");
    world.erase_bodies(0, 2, 3);
    let row = room(&world, 0);
    assert_eq!((row.message_count, row.agent_count), (3, 1));
    world.erase_bodies(0, 1, 6);
    let row = room(&world, 0);
    assert_eq!((row.agent_count, row.member_count), (0, 1));
    world.post(0, "bob", "again");
    assert_eq!(room(&world, 0).agent_count, 1);
}

#[test]
fn closing_keeps_the_room_listed() {
    let mut world = World::new();
    world.open(true, None);
    world.close(0);
    assert!(room(&world, 0).is_closed);
    assert_eq!(listing(&world, Sort::New, 10), (vec![0], 1));
}

#[test]
fn facts_about_a_room_that_was_never_opened_make_no_rows() {
    let mut world = World::new();
    world.open(true, None);
    world.open(true, None);
    world.post(1, "ann", "x");
    world.log.remove(1);
    let rows = directory(&world);
    assert_eq!(RoomsView::new(&rows).room(room_id(1)).unwrap(), None);
    assert!(
        RoomsView::new(&rows)
            .agents(room_id(1), None, 10)
            .unwrap()
            .is_empty()
    );
}
