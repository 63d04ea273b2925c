//! Random histories: what many actors try, and the log that comes of it.

mod claims;

use ed25519_dalek::{Signer as _, SigningKey};
use minutebook_domain::{
    Command, Context, Event, Fact, State, What,
    actor::Actor,
    decide, evolve,
    ids::{KeyId, RoomId, StreamId},
    keys::{
        self, AgentKeyEnrolled, AgentKeyRevoked, ApiKeyIssued, ApiKeyRevoked, LogOpened, Scope,
    },
    room::{
        self, BodiesErased, Closed, Dialect, Erased, Joined, Leaving, Left, MessageKind, Opened,
        PostMessage, ProtocolMode, Renamed,
    },
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, Description, MessageText, Reason, RoomName},
    time::Timestamp,
};
use proptest::prelude::*;
use uuid::Uuid;

use claims::{ClaimTry, claim_try};

const NOON: Timestamp = Timestamp::from_micros(1_796_040_000_000_000);
/// Few names, some alike, so that histories meet each other.
const NAMES: [&str; 6] = ["alice", "Alice", "\u{430}lice", "bob", "Zo\u{eb}", "carol"];
const ROOM_NAMES: [&str; 4] = ["lobby", "L0bby", "site 2", "\u{1f9f1}"];

/// One record of a history.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) stream: StreamId,
    pub(crate) sseq: u64,
    pub(crate) actor: Actor,
    pub(crate) at: Timestamp,
    pub(crate) event: Event,
}

impl Entry {
    pub(crate) fn fact(&self) -> Fact<'_> {
        Fact {
            seq: self.seq,
            stream: self.stream,
            sseq: self.sseq,
            actor: &self.actor,
            at: self.at,
            what: What::Present(&self.event),
        }
    }
}

/// Somebody tries something, so many seconds after the one before.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    actor: Actor,
    seconds: i64,
    what: Try,
}

#[derive(Clone, Debug)]
enum Try {
    Room(u8, room::Command),
    /// A message to this room, signed by this seed this many seconds away from its time.
    Signed(u8, PostMessage, u8, i64),
    Keys(keys::Command),
    /// On this room's ledger.
    Claim(u8, ClaimTry),
}

/// Some rooms, then up to eighty attempts.
pub(crate) fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let ask = (actor(), 0..200_i64, attempt());
    let ask = ask.prop_map(|(actor, seconds, what)| Ask {
        actor,
        seconds,
        what,
    });
    let first = (0..2_u8, opened()).prop_map(|(room, opened)| Ask {
        actor: Actor::Owner,
        seconds: 0,
        what: Try::Room(room, room::Command::Open(opened)),
    });
    let first = prop::collection::vec(first, 0..4);
    (first, prop::collection::vec(ask, 0..80)).prop_map(|(first, then)| [first, then].concat())
}

/// One room, and up to a hundred attempts on its ledger by agents whose names are no twins, who
/// talk in between.
pub(crate) fn negotiations() -> impl Strategy<Value = Vec<Ask>> {
    let agent = prop::sample::select(&["alice", "bob", "carol", "dave", "erin"][..])
        .prop_map(|text| AgentName::parse(text).unwrap());
    let by = prop_oneof![
        9 => Just(Actor::Service("rooms".to_owned())),
        1 => Just(Actor::Arbiter),
    ];
    let talk = (post(), agent.clone()).prop_map(|(post, agent)| {
        Try::Room(0, room::Command::PostMessage(PostMessage { agent, ..post }))
    });
    let attempt = prop_oneof![
        9 => claim_try(agent).prop_map(|attempt| Try::Claim(0, attempt)),
        1 => talk,
    ];
    let ask = (by, attempt).prop_map(|(actor, what)| Ask {
        actor,
        seconds: 1,
        what,
    });
    let first = opened().prop_map(|opened| Ask {
        actor: Actor::Owner,
        seconds: 0,
        what: Try::Room(
            0,
            room::Command::Open(Opened {
                message_limit: None,
                ..opened
            }),
        ),
    });
    (first, prop::collection::vec(ask, 1..100))
        .prop_map(|(first, then)| [vec![first], then].concat())
}

