//! A seeded world: agents, the committer, followers, a store that fails on demand, one clock.
//!
//! Invariants
//! * Nothing here reads a clock or the operating system's randomness: the seed decides everything,
//!   so the same seed gives the same log, byte for byte.
//! * An agent that got no answer asks again under the same idempotency key, as a client would.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use anyhow::{Result, anyhow, ensure};
use minutebook::engine::{
    Committer, Entropy, Feed, Follower, Idempotency, Parts, Scope, Submission, SubmitError,
};
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::text::{AgentName, Description, MessageText, Reason};
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Command, keys, room};
use minutebook_eventlog::store::LogReader;
use minutebook_eventlog::store::fault::{Fault, FaultWriter};
use minutebook_eventlog::store::memory::{MemoryStore, MemoryWriter};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use uuid::Uuid;

/// The arbiter's seed in every world.
pub const ARBITER: [u8; 32] = [3; 32];
/// The log's origin in every world.
pub const ORIGIN: &str = "sim.example/log";
/// 2026-11-30T00:00:00Z.
const START_MICROS: i64 = 1_795_996_800_000_000;
const AGENTS: [&str; 4] = ["alice", "bob", "carol", "dave"];
const ROOMS_MAX: usize = 6;

type World = Committer<FaultWriter<MemoryWriter>>;

/// What a run left behind.
pub struct Outcome {
    /// The log.
    pub reader: Arc<dyn LogReader>,
    /// First seq of every acknowledged command, by idempotency key.
    pub acknowledged: BTreeMap<String, u64>,
    /// How often the world crashed.
    pub crashes: u32,
    /// Records every follower saw, in order.
    pub followed: Vec<Vec<u64>>,
}

/// A command with its key, until it has an answer.
#[derive(Clone)]
struct Wish {
    key: String,
    actor: Actor,
    command: Command,
}

struct Sim {
    rng: ChaCha20Rng,
    store: MemoryStore,
    committer: World,
    feed: Feed,
    followers: Vec<(Follower, Vec<u64>)>,
    finished: Vec<Vec<u64>>,
    rooms: Vec<RoomId>,
    pending: Vec<Wish>,
    acknowledged: BTreeMap<String, u64>,
    micros: i64,
    wishes: u64,
    crashes: u32,
}

/// Runs a world for so many steps.
pub fn run(seed: u64, steps: u32) -> Result<Outcome> {
    let mut sim = Sim::new(seed)?;
    for _ in 0..steps {
        sim.step()?;
    }
    while !sim.pending.is_empty() {
        sim.commit()?;
    }
    sim.poll_followers()?;
    let reader = Arc::clone(&sim.reader());
    let mut followed = sim.finished;
    followed.extend(sim.followers.into_iter().map(|(_, seen)| seen));
    Ok(Outcome {
        reader,
        acknowledged: sim.acknowledged,
        crashes: sim.crashes,
        followed,
    })
}

/// A script that lets one step in forty fail, in one of the two ways.
fn script(rng: ChaCha20Rng) -> impl FnMut(minutebook_eventlog::store::fault::Step) -> Fault + Send {
    let rng = Mutex::new(rng);
    move |_| {
        let roll = rng.lock().map_or(0, |mut rng| rng.random_range(0..80_u32));
        match roll {
            78 => Fault::FailNotPersisted,
            79 => Fault::FailButPersisted,
            _ => Fault::None,
        }
    }
}

fn open(store: &MemoryStore, rng: &mut ChaCha20Rng) -> Result<(World, Feed)> {
    let (writer, reader) = store.open()?;
    let reader: Arc<dyn LogReader> = reader;
    let writer = FaultWriter::new(writer, script(ChaCha20Rng::from_rng(rng)));
    let entropy = Entropy::from_seed(rng.random());
    let origin = Some(ORIGIN.to_owned());
    let feed = Feed::new(Arc::clone(&reader));
    let parts = Parts {
        writer,
        reader,
        seed: ARBITER,
        origin,
        entropy,
    };
    Ok((Committer::recover(parts)?, feed))
}

