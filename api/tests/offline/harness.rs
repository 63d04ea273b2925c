//! A log on disk, the same bytes every time: fixed key, fixed salts, fixed times.

use std::{ops::ControlFlow, path::Path, sync::Arc};

use ed25519_dalek::Signer as _;
use minutebook::{
    cli,
    engine::{Committer, Entropy, Parts, Submission, keyfile},
    generations::{Access, Progress, each_fact},
};
use minutebook_domain::{
    Command, State,
    actor::Actor,
    evolve,
    ids::RoomId,
    keys,
    room::{
        self, BodiesErased, Dialect, MessageKind, Opened, PostMessage, ProtocolMode,
        claims::{self, Author, Claims, OpenClaim, ReviseClaim, RevisionKind, ShakeHands},
    },
    signature::{LedgerAct, LedgerSignature, SURFACE_MINUTEBOOK_V2},
    text::{AgentName, ClaimValue, Description, MessageText, Reason, RoomName, Subject},
    time::Timestamp,
};
use minutebook_eventlog::store::{
    LogReader, LogWriter,
    fjall::{FjallStore, FjallWriter, Options},
};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) const ORIGIN: &str = "minutebook.test/log";
const SEED: [u8; 32] = [7; 32];
/// 2026-11-30T12:00:00Z.
const NOON: i64 = 1_796_040_000_000_000;

pub(crate) fn room_id(number: u32) -> RoomId {
    RoomId::new(Uuid::from_u128(
        0xa000_0000_0000_4000_8000_0000_0000_0000 + u128::from(number),
    ))
}

/// A log being written.
pub(crate) struct TestLog {
    pub(crate) dir: TempDir,
    committer: Option<Committer<FjallWriter>>,
    at: i64,
}

