//! Rows that this build did not write are refused, never misread.

use minutebook_projections::{
    HistoryView, Kind, MemoryRows, ProjectionError, RoomsView, RowOp, Rows,
};
use proptest::prelude::*;

use crate::world::{World, room_id};

fn posted() -> MemoryRows {
    let mut world = World::new();
    world.open(true, Some("lobby"));
    world.post_signed(0, "ann", "hello", Some("2026-11-30T12:00:00Z"));
    world.fold(Kind::History)
}

/// The history with its only row changed.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Result<(), ProjectionError> {
    let mut rows = posted();
    let (key, value) = rows.iter().next().unwrap();
    let (key, mut value) = (key.to_vec(), value.to_vec());
    change(&mut value);
    rows.write([RowOp {
        key,
        value: Some(value),
    }]);
    HistoryView::new(&rows).after(room_id(0), 0, 10).map(drop)
}

#[test]
fn a_row_of_another_version_or_schema_asks_for_a_rebuild() {
    for byte in 0..8 {
        let error = changed(|value| value[byte] ^= 1).unwrap_err();
        assert!(
            matches!(error, ProjectionError::Stale { .. }),
            "byte {byte}: {error}"
        );
        assert!(error.to_string().contains("projections rebuild"), "{error}");
    }
}

#[test]
fn a_cut_row_is_damaged() {
    for length in [0, 7, 8, 20] {
        let error = changed(|value| value.truncate(length)).unwrap_err();
        assert!(
            matches!(error, ProjectionError::Damaged { .. }),
            "{length}: {error}"
        );
    }
}

#[test]
fn index_rows_of_the_wrong_length_are_damaged() {
    let mut world = World::new();
    world.open(true, Some("lobby"));
    let mut rows = world.fold(Kind::Rooms);
    for key in [b"\x05lobby".to_vec(), vec![0]] {
        rows.write([RowOp {
            key,
            value: Some(vec![1, 2, 3]),
        }]);
    }
    let view = RoomsView::new(&rows);
    assert!(matches!(
        view.by_name("lobby"),
        Err(ProjectionError::Damaged { .. })
    ));
    assert!(matches!(
        view.public_total(),
        Err(ProjectionError::Damaged { .. })
    ));
}

proptest! {
    #[test]
    fn no_bytes_make_a_view_panic(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        // With the right prefix in front, so that the archive itself is what is attacked.
        let read = changed(|value| {
            value.truncate(8);
            value.extend_from_slice(&noise);
        });
        let refused = matches!(read, Err(ProjectionError::Damaged { .. }));
        prop_assert!(read.is_ok() || refused);
    }

    #[test]
    fn a_message_is_read_as_it_was_posted(agent in "[a-z]{1,100}", text in "\\PC{1,300}") {
        let mut world = World::new();
        world.open(false, None);
        world.post(0, &agent, &text);
        let rows = world.fold(Kind::History);
        let message = HistoryView::new(&rows).message(room_id(0), 1).unwrap().unwrap();
        prop_assert_eq!((message.row.agent, message.row.text), (agent, text));
    }
}

#[test]
fn memory_rows_answer_like_a_store() {
    let mut rows = MemoryRows::default();
    rows.write((1..=5_u8).map(|n| RowOp {
        key: vec![n],
        value: Some(vec![n]),
    }));
    let keys = |from: u8, to: u8, reverse, limit| {
        let page = rows.range(&[from], &[to], reverse, limit).unwrap();
        page.into_iter().map(|(key, _)| key[0]).collect::<Vec<_>>()
    };
    assert_eq!(keys(2, 5, false, 9), [2, 3, 4]);
    assert_eq!(keys(2, 5, true, 2), [4, 3]);
    assert_eq!(keys(5, 2, false, 9), [] as [u8; 0]);
}
