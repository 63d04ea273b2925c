//! The state and the views at a moment of the past: the log folded up to a seq, in memory.
//!
//! Bodies erased since are erased at every moment: a replay shows what the log can still tell.

use minutebook_domain::{
    State, evolve,
    ids::{RoomId, StreamId},
    text::AgentName,
    time::Timestamp,
};
use minutebook_projections::{
    HistoryView, Kind, MemoryRows, Projection, ProjectionError, RoomsView, ThreadsView,
    history::Message,
    rooms::{AgentRow, ErasedRoomRow, RoomRow},
    threads,
};
use serde_json::{Map, Value, json};

use super::OfflineError;
use crate::generations::{GenerationError, OwnedFact, each_fact};
use minutebook_eventlog::store::LogReader;

mod diff;
pub(super) mod ledger;

pub use diff::{Difference, differences};

/// Rows read at a time.
const PAGE: usize = 1024;

/// A replay on its way.
pub struct Replay {
    room: Option<RoomId>,
    state: State,
    at: Timestamp,
    rooms: Fold,
    /// Of one room; of all they would not fit in memory.
    detail: Option<Detail>,
}

/// The messages and the ledger of a room.
struct Detail {
    history: Fold,
    threads: Fold,
}

/// A projection folded in memory.
pub(super) struct Fold {
    projection: Box<dyn Projection>,
    pub(super) rows: MemoryRows,
    /// Rows that nobody here reads.
    is_useless: fn(&[u8]) -> bool,
}

impl Fold {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            projection: kind.fold(),
            rows: MemoryRows::default(),
            is_useless: |_| false,
        }
    }

    /// The threads without their entries, which would take by far the most memory.
    pub(super) fn threads() -> Self {
        Self {
            is_useless: threads::is_only_read,
            ..Self::new(Kind::Threads)
        }
    }

    pub(super) fn apply(&mut self, fact: &OwnedFact) -> Result<(), GenerationError> {
        let applied = self.projection.apply(&self.rows, &fact.fact());
        applied.map_err(wrong(self.projection.kind()))
    }

    pub(super) fn flush(&mut self) -> Result<(), GenerationError> {
        let mut ops = Vec::new();
        let flushed = self.projection.flush(&mut ops);
        flushed.map_err(wrong(self.projection.kind()))?;
        let is_useless = self.is_useless;
        self.rows
            .write(ops.into_iter().filter(|op| !is_useless(&op.key)));
        Ok(())
    }
}

/// An error of a projection's rows.
pub(super) fn wrong(kind: Kind) -> impl Fn(ProjectionError) -> GenerationError {
    move |source| GenerationError::Rows { kind, source }
}

impl Replay {
    /// A replay at the beginning. With a room, its messages and threads are kept too.
    pub fn new(room: Option<RoomId>) -> Self {
        Self {
            room,
            state: State::default(),
            at: Timestamp::from_micros(0),
            rooms: Fold::new(Kind::Rooms),
            detail: room.map(|_| Detail {
                history: Fold::new(Kind::History),
                threads: Fold::threads(),
            }),
        }
    }

    /// Goes on to this seq, which is not before the one it stands at.
    pub fn advance(
        &mut self,
        reader: &dyn LogReader,
        until: u64,
        mut watch: impl FnMut(u64),
    ) -> Result<(), OfflineError> {
        let head = reader.head()?.seq;
        if until > head {
            return Err(OfflineError::NoRecord { seq: until, head });
        }
        each_fact(reader, self.state.seq() + 1, until, |page| {
            self.page(page)?;
            watch(self.state.seq());
            Ok(())
        })?;
        Ok(())
    }

    fn page(&mut self, page: &[OwnedFact]) -> Result<(), GenerationError> {
        for fact in page {
            evolve(&mut self.state, &fact.fact());
            self.rooms.apply(fact)?;
            if let (Some(detail), Some(room)) = (&mut self.detail, self.room)
                && fact.stream == StreamId::Room(room)
            {
                detail.history.apply(fact)?;
                detail.threads.apply(fact)?;
            }
            self.at = fact.at;
        }
        self.rooms.flush()?;
        if let Some(detail) = &mut self.detail {
            detail.history.flush()?;
            detail.threads.flush()?;
        }
        Ok(())
    }

    /// The seq it stands at.
    pub fn seq(&self) -> u64 {
        self.state.seq()
    }

    /// The moment as JSON: objects keyed by id, so that two moments can be compared.
    pub fn moment(&self) -> Result<Value, OfflineError> {
        let mut moment = Map::new();
        moment.insert("seq".to_owned(), json!(self.state.seq()));
        moment.insert(
            "at".to_owned(),
            json!((self.seq() > 0).then(|| self.at.to_string())),
        );
        moment.insert(
            "state_digest".to_owned(),
            json!(hex::encode(self.state.digest())),
        );
        moment.insert("keys".to_owned(), keys_value(&self.state));
        if let Some(room) = self.room {
            moment.insert("room".to_owned(), self.one_room(room)?);
        } else {
            moment.insert(
                "rooms".to_owned(),
                self.all_rooms().map_err(wrong(Kind::Rooms))?,
            );
            let skills = self.state.skills().iter();
            let skills = skills.map(|(id, gone)| (id.to_string(), skill_value(gone)));
            moment.insert("skills".to_owned(), Value::Object(skills.collect()));
        }
        Ok(Value::Object(moment))
    }

