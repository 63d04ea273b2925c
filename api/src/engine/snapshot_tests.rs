//! Snapshots: a changed layout is noticed here, an odd snapshot is ignored by a start.

use minutebook_domain::actor::Actor;
use minutebook_domain::{Command, Event, EventKind, Fact, What, evolve, keys};
use minutebook_eventlog::store::memory::{MemoryStore, MemoryWriter};

use super::*;
use crate::engine::{Entropy, Parts, SystemClock};

macro_rules! vector {
    ($name:literal) => {
        include_str!(concat!("../../../domain/vectors/", $name, ".json"))
    };
}

/// Events that leave something in every part of the state: keys in and out of force, rooms of
/// every phase, a name, members, guarded names and a used signature, a skill.
fn events() -> Vec<(StreamId, EventKind, &'static str)> {
    let room = |n| {
        StreamId::Room(minutebook_domain::ids::RoomId::new(uuid::Uuid::from_u128(
            n,
        )))
    };
    let (log, keys) = (StreamId::Log, StreamId::Keys);
    vec![
        (log, EventKind::LogOpened, vector!("log.opened.v1")),
        (log, EventKind::KeyRotated, vector!("log.key_rotated.v1")),
        (
            keys,
            EventKind::ApiKeyIssued,
            vector!("keys.api_key_issued.v1"),
        ),
        (
            keys,
            EventKind::ApiKeyRevoked,
            vector!("keys.api_key_revoked.v1"),
        ),
        (
            keys,
            EventKind::AgentKeyEnrolled,
            vector!("keys.agent_key_enrolled.v1"),
        ),
        (room(1), EventKind::RoomOpened, vector!("room.opened.v1")),
        (room(1), EventKind::RoomJoined, vector!("room.joined.v1")),
        (
            room(1),
            EventKind::MessagePosted,
            vector!("room.message_posted.v1"),
        ),
        (
            room(2),
            EventKind::RoomOpened,
            vector!("room.opened.v1.min"),
        ),
        (room(2), EventKind::RoomClosed, vector!("room.closed.v1")),
        (
            room(3),
            EventKind::RoomOpened,
            vector!("room.opened.v1.min"),
        ),
        (room(3), EventKind::RoomErased, vector!("room.erased.v1")),
        (
            room(4),
            EventKind::RoomOpenedV2,
            vector!("room.opened.v2.min"),
        ),
        (
            room(4),
            EventKind::ClaimOpened,
            vector!("room.claim_opened.v1"),
        ),
        (
            room(4),
            EventKind::ClaimRevised,
            vector!("room.claim_revised.v1.roomcomm"),
        ),
        (
            room(4),
            EventKind::HandshakeMade,
            vector!("room.handshake_made.v1"),
        ),
        (
            StreamId::Skills,
            EventKind::SkillPublished,
            vector!("skill.published.v1"),
        ),
    ]
}

fn at() -> Timestamp {
    Timestamp::parse("2026-05-24T18:42:02.000000Z").unwrap()
}

fn fixed() -> (State, Chain) {
    let (mut state, mut chain) = (State::default(), Chain::default());
    for (stream, kind, body) in events() {
        let event = Event::decode(kind, body.trim_end_matches('\n').as_bytes()).unwrap();
        let links = chain.next(stream);
        let fact = Fact {
            seq: links.seq,
            stream,
            sseq: links.sseq,
            actor: &Actor::Owner,
            at: at(),
            what: What::Present(&event),
        };
        evolve(&mut state, &fact);
        chain.advance(stream, links, chain_hash(body.as_bytes()));
    }
    (state, chain)
}

#[test]
fn a_changed_layout_needs_a_new_version() {
    let (state, chain) = fixed();
    let bytes = View::new(&state, &chain, at()).archive().unwrap();
    let digest = blake3::hash(&bytes).to_hex();
    assert_eq!(
        digest.as_str(),
        LAYOUT,
        "the archived layout of the state is not that of version {VERSION}: raise VERSION by one, \
         or old snapshots are read as nonsense, and put the digest on the left into LAYOUT"
    );
}

#[test]
fn what_is_saved_comes_back() {
    let (state, chain) = fixed();
    let bytes = View::new(&state, &chain, at()).archive().unwrap();
    let saved = rkyv::from_bytes::<Snapshot, rancor::Error>(&bytes).unwrap();
    assert_eq!(saved.restore(), (state, chain, at()));
}

/// A log in memory that was closed once, so that it has a snapshot of its three records.
struct Saved {
    store: MemoryStore,
}

type Engine = Committer<MemoryWriter>;