impl TestLog {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        keyfile::create(&dir.path().join("arbiter.key"), &SEED).unwrap();
        let mut log = Self {
            dir,
            committer: None,
            at: NOON,
        };
        log.reopen();
        log.owner(Command::Keys(keys::Command::OpenLog(keys::LogOpened {
            origin: ORIGIN.to_owned(),
            vkey: Self::vkey(),
        })));
        log
    }

    fn vkey() -> String {
        use minutebook_eventlog::format::key::SigningKey;
        SigningKey::from_seed(ORIGIN, SEED).unwrap().vkey()
    }

    /// Opens the directory for writing again.
    pub(crate) fn reopen(&mut self) {
        let (writer, reader) = FjallStore::open(self.dir.path(), &Options::default()).unwrap();
        let reader: Arc<dyn LogReader> = reader;
        let entropy = Entropy::from_seed([u8::try_from(self.at % 251).unwrap(); 32]);
        let origin = Some(ORIGIN.to_owned());
        let parts = Parts {
            writer,
            reader,
            seed: SEED,
            origin,
            entropy,
        };
        self.committer = Some(Committer::recover(parts).unwrap());
    }

    /// Lets go of the directory.
    pub(crate) fn close(&mut self) -> &Path {
        if let Some(committer) = self.committer.take() {
            committer.close().unwrap();
        }
        self.dir.path()
    }

    pub(crate) fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(self.committer.as_ref().unwrap().reader())
    }

    /// One commit a second later.
    pub(crate) fn commit(&mut self, commands: Vec<(Actor, Command)>) {
        self.at += 1_000_000;
        let batch = commands
            .into_iter()
            .map(|(actor, command)| Submission {
                command: command.check().unwrap(),
                actor,
                idempotency: None,
                cause: None,
            })
            .collect();
        let committer = self.committer.as_mut().unwrap();
        let written = committer
            .commit(batch, Timestamp::from_micros(self.at), false)
            .unwrap();
        for outcome in written.outcomes {
            outcome.unwrap();
        }
    }

    pub(crate) fn owner(&mut self, command: Command) {
        let actor = match &command {
            Command::Keys(keys::Command::OpenLog(_)) => Actor::Arbiter,
            Command::Keys(_) | Command::Room(..) | Command::Skills(_) => Actor::Owner,
        };
        self.commit(vec![(actor, command)]);
    }

    pub(crate) fn open_room(&mut self, number: u32, is_public: bool, name: Option<&str>) {
        let opened = Opened {
            description: Description::parse(&format!("about {number}")).unwrap(),
            dialect: Dialect::Rooms,
            is_public,
            confirmations_needed: None,
            message_limit: None,
            name: name.map(|name| RoomName::parse(name).unwrap()),
            protocol_mode: ProtocolMode::Standard,
        };
        self.owner(Command::Room(room_id(number), room::Command::Open(opened)));
    }

    pub(crate) fn post(&mut self, number: u32, agent: &str, text: &str) {
        let command = post(number, agent, text);
        self.commit(vec![command]);
    }

    /// Many messages, 1,000 a commit, over rooms `0..rooms`.
    pub(crate) fn talk(&mut self, rooms: u32, messages: u32) {
        let mut batch = Vec::new();
        for number in 0..messages {
            let agent = format!("agent {}", number % 7);
            batch.push(post(number % rooms, &agent, &format!("message {number}")));
            if batch.len() == 1000 {
                self.commit(std::mem::take(&mut batch));
            }
        }
        if !batch.is_empty() {
            self.commit(batch);
        }
    }

    pub(crate) fn erase_bodies(&mut self, number: u32, first: u64, last: u64) {
        let reason = Reason::parse("asked to").unwrap();
        let range = BodiesErased {
            first,
            last,
            reason,
        };
        self.owner(Command::Room(
            room_id(number),
            room::Command::EraseBodies(range),
        ));
    }

    /// An act of an agent in a room.
    fn act(&mut self, number: u32, agent: &str, act: impl FnOnce(AgentName) -> room::Command) {
        let agent = AgentName::parse(agent).unwrap();
        let command = Command::Room(room_id(number), act(agent.clone()));
        self.commit(vec![(Actor::Agent(agent), command)]);
    }

    pub(crate) fn join(&mut self, number: u32, agent: &str) {
        self.act(number, agent, |agent| {
            room::Command::Join(room::Joined { agent })
        });
    }

    /// Opens a thread.
    pub(crate) fn claim(&mut self, number: u32, agent: &str, subject: &str, value: &str) {
        self.act(number, agent, |agent| {
            room::Command::Claim(claims::Command::Open(OpenClaim {
                agent: Author::Agent(agent),
                quote: None,
                signature: None,
                source_msg_id: None,
                subject: Subject::parse(subject).unwrap(),
                subject_key: None,
                value: ClaimValue::parse(value).unwrap(),
            }))
        });
    }

    /// Revises the room's thread number `n`, from 0.
    pub(crate) fn revise(
        &mut self,
        (number, n): (u32, usize),
        agent: &str,
        kind: RevisionKind,
        value: &str,
    ) {
        let claim = self.claims(number).threads()[n].id();
        self.act(number, agent, |agent| {
            room::Command::Claim(claims::Command::Revise(ReviseClaim {
                agent: Author::Agent(agent),
                claim,
                kind,
                quote: None,
                signature: None,
                source_msg_id: None,
                value: ClaimValue::parse(value).unwrap(),
            }))
        });
    }

    /// Shakes hands on what is negotiated; signed, with a key made of the seed, if there is one.
    pub(crate) fn shake_hands(&mut self, number: u32, agent: &str, seed: Option<[u8; 32]>) {
        let claims = self.claims(number);
        let (hash, read) = (claims.context_hash().to_owned(), claims.revisions());
        let room = room_id(number);
        let signature = seed.map(|seed| {
            let act = LedgerAct::Handshake {
                agent,
                context_hash: &hash,
            };
            let surface = SURFACE_MINUTEBOOK_V2;
            let bytes = act.signed_bytes(surface, room, Some(read)).unwrap();
            let key = ed25519_dalek::SigningKey::from_bytes(&seed);
            let sig = hex::encode(key.sign(&bytes).to_bytes());
            let public = hex::encode(key.verifying_key().to_bytes());
            LedgerSignature::from_client(surface, Some(read), &public, &sig)
        });
        self.act(number, agent, |agent| {
            room::Command::Claim(claims::Command::ShakeHands(ShakeHands {
                agent,
                context_hash: hash,
                signature,
            }))
        });
    }

    /// Something that the arbiter does in a room.
    pub(crate) fn arbiter(&mut self, number: u32, command: claims::Command) {
        let command = Command::Room(room_id(number), room::Command::Claim(command));
        self.commit(vec![(Actor::Arbiter, command)]);
    }

    fn claims(&self, number: u32) -> Claims {
        let (reader, mut state) = (self.reader(), State::default());
        let head = reader.head().unwrap().seq;
        each_fact(&*reader, 1, head, |page| {
            for fact in page {
                evolve(&mut state, &fact.fact());
            }
            Ok(())
        })
        .unwrap();
        state.room(&room_id(number)).unwrap().claims().clone()
    }

    pub(crate) fn leave(&mut self, number: u32, agent: &str) {
        self.act(number, agent, |agent| {
            let how = room::Leaving::Asked;
            room::Command::Leave(room::Left { agent, how })
        });
    }

    pub(crate) fn rename(&mut self, number: u32, name: Option<&str>) {
        let name = name.map(|name| RoomName::parse(name).unwrap());
        let command = room::Command::Rename(room::Renamed { name });
        self.owner(Command::Room(room_id(number), command));
    }

    pub(crate) fn close_room(&mut self, number: u32) {
        let reason = Reason::parse("agreed").unwrap();
        let command = room::Command::Close(room::Closed { reason });
        self.owner(Command::Room(room_id(number), command));
    }

    pub(crate) fn erase_room(&mut self, number: u32) {
        let reason = Reason::parse("done with").unwrap();
        let command = room::Command::Erase(room::Erased { reason });
        self.owner(Command::Room(room_id(number), command));
    }
}

