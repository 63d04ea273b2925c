//! The log event by event, each with what it changed in the views.
//!
//! Invariant: only what an event can touch is compared: its room's row, its agent and its message,
//! its thread, the keys, or a skill. So a step costs the same in a small log and a large one. Only
//! the context as a whole (its hash, whether it is sealed) takes all threads of the event's room,
//! of which there are 4,096 at most, and only when the event is on the ledger.

use minutebook_domain::{
    Event, State, evolve,
    ids::{RoomId, StreamId},
    keys, room, skills,
    text::AgentName,
};
use minutebook_eventlog::{format::record::Record, store::LogReader};
use minutebook_projections::{HistoryView, Kind, RoomsView, ThreadsView};
use serde_json::{Map, Value, json};

use super::{
    OfflineError,
    moment::{
        Difference, Fold, agent_value, differences, grave_value, keys_value, ledger, message_value,
        room_value, skill_value, wrong,
    },
    walk::each_record,
};
use crate::generations::{GenerationError, OwnedFact};

/// An event and what it changed.
#[derive(Debug)]
pub struct Step<'a> {
    /// The event.
    pub fact: &'a OwnedFact,
    /// Its record.
    pub record: &'a Record,
    /// What changed in the views, in the order of paths.
    pub changes: Vec<Difference>,
}

/// Hands every event of `from..=until`, of all streams or of one room, to `visit`.
pub fn steps<E: From<OfflineError>>(
    reader: &dyn LogReader,
    room: Option<RoomId>,
    (from, until): (u64, u64),
    mut visit: impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let head = reader.head().map_err(OfflineError::from)?.seq;
    if until > head {
        return Err(OfflineError::NoRecord { seq: until, head }.into());
    }
    let mut views = Views {
        state: State::default(),
        rooms: Fold::new(Kind::Rooms),
        threads: Fold::threads(),
    };
    each_record(reader, room, until, |fact, record| {
        if fact.seq < from {
            return Ok(views.fold(fact).map_err(OfflineError::from)?);
        }
        let changes = views.step(fact).map_err(OfflineError::from)?;
        visit(&Step {
            fact,
            record,
            changes,
        })
    })
}

struct Views {
    /// Folds the streams of the log, the keys and the skills only.
    state: State,
    rooms: Fold,
    threads: Fold,
}

impl Views {
    fn fold(&mut self, fact: &OwnedFact) -> Result<(), GenerationError> {
        match fact.stream {
            StreamId::Log | StreamId::Keys | StreamId::Skills => {
                evolve(&mut self.state, &fact.fact());
            }
            StreamId::Room(_) => {
                self.rooms.apply(fact)?;
                self.rooms.flush()?;
                self.threads.apply(fact)?;
                self.threads.flush()?;
            }
        }
        Ok(())
    }

    fn step(&mut self, fact: &OwnedFact) -> Result<Vec<Difference>, GenerationError> {
        let before = self.touched(fact)?;
        self.fold(fact)?;
        let mut after = self.touched(fact)?;
        if let (StreamId::Room(id), Some((n, message))) = (fact.stream, message(fact)?) {
            let path = [
                "rooms".to_owned(),
                id.to_string(),
                "messages_by_n".to_owned(),
                n,
            ];
            insert(&mut after, &path, message);
        }
        Ok(differences(&before, &after))
    }

    /// The part of the views that the event can change.
    fn touched(&self, fact: &OwnedFact) -> Result<Value, GenerationError> {
        match fact.stream {
            StreamId::Log | StreamId::Keys => Ok(self.touched_keys(fact)),
            StreamId::Skills => Ok(self.touched_skill(fact)),
            StreamId::Room(id) => {
                let agent = match &fact.event {
                    Some(Event::Room(event)) => event.agent(),
                    Some(Event::Keys(_) | Event::Skills(_)) | None => None,
                };
                let mut room = self.touched_room(id, agent)?;
                if let (Some(Value::Object(fields)), Some(event)) =
                    (&mut room, ledger::event_of(fact))
                {
                    let view = ThreadsView::new(&self.threads.rows);
                    let ledger = ledger::touched(&view, id, event);
                    fields.extend(ledger.map_err(wrong(Kind::Threads))?);
                }
                let room = room.map(|room| (id.to_string(), room));
                Ok(json!({"rooms": room.into_iter().collect::<Map<_, _>>()}))
            }
        }
    }

