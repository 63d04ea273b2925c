//! How a command ends.

use std::{fmt, io, process::ExitCode};

use crate::{generations::GenerationError, offline::OfflineError};

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// It could not be done.
    Error = 1,
    /// Done, and differences were found.
    Differences = 2,
    /// The command line is wrong.
    Usage = 64,
    /// What is on disk is damaged.
    Damaged = 65,
    /// The directory is in use.
    Unavailable = 69,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
    /// Whoever read our output went away: not worth a word.
    pub(super) is_closed_pipe: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self {
            exit,
            message: message.to_string(),
            is_closed_pipe: false,
        }
    }

    /// Says what a running server offers instead, if a server is in the way.
    pub(super) fn with_route(mut self, route: Option<String>) -> Self {
        if let (Exit::Unavailable, Some(route)) = (self.exit, route) {
            self.message = format!("{}. While the server runs, {route}", self.message);
        }
        self
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn error(message: impl fmt::Display) -> Self {
        Self::new(Exit::Error, message)
    }
}

impl From<OfflineError> for Failure {
    fn from(error: OfflineError) -> Self {
        let exit = if error.is_damage() {
            Exit::Damaged
        } else if matches!(error, OfflineError::InUse { .. }) {
            Exit::Unavailable
        } else {
            Exit::Error
        };
        Self::new(exit, error)
    }
}

impl From<GenerationError> for Failure {
    fn from(error: GenerationError) -> Self {
        OfflineError::from(error).into()
    }
}

impl From<minutebook_eventlog::store::StoreError> for Failure {
    fn from(error: minutebook_eventlog::store::StoreError) -> Self {
        OfflineError::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let is_closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self {
            exit: Exit::Error,
            message: error.to_string(),
            is_closed_pipe,
        }
    }
}