fn post(number: u32, agent: &str, text: &str) -> (Actor, Command) {
    let agent = AgentName::parse(agent).unwrap();
    let message = PostMessage {
        agent: agent.clone(),
        kind: MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(text).unwrap(),
    };
    let command = Command::Room(room_id(number), room::Command::PostMessage(message));
    (Actor::Agent(agent), command)
}

/// A small log with something of everything: rooms, agents, erasures.
pub(crate) fn small() -> TestLog {
    let mut log = TestLog::new();
    log.open_room(0, true, Some("lobby"));
    log.open_room(1, false, None);
    log.open_room(2, true, None);
    log.post(0, "ann", "hello");
    log.post(0, "bob", "\u{1b}[2Jcleared?");
    log.post(1, "ann", "psst");
    log.post(2, "cid", "to be forgotten");
    log.erase_bodies(0, 2, 2);
    log.erase_room(2);
    log
}

/// The directory opened by a process that will not stop cleanly.
pub(crate) struct Raw {
    pub(crate) access: Access,
    _writer: FjallWriter,
}

impl Raw {
    pub(crate) fn open(dir: &Path) -> Self {
        let (writer, reader) = FjallStore::open(dir, &Options::default()).unwrap();
        let reader: Arc<dyn LogReader> = reader;
        let access = Access {
            reader,
            maintenance: writer.maintenance(),
        };
        Self {
            access,
            _writer: writer,
        }
    }
}

pub(crate) fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// What a command line printed and how it ended.
pub(crate) struct Ran {
    pub(crate) exit: cli::Exit,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn minutebook(dir: &Path, args: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let data = dir.to_str().unwrap();
    let all = ["minutebook", "--data", data]
        .into_iter()
        .chain(args.iter().copied());
    let exit = cli::run(all, &mut cli::Terminal::of_buffers(&mut out, &mut err));
    Ran {
        exit,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}
