//! Why rows could not be read or written.

use crate::rows::RowsError;

/// What goes wrong in a fold or a view. All of it is about the rows, never about a caller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The store below could not answer.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The row was written by a build with another schema.
    #[error(
        "a {row} row was written by another version of this program: rebuild the projection \
         (minutebook projections rebuild)"
    )]
    Stale {
        /// Kind of row.
        row: &'static str,
    },
    /// The row's bytes are not what this build wrote.
    #[error(
        "a {row} row is damaged ({reason}): rebuild the projection (minutebook projections rebuild)"
    )]
    Damaged {
        /// Kind of row.
        row: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A row could not be encoded.
    #[error("a {row} row could not be encoded: {reason}")]
    Encode {
        /// Kind of row.
        row: &'static str,
        /// Why.
        reason: String,
    },
}
