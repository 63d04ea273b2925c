//! The engine: the only writer, and the signals that follow it.
//!
//! Invariants
//! * One thread owns the state and the log's writing half; everybody else holds a [`Handle`].
//! * Nothing is answered or published before the commit that holds it is durable.
//! * The engine does not know about HTTP, JSON dialects or facades.

mod arbiter;
mod chain;
mod channels;
mod clock;
mod commit;
mod erase;
#[cfg(test)]
mod flood_tests;
mod follow;
mod handle;
mod janitor;
pub mod keyfile;
mod position;
mod recover;
mod repeat;
mod replay;
mod rotate;
mod snapshot;
mod start;
mod stats;
mod tiles;
mod types;
mod views;
mod writer;

pub use clock::{Clock, Entropy, SystemClock};
pub use commit::{BATCH_MAX, Committer, Fatal, Outcome, Written};
pub use follow::{Feed, Follower, Keep, News, Published, Scope};
pub use handle::{Handle, Health};
pub use janitor::work_off;
pub use position::last_position;
pub use recover::{Parts, RecoverError};
pub use repeat::Target;
pub use replay::event_at;
pub use rotate::{RotateError, Rotated, rotate};
pub use start::{Options, Running, StartError, launch, open, start};
pub use stats::{Histogram, HistogramSnapshot, Stats};
pub use tiles::StoreTiles;
pub use types::{Committed, CommittedEvent, Idempotency, Submission, SubmitError};
