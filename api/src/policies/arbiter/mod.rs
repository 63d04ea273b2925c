//! The arbiter: reads rooms with a language model and writes down what they are about.
//!
//! A room is read message by message, in order. Of each message first the reading is recorded
//! (`room.context_extracted`: which model, what it was given, what it answered), then each thing it
//! proposes is asked for as a command of its own, with the reading as its cause. So a replay calls
//! no model, and a crash in between loses nothing: the proposals of the newest reading are asked
//! for again when the room is read next, and those that were taken are known by their message.
//!
//! Invariants
//! * The arbiter writes as itself only. What a model says somebody else confirms, contradicts,
//!   updates or withdraws stays a suggestion.
//! * One reading at a time in a room; [`CALLS_MAX`] calls of a model at a time in all.
//! * An outage of the model skips no message; a message that cannot be read is skipped in the
//!   open.

mod apply;
mod config;
mod counts;
mod doubt;
mod models;
mod read;
mod schedule;
mod worker;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::{Command, Rejection, room::claims};
use minutebook_projections::ProjectionError;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Semaphore;

pub use config::ArbiterConfig;
pub use counts::Counts;
pub use worker::run as run_worker;

use self::doubt::Doubts;
use self::models::Models;
use self::worker::Waiting;
use crate::engine::{Committed, Handle, Idempotency, Submission, SubmitError};
use crate::models::openai::EndpointError;

/// Calls of a model at a time.
const CALLS_MAX: usize = 8;
/// Messages one run reads at most.
pub const RUN_MESSAGES_MAX: u64 = 200;
/// How long a run may go on before it leaves the rest to the next.
const RUN_WITHIN: Duration = Duration::from_mins(2);

/// The arbiter of a server.
pub struct Arbiter {
    engine: Handle,
    models: Models,
    calls: Semaphore,
    /// Of rooms being read or waiting to be.
    turns: Mutex<HashMap<RoomId, Arc<tokio::sync::Mutex<()>>>>,
    doubts: Doubts,
    waiting: Waiting,
    /// Rooms that are read by themselves.
    premium: RwLock<HashSet<RoomId>>,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Threads opened and revised.
    pub extracted: u64,
    /// Discrepancies noted.
    pub discrepancies: u64,
    /// Messages read.
    pub read: u64,
    /// Messages skipped.
    pub skipped: u64,
    /// `adapter:model` that read the last one.
    pub model: Option<String>,
    /// Why it ended early.
    pub outage: Option<String>,
    /// Messages left to read.
    pub remaining: u64,
    /// The first of them.
    pub next: Option<u64>,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Rows could not be read.
    #[error(transparent)]
    Rows(#[from] ProjectionError),
    /// The log takes nothing.
    #[error(transparent)]
    Submit(#[from] SubmitError),
}

impl RunError {
    /// Whether the room is one that nothing is read in any more.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Submit(SubmitError::Rejected(_)))
    }
}

impl Arbiter {
    /// The arbiter as configured; none when it is off.
    pub fn new(engine: Handle, config: &ArbiterConfig) -> Result<Option<Self>, EndpointError> {
        let Some(models) = Models::new(config)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            engine,
            models,
            calls: Semaphore::new(CALLS_MAX),
            turns: Mutex::default(),
            doubts: Doubts::default(),
            waiting: Waiting::default(),
            premium: RwLock::default(),
        }))
    }

    /// Whether what is said in the rooms it reads leaves this server.
    pub fn sends_messages_away(&self) -> bool {
        self.models.is_any_remote()
    }

    /// Reads what is new in a room, or again from some message on.
    pub async fn run(&self, room: RoomId, from: Option<u64>) -> Result<Run, RunError> {
        let turn = self.turn(room);
        let guard = turn.lock().await;
        let done = self.read_room(room, from).await;
        drop(guard);
        drop(turn);
        self.give_up_turn(room);
        done
    }

    async fn read_room(&self, room: RoomId, from: Option<u64>) -> Result<Run, RunError> {
        let until = Instant::now() + RUN_WITHIN;
        let mut run = Run::default();
        let row = self.engine.rooms(|rooms| rooms.room(room))?;
        let row = row.ok_or(SubmitError::Rejected(Rejection::RoomNotFound))?;
        if row.is_closed {
            return Err(SubmitError::Rejected(Rejection::RoomClosed).into());
        }
        self.finish_newest(room, &mut run).await?;
        let ledger = self.engine.threads(|threads| threads.ledger(room))?;
        let unread = ledger.last_extracted_msg_id + 1;
        let mut next = from.map_or(unread, |from| from.clamp(1, unread));
        let last = row
            .message_count
            .min(next.saturating_add(RUN_MESSAGES_MAX - 1));
        while next <= last && run.outage.is_none() && Instant::now() < until {
            self.read_message(room, next, &mut run).await?;
            next += u64::from(run.outage.is_none());
        }
        run.remaining = (row.message_count + 1).saturating_sub(next);
        run.next = (run.remaining > 0).then_some(next);
        Ok(run)
    }

    /// What it counts.
    pub fn counts(&self) -> &Counts {
        &self.models.counts
    }

    fn turn(&self, room: RoomId) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.turns.lock().entry(room).or_default())
    }

    fn give_up_turn(&self, room: RoomId) {
        let mut turns = self.turns.lock();
        if turns
            .get(&room)
            .is_some_and(|turn| Arc::strong_count(turn) == 1)
        {
            turns.remove(&room);
        }
    }

    /// Has a command of a room's ledger done; none if the rules refuse it.
    async fn submit(
        &self,
        room: RoomId,
        command: claims::Command,
        because: Option<(u64, Idempotency)>,
    ) -> Result<Option<Committed>, SubmitError> {
        let command = minutebook_domain::room::Command::Claim(command);
        let checked = match Command::Room(room, command).check() {
            Ok(checked) => checked,
            Err(rejection) => return Ok(refused(room, &rejection)),
        };
        let (cause, idempotency) = because.unzip();
        let submission = Submission {
            command: checked,
            actor: Actor::Arbiter,
            idempotency,
            cause,
        };
        match self.engine.submit(submission).await {
            Ok(committed) => Ok(Some(committed)),
            Err(SubmitError::Rejected(rejection)) => Ok(refused(room, &rejection)),
            Err(error) => Err(error),
        }
    }
}

/// What a model proposes may well be against the rules: that is what they are for.
fn refused(room: RoomId, rejection: &Rejection) -> Option<Committed> {
    tracing::debug!(%room, %rejection, "the arbiter's command was refused");
    None
}