    fn touched_room(
        &self,
        id: RoomId,
        agent: Option<&AgentName>,
    ) -> Result<Option<Value>, GenerationError> {
        let view = RoomsView::new(&self.rooms.rows);
        if let Some(grave) = view.erased(id).map_err(wrong(Kind::Rooms))? {
            return Ok(Some(grave_value(&grave)));
        }
        let Some(row) = view.room(id).map_err(wrong(Kind::Rooms))? else {
            return Ok(None);
        };
        let threads = ThreadsView::new(&self.threads.rows).ledger(id);
        let threads = threads.map_err(wrong(Kind::Threads))?.threads;
        let mut value = room_value(&row, threads.into());
        // They change with every event, and say no more than that there was one.
        if let Value::Object(fields) = &mut value {
            fields.remove("last_seq");
            fields.insert("agents_by_name".to_owned(), json!({}));
            fields.insert("messages_by_n".to_owned(), json!({}));
        }
        if let Some(agent) = agent
            && let Some(row) = view.agent(id, agent.as_str()).map_err(wrong(Kind::Rooms))?
        {
            let path = ["agents_by_name".to_owned(), row.agent.clone()];
            insert(&mut value, &path, agent_value(&row));
        }
        Ok(Some(value))
    }

    fn touched_skill(&self, fact: &OwnedFact) -> Value {
        let id = match &fact.event {
            Some(Event::Skills(skills::Event::Published(event))) => event.id,
            Some(Event::Skills(skills::Event::Withdrawn(event))) => event.id,
            Some(Event::Keys(_) | Event::Room(_)) | None => return json!({}),
        };
        let withdrawn = self.state.skills().is_withdrawn(&id);
        let skill = withdrawn.map(|withdrawn| (id.to_string(), skill_value(withdrawn)));
        json!({"skills": skill.into_iter().collect::<Map<_, _>>()})
    }

    fn touched_keys(&self, fact: &OwnedFact) -> Value {
        let mut value = json!({"keys": keys_value(&self.state)});
        insert(
            &mut value,
            &["keys", "agents"].map(str::to_owned),
            json!({}),
        );
        let agent = match &fact.event {
            Some(Event::Keys(keys::Event::AgentKeyEnrolled(one))) => &one.agent,
            Some(Event::Keys(keys::Event::AgentKeyRevoked(one))) => &one.agent,
            Some(
                Event::Keys(
                    keys::Event::LogOpened(_)
                    | keys::Event::KeyRotated(_)
                    | keys::Event::ApiKeyIssued(_)
                    | keys::Event::ApiKeyRevoked(_),
                )
                | Event::Room(_)
                | Event::Skills(_),
            )
            | None => return value,
        };
        for pubkey in self.state.keys().agent_keys(agent) {
            let path = ["keys", "agents", agent.as_str(), pubkey].map(str::to_owned);
            insert(&mut value, &path, json!({"is_enrolled": true}));
        }
        value
    }
}

/// The message an event posted, as the history shows it.
fn message(fact: &OwnedFact) -> Result<Option<(String, Value)>, GenerationError> {
    let (StreamId::Room(id), Some(Event::Room(room::Event::MessagePosted(posted)))) =
        (fact.stream, &fact.event)
    else {
        return Ok(None);
    };
    let mut history = Fold::new(Kind::History);
    history.apply(fact)?;
    history.flush()?;
    let message = HistoryView::new(&history.rows)
        .message(id, posted.n)
        .map_err(wrong(Kind::History))?;
    Ok(message.map(|message| (posted.n.to_string(), message_value(&message))))
}

/// Puts a value at a path, making the objects on the way.
fn insert(value: &mut Value, path: &[String], leaf: Value) {
    let mut at = value;
    for key in path {
        let Value::Object(fields) = at else { return };
        at = fields
            .entry(key.clone())
            .or_insert_with(|| Value::Object(Map::new()));
    }
    *at = leaf;
}
