//! The fold of `rooms`.

use minutebook_domain::{
    Event, EventKind, Fact, What,
    ids::{RoomId, StreamId},
    room::{self, CONFIRMATIONS_NEEDED, Dialect, Opened, ProtocolMode},
    text::RoomName,
};
use rustc_hash::FxHashSet;

use super::{AgentRow, RoomRow, cache::Cache, keys, posted};
use crate::{Kind, Projection, ProjectionError, RowOp, Rows, message_time, overlay::Overlay};

/// (room, agent) pairs known to have posted, kept in memory between batches.
const CACHED_AUTHORS_MAX: usize = 65_536;

/// Folds facts into the directory.
///
/// A room is read once, changed in memory, and written once per batch. The caches never hold
/// anything the rows do not (after a flush), so dropping them changes no row.
#[derive(Default)]
pub struct Rooms {
    pub(super) cache: Cache,
    pub(super) authors: FxHashSet<(RoomId, [u8; 16])>,
    pub(super) pending: Overlay,
    /// Public rooms; read at first use.
    total: Option<u64>,
}

impl Projection for Rooms {
    fn kind(&self) -> Kind {
        Kind::Rooms
    }

    fn apply(&mut self, rows: &dyn Rows, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        let StreamId::Room(id) = fact.stream else {
            return Ok(());
        };
        match fact.what {
            What::Present(Event::Room(event)) => self.apply_present(rows, fact, id, event),
            What::Present(Event::Keys(_) | Event::Skills(_)) => Ok(()),
            What::Erased(kind) => self.apply_erased(rows, fact, id, kind),
        }
    }

    fn flush(&mut self, out: &mut Vec<RowOp>) -> Result<(), ProjectionError> {
        self.cache.flush(&mut self.pending)?;
        if self.authors.len() > CACHED_AUTHORS_MAX {
            self.authors.clear();
        }
        self.pending.drain(out);
        Ok(())
    }
}

impl Rooms {
    fn apply_present(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &room::Event,
    ) -> Result<(), ProjectionError> {
        match event {
            room::Event::Opened(opened) => self.open(rows, fact, id, Some(opened)),
            room::Event::Renamed(renamed) => {
                let name = renamed.name.as_ref().map(RoomName::as_str);
                self.rename(rows, fact, id, name)
            }
            room::Event::Joined(joined) => self.join(rows, fact, id, joined.agent.as_str()),
            room::Event::Left(left) => self.leave(rows, fact, id, left.agent.as_str()),
            room::Event::MessagePosted(message) => {
                let at = message_time(fact.at, message);
                let author = message.agent.as_str();
                let posted = posted::posted(fact.sseq, at, fact.at, Some(author));
                self.post(rows, fact, id, posted)?;
                self.author(rows, fact, id, author)
            }
            room::Event::BodiesErased(erased) => self.erase_bodies(rows, fact, id, erased),
            room::Event::Closed(_) => self.close(rows, fact, id),
            room::Event::Erased(_) => self.erase(rows, fact, id),
            room::Event::Claim(_) => self.touch(rows, fact, id),
        }
    }

    /// Bodies go for two reasons: `bodies_erased`, which takes only messages' bodies, and
    /// `room.erased`, after which nothing of the room is left but its grave.
    fn apply_erased(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        kind: EventKind,
    ) -> Result<(), ProjectionError> {
        match kind {
            EventKind::RoomOpened | EventKind::RoomOpenedV2 => self.open(rows, fact, id, None),
            EventKind::MessagePosted => self.post(
                rows,
                fact,
                id,
                posted::posted(fact.sseq, fact.at, fact.at, None),
            ),
            EventKind::RoomClosed => self.close(rows, fact, id),
            EventKind::RoomErased => self.erase(rows, fact, id),
            EventKind::RoomRenamed
            | EventKind::RoomJoined
            | EventKind::RoomLeft
            | EventKind::BodiesErased
            | EventKind::ClaimOpened
            | EventKind::ClaimRevised
            | EventKind::ContextExtracted
            | EventKind::DiscrepancyRecorded
            | EventKind::HandshakeMade => self.touch(rows, fact, id),
            EventKind::LogOpened
            | EventKind::KeyRotated
            | EventKind::ApiKeyIssued
            | EventKind::ApiKeyRevoked
            | EventKind::AgentKeyEnrolled
            | EventKind::AgentKeyRevoked
            | EventKind::SkillPublished
            | EventKind::SkillWithdrawn => Ok(()),
        }
    }

    /// Of what happened only the position is kept here.
    fn touch(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
    ) -> Result<(), ProjectionError> {
        self.cache.touch(&self.pending, rows, id, fact.seq)?;
        Ok(())
    }

    fn open(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        opened: Option<&Opened>,
    ) -> Result<(), ProjectionError> {
        let is_known = self
            .cache
            .touch(&self.pending, rows, id, fact.seq)?
            .is_some();
        if is_known || self.pending.get(rows, &keys::erased(id))?.is_some() {
            return Ok(());
        }
        let row = opened_row(fact, id, opened);
        if let Some(name) = &row.name {
            self.pending
                .put(keys::name(name), id.uuid().as_bytes().to_vec());
        }
        if row.is_public {
            self.count_public(rows, 1)?;
        }
        self.cache.open(row);
        Ok(())
    }

