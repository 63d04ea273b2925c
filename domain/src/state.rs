//! The writer's state: what the rules need to remember, no more.
//!
//! Invariant: the state is a function of the events alone. Two replays of one log end in states
//! with the same digest, on any machine; snapshots only save the time to replay.

use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
};

use crate::{
    Event, Fact, What,
    ids::{RoomId, StreamId},
    keys::{self, KeysState},
    room::{self, RoomState},
    skills::{self, SkillsState},
    text::{Lookalikes, RoomName},
};

/// Everything the rules look at. Archived with rkyv in state snapshots, which can be thrown away.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct State {
    seq: u64,
    log_sseq: u64,
    keys_sseq: u64,
    keys: KeysState,
    rooms: BTreeMap<RoomId, RoomState>,
    /// Rooms by what their names look like, so that no room passes for another.
    by_name: BTreeMap<String, RoomId>,
    skills_sseq: u64,
    skills: SkillsState,
}

impl State {
    /// The newest event's position, 0 before the first.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The newest event's position in this stream, 0 before the first.
    pub fn sseq(&self, stream: StreamId) -> u64 {
        match stream {
            StreamId::Log => self.log_sseq,
            StreamId::Keys => self.keys_sseq,
            StreamId::Skills => self.skills_sseq,
            StreamId::Room(id) => self.room(&id).map_or(0, RoomState::sseq),
        }
    }

    /// A room's state; none if it was never opened.
    pub fn room(&self, id: &RoomId) -> Option<&RoomState> {
        self.rooms.get(id)
    }

    /// All rooms, erased ones too.
    pub fn rooms(&self) -> impl Iterator<Item = (RoomId, &RoomState)> {
        self.rooms.iter().map(|(id, room)| (*id, room))
    }

    /// The log's and the agents' keys.
    pub fn keys(&self) -> &KeysState {
        &self.keys
    }

    /// Shared skills.
    pub fn skills(&self) -> &SkillsState {
        &self.skills
    }

    /// BLAKE3 over everything the rules look at, but for the signatures remembered against
    /// replay: those of erased messages are unknown to a later replay, and lapse in minutes.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = Blake3(blake3::Hasher::new());
        self.hash(&mut hasher);
        *hasher.0.finalize().as_bytes()
    }

    /// The state as bytes, for a snapshot that can be thrown away.
    pub fn to_snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(self).map_err(|_| SnapshotError)?;
        Ok(bytes.to_vec())
    }

    /// A state from such bytes: an error means to replay instead. The bytes are checked for
    /// structure, not for truth; whoever stores them must store their digest too.
    pub fn from_snapshot(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut aligned = rkyv::util::AlignedVec::<16>::with_capacity(bytes.len());
        aligned.extend_from_slice(bytes);
        rkyv::from_bytes::<Self, rkyv::rancor::Error>(&aligned).map_err(|_| SnapshotError)
    }

    /// Whether a room's name is or looks like another room's.
    pub(crate) fn is_name_taken(&self, name: &RoomName, by: RoomId) -> bool {
        let keys = Lookalikes::of(name.as_str());
        keys.iter()
            .any(|key| self.by_name.get(key).is_some_and(|holder| *holder != by))
    }

    pub(crate) fn fold(&mut self, fact: &Fact<'_>) {
        self.seq = fact.seq;
        match fact.stream {
            StreamId::Log => self.log_sseq = fact.sseq,
            StreamId::Keys => self.keys_sseq = fact.sseq,
            StreamId::Room(id) => return self.fold_room(id, fact),
            StreamId::Skills => {
                self.skills_sseq = fact.sseq;
                return skills::evolve(&mut self.skills, fact);
            }
        }
        keys::evolve(&mut self.keys, fact);
    }

    fn fold_room(&mut self, id: RoomId, fact: &Fact<'_>) {
        if may_change_name(&fact.what) {
            self.index_name(id, false);
        }
        if let Some(room) = self.rooms.get_mut(&id) {
            room::advance(room, fact);
        } else if let Some(room) = room::begin(fact) {
            self.rooms.insert(id, room);
        }
        if may_change_name(&fact.what) {
            self.index_name(id, true);
        }
    }

    /// Puts the room's present name into the index, or takes it out.
    fn index_name(&mut self, id: RoomId, put: bool) {
        let Some(name) = self.rooms.get(&id).and_then(RoomState::name) else {
            return;
        };
        for key in Lookalikes::of(name.as_str()).iter() {
            if put {
                self.by_name.entry(key.to_owned()).or_insert(id);
            } else if self.by_name.get(key) == Some(&id) {
                self.by_name.remove(key);
            }
        }
    }
}

fn may_change_name(what: &What<'_>) -> bool {
    match what {
        What::Present(Event::Room(
            room::Event::Opened(_) | room::Event::Renamed(_) | room::Event::Erased(_),
        )) => true,
        What::Present(
            Event::Keys(_)
            | Event::Skills(_)
            | Event::Room(
                room::Event::Joined(_)
                | room::Event::Left(_)
                | room::Event::MessagePosted(_)
                | room::Event::BodiesErased(_)
                | room::Event::Closed(_)
                | room::Event::Claim(_),
            ),
        )
        | What::Erased(_) => false,
    }
}

/// A snapshot that cannot be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("state snapshot is not readable; replay the log instead")]
pub struct SnapshotError;

/// Feeds derived `Hash` into BLAKE3: every field is covered without listing it. Integers go in
/// little-endian and lengths as 64 bits, so the digest is the same on every machine.
struct Blake3(blake3::Hasher);

impl Hasher for Blake3 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn write_u8(&mut self, value: u8) {
        self.write(&[value]);
    }
    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }
    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }
    fn write_i64(&mut self, value: i64) {
        self.write(&value.to_le_bytes());
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_i64(value as i64);
    }
    /// Not used: 32 bytes are taken from the hasher itself.
    fn finish(&self) -> u64 {
        0
    }
}