impl Sim {
    fn new(seed: u64) -> Result<Self> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let store = MemoryStore::new();
        let (committer, feed) = open(&store, &mut rng)?;
        let mut sim = Self {
            rng,
            store,
            committer,
            feed,
            followers: Vec::new(),
            finished: Vec::new(),
            rooms: Vec::new(),
            pending: Vec::new(),
            acknowledged: BTreeMap::new(),
            micros: START_MICROS,
            wishes: 0,
            crashes: 0,
        };
        sim.found()?;
        Ok(sim)
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(self.committer.reader())
    }

    /// Founding may fail like everything else; then the world crashes and tries again.
    fn found(&mut self) -> Result<()> {
        let clock = FixedClock(self.micros);
        while self.committer.found(&clock).is_err() {
            self.crash()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        match self.rng.random_range(0..10_u32) {
            0..=5 => self.wish(),
            6 | 7 => self.commit()?,
            8 => self.poll_followers()?,
            _ => self.join_or_leave_feed()?,
        }
        Ok(())
    }

    /// An agent wants something.
    fn wish(&mut self) {
        self.wishes += 1;
        let key = format!("wish-{}", self.wishes);
        let agent = AGENTS[self.rng.random_range(0..AGENTS.len())];
        let name = AgentName::parse(agent).unwrap();
        let (actor, command) = if let Some(id) = self.pick_room() {
            self.in_room(id, &name)
        } else {
            let id = RoomId::new(Uuid::from_u128(self.rng.random()));
            self.rooms.push(id);
            (Actor::Agent(name), Command::Room(id, opening(self.wishes)))
        };
        self.pending.push(Wish {
            key,
            actor,
            command,
        });
    }

    fn pick_room(&mut self) -> Option<RoomId> {
        let open_new = self.rooms.len() < ROOMS_MAX && self.rng.random_range(0..8_u32) == 0;
        if self.rooms.is_empty() || open_new {
            return None;
        }
        Some(self.rooms[self.rng.random_range(0..self.rooms.len())])
    }

    fn in_room(&mut self, id: RoomId, name: &AgentName) -> (Actor, Command) {
        let agent = name.clone();
        let reason = Reason::parse("an order").unwrap();
        let (actor, command) = match self.rng.random_range(0..40_u32) {
            0 => (Actor::Owner, room::Command::Close(room::Closed { reason })),
            1 => (Actor::Owner, room::Command::Erase(room::Erased { reason })),
            2 | 3 => {
                let first = self.rng.random_range(1..10);
                let last = first + self.rng.random_range(0..10_u64);
                let range = room::BodiesErased {
                    first,
                    last,
                    reason,
                };
                (Actor::Owner, room::Command::EraseBodies(range))
            }
            4..=7 => (
                Actor::Agent(agent.clone()),
                room::Command::Join(room::Joined { agent }),
            ),
            8..=10 => {
                let left = room::Left {
                    agent: agent.clone(),
                    how: room::Leaving::Asked,
                };
                (Actor::Agent(agent), room::Command::Leave(left))
            }
            11 => {
                let hash = hex::encode(self.rng.random::<[u8; 32]>());
                return (Actor::Owner, issue(&hash));
            }
            _ => (Actor::Agent(agent), self.message(name)),
        };
        (actor, Command::Room(id, command))
    }

    fn message(&mut self, agent: &AgentName) -> room::Command {
        let length = self.rng.random_range(1..200);
        room::Command::PostMessage(room::PostMessage {
            agent: agent.clone(),
            kind: room::MessageKind::Chat,
            memory_root: None,
            signature: None,
            text: MessageText::parse(&"né🧱".chars().cycle().take(length).collect::<String>())
                .unwrap(),
        })
    }

    /// Commits what is pending; a failure of the store is a crash, and the wishes stay.
    fn commit(&mut self) -> Result<()> {
        self.micros += self.rng.random_range(0..3_000_000);
        let take = self.rng.random_range(1..=8).min(self.pending.len());
        let wishes: Vec<Wish> = self.pending.drain(..take).collect();
        let batch = wishes.iter().map(submission).collect::<Result<Vec<_>>>()?;
        let now = Timestamp::from_micros(self.micros);
        let Ok(written) = self.committer.commit(batch, now, &self.feed) else {
            self.pending.splice(..0, wishes);
            return self.crash();
        };
        self.feed.publish(&written.news);
        for (wish, outcome) in wishes.into_iter().zip(written.outcomes) {
            self.answered(wish, outcome)?;
        }
        Ok(())
    }

    fn answered(
        &mut self,
        wish: Wish,
        outcome: Result<minutebook::engine::Committed, SubmitError>,
    ) -> Result<()> {
        match outcome {
            Ok(committed) => {
                let first = committed.events.first().map(|event| event.seq);
                let first = first.ok_or_else(|| anyhow!("an answer without events"))?;
                if let Some(before) = self.acknowledged.insert(wish.key.clone(), first) {
                    ensure!(
                        before == first,
                        "{} was done twice: {before}, {first}",
                        wish.key
                    );
                    ensure!(
                        committed.replayed,
                        "{} was not answered from the log",
                        wish.key
                    );
                } else if self.rng.random_range(0..10_u32) == 0 {
                    // Now and then a client asks again although it was answered.
                    self.pending.push(wish);
                }
                Ok(())
            }
            Err(SubmitError::Rejected(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The process dies. Followers end; a new one starts from what the store kept.
    fn crash(&mut self) -> Result<()> {
        self.crashes += 1;
        for (_, seen) in self.followers.drain(..) {
            self.finished.push(seen);
        }
        // The old writer must be gone before the store can be opened again.
        let nothing = MemoryStore::new();
        (self.committer, self.feed) = open(&nothing, &mut self.rng)?;
        (self.committer, self.feed) = open(&self.store, &mut self.rng)?;
        Ok(())
    }

    fn join_or_leave_feed(&mut self) -> Result<()> {
        if self.followers.len() >= 3 {
            let (_, seen) = self.followers.remove(0);
            self.finished.push(seen);
            return Ok(());
        }
        let scope = match self.pick_room() {
            Some(id) if self.rng.random() => Scope::Room(id),
            _ => Scope::All,
        };
        let after = self.rng.random_range(0..=self.reader().head()?.seq);
        self.followers
            .push((self.feed.follow(scope, after)?, vec![after]));
        Ok(())
    }

    fn poll_followers(&mut self) -> Result<()> {
        let head = self.reader().head()?.seq;
        for (follower, seen) in &mut self.followers {
            loop {
                let page = follower.poll()?;
                if page.is_empty() {
                    break;
                }
                seen.extend(page.iter().map(|record| record.seq));
            }
            ensure!(
                seen.last().is_none_or(|last| *last <= head),
                "seen before it was durable"
            );
        }
        Ok(())
    }
}

fn submission(wish: &Wish) -> Result<Submission> {
    let request = *blake3::hash(format!("{:?}", wish.command).as_bytes()).as_bytes();
    let mut half = [0; 16];
    half.copy_from_slice(&request[..16]);
    Ok(Submission {
        command: wish.command.clone().check()?,
        actor: wish.actor.clone(),
        idempotency: Some(Idempotency {
            key: wish.key.clone(),
            asker: String::new(),
            request: half,
        }),
        cause: None,
    })
}

fn opening(n: u64) -> room::Command {
    room::Command::Open(room::Opened {
        description: Description::parse(&format!("room of wish {n}")).unwrap(),
        dialect: room::Dialect::Rooms,
        is_public: n.is_multiple_of(2),
        confirmations_needed: None,
        message_limit: Some(50),
        name: None,
        protocol_mode: room::ProtocolMode::Standard,
    })
}

fn issue(hash: &str) -> Command {
    Command::Keys(keys::Command::IssueApiKey(keys::ApiKeyIssued {
        agent: None,
        hash: hash.to_owned(),
        key: minutebook_domain::ids::KeyId::parse(&format!("k_{}", &hash[..16])).unwrap(),
        label: "a key".to_owned(),
        scopes: vec![keys::Scope::Agent],
    }))
}

struct FixedClock(i64);

impl minutebook::engine::Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0)
    }
}
