//! Given / when / then: the one helper of all rule tables, and short words for their rows.

mod claims;
mod keys_words;
mod rooms;
mod skills_words;

use ed25519_dalek::{Signer as _, SigningKey};
use uuid::Uuid;

use crate::{
    Command, Context, Event, EventKind, Fact, Rejection, State, What,
    actor::Actor,
    decide, evolve,
    ids::{ClaimId, KeyId, RoomId, StreamId},
    keys::{self, *},
    lawful,
    room::{self, *},
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, Description, MessageText, Reason, RoomName},
    time::Timestamp,
};

pub(crate) use claims::*;
pub(crate) use keys_words::*;
pub(crate) use rooms::*;
pub(crate) use skills_words::*;

/// The moment of every step that names no other.
pub(crate) const NOON: Timestamp = Timestamp::from_micros(1_796_040_000_000_000);
/// NOON as an agent signs it.
pub(crate) const NOON_ISO: &str = "2026-11-30T12:00:00Z";
/// The log's origin.
pub(crate) const ORIGIN: &str = "example.org/minutes";
/// The id of the next thing created.
pub(crate) const FRESH: Uuid = Uuid::from_u128(0xf0);

/// One row of a table.
pub(crate) struct Row {
    pub(crate) says: &'static str,
    pub(crate) given: Vec<Step>,
    pub(crate) when: Step,
    pub(crate) then: Then,
}

/// What must come of it.
#[derive(Debug, PartialEq)]
pub(crate) enum Then {
    /// A command makes just this event.
    Makes(Event),
    /// A command is accepted, or a recorded event lawful.
    Accepted,
    /// Neither.
    Refused(Rejection),
}

/// A table: what a row says, what is given, what is tried, what comes of it. The rows are a macro
/// so that each reads as one sentence.
macro_rules! rows {
    ($($says:literal: $given:expr => $when:expr => $then:expr;)*) => {
        vec![$($crate::testing::Row {
            says: $says,
            given: $given.into(),
            when: $when,
            then: $then,
        }),*]
    };
}
pub(crate) use rows;

/// Its command makes just this event.
pub(crate) fn makes(event: impl Into<Event>) -> Then {
    Then::Makes(event.into())
}

/// It is fine.
pub(crate) fn accepted() -> Then {
    Then::Accepted
}

/// It is refused, for this reason.
pub(crate) fn refused(why: Rejection) -> Then {
    Then::Refused(why)
}

/// Something done, by somebody, at some time, somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    actor: Actor,
    at: Timestamp,
    does: Does,
    stream: Option<StreamId>,
    fresh: Uuid,
    /// The arbiter's key.
    sealed_by: u8,
}

#[derive(Clone, Debug)]
enum Does {
    Ask(Command),
    Record(Event),
    Erased(RoomId, EventKind),
}

/// Runs a table.
pub(crate) fn check_all(rows: Vec<Row>) {
    for row in rows {
        println!("{}", row.says);
        check(&row.given, &row.when, &row.then);
    }
}

/// Given these steps, when this one is tried, then this must come of it. A log is opened first,
/// unless the first step does so.
pub(crate) fn check(given: &[Step], when: &Step, then: &Then) {
    let mut state = State::default();
    if !given.iter().chain([when]).any(Step::opens_log) {
        take(&mut state, &arbiter(open_log()));
    }
    for step in given {
        take(&mut state, step);
    }
    let before = state.clone();
    match (attempt(&state, when), then) {
        (Ok(made), Then::Makes(event)) => assert_eq!(made.as_ref(), Some(event)),
        (Ok(_), Then::Accepted) => {}
        (Err(rejection), Then::Refused(expected)) => assert_eq!(&rejection, expected),
        (came, _) => panic!("expected {then:?}, came {came:?}"),
    }
    assert_eq!(state, before, "a refusal changes nothing");
}

/// Does a step that must succeed.
fn take(state: &mut State, step: &Step) {
    let event = match attempt(state, step) {
        Ok(event) => event,
        Err(rejection) => panic!("given {step:?}: {rejection:?}"),
    };
    let what = match (&event, &step.does) {
        (Some(event), _) => What::Present(event),
        (None, Does::Erased(_, kind)) => What::Erased(*kind),
        (None, Does::Ask(_) | Does::Record(_)) => panic!("no event: {step:?}"),
    };
    evolve(state, &step.fact(state, what));
}

