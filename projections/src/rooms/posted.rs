//! Who posted when: pages of 16 stream positions, the newest of them in the room's row.

use std::collections::HashSet;

use minutebook_domain::{ids::RoomId, time::Timestamp};

use super::{Posted, PostedPage, RoomRow, keys};
use crate::{ProjectionError, Rows, overlay::Overlay, row};

/// Stream positions per page.
const PAGE_POSITIONS: u64 = 16;

/// Author of an erased message.
const NOBODY: [u8; 16] = [0; 16];

/// A name's short hash.
pub(crate) fn author(name: &str) -> [u8; 16] {
    let hash = blake3::hash(name.as_bytes());
    let [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = *hash.as_bytes();
    first
}

/// A message without its text.
pub(crate) fn posted(
    sseq: u64,
    at: Timestamp,
    recorded_at: Timestamp,
    name: Option<&str>,
) -> Posted {
    Posted {
        sseq,
        at,
        recorded_at,
        author: name.map_or(NOBODY, author),
    }
}

/// Adds a message to the room's newest page. A full page becomes a row of its own.
pub(crate) fn push(
    row: &mut RoomRow,
    pending: &mut Overlay,
    message: Posted,
) -> Result<(), ProjectionError> {
    let page = message.sseq / PAGE_POSITIONS;
    if let Some(first) = row.tail.first()
        && first.sseq / PAGE_POSITIONS != page
    {
        let key = keys::posted_page(row.id, first.sseq / PAGE_POSITIONS);
        let posted = std::mem::take(&mut row.tail);
        pending.put_row(key, &PostedPage { posted })?;
    }
    row.last_message_at = row.last_message_at.max(Some(message.at));
    row.tail.push(message);
    Ok(())
}

/// What remains in a room after an erasure.
#[derive(Default)]
pub(crate) struct Remaining {
    pub(crate) last_message_at: Option<Timestamp>,
    pub(crate) authors: HashSet<[u8; 16]>,
    pub(crate) erased: HashSet<[u8; 16]>,
}

impl Remaining {
    fn visit(&mut self, posted: &mut [Posted], first: u64, last: u64) -> bool {
        let mut changed = false;
        for message in posted {
            if (first..=last).contains(&message.sseq) && message.author != NOBODY {
                self.erased.insert(message.author);
                message.author = NOBODY;
                message.at = message.recorded_at;
                changed = true;
            }
            if message.author != NOBODY {
                self.authors.insert(message.author);
            }
            self.last_message_at = self.last_message_at.max(Some(message.at));
        }
        changed
    }
}

/// Erases the authors of the messages at positions `first..=last`, and says what remains.
pub(crate) fn erase(
    row: &mut RoomRow,
    pending: &mut Overlay,
    rows: &dyn Rows,
    first: u64,
    last: u64,
) -> Result<Remaining, ProjectionError> {
    let mut remaining = Remaining::default();
    let (from, to) = keys::posted_pages(row.id);
    for (key, value) in pending.scan(rows, &from, &to)? {
        let mut page: PostedPage = row::decode(&value)?;
        if remaining.visit(&mut page.posted, first, last) {
            pending.put_row(key, &page)?;
        }
    }
    remaining.visit(&mut row.tail, first, last);
    Ok(remaining)
}

/// Deletes all pages of a room.
pub(crate) fn delete(
    room: RoomId,
    pending: &mut Overlay,
    rows: &dyn Rows,
) -> Result<(), ProjectionError> {
    let (from, to) = keys::posted_pages(room);
    for (key, _) in pending.scan(rows, &from, &to)? {
        pending.delete(key);
    }
    Ok(())
}
