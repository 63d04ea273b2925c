//! A small lawful world: rooms, agents, messages, erasures, as facts.

use minutebook_domain::{
    Event, EventKind, Fact, What,
    actor::Actor,
    ids::{RoomId, StreamId},
    room::{
        self, BodiesErased, Closed, Dialect, Erased, Joined, Leaving, Left, MessageKind,
        MessagePosted, Opened, ProtocolMode, Renamed,
    },
    signature::MessageSignature,
    text::{AgentName, Description, MessageText, Reason, RoomName},
    time::Timestamp,
};
use minutebook_projections::{Kind, MemoryRows, Projection};
use uuid::Uuid;

/// 2026-11-30T12:00:00Z.
pub(crate) const NOON: i64 = 1_796_040_000_000_000;

pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) stream: StreamId,
    pub(crate) sseq: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: EventKind,
    pub(crate) event: Option<Event>,
}

impl Entry {
    pub(crate) fn fact<'a>(&'a self, actor: &'a Actor) -> Fact<'a> {
        let what = self
            .event
            .as_ref()
            .map_or(What::Erased(self.kind), What::Present);
        Fact {
            seq: self.seq,
            stream: self.stream,
            sseq: self.sseq,
            actor,
            at: self.at,
            what,
        }
    }
}

pub(crate) struct Room {
    sseq: u64,
    n: u64,
    /// Threads, ledger entries and handshakes so far.
    pub(crate) ledger: (usize, u64, u64),
    is_erased: bool,
}

/// Facts in the making. Every event comes one millisecond after the one before.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) log: Vec<Entry>,
    pub(crate) rooms: Vec<Room>,
    /// Microseconds between events.
    pub(crate) step: i64,
}

pub(crate) fn room_id(room: usize) -> RoomId {
    RoomId::new(Uuid::from_u128(
        0xa000_0000_0000_4000_8000_0000_0000_0000 + room as u128,
    ))
}

