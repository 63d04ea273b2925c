//! Makes lawful logs with fixed seeds: what the writer would have written, without a server.
//!
//! Everything is decided by the rules and encoded by the format; times, ids and salts follow from
//! a counter, so the same calls give the same bytes.

use std::collections::HashMap;

use minutebook_domain::{
    Arbiter, Command, Context, Event, Fact, State, What,
    actor::Actor,
    decide, evolve,
    ids::{RoomId, StreamId},
    keys,
    room::{self, Dialect, MessageKind, PostMessage, ProtocolMode},
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, Description, MessageText, Reason},
    time::Timestamp,
};
use minutebook_eventlog::format::{
    bundle::{BundleWriter, Kind, Manifest},
    checkpoint::Checkpoint,
    envelope::Envelope,
    epoch::certify,
    hash::{Hash, body_commitment, chain_hash, leaf_hash},
    key::SigningKey,
    proof::TlogProof,
    record::{Body, Record},
    tree::{Frontier, TileSource, inclusion_proof},
};
use uuid::Uuid;

pub(crate) const ORIGIN: &str = "log.example/test";
/// 2026-11-30T12:00:00Z.
pub(crate) const START_MICROS: i64 = 1_796_040_000_000_000;

/// A log in memory.
pub(crate) struct Log {
    pub(crate) keys: Vec<SigningKey>,
    pub(crate) state: State,
    pub(crate) records: Vec<Record>,
    pub(crate) streams: Vec<StreamId>,
    pub(crate) now: i64,
    /// Records between checkpoint lines of a bundle.
    pub(crate) cadence: u64,
    leaves: Leaves,
    frontier: Frontier,
    roots: Vec<Hash>,
    heads: HashMap<StreamId, (u64, Hash)>,
    last: Hash,
    rotations: Vec<u64>,
    fresh: u128,
}

struct Leaves(Vec<Hash>);

impl TileSource for Leaves {
    type Error = std::convert::Infallible;
    fn tile(&self, _: u8, _: u64) -> Result<Option<Vec<u8>>, Self::Error> {
        Ok(None)
    }
    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, Self::Error> {
        let first = usize::try_from(first).unwrap();
        Ok(self.0[first..first + usize::from(count)].to_vec())
    }
}

/// The log's key as the one that signs rooms' ledgers.
#[derive(Debug)]
struct Sealing(SigningKey);

impl Arbiter for Sealing {
    fn public_key(&self) -> [u8; 32] {
        *self.0.verifying_key().public_key()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes)
    }
}

pub(crate) fn signing_key(seed: u8) -> SigningKey {
    SigningKey::from_seed(ORIGIN, [seed; 32]).unwrap()
}

pub(crate) fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

pub(crate) fn reason(text: &str) -> Reason {
    Reason::parse(text).unwrap()
}

impl Log {
    /// A log opened with the key of this seed.
    pub(crate) fn open(seed: u8) -> Self {
        let key = signing_key(seed);
        let opened = keys::LogOpened {
            origin: ORIGIN.to_owned(),
            vkey: key.vkey(),
        };
        let mut log = Self {
            keys: vec![key],
            state: State::default(),
            records: Vec::new(),
            streams: Vec::new(),
            now: START_MICROS,
            cadence: 1024,
            leaves: Leaves(Vec::new()),
            frontier: Frontier::new(),
            roots: vec![Frontier::new().root()],
            heads: HashMap::new(),
            last: Hash::ZERO,
            rotations: Vec::new(),
            fresh: 0,
        };
        log.submit(
            Actor::Arbiter,
            Command::Keys(keys::Command::OpenLog(opened)),
        );
        log
    }

    pub(crate) fn vkey(&self) -> String {
        self.keys[0].vkey()
    }

    pub(crate) fn size(&self) -> u64 {
        self.frontier.size()
    }