impl Saved {
    fn new(seed: u8) -> Self {
        let saved = Self {
            store: MemoryStore::new(),
        };
        let mut committer = saved.open(seed);
        committer.found(&SystemClock).unwrap();
        for number in 1..=2_u8 {
            committer
                .commit_one(api_key(number), Actor::Owner, &SystemClock)
                .unwrap();
        }
        committer.close().unwrap();
        saved
    }

    fn open(&self, seed: u8) -> Engine {
        let (writer, reader) = self.store.open().unwrap();
        Committer::recover(Parts {
            writer,
            reader,
            seed: [seed; 32],
            origin: None,
            entropy: Entropy::from_seed([seed; 32]),
        })
        .unwrap()
    }

    fn rows(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let (_writer, reader) = self.store.open().unwrap();
        let meta = reader.space("meta").unwrap();
        reader
            .range(meta, b"state/", b"state0", false, 100)
            .unwrap()
    }

    /// Changes rows behind the engine's back.
    fn write(&self, rows: Vec<(Vec<u8>, Vec<u8>)>) {
        let (writer, reader) = self.store.open().unwrap();
        let meta = reader.space("meta").unwrap();
        let ops = rows.into_iter().map(|(key, value)| put(meta, key, value));
        writer.maintenance().append_rows(ops.collect()).unwrap();
    }

    fn loads(&self) -> bool {
        let (_writer, reader) = self.store.open().unwrap();
        let meta = reader.space("meta").unwrap();
        Snapshot::load(&*reader, meta).unwrap().is_some()
    }
}

fn api_key(number: u8) -> Command {
    Command::Keys(keys::Command::IssueApiKey(keys::ApiKeyIssued {
        agent: None,
        hash: blake3::hash(&[number]).to_hex().to_string(),
        key: minutebook_domain::ids::KeyId::parse(&format!("k_{number:016x}")).unwrap(),
        label: "any".to_owned(),
        scopes: vec![keys::Scope::Agent],
    }))
}

/// The snapshot's rows, changed, must be ignored, and the log folded to the same state.
fn ignored(what: &str, change: impl FnOnce(&mut Vec<(Vec<u8>, Vec<u8>)>)) {
    let saved = Saved::new(1);
    assert!(saved.loads());
    let whole = saved.open(1);
    assert_eq!(whole.last_snapshot, 3, "a start begins at the snapshot");
    let expected = (whole.state.clone(), whole.chain.clone(), whole.last_at);
    drop(whole);

    let mut rows = saved.rows();
    change(&mut rows);
    saved.write(rows);
    assert!(!saved.loads(), "{what}");
    let folded = saved.open(1);
    assert_eq!(folded.last_snapshot, 0, "{what}");
    assert_eq!(
        (folded.state.clone(), folded.chain.clone(), folded.last_at),
        expected,
        "{what}"
    );
    folded.close().unwrap();
    assert!(saved.loads(), "{what}: a stop saves it again");
}

#[test]
fn an_odd_snapshot_is_ignored_and_the_log_folded_again() {
    // Rows in key order: the chunk, the header.
    ignored("another version", |rows| rows[1].1[11] ^= 1);
    ignored("another magic", |rows| rows[1].1[0] ^= 1);
    ignored("a header cut short", |rows| rows[1].1.truncate(9));
    ignored("an impossible length", |rows| rows[1].1[12] = 0xff);
    ignored("another digest", |rows| rows[1].1[20] ^= 1);
    ignored("a changed byte", |rows| rows[0].1[0] ^= 1);
    ignored("a chunk cut short", |rows| {
        rows[0].1.pop();
    });
    ignored("an empty chunk", |rows| rows[0].1.clear());
}

#[test]
fn a_snapshot_of_another_log_is_ignored() {
    let other = Saved::new(2).rows();
    ignored("another log's", |rows| *rows = other);
}

#[test]
fn a_snapshot_from_beyond_the_end_is_ignored() {
    let ahead = Saved::new(1);
    let mut committer = ahead.open(1);
    committer
        .commit_one(api_key(3), Actor::Owner, &SystemClock)
        .unwrap();
    committer.close().unwrap();
    let ahead = ahead.rows();
    ignored("beyond the end", |rows| *rows = ahead);
}

#[test]
fn a_smaller_snapshot_leaves_no_pieces_of_a_bigger_one() {
    let saved = Saved::new(1);
    let before = saved.rows();
    saved.write((1..4).map(|index| (chunk_key(index), vec![7; 9])).collect());
    assert_eq!(saved.rows().len(), before.len() + 3);
    let mut committer = saved.open(1);
    committer
        .commit_one(api_key(3), Actor::Owner, &SystemClock)
        .unwrap();
    committer.close().unwrap();
    let keys = |rows: Vec<(Vec<u8>, Vec<u8>)>| rows.into_iter().map(|(key, _)| key);
    assert!(keys(saved.rows()).eq(keys(before)));
    assert!(saved.loads());
}
