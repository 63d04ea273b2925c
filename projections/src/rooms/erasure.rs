//! Erasure in the directory: what the remaining log would say, and no more.

use minutebook_domain::{Fact, ids::RoomId, room::BodiesErased};

use super::{
    AgentRow, ErasedRoomRow, RoomRow,
    cache::Cached,
    fold::{Rooms, put_agent},
    keys,
    posted::{self, Remaining},
};
use crate::{ProjectionError, Rows, row};

impl Rooms {
    pub(super) fn erase_bodies(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        range: &BodiesErased,
    ) -> Result<(), ProjectionError> {
        let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? else {
            return Ok(());
        };
        let remaining = posted::erase(row, &mut self.pending, rows, range.first, range.last)?;
        row.last_message_at = remaining.last_message_at;
        row.agent_count = remaining.authors.len() as u64;
        self.forget_authors(rows, id, &remaining)
    }

    /// Agents of whom no message is left did not post, as far as the log can still tell.
    fn forget_authors(
        &mut self,
        rows: &dyn Rows,
        id: RoomId,
        remaining: &Remaining,
    ) -> Result<(), ProjectionError> {
        let (from, to) = keys::agents(id);
        for (key, value) in self.pending.scan(rows, &from, &to)? {
            let mut agent: AgentRow = row::decode(&value)?;
            let author = posted::author(&agent.agent);
            if remaining.erased.contains(&author) && !remaining.authors.contains(&author) {
                self.authors.remove(&(id, author));
                agent.has_posted = false;
                put_agent(&mut self.pending, key, &agent)?;
            }
        }
        Ok(())
    }

    pub(super) fn erase(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
    ) -> Result<(), ProjectionError> {
        if self
            .cache
            .touch(&self.pending, rows, id, fact.seq)?
            .is_none()
        {
            return Ok(());
        }
        let Some(Cached { row, listed, .. }) = self.cache.rooms.remove(&id) else {
            return Ok(());
        };
        if let Some(name) = &row.name {
            self.drop_name(rows, id, name)?;
        }
        if row.is_public {
            self.count_public(rows, -1)?;
            self.pending.delete(keys::by_creation(&row));
        }
        if let Some(listed) = listed {
            self.pending.delete(listed);
        }
        posted::delete(id, &mut self.pending, rows)?;
        let (from, to) = keys::agents(id);
        for (key, _) in self.pending.scan(rows, &from, &to)? {
            self.pending.delete(key);
        }
        self.authors.retain(|(room, _)| *room != id);
        self.pending.delete(keys::room(id));
        self.pending.put_row(keys::erased(id), &grave(fact, &row))
    }
}

fn grave(fact: &Fact<'_>, row: &RoomRow) -> ErasedRoomRow {
    ErasedRoomRow {
        created_at: row.created_at,
        erased_at: fact.at,
        erased_seq: fact.seq,
        message_count: row.message_count,
    }
}
