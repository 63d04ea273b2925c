//! Generations of projections: a projection's rows, beside other rows of the same projection.
//!
//! Generation `g3` of `rooms` lives in the space `rooms.g3`. One generation is live: the engine
//! writes it with every commit, and views read it. A rebuild fills a new one beside it, compares,
//! and switches with one row; the one before is kept for instant back-out.
//!
//! Invariants
//! * Rows and the position they are folded to are written at once, all or nothing, whoever writes
//!   them, so a generation that stopped anywhere goes on from its position.
//! * A generation becomes live only when its position is the head.
//! * Generation numbers are never used twice: nothing ever writes into a dropped space's name.
//! * Only the live generation follows erasures, so the others go when an erasure comes
//!   ([`forget_others`]).
//! * No axum, no facade, no clap: the engine stands on this.

mod build;
mod catalog;
mod compare;
mod error;
mod facts;
mod live;
mod rows;
mod switch;

pub use build::{Build, Filling, Progress};
pub use catalog::{Catalog, Generation, Stage, live_position, position, space_name};
pub use compare::{Comparison, compare};
pub use error::GenerationError;
pub use facts::{OwnedFact, each_fact};
pub use live::{Live, LiveSpaces};
pub use rows::SpaceRows;
pub use switch::{
    Ensured, Outcome, RebuildOptions, Step, Watch, check, drop_orphans, ensure_live, forget_others,
    rebuild, use_generation,
};

use std::sync::Arc;

use minutebook_eventlog::store::{LogReader, Maintenance};

/// A store as generations need it: reading, and writing rows beside the log.
#[derive(Clone)]
pub struct Access {
    /// The reading half.
    pub reader: Arc<dyn LogReader>,
    /// Writes rows.
    pub maintenance: Arc<dyn Maintenance>,
}
