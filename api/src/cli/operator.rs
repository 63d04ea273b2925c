//! Acting as the owner without a server: the engine is opened, one command committed, and closed.

use std::path::{Path, PathBuf};

use minutebook_domain::{Command, actor::Actor, keys};
use minutebook_eventlog::store::fjall::Options as StoreOptions;

use super::{Exit, Failure};
use crate::engine::{
    self, Committed, Fatal, Options, RecoverError, RotateError, StartError, SystemClock,
};

/// How the arbiter's key is found, which signs what is committed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ArbiterKey {
    /// The arbiter's key file [default: arbiter.key in the data directory]
    #[arg(long, value_name = "FILE", env = "MINUTEBOOK_ARBITER_KEY")]
    arbiter_key: Option<PathBuf>,
}

impl ArbiterKey {
    /// How the engine is opened by a command: there must be a log.
    pub(crate) fn options(&self, data: &Path) -> Options {
        Options {
            data: data.to_owned(),
            origin: None,
            arbiter_key: self.arbiter_key.clone(),
            store: StoreOptions {
                create: false,
                ..StoreOptions::default()
            },
        }
    }
}

/// Commits a command as the owner.
pub(crate) fn commit(
    data: &Path,
    key: &ArbiterKey,
    command: keys::Command,
) -> Result<Committed, Failure> {
    let mut committer = engine::open(&key.options(data))?;
    let outcome = committer.commit_one(Command::Keys(command), Actor::Owner, &SystemClock);
    let closed = committer.close();
    let done = outcome?;
    closed?;
    Ok(done)
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Recover(RecoverError::Store(error)) => error.into(),
            StartError::Views(error) => error.into(),
            StartError::Recover(
                error @ (RecoverError::Damaged { .. } | RecoverError::Checkpoint(_)),
            ) => Self::new(Exit::Damaged, error),
            error @ (StartError::Recover(_)
            | StartError::Key(_)
            | StartError::Fatal(_)
            | StartError::Entropy(_)
            | StartError::Thread(_)) => Self::error(error),
        }
    }
}

impl From<RotateError> for Failure {
    fn from(error: RotateError) -> Self {
        match error {
            RotateError::Start(error) => error.into(),
            RotateError::Fatal(error) => error.into(),
            error @ (RotateError::Key(_)
            | RotateError::Unusable { .. }
            | RotateError::NoNewKey { .. }
            | RotateError::Interrupted { .. }) => Self::error(error),
        }
    }
}

impl From<Fatal> for Failure {
    fn from(error: Fatal) -> Self {
        match error {
            Fatal::Store(error) => error.into(),
            Fatal::Views(error) => error.into(),
            error @ (Fatal::Refused(_) | Fatal::Panicked) => Self::error(error),
        }
    }
}
