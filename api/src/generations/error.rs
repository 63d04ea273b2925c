//! Why a generation could not be read, built or switched to.

use minutebook_eventlog::store::StoreError;
use minutebook_projections::{Kind, ProjectionError};

/// What goes wrong with generations.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerationError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows are not what this build expects.
    #[error("{kind}: {source}")]
    Rows {
        /// Which projection.
        kind: Kind,
        /// Why.
        source: ProjectionError,
    },
    /// A record of the log cannot be read.
    #[error("the log is damaged at seq {seq}: {reason}; export it and run minutebook-verify")]
    Damaged {
        /// Where.
        seq: u64,
        /// What is wrong.
        reason: String,
    },
    /// The live generation is not this build's, or is not at the head.
    #[error("{kind}: {reason}")]
    NotReady {
        /// Which projection.
        kind: Kind,
        /// What is not.
        reason: String,
    },
    /// The list of generations cannot be read.
    #[error("{kind}: the list of generations is damaged: {reason}")]
    Catalog {
        /// Which projection.
        kind: Kind,
        /// Why.
        reason: String,
    },
    /// The rows of a generation are gone.
    #[error(
        "{kind}: the rows of generation {number} are missing from the database (the keyspace \
         v.{}); build them anew from the log: minutebook projections rebuild {kind}",
        super::space_name(*kind, *number)
    )]
    Lost {
        /// Which projection.
        kind: Kind,
        /// Which generation.
        number: u32,
    },
    /// No such generation.
    #[error("{kind} has no generation {number}")]
    Unknown {
        /// Which projection.
        kind: Kind,
        /// Which number.
        number: u32,
    },
    /// The generation was written by another version of the program.
    #[error("generation {number} of {kind} is version {found}; this program reads {expected}")]
    Version {
        /// Which projection.
        kind: Kind,
        /// Which generation.
        number: u32,
        /// Its version.
        found: u32,
        /// This build's.
        expected: u32,
    },
    /// Whoever watched the progress said stop. What is built stays and is gone on from.
    #[error("stopped at seq {seq}; run it again to go on from there")]
    Stopped {
        /// Folded to here.
        seq: u64,
    },
}

impl GenerationError {
    /// Whether data on disk is damaged, as opposed to anything else.
    pub const fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Catalog { .. } | Self::Lost { .. } => true,
            Self::Store(error) => {
                matches!(error, StoreError::Damaged(_) | StoreError::HeadAhead { .. })
            }
            Self::Rows { .. }
            | Self::NotReady { .. }
            | Self::Unknown { .. }
            | Self::Version { .. }
            | Self::Stopped { .. } => false,
        }
    }
}
