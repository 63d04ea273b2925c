//! Why an offline command could not.

use minutebook_eventlog::{
    format::{bundle::WriteError, tree::ProveError},
    store::StoreError,
};

use crate::generations::GenerationError;

/// What goes wrong without a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfflineError {
    /// Another process holds the directory.
    #[error(
        "{path} is in use by process {pid}. This needs the directory to itself: stop that server \
         (kill {pid}) and try again"
    )]
    InUse {
        /// The directory.
        path: String,
        /// The holder.
        pid: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Projections.
    #[error(transparent)]
    Generation(#[from] GenerationError),
    /// What is stored contradicts itself.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// No such record.
    #[error("there is no seq {seq}: the log ends at {head}")]
    NoRecord {
        /// What was asked for.
        seq: u64,
        /// Where the log ends.
        head: u64,
    },
    /// No such room.
    #[error("there is no room {0} in this log")]
    NoRoom(String),
    /// The log has no record yet.
    #[error("the log is empty: start the server once")]
    Empty,
    /// Bodies were erased while they were being exported; what was written so far would look
    /// tampered with.
    #[error("messages were erased during the export; run it again")]
    ErasedMeanwhile,
    /// A bundle could not be written.
    #[error(transparent)]
    Bundle(#[from] WriteError),
}

impl From<StoreError> for OfflineError {
    fn from(error: StoreError) -> Self {
        if let StoreError::Locked { path, pid } = error {
            return Self::InUse { path, pid };
        }
        Self::Store(error)
    }
}

impl From<ProveError<StoreError>> for OfflineError {
    fn from(error: ProveError<StoreError>) -> Self {
        match error {
            ProveError::Source(error) => error.into(),
            error @ (ProveError::Outside | ProveError::Damaged { .. }) => {
                Self::Damaged(error.to_string())
            }
        }
    }
}

impl OfflineError {
    /// Whether data on disk is damaged.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Store(error) => matches!(
                error,
                StoreError::Damaged(_)
                    | StoreError::HeadAhead { .. }
                    | StoreError::HeadMissing { .. }
            ),
            Self::Generation(error) => error.is_damage(),
            Self::InUse { .. }
            | Self::NoRecord { .. }
            | Self::NoRoom(_)
            | Self::Empty
            | Self::ErasedMeanwhile
            | Self::Bundle(_) => false,
        }
    }
}
