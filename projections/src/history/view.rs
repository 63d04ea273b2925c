//! Reading messages.

use minutebook_domain::ids::RoomId;

use super::{MessageRow, end, key, n_of_key};
use crate::{
    ProjectionError, Rows,
    row::{self, Decoder},
    rows::RowPair,
};

/// A message and its position in the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// 1, 2, 3 …
    pub n: u64,
    /// The rest of it.
    pub row: MessageRow,
}

/// A page of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagePage {
    /// In order of `n`.
    pub messages: Vec<Message>,
    /// Whether the room has more of them beyond this page.
    pub has_more: bool,
}

/// The messages over the rows of one generation.
#[derive(Clone, Copy)]
pub struct HistoryView<'a> {
    rows: &'a dyn Rows,
}

impl<'a> HistoryView<'a> {
    /// A view of these rows.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows }
    }

    /// Message `n` of a room.
    pub fn message(&self, room: RoomId, n: u64) -> Result<Option<Message>, ProjectionError> {
        let value = self.rows.get(&key(room, n))?;
        value
            .map(|value| {
                Ok(Message {
                    n,
                    row: row::decode(&value)?,
                })
            })
            .transpose()
    }

    /// The first messages with a position greater than `after`.
    pub fn after(
        &self,
        room: RoomId,
        after: u64,
        limit: usize,
    ) -> Result<MessagePage, ProjectionError> {
        let Some(from) = after.checked_add(1) else {
            return Ok(MessagePage::default());
        };
        let wanted = limit.saturating_add(1);
        let rows = self
            .rows
            .range(&key(room, from), &end(room), false, wanted)?;
        page(&rows, limit)
    }

    /// The last messages with a position less than `before` (none: the newest), oldest first.
    pub fn before(
        &self,
        room: RoomId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<MessagePage, ProjectionError> {
        let to = before.map_or_else(|| end(room), |n| key(room, n));
        let wanted = limit.saturating_add(1);
        let mut page = page(&self.rows.range(&key(room, 0), &to, true, wanted)?, limit)?;
        page.messages.reverse();
        Ok(page)
    }
}

fn page(rows: &[RowPair], limit: usize) -> Result<MessagePage, ProjectionError> {
    let has_more = rows.len() > limit;
    let mut decoder = Decoder::default();
    let messages = rows
        .iter()
        .take(limit)
        .map(|(key, value)| {
            let n = n_of_key(key).ok_or_else(|| ProjectionError::Damaged {
                row: "message",
                reason: "its key has the wrong length".to_owned(),
            })?;
            Ok(Message {
                n,
                row: decoder.decode(value)?,
            })
        })
        .collect::<Result<_, ProjectionError>>()?;
    Ok(MessagePage { messages, has_more })
}
