//! Starting the engine on a directory, and stopping it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use minutebook_domain::actor::Actor;
use minutebook_domain::{Command, keys};
use minutebook_eventlog::store::LogWriter;
use minutebook_eventlog::store::fjall::{FjallStore, FjallWriter, Options as StoreOptions};
use parking_lot::RwLock;
use tokio::sync::{Semaphore, mpsc, watch};

use super::arbiter;
use super::clock::{Clock, Entropy, SystemClock};
use super::commit::{Committer, Fatal};
use super::follow::Feed;
use super::handle::{Handle, Health, Inner, QUEUE_BYTES_MAX, QUEUE_MAX};
use super::janitor;
use super::keyfile::KeyFileError;
use super::recover::{Parts, RecoverError};
use super::stats::Stats;
use super::types::Submission;
use super::writer;
use crate::generations::{Access, GenerationError, ensure_live};

/// Where the log is and who signs it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory.
    pub data: PathBuf,
    /// The origin for a new log, or the one expected.
    pub origin: Option<String>,
    /// The arbiter's key file; `arbiter.key` in the data directory by default.
    pub arbiter_key: Option<PathBuf>,
    /// How the store is opened.
    pub store: StoreOptions,
}

impl Options {
    /// Where the arbiter's key is.
    pub fn key_file(&self) -> PathBuf {
        self.arbiter_key
            .clone()
            .unwrap_or_else(|| self.data.join("arbiter.key"))
    }
}

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store, the log or the key.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The key file.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The projections.
    #[error(transparent)]
    Views(#[from] GenerationError),
    /// The first commit.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    /// No randomness.
    #[error("the operating system gives no randomness: {0}")]
    Entropy(String),
    /// No thread.
    #[error("the writer's thread does not start: {0}")]
    Thread(std::io::Error),
}

impl From<minutebook_eventlog::store::StoreError> for StartError {
    fn from(error: minutebook_eventlog::store::StoreError) -> Self {
        Self::Recover(error.into())
    }
}

/// The running writer's thread; joins to how it ended.
pub type Running = JoinHandle<Result<(), Fatal>>;

/// Opens the directory alone and brings a committer up: for the server and for offline commands.
pub fn open(options: &Options) -> Result<Committer<FjallWriter>, StartError> {
    let (writer, reader) = FjallStore::open(&options.data, &options.store)?;
    let reader: Arc<dyn minutebook_eventlog::store::LogReader> = reader;
    let mut entropy = Entropy::from_os().map_err(|e| StartError::Entropy(e.to_string()))?;
    let origin = options.origin.clone();
    let key_file = options.key_file();
    // Before projections are built, which may take minutes.
    let seed = arbiter::settle(&key_file, origin.as_deref(), &*reader, &mut entropy)?;
    let access = Access {
        reader: Arc::clone(&reader),
        maintenance: writer.maintenance(),
    };
    ensure_live(&access, &mut |progress| {
        tracing::info!(?progress, "building a projection");
        ControlFlow::Continue(())
    })?;
    let mut committer = Committer::recover(Parts {
        writer,
        reader,
        seed,
        origin,
        entropy,
    })?;
    committer.found(&SystemClock)?;
    Ok(committer)
}

/// Opens the directory and starts the writer's thread.
pub fn start(options: &Options) -> Result<(Handle, Running), StartError> {
    launch(open(options)?, Box::new(SystemClock))
}

/// Starts the writer's thread on a committer.
pub fn launch<W: LogWriter + 'static>(
    committer: Committer<W>,
    clock: Box<dyn Clock>,
) -> Result<(Handle, Running), StartError> {
    let (queue, tickets) = mpsc::channel(QUEUE_MAX);
    let inner = Arc::new(Inner {
        queue,
        budget: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)),
        reader: Arc::clone(&committer.reader),
        feed: Feed::new(Arc::clone(&committer.reader)),
        stats: Stats::default(),
        keys: RwLock::new(Arc::new(committer.state.keys().clone())),
        health: watch::Sender::new(Health::Running),
        judged: Arc::clone(&committer.judged),
        views: committer.views.spaces(),
        origin: committer.origin.clone(),
        vkey: committer.key.verifying_key().clone(),
    });
    let handle = Handle {
        inner: Arc::clone(&inner),
    };
    let erasures = start_janitor(&committer)?;
    let running = std::thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || writer::run(committer, tickets, &*clock, &inner, &erasures))
        .map_err(StartError::Thread)?;
    Ok((handle, running))
}

/// Starts the thread that makes erased text leave the disk; it ends with the sender.
fn start_janitor<W: LogWriter>(committer: &Committer<W>) -> Result<Sender<()>, StartError> {
    let (erasures, notices) = channel();
    let access = Access {
        reader: Arc::clone(&committer.reader),
        maintenance: committer.writer.maintenance(),
    };
    let spaces = committer.views.spaces();
    std::thread::Builder::new()
        .name("janitor".to_owned())
        .spawn(move || janitor::run(&access, spaces, &notices))
        .map_err(StartError::Thread)?;
    Ok(erasures)
}

impl<W: LogWriter> Committer<W> {
    /// The first record of every log names its origin and its first key.
    pub fn found(&mut self, clock: &dyn Clock) -> Result<(), Fatal> {
        if self.chain.seq > 0 {
            return Ok(());
        }
        let opened = keys::LogOpened {
            origin: self.origin.clone(),
            vkey: self.key.vkey(),
        };
        self.commit_one(
            Command::Keys(keys::Command::OpenLog(opened)),
            Actor::Arbiter,
            clock,
        )?;
        Ok(())
    }

    /// Commits one command by itself: founding, offline commands.
    pub fn commit_one(
        &mut self,
        command: Command,
        actor: Actor,
        clock: &dyn Clock,
    ) -> Result<super::types::Committed, Fatal> {
        let command = command
            .check()
            .map_err(|rejection| Fatal::Refused(rejection.to_string()))?;
        let submission = Submission {
            command,
            actor,
            idempotency: None,
            cause: None,
        };
        let written = self.commit(vec![submission], clock.now(), false)?;
        let outcome = written.outcomes.into_iter().next();
        match outcome {
            Some(Ok(committed)) => Ok(committed),
            Some(Err(error)) => Err(Fatal::Refused(error.to_string())),
            None => Err(Fatal::Refused("no outcome".to_owned())),
        }
    }
}
