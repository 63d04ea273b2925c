//! The keys of the `rooms` rows.

use minutebook_domain::{ids::RoomId, time::Timestamp};
use uuid::Uuid;

use super::RoomRow;

pub(crate) const PUBLIC_TOTAL: &[u8] = &[0];
pub(crate) const BY_ACTIVITY: u8 = 2;
pub(crate) const BY_CREATION: u8 = 4;

fn of_room(tag: u8, room: RoomId, rest: usize) -> Vec<u8> {
    let mut key = Vec::with_capacity(17 + rest);
    key.push(tag);
    key.extend_from_slice(room.uuid().as_bytes());
    key
}

pub(crate) fn room(id: RoomId) -> Vec<u8> {
    of_room(1, id, 0)
}

/// All rooms.
pub(crate) fn rooms() -> (Vec<u8>, Vec<u8>) {
    prefix_range(vec![1])
}

/// Where a room stands in the listing by activity: with messages first, newest first, and rooms
/// of one microsecond by opening, newest first.
pub(crate) fn by_activity(row: &RoomRow) -> Vec<u8> {
    let (class, at) = match row.last_message_at {
        Some(at) => (0, at),
        None => (1, row.created_at),
    };
    let mut key = vec![BY_ACTIVITY, class];
    key.extend_from_slice(&newest_first(at));
    key.extend_from_slice(&(!row.opened_seq).to_be_bytes());
    key
}

/// Where it stands in the listing by creation. Record times never decrease, so the order of
/// opening seqs is the order of creation times with ties settled.
pub(crate) fn by_creation(row: &RoomRow) -> Vec<u8> {
    let mut key = vec![BY_CREATION];
    key.extend_from_slice(&(!row.opened_seq).to_be_bytes());
    key
}

pub(crate) fn agent(room: RoomId, name: &str) -> Vec<u8> {
    let mut key = of_room(3, room, name.len());
    key.extend_from_slice(name.as_bytes());
    key
}

/// All agents of a room.
pub(crate) fn agents(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    prefix_range(of_room(3, room, 0))
}

pub(crate) fn name(name: &str) -> Vec<u8> {
    let mut key = vec![5];
    key.extend_from_slice(name.as_bytes());
    key
}

pub(crate) fn posted_page(room: RoomId, page: u64) -> Vec<u8> {
    let mut key = of_room(6, room, 8);
    key.extend_from_slice(&page.to_be_bytes());
    key
}

/// All pages of a room but the newest.
pub(crate) fn posted_pages(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    prefix_range(of_room(6, room, 0))
}

pub(crate) fn erased(room: RoomId) -> Vec<u8> {
    of_room(7, room, 0)
}

/// The room in an index row's value.
pub(crate) fn room_of_value(value: &[u8]) -> Option<RoomId> {
    Uuid::from_slice(value).ok().map(RoomId::new)
}

/// The range of all keys that begin with `prefix`, which begins with a tag below 255.
fn prefix_range(prefix: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let mut end = prefix.clone();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            break;
        }
    }
    (prefix, end)
}

/// Order-preserving bytes of a moment, newest first.
fn newest_first(at: Timestamp) -> [u8; 8] {
    let ordered = at.as_micros().cast_unsigned() ^ (1 << 63);
    (!ordered).to_be_bytes()
}
