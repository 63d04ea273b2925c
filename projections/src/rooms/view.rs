//! Reading the directory.

use minutebook_domain::ids::RoomId;

use super::{AgentRow, ErasedRoomRow, RoomRow, keys};
use crate::{
    ProjectionError, Rows,
    row::{self, Decoder},
};

/// Index rows read at a time while an offset is skipped.
const SKIP_ROWS: usize = 1024;

/// Orders of the public listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Rooms with messages first, by the time of the last message, newest first; then rooms
    /// without messages by creation, newest first.
    Active,
    /// By creation, newest first.
    New,
}

/// A page of the public listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicPage {
    /// The rooms.
    pub rooms: Vec<RoomRow>,
    /// How many public rooms there are.
    pub total: u64,
}

/// The directory over the rows of one generation.
#[derive(Clone, Copy)]
pub struct RoomsView<'a> {
    rows: &'a dyn Rows,
}

impl<'a> RoomsView<'a> {
    /// A view of these rows.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows }
    }

    /// A room; none if it was never opened or is erased.
    pub fn room(&self, id: RoomId) -> Result<Option<RoomRow>, ProjectionError> {
        let value = self.rows.get(&keys::room(id))?;
        value.map(|value| row::decode(&value)).transpose()
    }

    /// What is left of an erased room.
    pub fn erased(&self, id: RoomId) -> Result<Option<ErasedRoomRow>, ProjectionError> {
        let value = self.rows.get(&keys::erased(id))?;
        value.map(|value| row::decode(&value)).transpose()
    }

    /// All rooms in the order of their UUIDs, after `after`, private ones too: for operators and
    /// auditors.
    pub fn all(
        &self,
        after: Option<RoomId>,
        limit: usize,
    ) -> Result<Vec<RoomRow>, ProjectionError> {
        let (mut from, to) = keys::rooms();
        if let Some(after) = after {
            from = keys::room(after);
            from.push(0);
        }
        let mut decoder = Decoder::default();
        let page = self.rows.range(&from, &to, false, limit)?;
        page.iter()
            .map(|(_, value)| decoder.decode(value))
            .collect()
    }

    /// The room with this unique name.
    pub fn by_name(&self, name: &str) -> Result<Option<RoomRow>, ProjectionError> {
        match self.rows.get(&keys::name(name))? {
            Some(value) => self.room(room_of(&value)?),
            None => Ok(None),
        }
    }

    /// How many public rooms there are.
    pub fn public_total(&self) -> Result<u64, ProjectionError> {
        public_total(self.rows)
    }

    /// A page of the public rooms.
    pub fn public(
        &self,
        sort: Sort,
        limit: usize,
        offset: u64,
    ) -> Result<PublicPage, ProjectionError> {
        let total = self.public_total()?;
        let mut page = PublicPage {
            rooms: Vec::new(),
            total,
        };
        if offset >= total {
            return Ok(page);
        }
        let tag = match sort {
            Sort::Active => keys::BY_ACTIVITY,
            Sort::New => keys::BY_CREATION,
        };
        let mut decoder = Decoder::default();
        for value in self.slice(tag, limit, offset, total)? {
            if let Some(row) = self.rows.get(&keys::room(room_of(&value)?))? {
                page.rooms.push(decoder.decode(&row)?);
            }
        }
        Ok(page)
    }

    /// The values of an index from `offset` on, reached from the nearer end.
    fn slice(
        &self,
        tag: u8,
        limit: usize,
        offset: u64,
        total: u64,
    ) -> Result<Vec<Vec<u8>>, ProjectionError> {
        let count = u64::try_from(limit).unwrap_or(u64::MAX).min(total - offset);
        let behind = total - offset - count;
        let reverse = behind < offset;
        let (mut skip, mut take) = (if reverse { behind } else { offset }, count);
        let (mut from, mut to) = (vec![tag], vec![tag + 1]);
        let mut values = Vec::new();
        while take > 0 {
            let wanted = usize::try_from(skip + take)
                .unwrap_or(usize::MAX)
                .min(SKIP_ROWS);
            let page = self.rows.range(&from, &to, reverse, wanted)?;
            let Some((last, _)) = page.last() else { break };
            if reverse {
                to.clone_from(last);
            } else {
                from.clone_from(last);
                from.push(0);
            }
            for (_, value) in page {
                if skip > 0 {
                    skip -= 1;
                } else {
                    values.push(value);
                    take -= 1;
                }
            }
        }
        if reverse {
            values.reverse();
        }
        Ok(values)
    }

    /// Agents of a room in the order of their names, after `after`: members and those who posted.
    pub fn agents(
        &self,
        id: RoomId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<AgentRow>, ProjectionError> {
        let (mut from, to) = keys::agents(id);
        if let Some(after) = after {
            from = keys::agent(id, after);
            from.push(0);
        }
        let mut decoder = Decoder::default();
        let page = self.rows.range(&from, &to, false, limit)?;
        page.iter()
            .map(|(_, value)| decoder.decode(value))
            .collect()
    }

    /// An agent of a room.
    pub fn agent(&self, id: RoomId, name: &str) -> Result<Option<AgentRow>, ProjectionError> {
        let value = self.rows.get(&keys::agent(id, name))?;
        value.map(|value| row::decode(&value)).transpose()
    }
}

/// How many public rooms the rows below say there are.
pub(crate) fn public_total(rows: &dyn Rows) -> Result<u64, ProjectionError> {
    let Some(value) = rows.get(keys::PUBLIC_TOTAL)? else {
        return Ok(0);
    };
    let bytes = value
        .as_slice()
        .try_into()
        .map_err(|_| damaged("it is not 8 bytes long"))?;
    Ok(u64::from_be_bytes(bytes))
}

fn room_of(value: &[u8]) -> Result<RoomId, ProjectionError> {
    keys::room_of_value(value).ok_or_else(|| damaged("it is not a room id"))
}

fn damaged(reason: &str) -> ProjectionError {
    ProjectionError::Damaged {
        row: "room index",
        reason: reason.to_owned(),
    }
}