/// Plays the attempts against the rules: the writer's state, and the log of what was taken.
pub(crate) fn play(asks: Vec<Ask>) -> (State, Vec<Entry>) {
    let mut state = State::default();
    let mut log = Vec::new();
    take(
        &mut state,
        &mut log,
        Actor::Arbiter,
        NOON,
        Command::Keys(open_log()),
    );
    assert_eq!(log.len(), 1);
    let mut at = NOON;
    for mut ask in asks {
        at = at.plus_seconds(ask.seconds);
        let command = match ask.what {
            Try::Room(room, command) => Command::Room(room_id(room), command),
            Try::Signed(room, post, seed, off) => {
                let post = sign(post, seed, room_id(room), at.plus_seconds(off));
                Command::Room(room_id(room), room::Command::PostMessage(post))
            }
            Try::Keys(command) => Command::Keys(command),
            Try::Claim(room, attempt) => {
                let room = room_id(room);
                // Now and then somebody else tries what is the arbiter's.
                if attempt.is_the_arbiters() && ask.seconds % 5 != 0 {
                    ask.actor = Actor::Arbiter;
                }
                Command::Room(room, attempt.command(&state, room))
            }
        };
        take(&mut state, &mut log, ask.actor, at, command);
    }
    (state, log)
}

fn take(state: &mut State, log: &mut Vec<Entry>, actor: Actor, at: Timestamp, command: Command) {
    let fresh = Uuid::from_u128(state.seq().into());
    let arbiter = &SigningKey::from_bytes(&[0x22; 32]);
    let context = Context {
        actor,
        at,
        fresh,
        arbiter,
    };
    let Ok(events) = command
        .check()
        .and_then(|command| decide(state, command, &context))
    else {
        return;
    };
    for (stream, event) in events {
        let actor = context.actor.clone();
        let entry = Entry {
            seq: state.seq() + 1,
            stream,
            sseq: state.sseq(stream) + 1,
            actor,
            at,
            event,
        };
        evolve(state, &entry.fact());
        log.push(entry);
    }
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![
        2 => name().prop_map(Actor::Agent),
        2 => key_id().prop_map(Actor::Key),
        5 => Just(Actor::Owner),
        5 => Just(Actor::Service("rooms".to_owned())),
        1 => Just(Actor::Arbiter),
    ]
}

fn attempt() -> impl Strategy<Value = Try> {
    let room = prop::sample::select(&[0, 0, 0, 0, 1, 2][..]);
    prop_oneof![
        12 => (room.clone(), room_command()).prop_map(|(room, command)| Try::Room(room, command)),
        8 => (room.clone(), claim_try(name()))
            .prop_map(|(room, attempt)| Try::Claim(room, attempt)),
        4 => (room, post(), 1..4_u8, -320..320_i64)
            .prop_map(|(room, post, seed, off)| Try::Signed(room, post, seed, off)),
        2 => keys_command().prop_map(Try::Keys),
    ]
}

fn room_command() -> impl Strategy<Value = room::Command> {
    prop_oneof![
        1 => opened().prop_map(room::Command::Open),
        1 => prop::option::of(room_name())
            .prop_map(|name| room::Command::Rename(Renamed { name })),
        6 => name().prop_map(|agent| room::Command::Join(Joined { agent })),
        2 => name()
            .prop_map(|agent| room::Command::Leave(Left { agent, how: Leaving::Disconnected })),
        20 => post().prop_map(room::Command::PostMessage),
        4 => (0..8_u64, 0..8_u64).prop_map(|(first, more)| {
            let last = first + more;
            room::Command::EraseBodies(BodiesErased { first, last, reason: because() })
        }),
        1 => Just(room::Command::Close(Closed { reason: because() })),
        1 => Just(room::Command::Erase(Erased { reason: because() })),
    ]
}