/// Tries a step: the event it makes (none if erased), or the refusal.
fn attempt(state: &State, step: &Step) -> Result<Option<Event>, Rejection> {
    let event = match &step.does {
        Does::Ask(command) => {
            let context = Context {
                actor: step.actor.clone(),
                at: step.at,
                fresh: step.fresh,
                arbiter: &seed(step.sealed_by),
            };
            let mut events = decide(state, command.clone().check()?, &context)?;
            assert_eq!(events.len(), 1);
            events.pop().map(|(stream, event)| {
                assert_eq!(stream, command.stream());
                event
            })
        }
        Does::Record(event) => Some(event.clone()),
        Does::Erased(..) => None,
    };
    let what = match (&event, &step.does) {
        (None, Does::Erased(_, kind)) => What::Erased(*kind),
        (Some(event), _) => What::Present(event),
        (None, _) => panic!("no event: {step:?}"),
    };
    let fact = step.fact(state, what);
    lawful(state, &fact)?;
    if let StreamId::Room(id) = fact.stream {
        assert_eq!(
            room::lawful(state.room(&id), &fact),
            Ok(()),
            "a room can be checked alone"
        );
    }
    Ok(event)
}

impl Step {
    fn fact<'a>(&'a self, state: &State, what: What<'a>) -> Fact<'a> {
        let stream = self.stream.unwrap_or(match (&self.does, what) {
            (Does::Ask(command), _) => command.stream(),
            (Does::Erased(room, _), _) => StreamId::Room(*room),
            (Does::Record(event), _) => home(event),
        });
        Fact {
            seq: state.seq() + 1,
            stream,
            sseq: state.sseq(stream) + 1,
            actor: &self.actor,
            at: self.at,
            what,
        }
    }

    fn opens_log(&self) -> bool {
        matches!(
            self.does,
            Does::Ask(Command::Keys(keys::Command::OpenLog(_)))
        ) || matches!(
            self.does,
            Does::Record(Event::Keys(keys::Event::LogOpened(_)))
        )
    }

    /// The same, so many seconds after noon.
    pub(crate) fn after(mut self, seconds: i64) -> Self {
        self.at = NOON.plus_seconds(seconds);
        self
    }

    /// The same, by somebody else.
    pub(crate) fn by(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    /// The same, for which the thing created gets this number.
    pub(crate) fn fresh(mut self, number: u128) -> Self {
        self.fresh = Uuid::from_u128(number);
        self
    }

    /// The same, with another key of the arbiter's.
    pub(crate) fn sealed_by(mut self, number: u8) -> Self {
        self.sealed_by = number;
        self
    }

    /// The same, recorded in another stream than it belongs in.
    pub(crate) fn in_stream(mut self, stream: StreamId) -> Self {
        self.stream = Some(stream);
        self
    }

    /// The same asked of another room.
    pub(crate) fn of_room(mut self, number: u128) -> Self {
        if let Does::Ask(Command::Room(id, _)) = &mut self.does {
            *id = room_id(number);
        }
        self
    }
}

fn home(event: &Event) -> StreamId {
    match event {
        Event::Room(_) => StreamId::Room(room_id(1)),
        Event::Keys(keys::Event::LogOpened(_) | keys::Event::KeyRotated(_)) => StreamId::Log,
        Event::Keys(_) => StreamId::Keys,
        Event::Skills(_) => StreamId::Skills,
    }
}

fn step(actor: Actor, does: Does) -> Step {
    Step {
        actor,
        at: NOON,
        does,
        stream: None,
        fresh: FRESH,
        sealed_by: 1,
    }
}

// Who.

pub(crate) fn owner(command: Command) -> Step {
    step(Actor::Owner, Does::Ask(command))
}

pub(crate) fn service(command: Command) -> Step {
    step(Actor::Service("rooms".to_owned()), Does::Ask(command))
}

pub(crate) fn arbiter(command: Command) -> Step {
    step(Actor::Arbiter, Does::Ask(command))
}

pub(crate) fn agent(name: &str, command: Command) -> Step {
    step(Actor::Agent(self::name(name)), Does::Ask(command))
}

pub(crate) fn key(number: u64, command: Command) -> Step {
    step(Actor::Key(key_id(number)), Does::Ask(command))
}

/// A record by the owner, lawful or not.
pub(crate) fn recorded(event: impl Into<Event>) -> Step {
    step(Actor::Owner, Does::Record(event.into()))
}

/// A record by this actor, of which only the kind is left.
pub(crate) fn erased(actor: Actor, kind: EventKind) -> Step {
    step(actor, Does::Erased(room_id(1), kind))
}
