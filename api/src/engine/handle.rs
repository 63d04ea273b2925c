//! The cheap-to-clone front of the engine.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use minutebook_domain::keys::KeysState;
use minutebook_eventlog::format::key::VerifyingKey;
use minutebook_eventlog::store::{LogReader, StoreError};
use minutebook_verifier::Judged;
use parking_lot::RwLock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::stats::Stats;
use super::{Committed, Feed, Follower, Scope, Submission, SubmitError};
use crate::generations::LiveSpaces;

/// Most commands waiting for the writer; beyond it a caller is asked to come back.
pub(super) const QUEUE_MAX: usize = 8192;

/// Bytes of commands ([`Submission::weight`]) between being queued and being answered: what a flood
/// of long texts can make the server hold.
pub(super) const QUEUE_BYTES_MAX: usize = 32 << 20;

/// Where an answer goes.
pub(super) type Answer = oneshot::Sender<Result<Committed, SubmitError>>;

/// A command in the queue.
pub(super) struct Ticket {
    pub(super) submission: Submission,
    pub(super) since: Instant,
    pub(super) answer: Answer,
    /// Its part of the byte budget, given back with the answer.
    pub(super) budget: OwnedSemaphorePermit,
}

/// What the writer's thread is sent.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every message is the large one"
)]
pub(super) enum Message {
    Command(Ticket),
    Stop,
}

/// How the engine is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Taking commands.
    Running,
    /// Stopping as asked.
    Stopping,
    /// The log cannot be written; why.
    Failed(String),
}

/// A handle to the running engine.
#[derive(Clone)]
pub struct Handle {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) queue: mpsc::Sender<Message>,
    /// Bytes the queue may still take.
    pub(super) budget: Arc<Semaphore>,
    pub(super) reader: Arc<dyn LogReader>,
    pub(super) feed: Feed,
    pub(super) stats: Stats,
    pub(super) keys: RwLock<Arc<KeysState>>,
    pub(super) health: watch::Sender<Health>,
    pub(super) judged: Arc<Judged>,
    pub(super) views: LiveSpaces,
    pub(super) origin: String,
    pub(super) vkey: VerifyingKey,
}

impl Handle {
    /// Queues a command and waits until it is durable or refused. Nobody waits for a place in the
    /// queue, since a caller that waits holds its text as well.
    pub async fn submit(&self, submission: Submission) -> Result<Committed, SubmitError> {
        let weight = u32::try_from(submission.weight()).unwrap_or(u32::MAX);
        let Ok(budget) = Arc::clone(&self.inner.budget).try_acquire_many_owned(weight) else {
            return Err(self.busy());
        };
        let (answer, wait) = oneshot::channel();
        let ticket = Ticket {
            submission,
            since: Instant::now(),
            answer,
            budget,
        };
        match self.inner.queue.try_send(Message::Command(ticket)) {
            Ok(()) => wait.await.unwrap_or(Err(SubmitError::Stopped)),
            Err(mpsc::error::TrySendError::Full(_)) => Err(self.busy()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(SubmitError::Stopped),
        }
    }

    fn busy(&self) -> SubmitError {
        self.inner.stats.busy.fetch_add(1, Relaxed);
        SubmitError::Busy
    }

    /// The log as far as it is durable.
    pub fn reader(&self) -> &Arc<dyn LogReader> {
        &self.inner.reader
    }

    /// Follows the log or one room from after this log seq. Subscribes first, then reads the
    /// backlog, so that nothing falls in between.
    pub fn follow(&self, scope: Scope, after: u64) -> Result<Follower, StoreError> {
        self.inner.feed.follow(scope, after)
    }

    /// API keys and agents' keys as of the newest commit.
    pub fn keys(&self) -> Arc<KeysState> {
        Arc::clone(&self.inner.keys.read())
    }

    /// Records that are known to hold by themselves.
    pub fn judged(&self) -> &Arc<Judged> {
        &self.inner.judged
    }

    /// Where the live projections are.
    pub fn views(&self) -> LiveSpaces {
        self.inner.views
    }

    /// The log's origin line.
    pub fn origin(&self) -> &str {
        &self.inner.origin
    }

    /// The key that signs checkpoints now.
    pub fn vkey(&self) -> &VerifyingKey {
        &self.inner.vkey
    }

    /// What the writer counts.
    pub fn stats(&self) -> &Stats {
        &self.inner.stats
    }

    /// How many followers there are.
    pub fn followers(&self) -> usize {
        self.inner.feed.followers()
    }

    /// How the engine is doing, and a signal when that changes.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.inner.health.subscribe()
    }

    /// Asks the engine to commit what it took and stop. Returns at once.
    pub fn stop(&self) {
        let first = self.inner.health.send_if_modified(|health| {
            let running = *health == Health::Running;
            if running {
                *health = Health::Stopping;
            }
            running
        });
        if first {
            let queue = self.inner.queue.clone();
            // A thread of its own, because the queue may be full and this caller must not wait.
            std::thread::spawn(move || queue.blocking_send(Message::Stop).ok());
        }
    }
}