    pub(super) fn count_public(
        &mut self,
        rows: &dyn Rows,
        change: i64,
    ) -> Result<(), ProjectionError> {
        let total = match self.total {
            Some(total) => total,
            None => super::view::public_total(rows)?,
        };
        let total = total.saturating_add_signed(change);
        self.total = Some(total);
        // No row means none, so that a log without public rooms leaves no trace of former ones.
        if total == 0 {
            self.pending.delete(keys::PUBLIC_TOTAL.to_vec());
        } else {
            self.pending
                .put(keys::PUBLIC_TOTAL.to_vec(), total.to_be_bytes().to_vec());
        }
        Ok(())
    }

    fn rename(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        name: Option<&str>,
    ) -> Result<(), ProjectionError> {
        let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? else {
            return Ok(());
        };
        let old = std::mem::replace(&mut row.name, name.map(str::to_owned));
        if let Some(old) = old {
            self.drop_name(rows, id, &old)?;
        }
        if let Some(name) = name {
            self.pending
                .put(keys::name(name), id.uuid().as_bytes().to_vec());
        }
        Ok(())
    }

    pub(super) fn drop_name(
        &mut self,
        rows: &dyn Rows,
        id: RoomId,
        name: &str,
    ) -> Result<(), ProjectionError> {
        let key = keys::name(name);
        if self.pending.get(rows, &key)?.as_deref() == Some(id.uuid().as_bytes()) {
            self.pending.delete(key);
        }
        Ok(())
    }

    fn join(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        name: &str,
    ) -> Result<(), ProjectionError> {
        let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? else {
            return Ok(());
        };
        let key = keys::agent(id, name);
        let mut agent = self
            .pending
            .get_row(rows, &key)?
            .unwrap_or_else(|| stranger(name));
        if agent.member_since.is_none() {
            agent.member_since = Some(fact.at);
            row.member_count += 1;
            self.pending.put_row(key, &agent)?;
        }
        Ok(())
    }

    fn leave(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        name: &str,
    ) -> Result<(), ProjectionError> {
        let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? else {
            return Ok(());
        };
        let key = keys::agent(id, name);
        if let Some(mut agent) = self.pending.get_row::<AgentRow>(rows, &key)?
            && agent.member_since.take().is_some()
        {
            row.member_count = row.member_count.saturating_sub(1);
            put_agent(&mut self.pending, key, &agent)?;
        }
        Ok(())
    }

    fn post(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        message: super::Posted,
    ) -> Result<(), ProjectionError> {
        if let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? {
            row.message_count += 1;
            posted::push(row, &mut self.pending, message)?;
        }
        Ok(())
    }

    /// Notes that an agent posted; costs a look-up in memory once it is known.
    fn author(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        name: &str,
    ) -> Result<(), ProjectionError> {
        if !self.authors.insert((id, posted::author(name))) {
            return Ok(());
        }
        let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? else {
            return Ok(());
        };
        let key = keys::agent(id, name);
        let mut agent = self
            .pending
            .get_row(rows, &key)?
            .unwrap_or_else(|| stranger(name));
        if !agent.has_posted {
            agent.has_posted = true;
            row.agent_count += 1;
            self.pending.put_row(key, &agent)?;
        }
        Ok(())
    }

    fn close(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
    ) -> Result<(), ProjectionError> {
        if let Some(row) = self.cache.touch(&self.pending, rows, id, fact.seq)? {
            row.is_closed = true;
        }
        Ok(())
    }
}

fn opened_row(fact: &Fact<'_>, id: RoomId, opened: Option<&Opened>) -> RoomRow {
    RoomRow {
        id,
        name: opened
            .and_then(|o| o.name.as_ref())
            .map(|name| name.as_str().to_owned()),
        description: opened.map_or_else(String::new, |o| o.description.as_str().to_owned()),
        dialect: opened.map_or(Dialect::Rooms, |o| o.dialect),
        mode: opened.map_or(ProtocolMode::Standard, |o| o.protocol_mode),
        is_public: opened.is_some_and(|o| o.is_public),
        is_closed: false,
        is_blank: opened.is_none(),
        created_at: fact.at,
        opened_seq: fact.seq,
        last_seq: fact.seq,
        message_count: 0,
        message_limit: opened.and_then(|o| o.message_limit),
        confirmations_needed: opened
            .and_then(|o| o.confirmations_needed)
            .unwrap_or(CONFIRMATIONS_NEEDED),
        last_message_at: None,
        agent_count: 0,
        member_count: 0,
        tail: Vec::new(),
    }
}

fn stranger(name: &str) -> AgentRow {
    AgentRow {
        agent: name.to_owned(),
        member_since: None,
        has_posted: false,
    }
}

/// Keeps an agent's row only while it says something.
pub(super) fn put_agent(
    pending: &mut Overlay,
    key: Vec<u8>,
    agent: &AgentRow,
) -> Result<(), ProjectionError> {
    if agent.has_posted || agent.member_since.is_some() {
        pending.put_row(key, agent)
    } else {
        pending.delete(key);
        Ok(())
    }
}