fn reason() -> Reason {
    Reason::parse("because").unwrap()
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            step: 1000,
            ..Self::default()
        }
    }

    pub(crate) fn rooms(&self) -> usize {
        self.rooms.len()
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(NOON + self.step * self.log.len() as i64)
    }

    pub(crate) fn push(&mut self, room: usize, kind: EventKind, event: room::Event) {
        let at = self.now();
        self.rooms[room].sseq += 1;
        self.log.push(Entry {
            seq: self.log.len() as u64 + 1,
            stream: StreamId::Room(room_id(room)),
            sseq: self.rooms[room].sseq,
            at,
            kind,
            event: Some(Event::Room(event)),
        });
    }

    pub(crate) fn open(&mut self, is_public: bool, name: Option<&str>) -> usize {
        self.open_needing(is_public, name, None)
    }

    /// `needed`: confirmations, unless it is the default.
    pub(crate) fn open_needing(
        &mut self,
        is_public: bool,
        name: Option<&str>,
        needed: Option<u8>,
    ) -> usize {
        let room = self.rooms.len();
        self.rooms.push(Room {
            sseq: 0,
            n: 0,
            ledger: (0, 0, 0),
            is_erased: false,
        });
        let opened = Opened {
            description: Description::parse(&format!("room {room}")).unwrap(),
            dialect: Dialect::Rooms,
            is_public,
            confirmations_needed: needed,
            message_limit: Some(1000),
            name: name.map(|name| RoomName::parse(name).unwrap()),
            protocol_mode: ProtocolMode::Standard,
        };
        let kind = match needed {
            None => EventKind::RoomOpened,
            Some(_) => EventKind::RoomOpenedV2,
        };
        self.push(room, kind, room::Event::Opened(opened));
        room
    }

    pub(crate) fn rename(&mut self, room: usize, name: Option<&str>) {
        let name = name.map(|name| RoomName::parse(name).unwrap());
        self.push(
            room,
            EventKind::RoomRenamed,
            room::Event::Renamed(Renamed { name }),
        );
    }

    pub(crate) fn join(&mut self, room: usize, agent: &str) {
        let joined = Joined {
            agent: AgentName::parse(agent).unwrap(),
        };
        self.push(room, EventKind::RoomJoined, room::Event::Joined(joined));
    }

    pub(crate) fn leave(&mut self, room: usize, agent: &str) {
        let left = Left {
            agent: AgentName::parse(agent).unwrap(),
            how: Leaving::Asked,
        };
        self.push(room, EventKind::RoomLeft, room::Event::Left(left));
    }

    pub(crate) fn post(&mut self, room: usize, agent: &str, text: &str) {
        self.post_signed(room, agent, text, None);
    }

    /// `ts_iso`: the time signed.
    pub(crate) fn post_signed(
        &mut self,
        room: usize,
        agent: &str,
        text: &str,
        ts_iso: Option<&str>,
    ) {
        self.rooms[room].n += 1;
        let n = self.rooms[room].n;
        let message = MessagePosted {
            agent: AgentName::parse(agent).unwrap(),
            id: Uuid::from_u128(u128::from(n) << 64 | room as u128),
            kind: MessageKind::Chat,
            memory_root: ts_iso.map(|_| "root".to_owned()),
            n,
            signature: ts_iso.map(|ts_iso| MessageSignature {
                enrolled: true,
                pubkey: "ab".repeat(32),
                sig: "cd".repeat(64),
                surface: "roomcomm-v1".to_owned(),
                ts_iso: ts_iso.to_owned(),
            }),
            text: MessageText::parse(text).unwrap(),
        };
        self.push(
            room,
            EventKind::MessagePosted,
            room::Event::MessagePosted(message),
        );
    }

    pub(crate) fn erase_bodies(&mut self, room: usize, first: u64, last: u64) {
        let range = BodiesErased {
            first,
            last,
            reason: reason(),
        };
        self.push(
            room,
            EventKind::BodiesErased,
            room::Event::BodiesErased(range),
        );
    }

    pub(crate) fn close(&mut self, room: usize) {
        self.push(
            room,
            EventKind::RoomClosed,
            room::Event::Closed(Closed { reason: reason() }),
        );
    }

    pub(crate) fn erase(&mut self, room: usize) {
        self.rooms[room].is_erased = true;
        self.push(
            room,
            EventKind::RoomErased,
            room::Event::Erased(Erased { reason: reason() }),
        );
    }

    pub(crate) fn is_erased(&self, room: usize) -> bool {
        self.rooms[room].is_erased
    }

    pub(crate) fn sseq(&self, room: usize) -> u64 {
        self.rooms[room].sseq
    }

    /// Takes the bodies out of the log that its own events say are gone.
    pub(crate) fn erase_log(&mut self) {
        for at in 0..self.log.len() {
            let (before, rest) = self.log.split_at_mut(at);
            let Some(Event::Room(event)) = &rest[0].event else {
                continue;
            };
            let gone: Box<dyn Fn(&Entry) -> bool> = match event {
                room::Event::BodiesErased(range) => {
                    let range = range.first..=range.last;
                    Box::new(move |entry| {
                        entry.kind == EventKind::MessagePosted && range.contains(&entry.sseq)
                    })
                }
                room::Event::Erased(_) => Box::new(|_| true),
                _ => continue,
            };
            for entry in before
                .iter_mut()
                .filter(|entry| entry.stream == rest[0].stream)
            {
                if gone(entry) {
                    entry.event = None;
                }
            }
        }
    }

    /// The rows of a projection, its facts taken in batches of these sizes, over and over.
    pub(crate) fn rows(&self, kind: Kind, batches: &[usize]) -> MemoryRows {
        let mut fold = Fold {
            rows: MemoryRows::default(),
            fold: kind.fold(),
        };
        let mut sizes = batches.iter().copied().cycle();
        let mut log = self.log.as_slice();
        while !log.is_empty() {
            let (batch, rest) = log.split_at(sizes.next().unwrap().clamp(1, log.len()));
            fold.batch(batch);
            log = rest;
        }
        fold.rows
    }

    pub(crate) fn fold(&self, kind: Kind) -> MemoryRows {
        self.rows(kind, &[3])
    }
}

/// A fold and its rows.
pub(crate) struct Fold {
    pub(crate) rows: MemoryRows,
    pub(crate) fold: Box<dyn Projection>,
}

impl Fold {
    pub(crate) fn batch(&mut self, batch: &[Entry]) {
        let actor = Actor::Owner;
        for entry in batch {
            self.fold.apply(&self.rows, &entry.fact(&actor)).unwrap();
        }
        let mut ops = Vec::new();
        self.fold.flush(&mut ops).unwrap();
        let mut keys: Vec<_> = ops.iter().map(|op| op.key.clone()).collect();
        keys.dedup();
        assert_eq!(keys.len(), ops.len(), "a key is written once per batch");
        self.rows.write(ops);
    }
}
