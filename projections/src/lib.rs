//! Read models: pure folds over the log's facts, and the views that read what they made.
//!
//! A [`Projection`] takes [`Fact`]s in log order and hands out changed rows ([`RowOp`]). Whoever
//! owns the log writes those rows in the same commit as the facts, so a view never lags or skips.
//!
//! Invariants
//! * The rows depend on the facts only: not on how they were split into batches, not on a clock.
//! * The rows depend on the log *as it is now*: once bodies are erased, the rows are what a fold
//!   over the erased log would make, so a rebuild agrees with the live rows at any time.
//! * A fold decides nothing. A fact that no lawful log would hold is passed over.
//! * A row begins with its kind, its projection's version and a hash of its schema; anything else
//!   is refused on reading, because `rkyv` would happily read swapped fields.
//! * Nothing here does I/O, and no storage engine appears: rows are reached through [`Rows`].

pub mod audit;
pub mod digest;
pub mod history;
pub mod rooms;
pub mod skills;
pub mod threads;

mod error;
mod kind;
mod overlay;
mod row;
mod rows;
mod time;

pub use error::ProjectionError;
pub use history::HistoryView;
pub use kind::Kind;
pub use rooms::RoomsView;
pub use rows::{MemoryRows, RowOp, RowPair, Rows, RowsError};
pub use skills::SkillsView;
pub use threads::ThreadsView;
pub use time::message_time;

use minutebook_domain::Fact;

/// A fold from facts to rows.
///
/// One instance belongs to one generation of rows and to one owner, which applies every fact in
/// order and makes every batch it flushed durable before the next `apply`. It keeps rows it has
/// seen in memory, so after a batch that was not written it must be thrown away.
pub trait Projection: Send {
    /// Which projection this is.
    fn kind(&self) -> Kind;

    /// Folds a fact in. Sees what it wrote earlier in the batch, and `rows` for all before it.
    fn apply(&mut self, rows: &dyn Rows, fact: &Fact<'_>) -> Result<(), ProjectionError>;

    /// Ends a batch: appends the rows that changed since the last flush, each key once.
    fn flush(&mut self, out: &mut Vec<RowOp>) -> Result<(), ProjectionError>;
}