fn keys_command() -> impl Strategy<Value = keys::Command> {
    let scopes = prop::sample::subsequence(
        vec![Scope::Agent, Scope::Auditor, Scope::Operator, Scope::Owner],
        0..4,
    );
    prop_oneof![
        3 => (0..4_u8, prop::option::of(name()), scopes).prop_map(|(number, agent, scopes)| {
            keys::Command::IssueApiKey(ApiKeyIssued {
                agent,
                hash: format!("{number:064x}"),
                key: numbered_key(number),
                label: String::new(),
                scopes,
            })
        }),
        1 => key_id().prop_map(|key| {
            keys::Command::RevokeApiKey(ApiKeyRevoked { key, reason: because() })
        }),
        2 => (name(), 1..4_u8).prop_map(|(agent, seed)| {
            keys::Command::EnrolAgentKey(AgentKeyEnrolled { agent, pubkey: pubkey(seed) })
        }),
        1 => (name(), 1..4_u8).prop_map(|(agent, seed)| {
            let (pubkey, reason) = (pubkey(seed), because());
            keys::Command::RevokeAgentKey(AgentKeyRevoked { agent, pubkey, reason })
        }),
        1 => Just(open_log()),
    ]
}

fn opened() -> impl Strategy<Value = Opened> {
    let limit = prop::option::weighted(0.3, 0..20_u64);
    let description = "\\PC{0,20}";
    let needed = prop::option::of(prop::sample::select(&[1_u8, 3][..]));
    (
        needed,
        limit,
        prop::option::of(room_name()),
        any::<bool>(),
        description,
    )
        .prop_map(
            |(confirmations_needed, message_limit, name, is_public, description)| Opened {
                confirmations_needed,
                description: Description::parse(&description).unwrap(),
                dialect: Dialect::Rooms,
                is_public,
                message_limit,
                name,
                protocol_mode: ProtocolMode::Premium,
            },
        )
}

fn post() -> impl Strategy<Value = PostMessage> {
    let text = any::<String>().prop_filter_map("not empty", |text| MessageText::parse(&text).ok());
    let memory_root = prop::option::of("[0-9a-f]{0,16}");
    (name(), text, memory_root).prop_map(|(agent, text, memory_root)| PostMessage {
        agent,
        kind: MessageKind::Chat,
        memory_root,
        signature: None,
        text,
    })
}

fn name() -> impl Strategy<Value = AgentName> + Clone + 'static {
    prop::sample::select(&NAMES[..]).prop_map(|text| AgentName::parse(text).unwrap())
}

fn room_name() -> impl Strategy<Value = RoomName> {
    prop::sample::select(&ROOM_NAMES[..]).prop_map(|text| RoomName::parse(text).unwrap())
}

fn key_id() -> impl Strategy<Value = KeyId> {
    (0..4_u8).prop_map(numbered_key)
}

fn numbered_key(number: u8) -> KeyId {
    KeyId::parse(&format!("k_{number:016x}")).unwrap()
}

fn room_id(number: u8) -> RoomId {
    RoomId::new(Uuid::from_u128(0xa000 + u128::from(number)))
}

fn because() -> Reason {
    Reason::parse("because").unwrap()
}

fn pubkey(seed: u8) -> String {
    hex::encode(
        SigningKey::from_bytes(&[seed; 32])
            .verifying_key()
            .as_bytes(),
    )
}

fn sign(mut post: PostMessage, seed: u8, room: RoomId, when: Timestamp) -> PostMessage {
    let ts_iso = when.to_seconds_text();
    let memory_root = post.memory_root.as_deref();
    let bytes = surface_roomcomm_v1(post.text.as_str(), &ts_iso, room, memory_root);
    let sig = hex::encode(SigningKey::from_bytes(&[seed; 32]).sign(&bytes).to_bytes());
    post.signature = Some(MessageSignature::from_client(&pubkey(seed), &sig, &ts_iso));
    post
}

fn open_log() -> keys::Command {
    keys::Command::OpenLog(LogOpened {
        origin: "example.org/minutes".to_owned(),
        vkey: "example.org/minutes+7fefc273+AaCapfR6Z1mAL/lV+NwtKhSlyZ0jvpf4ZBJ/+Tg0VaTw"
            .to_owned(),
    })
}