    fn fresh(&mut self) -> Uuid {
        self.fresh += 1;
        let hash = blake3::hash(&self.fresh.to_le_bytes());
        let bytes: [u8; 16] = hash.as_bytes()[..16].try_into().unwrap();
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// Decides and appends a command under a fresh command id.
    pub(crate) fn submit(&mut self, actor: Actor, command: Command) -> u64 {
        let cmd = self.fresh().to_string();
        self.submit_as(actor, command, &cmd)
    }

    pub(crate) fn submit_as(&mut self, actor: Actor, command: Command, cmd: &str) -> u64 {
        self.now += 1_000_000;
        let context = Context {
            actor,
            at: Timestamp::from_micros(self.now),
            fresh: self.fresh(),
            arbiter: &Sealing(self.keys.last().unwrap().clone()),
        };
        let checked = command.check().unwrap();
        for (stream, event) in decide(&self.state, checked, &context).unwrap() {
            self.append(&event, stream, &context.actor, cmd);
        }
        self.size()
    }

    /// Appends an event whether or not it is lawful.
    pub(crate) fn append(
        &mut self,
        event: &Event,
        stream: StreamId,
        actor: &Actor,
        cmd: &str,
    ) -> u64 {
        let seq = self.size() + 1;
        let (sseq, sprev) = self.heads.get(&stream).copied().unwrap_or((0, Hash::ZERO));
        let at = Timestamp::from_micros(self.now);
        let mut bytes = Vec::new();
        event.encode_body(&mut bytes);
        let salt = *blake3::hash(&seq.to_le_bytes()).as_bytes();
        let envelope = Envelope {
            actor: actor.to_string().into(),
            at: at.to_string().into(),
            body: body_commitment(&salt, &bytes),
            cause: None,
            cmd: cmd.into(),
            prev: self.last,
            seq,
            sprev,
            sseq: sseq + 1,
            stream: stream.to_string().into(),
            kind: event.kind().name().into(),
            v: event.kind().version(),
        };
        let mut encoded = Vec::new();
        envelope.encode(&mut encoded);
        self.last = chain_hash(&encoded);
        self.heads.insert(stream, (sseq + 1, self.last));
        let leaf = leaf_hash(&encoded);
        self.leaves.0.push(leaf);
        self.frontier.push(leaf);
        self.roots.push(self.frontier.root());
        self.records.push(Record {
            envelope: encoded,
            body: Some(Body { salt, bytes }),
        });
        self.streams.push(stream);
        evolve(
            &mut self.state,
            &Fact {
                seq,
                stream,
                sseq: sseq + 1,
                actor,
                at,
                what: What::Present(event),
            },
        );
        seq
    }

    /// Makes the next record name another record before it than the one that is there.
    pub(crate) fn break_link(&mut self) {
        self.last = Hash::new([0xbb; 32]);
    }

    pub(crate) fn open_room(&mut self, description: &str) -> RoomId {
        let room = RoomId::new(self.fresh());
        let opened = room::Opened {
            description: Description::parse(description).unwrap(),
            dialect: Dialect::Rooms,
            is_public: true,
            confirmations_needed: None,
            message_limit: Some(1_000_000_000),
            name: None,
            protocol_mode: ProtocolMode::Standard,
        };
        self.submit(
            Actor::Owner,
            Command::Room(room, room::Command::Open(opened)),
        );
        room
    }

    pub(crate) fn post(&mut self, room: RoomId, name: &str, text: &str) -> u64 {
        self.message(room, name, text, None)
    }

    /// A message signed by the agent's key of this seed.
    pub(crate) fn post_signed(&mut self, room: RoomId, name: &str, text: &str, seed: u8) -> u64 {
        let key = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
        let ts = Timestamp::from_micros(self.now + 1_000_000).to_seconds_text();
        let message = surface_roomcomm_v1(text, &ts, room, None);
        let sig = ed25519_dalek::Signer::sign(&key, &message);
        let pubkey = hex::encode(key.verifying_key().as_bytes());
        let signature = MessageSignature::from_client(&pubkey, &hex::encode(sig.to_bytes()), &ts);
        self.message(room, name, text, Some(signature))
    }

    fn message(
        &mut self,
        room: RoomId,
        name: &str,
        text: &str,
        signature: Option<MessageSignature>,
    ) -> u64 {
        let message = PostMessage {
            agent: agent(name),
            kind: MessageKind::Chat,
            memory_root: None,
            signature,
            text: MessageText::parse(text).unwrap(),
        };
        let command = Command::Room(room, room::Command::PostMessage(message));
        self.submit(Actor::Agent(agent(name)), command)
    }

    /// Erases the messages of these stream positions, and their bodies.
    pub(crate) fn erase_bodies(&mut self, room: RoomId, first: u64, last: u64) -> u64 {
        let erased = room::BodiesErased {
            first,
            last,
            reason: reason("asked to"),
        };
        let command = Command::Room(room, room::Command::EraseBodies(erased));
        let seq = self.submit(Actor::Owner, command);
        let mut sseq = 0;
        for (record, stream) in self.records.iter_mut().zip(&self.streams) {
            if *stream == StreamId::Room(room) {
                sseq += 1;
                let kind = Envelope::parse(&record.envelope).unwrap().kind.into_owned();
                if (first..=last).contains(&sseq) && kind == "room.message_posted" {
                    record.body = None;
                }
            }
        }
        seq
    }

    pub(crate) fn close(&mut self, room: RoomId) -> u64 {
        let closed = room::Closed {
            reason: reason("done"),
        };
        self.submit(
            Actor::Owner,
            Command::Room(room, room::Command::Close(closed)),
        )
    }

    /// Erases a room and all its bodies.
    pub(crate) fn erase(&mut self, room: RoomId) -> u64 {
        let erased = room::Erased {
            reason: reason("asked to"),
        };
        let seq = self.submit(
            Actor::Owner,
            Command::Room(room, room::Command::Erase(erased)),
        );
        let last = self.records.len() - 1;
        for (record, stream) in self.records[..last].iter_mut().zip(&self.streams) {
            if *stream == StreamId::Room(room) {
                record.body = None;
            }
        }
        seq
    }

    /// Begins the next key epoch with the key of this seed.
    pub(crate) fn rotate(&mut self, seed: u8) -> u64 {
        let next = signing_key(seed);
        let before = self.keys.last().unwrap();
        let epoch = self.keys.len() as u64 + 1;
        let rotated = keys::KeyRotated {
            cert: certify(before, ORIGIN, epoch, next.verifying_key()).unwrap(),
            epoch,
            prev_vkey: before.vkey(),
            vkey: next.vkey(),
        };
        self.keys.push(next);
        let command = Command::Keys(keys::Command::RotateKey(rotated));
        let seq = self.submit(Actor::Arbiter, command);
        self.rotations.push(seq);
        seq
    }

    /// The checkpoint that was signed when the log had this size.
    pub(crate) fn checkpoint_at(&self, size: u64) -> String {
        let epoch = self.rotations.iter().filter(|seq| **seq <= size).count();
        let checkpoint = Checkpoint {
            origin: ORIGIN.to_owned(),
            size,
            root: self.roots[usize::try_from(size).unwrap()],
        };
        checkpoint.sign(&self.keys[epoch])
    }

    pub(crate) fn checkpoint(&self) -> String {
        self.checkpoint_at(self.size())
    }

    /// A checkpoint of this size and root by the key of this seed, whoever may sign there.
    pub(crate) fn forged(size: u64, root: u8, seed: u8) -> String {
        let checkpoint = Checkpoint {
            origin: ORIGIN.to_owned(),
            size,
            root: Hash::new([root; 32]),
        };
        checkpoint.sign(&signing_key(seed))
    }

    /// The receipt given for this record when the log had this size.
    pub(crate) fn receipt_at(&self, seq: u64, size: u64) -> String {
        self.proof_at(seq, size).to_text()
    }

    pub(crate) fn proof_at(&self, seq: u64, size: u64) -> TlogProof {
        let at = usize::try_from(seq - 1).unwrap();
        TlogProof {
            extra: Some(self.records[at].envelope.clone()),
            index: seq - 1,
            path: inclusion_proof(&self.leaves, seq - 1, size).unwrap(),
            checkpoint: self.checkpoint_at(size),
        }
    }

    pub(crate) fn receipt(&self, seq: u64) -> String {
        self.receipt_at(seq, self.size())
    }

    /// Sizes at which a bundle has a checkpoint line.
    fn checkpoint_sizes(&self, first: u64) -> Vec<u64> {
        let mut sizes = Vec::new();
        let mut last = first - 1;
        for size in first..=self.size() {
            let around = self
                .rotations
                .iter()
                .any(|seq| *seq == size || *seq == size + 1);
            if size - last >= self.cadence || around || size == self.size() {
                sizes.push(size);
                last = size;
            }
        }
        sizes
    }

    /// The whole log's bundle.
    pub(crate) fn bundle(&self) -> Vec<u8> {
        self.bundle_from(1)
    }

    /// The bundle of the records from this one on.
    pub(crate) fn bundle_from(&self, first: u64) -> Vec<u8> {
        let sizes = self.checkpoint_sizes(first);
        let manifest = Manifest {
            origin: ORIGIN.to_owned(),
            kind: Kind::Log,
            first,
            last: self.size(),
            records: self.size() + 1 - first,
            checkpoints: sizes.len() as u64,
        };
        let mut writer = BundleWriter::new(Vec::new(), &manifest).unwrap();
        for seq in first..=self.size() {
            writer
                .record(&self.records[usize::try_from(seq - 1).unwrap()])
                .unwrap();
            if sizes.contains(&seq) {
                writer.checkpoint(&self.checkpoint_at(seq)).unwrap();
            }
        }
        writer.finish().unwrap()
    }

    /// The key-epoch records with their receipts.
    pub(crate) fn epochs(&self) -> Vec<(Record, String)> {
        std::iter::once(&1)
            .chain(&self.rotations)
            .map(|seq| {
                let index = usize::try_from(*seq - 1).unwrap();
                (self.records[index].clone(), self.receipt(*seq))
            })
            .collect()
    }

    /// Numbers of a room's records.
    pub(crate) fn room_seqs(&self, room: RoomId) -> Vec<u64> {
        (1..)
            .zip(&self.streams)
            .filter(|(_, stream)| **stream == StreamId::Room(room))
            .map(|(seq, _)| seq)
            .collect()
    }

    /// A room's records.
    pub(crate) fn room_records(&self, room: RoomId) -> Vec<Record> {
        let index = |seq: u64| usize::try_from(seq - 1).unwrap();
        let seqs = self.room_seqs(room);
        seqs.iter()
            .map(|seq| self.records[index(*seq)].clone())
            .collect()
    }

    /// One room's bundle.
    pub(crate) fn room_bundle(&self, room: RoomId) -> Vec<u8> {
        let (epochs, records) = (self.epochs(), self.room_records(room));
        let manifest = Manifest {
            origin: ORIGIN.to_owned(),
            kind: Kind::Room(room.to_string()),
            first: 1,
            last: records.len() as u64,
            records: (epochs.len() + records.len()) as u64,
            checkpoints: 1,
        };
        let mut writer = BundleWriter::new(Vec::new(), &manifest).unwrap();
        for (record, receipt) in &epochs {
            writer.record(record).unwrap();
            writer.receipt(receipt).unwrap();
        }
        for record in &records {
            writer.record(record).unwrap();
        }
        let last = *self.room_seqs(room).last().unwrap();
        writer.receipt(&self.receipt(last)).unwrap();
        writer.checkpoint(&self.checkpoint()).unwrap();
        writer.finish().unwrap()
    }
}

/// A log with everything in it: two rooms, signed and unsigned messages, an erasure, a key
/// rotation, a closed room. Returns the rooms.
pub(crate) fn eventful() -> (Log, RoomId, RoomId) {
    let mut log = Log::open(1);
    log.cadence = 8;
    let a = log.open_room("first");
    let b = log.open_room("second \"quoted\" room");
    for i in 0..6 {
        log.post(a, "ann", &format!("message {i} to a\nwith a second line"));
        log.post_signed(b, "bob", &format!("signed {i}"), 7);
    }
    log.rotate(2);
    log.erase_bodies(a, 3, 4);
    for i in 0..6 {
        log.post(a, "cäsar", &format!("später {i} 🙂"));
    }
    log.close(b);
    log.post(a, "ann", "the end");
    (log, a, b)
}