    fn all_rooms(&self) -> Result<Value, ProjectionError> {
        let view = RoomsView::new(&self.rooms.rows);
        let mut rooms = Map::new();
        let mut after = None;
        loop {
            let page = view.all(after, PAGE)?;
            after = page.last().map(|row| row.id);
            let is_last = page.len() < PAGE;
            rooms.extend(page.iter().map(|row| {
                let room = self.state.room(&row.id);
                let threads = room.map_or(0, |room| room.claims().threads().len());
                (row.id.to_string(), room_value(row, threads as u64))
            }));
            if is_last {
                break;
            }
        }
        for (id, _) in self.state.rooms() {
            if let Some(grave) = view.erased(id)? {
                rooms.insert(id.to_string(), grave_value(&grave));
            }
        }
        Ok(Value::Object(rooms))
    }

    fn one_room(&self, room: RoomId) -> Result<Value, OfflineError> {
        let view = RoomsView::new(&self.rooms.rows);
        if let Some(grave) = view.erased(room).map_err(wrong(Kind::Rooms))? {
            let erased_at = grave.erased_at.to_string();
            return Ok(json!({"is_erased": true, "erased_at": erased_at}));
        }
        let Some(row) = view.room(room).map_err(wrong(Kind::Rooms))? else {
            return Ok(Value::Null);
        };
        let Some(detail) = &self.detail else {
            return Ok(Value::Null);
        };
        let threads = ThreadsView::new(&detail.threads.rows);
        let ledger = threads.ledger(room).map_err(wrong(Kind::Threads))?;
        let mut value = room_value(&row, ledger.threads.into());
        let agents = view
            .agents(room, None, usize::MAX)
            .map_err(wrong(Kind::Rooms))?;
        let messages = messages(detail, room).map_err(wrong(Kind::History))?;
        if let Value::Object(fields) = &mut value {
            let agents = agents
                .iter()
                .map(|row| (row.agent.clone(), agent_value(row)));
            fields.insert("agents_by_name".to_owned(), Value::Object(agents.collect()));
            let messages = messages.iter().map(|m| (m.n.to_string(), message_value(m)));
            fields.insert(
                "messages_by_n".to_owned(),
                Value::Object(messages.collect()),
            );
            fields.extend(ledger::all(&threads, room).map_err(wrong(Kind::Threads))?);
        }
        Ok(value)
    }
}

fn messages(detail: &Detail, room: RoomId) -> Result<Vec<Message>, ProjectionError> {
    Ok(HistoryView::new(&detail.history.rows)
        .after(room, 0, usize::MAX - 1)?
        .messages)
}

/// Key epochs and API keys.
pub(super) fn keys_value(state: &State) -> Value {
    let keys = state.keys();
    let epochs: Map<String, Value> = keys
        .epochs()
        .iter()
        .map(|epoch| {
            let value = json!({"since": epoch.since, "vkey": epoch.vkey});
            (epoch.epoch.to_string(), value)
        })
        .collect();
    let api: Map<String, Value> = keys
        .api_keys()
        .map(|key| {
            let value = json!({
                "agent": key.agent.as_ref().map(AgentName::as_str),
                "label": key.label,
                "is_revoked": key.revoked,
                "scopes": key.scopes,
            });
            (key.id.as_str().to_owned(), value)
        })
        .collect();
    json!({"epochs": epochs, "api": api})
}

/// A skill, published and perhaps withdrawn.
pub(super) fn skill_value(is_withdrawn: bool) -> Value {
    json!({"is_withdrawn": is_withdrawn})
}

/// What is left of an erased room.
pub(super) fn grave_value(grave: &ErasedRoomRow) -> Value {
    json!({
        "created_at": grave.created_at.to_string(),
        "erased_at": grave.erased_at.to_string(),
        "is_erased": true,
        "messages": grave.message_count,
    })
}

pub(super) fn room_value(row: &RoomRow, threads: u64) -> Value {
    json!({
        "agents": row.agent_count,
        "created_at": row.created_at.to_string(),
        "description": row.description,
        "dialect": row.dialect,
        "is_blank": row.is_blank,
        "is_closed": row.is_closed,
        "is_public": row.is_public,
        "last_message_at": row.last_message_at.map(|at| at.to_string()),
        "last_seq": row.last_seq,
        "members": row.member_count,
        "message_limit": row.message_limit,
        "messages": row.message_count,
        "name": row.name,
        "protocol_mode": row.mode,
        "threads": threads,
    })
}

pub(super) fn agent_value(row: &AgentRow) -> Value {
    json!({
        "has_posted": row.has_posted,
        "member_since": row.member_since.map(|at| at.to_string()),
    })
}

pub(super) fn message_value(message: &Message) -> Value {
    let row = &message.row;
    if row.is_erased {
        return json!({"is_erased": true, "seq": row.seq, "at": row.at.to_string()});
    }
    json!({
        "agent": row.agent,
        "at": row.at.to_string(),
        "id": row.id,
        "kind": row.kind,
        "seq": row.seq,
        "is_signed": row.signature.is_some(),
        "text": row.text,
    })
}
