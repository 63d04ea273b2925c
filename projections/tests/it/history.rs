//! What the history answers.

use minutebook_projections::{HistoryView, Kind, MemoryRows, history::MessagePage};

use crate::world::{World, room_id};

fn talk(messages: usize) -> World {
    let mut world = World::new();
    world.open(true, None);
    world.open(true, None);
    for number in 0..messages {
        world.post(number % 2, "ann", &format!("text {number}"));
    }
    world
}

fn positions(page: &MessagePage) -> (Vec<u64>, bool) {
    (
        page.messages.iter().map(|message| message.n).collect(),
        page.has_more,
    )
}

fn after(rows: &MemoryRows, after: u64, limit: usize) -> (Vec<u64>, bool) {
    positions(
        &HistoryView::new(rows)
            .after(room_id(0), after, limit)
            .unwrap(),
    )
}

#[test]
fn messages_after_a_position_come_oldest_first_with_has_more() {
    let rows = talk(10).fold(Kind::History);
    assert_eq!(after(&rows, 0, 2), (vec![1, 2], true));
    assert_eq!(after(&rows, 2, 3), (vec![3, 4, 5], false));
    assert_eq!(after(&rows, 5, 3), (vec![], false));
    assert_eq!(after(&rows, u64::MAX, 3), (vec![], false));
    assert_eq!(after(&rows, 0, 0), (vec![], true));
}

#[test]
fn messages_before_a_position_come_oldest_first_too() {
    let rows = talk(10).fold(Kind::History);
    let before = |before, limit| {
        positions(
            &HistoryView::new(&rows)
                .before(room_id(0), before, limit)
                .unwrap(),
        )
    };
    assert_eq!(before(None, 2), (vec![4, 5], true));
    assert_eq!(before(Some(4), 9), (vec![1, 2, 3], false));
    assert_eq!(before(Some(0), 9), (vec![], false));
}

#[test]
fn a_message_is_what_was_posted() {
    let mut world = talk(1);
    world.post_signed(0, "bob", "söme\u{0}\n text ", Some("2026-11-30T11:59:58Z"));
    let rows = world.fold(Kind::History);
    let message = HistoryView::new(&rows)
        .message(room_id(0), 2)
        .unwrap()
        .unwrap();
    assert_eq!((message.n, message.row.seq, message.row.sseq), (2, 4, 3));
    assert_eq!(
        (message.row.agent.as_str(), message.row.text.as_str()),
        ("bob", "söme\u{0}\n text ")
    );
    assert_eq!(message.row.memory_root.as_deref(), Some("root"));
    let signature = message.row.signature.unwrap();
    assert_eq!(signature.ts_iso, "2026-11-30T11:59:58Z");
    assert_eq!(
        HistoryView::new(&rows).message(room_id(0), 3).unwrap(),
        None
    );
}

#[test]
fn erasing_takes_everything_but_the_place() {
    let mut world = talk(10);
    world.erase_bodies(0, 3, 5);
    let rows = world.fold(Kind::History);
    let page = HistoryView::new(&rows).after(room_id(0), 0, 10).unwrap();
    let seen: Vec<_> = page
        .messages
        .iter()
        .map(|m| (m.n, m.row.is_erased))
        .collect();
    assert_eq!(
        seen,
        [(1, false), (2, true), (3, true), (4, true), (5, false)]
    );
    let erased = &page.messages[1].row;
    assert!(erased.id.is_nil() && erased.agent.is_empty() && erased.text.is_empty());
    assert_eq!((erased.seq, erased.at), (5, erased.recorded_at));
}

#[test]
fn an_erased_room_has_no_messages() {
    let mut world = talk(10);
    world.erase(0);
    let rows = world.fold(Kind::History);
    assert_eq!(after(&rows, 0, 10), (vec![], false));
    assert_eq!(rows.len(), 5, "the other room keeps its own");
}

#[test]
fn a_message_after_an_erased_one_keeps_its_position() {
    let mut world = talk(4);
    world.erase_bodies(0, 1, 9);
    world.erase_log();
    world.post(0, "ann", "next");
    let rows = world.rows(Kind::History, &[1]);
    assert_eq!(after(&rows, 0, 10), (vec![1, 2, 3], false));
}
