//! The engine alone, against a bare loop that hashes, signs and commits the same bytes.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Result, anyhow};
use minutebook::engine::{Committer, Entropy, Parts, Submission, SystemClock};
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::text::{AgentName, Description, MessageText};
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Command, room};
use minutebook_eventlog::format::checkpoint::Checkpoint;
use minutebook_eventlog::format::hash::{body_commitment, chain_hash, leaf_hash};
use minutebook_eventlog::format::key::SigningKey;
use minutebook_eventlog::format::tree::Frontier;
use minutebook_eventlog::store::fjall::{FjallStore, Options};
use minutebook_eventlog::store::{
    Commit, Head, LogReader, LogWriter, Maintenance, NewRecord, StoreError,
};
use uuid::Uuid;

use super::{probe, report};

/// Commands in a batch.
const BATCH: usize = 256;
const ROOMS: u128 = 100;
const SEED: [u8; 32] = [9; 32];
/// 2026-11-30T00:00:00Z, and a microsecond more for every batch.
const START_MICROS: i64 = 1_795_996_800_000_000;

/// Runs both and prints the ratio.
pub fn run(folder: &Path, batches: usize, bytes: usize) -> Result<()> {
    println!("fsync: {}", report::times(&probe::fsync(folder, 300)?));
    let commits = Arc::new(Mutex::new(Vec::new()));
    let engine = engine(&folder.join("engine"), batches, bytes, None)?;
    self::engine(
        &folder.join("recorded"),
        batches,
        bytes,
        Some(Arc::clone(&commits)),
    )?;
    let commits = std::mem::take(&mut *commits.lock().map_err(|_| anyhow!("poisoned"))?);
    let bare = bare(&folder.join("bare"), commits)?;
    println!("engine, batches of {BATCH}: {engine:.0} messages/s");
    println!("bare loop, the same bytes:  {bare:.0} messages/s");
    println!("ratio: {:.0} %", engine / bare * 100.0);
    Ok(())
}

type Recorded = Arc<Mutex<Vec<Commit>>>;

fn engine(data: &Path, batches: usize, bytes: usize, record: Option<Recorded>) -> Result<f64> {
    let (writer, reader) = FjallStore::open(data, &Options::default())?;
    let writer = Recorder {
        inner: writer,
        record,
    };
    let entropy = Entropy::from_seed(SEED);
    let origin = Some("bench.example/log".to_owned());
    let mut committer = Committer::recover(Parts {
        writer,
        reader,
        seed: SEED,
        origin,
        entropy,
    })?;
    committer.found(&SystemClock)?;
    let mut micros = START_MICROS;
    let open = (0..ROOMS)
        .map(|n| submission(room_id(n), open_room()))
        .collect::<Result<_>>()?;
    committer.commit(open, Timestamp::from_micros(micros), false)?;
    let text = "x".repeat(bytes);
    let load = (0..batches)
        .map(|_| {
            (0..BATCH as u128)
                .map(|n| submission(room_id(n % ROOMS), post(&text)?))
                .collect()
        })
        .collect::<Result<Vec<Vec<Submission>>>>()?;
    let started = Instant::now();
    for batch in load {
        micros += 1;
        let written = committer.commit(batch, Timestamp::from_micros(micros), false)?;
        if let Some(Err(error)) = written.outcomes.into_iter().find(Result::is_err) {
            return Err(error.into());
        }
    }
    Ok(rate(batches * BATCH, started))
}

/// Hashes, signs and commits what the engine committed, and does nothing else.
fn bare(data: &Path, commits: Vec<Commit>) -> Result<f64> {
    let (mut writer, reader) = FjallStore::open(data, &Options::default())?;
    // Spaces are handles of a store: the same names in the same order give the same handles.
    for name in ["meta", "rooms.g1", "history.g1"] {
        reader.space(name)?;
    }
    let key = SigningKey::from_seed("bench.example/log", SEED)?;
    let mut frontier = Frontier::new();
    let mut records = 0;
    let mut started = Instant::now();
    for (index, mut commit) in commits.into_iter().enumerate() {
        if index == 2 {
            // Founding and the opening of the rooms are not measured above either.
            (started, records) = (Instant::now(), 0);
        }
        let mut head = Head {
            seq: 0,
            hash: chain_hash(b""),
            checkpoint: String::new(),
        };
        for new in &commit.records {
            if let Some(body) = &new.record.body {
                std::hint::black_box(body_commitment(&body.salt, &body.bytes));
            }
            head.hash = chain_hash(&new.record.envelope);
            head.seq = new.seq;
            frontier.push(leaf_hash(&new.record.envelope));
        }
        let (size, root) = (frontier.size(), frontier.root());
        let origin = "bench.example/log".to_owned();
        commit.checkpoint = Checkpoint { origin, size, root }.sign(&key);
        head.checkpoint.clone_from(&commit.checkpoint);
        records += commit.records.len();
        writer.append(commit)?;
        writer.record_head(&head)?;
    }
    Ok(rate(records, started))
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(records: usize, started: Instant) -> f64 {
    records as f64 / started.elapsed().as_secs_f64()
}

fn room_id(n: u128) -> RoomId {
    RoomId::new(Uuid::from_u128(0x4000_8000_0000_0000_0000 | n))
}

fn open_room() -> room::Command {
    room::Command::Open(room::Opened {
        description: Description::parse("a room").unwrap_or_else(|_| unreachable!()),
        dialect: room::Dialect::Rooms,
        is_public: true,
        confirmations_needed: None,
        message_limit: None,
        name: None,
        protocol_mode: room::ProtocolMode::Standard,
    })
}

fn post(text: &str) -> Result<room::Command> {
    Ok(room::Command::PostMessage(room::PostMessage {
        agent: AgentName::parse("alice")?,
        kind: room::MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(text)?,
    }))
}

fn submission(id: RoomId, command: room::Command) -> Result<Submission> {
    let command = Command::Room(id, command).check()?;
    let actor = Actor::Agent(AgentName::parse("alice")?);
    Ok(Submission {
        command,
        actor,
        idempotency: None,
        cause: None,
    })
}

/// Passes on, and keeps a copy when asked to.
struct Recorder<W> {
    inner: W,
    record: Option<Recorded>,
}

impl<W: LogWriter> LogWriter for Recorder<W> {
    fn append(&mut self, commit: Commit) -> Result<(), StoreError> {
        if let Some(record) = &self.record {
            record
                .lock()
                .map_err(|_| StoreError::Io("poisoned".to_owned()))?
                .push(copy(&commit));
        }
        self.inner.append(commit)
    }

    fn record_head(&mut self, head: &Head) -> Result<(), StoreError> {
        self.inner.record_head(head)
    }

    fn maintenance(&self) -> Arc<dyn Maintenance> {
        self.inner.maintenance()
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        self.inner.stop()
    }
}

fn copy(commit: &Commit) -> Commit {
    let record = |new: &NewRecord| NewRecord {
        record: new.record.clone(),
        seq: new.seq,
        stream: new.stream.clone(),
        sseq: new.sseq,
    };
    Commit {
        expected_seq: commit.expected_seq,
        records: commit.records.iter().map(record).collect(),
        checkpoint: commit.checkpoint.clone(),
        commands: commit.commands.clone(),
        erase: commit.erase.clone(),
        rows: commit.rows.clone(),
        tiles: commit.tiles.clone(),
    }
}
