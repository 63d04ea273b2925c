//! Given / when / then: the one helper of all rule tables, and short words for their rows.

use ed25519_dalek::{Signer as _, SigningKey};
use uuid::Uuid;

use crate::{
    Command, Context, Event, EventKind, Fact, Rejection, State, What,
    actor::Actor,
    decide, evolve,
    ids::{KeyId, RoomId, StreamId},
    keys::{self, *},
    lawful,
    room::{self, *},
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, Description, MessageText, Reason, RoomName},
    time::Timestamp,
};

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
                fresh: FRESH,
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
    }
}

fn step(actor: Actor, does: Does) -> Step {
    Step {
        actor,
        at: NOON,
        does,
        stream: None,
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

// Rooms.

pub(crate) fn room_id(number: u128) -> RoomId {
    RoomId::new(Uuid::from_u128(
        0xa000_0000_0000_4000_8000_0000_0000_0000 + number,
    ))
}

pub(crate) fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

pub(crate) fn room_name(text: &str) -> RoomName {
    RoomName::parse(text).unwrap()
}

pub(crate) fn because() -> Reason {
    Reason::parse("because").unwrap()
}

pub(crate) fn in_room(command: room::Command) -> Command {
    Command::Room(room_id(1), command)
}

pub(crate) fn opened() -> Opened {
    Opened {
        description: Description::parse("Delivery to site 2").unwrap(),
        dialect: Dialect::Rooms,
        is_public: true,
        message_limit: Some(3),
        name: None,
        protocol_mode: ProtocolMode::Standard,
    }
}

pub(crate) fn open() -> Command {
    in_room(room::Command::Open(opened()))
}

pub(crate) fn open_named(text: &str) -> Command {
    let name = Some(room_name(text));
    in_room(room::Command::Open(Opened { name, ..opened() }))
}

pub(crate) fn open_unlimited() -> Command {
    in_room(room::Command::Open(Opened {
        message_limit: None,
        ..opened()
    }))
}

pub(crate) fn rename(text: Option<&str>) -> Command {
    in_room(room::Command::Rename(Renamed {
        name: text.map(room_name),
    }))
}

pub(crate) fn join(agent: &str) -> Command {
    in_room(room::Command::Join(Joined { agent: name(agent) }))
}

pub(crate) fn leave(agent: &str) -> Command {
    in_room(room::Command::Leave(Left {
        agent: name(agent),
        how: Leaving::Asked,
    }))
}

pub(crate) fn post(agent: &str) -> PostMessage {
    PostMessage {
        agent: name(agent),
        kind: MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse("We agreed.").unwrap(),
    }
}

pub(crate) fn say(agent: &str) -> Command {
    in_room(room::Command::PostMessage(post(agent)))
}

pub(crate) fn close() -> Command {
    in_room(room::Command::Close(Closed { reason: because() }))
}

pub(crate) fn erase() -> Command {
    in_room(room::Command::Erase(Erased { reason: because() }))
}

pub(crate) fn erase_bodies(first: u64, last: u64) -> Command {
    in_room(room::Command::EraseBodies(BodiesErased {
        first,
        last,
        reason: because(),
    }))
}

// Signatures.

pub(crate) fn seed(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub(crate) fn pubkey(number: u8) -> String {
    hex::encode(seed(number).verifying_key().as_bytes())
}

/// `post(agent)` signed by this seed with this time, for room 1.
pub(crate) fn signed(agent: &str, number: u8, ts_iso: &str) -> PostMessage {
    let mut post = post(agent);
    post.signature = Some(signature(&post, number, ts_iso));
    post
}

pub(crate) fn signature(post: &PostMessage, number: u8, ts_iso: &str) -> MessageSignature {
    let memory_root = post.memory_root.as_deref();
    let bytes = surface_roomcomm_v1(post.text.as_str(), ts_iso, room_id(1), memory_root);
    let sig = hex::encode(seed(number).sign(&bytes).to_bytes());
    MessageSignature::from_client(&pubkey(number), &sig, ts_iso)
}

pub(crate) fn say_signed(agent: &str, number: u8, ts_iso: &str) -> Command {
    in_room(room::Command::PostMessage(signed(agent, number, ts_iso)))
}

// Keys.

pub(crate) fn key_id(number: u64) -> KeyId {
    KeyId::parse(&format!("k_{number:016x}")).unwrap()
}

pub(crate) fn log_vkey(number: u8) -> String {
    keys::vkey_text(ORIGIN, &seed(number).verifying_key())
}

pub(crate) fn log_opened() -> LogOpened {
    LogOpened {
        origin: ORIGIN.to_owned(),
        vkey: log_vkey(1),
    }
}

pub(crate) fn open_log() -> Command {
    Command::Keys(keys::Command::OpenLog(log_opened()))
}

/// The epoch's key is seed `to`, certified by seed `from`.
pub(crate) fn rotated(epoch: u64, from: u8, to: u8) -> KeyRotated {
    let (prev_vkey, vkey) = (log_vkey(from), log_vkey(to));
    let text = certificate_text(ORIGIN, epoch, &vkey);
    let cert = hex::encode(seed(from).sign(text.as_bytes()).to_bytes());
    KeyRotated {
        cert,
        epoch,
        prev_vkey,
        vkey,
    }
}

pub(crate) fn rotate(epoch: u64, from: u8, to: u8) -> Command {
    Command::Keys(keys::Command::RotateKey(rotated(epoch, from, to)))
}

/// The rotation to this epoch in a long line of keys, each made from its epoch's number.
pub(crate) fn rotate_wide(epoch: u64) -> Command {
    let signing = |epoch: u64| match epoch {
        1 => seed(1),
        _ => SigningKey::from_bytes(blake3::hash(&epoch.to_le_bytes()).as_bytes()),
    };
    let (from, to) = (signing(epoch - 1), signing(epoch));
    let vkey = keys::vkey_text(ORIGIN, &to.verifying_key());
    let text = certificate_text(ORIGIN, epoch, &vkey);
    let cert = hex::encode(from.sign(text.as_bytes()).to_bytes());
    let prev_vkey = keys::vkey_text(ORIGIN, &from.verifying_key());
    Command::Keys(keys::Command::RotateKey(KeyRotated {
        cert,
        epoch,
        prev_vkey,
        vkey,
    }))
}

pub(crate) fn issued(number: u64, agent: Option<&str>, scopes: &[Scope]) -> ApiKeyIssued {
    ApiKeyIssued {
        agent: agent.map(name),
        hash: format!("{number:064x}"),
        key: key_id(number),
        label: "a key".to_owned(),
        scopes: scopes.to_vec(),
    }
}

pub(crate) fn issue(number: u64, agent: Option<&str>, scopes: &[Scope]) -> Command {
    Command::Keys(keys::Command::IssueApiKey(issued(number, agent, scopes)))
}

pub(crate) fn revoke(number: u64) -> Command {
    let (key, reason) = (key_id(number), because());
    Command::Keys(keys::Command::RevokeApiKey(ApiKeyRevoked { key, reason }))
}

pub(crate) fn enrol(agent: &str, number: u8) -> Command {
    let (agent, pubkey) = (name(agent), pubkey(number));
    Command::Keys(keys::Command::EnrolAgentKey(AgentKeyEnrolled {
        agent,
        pubkey,
    }))
}

pub(crate) fn disenrol(agent: &str, number: u8) -> Command {
    let (agent, pubkey, reason) = (name(agent), pubkey(number), because());
    Command::Keys(keys::Command::RevokeAgentKey(AgentKeyRevoked {
        agent,
        pubkey,
        reason,
    }))
}
