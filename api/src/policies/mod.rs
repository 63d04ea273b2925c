//! What the server does by itself.
//!
//! Invariants
//! * A policy acts only by submitting commands, as everybody does, under the same rules.
//! * What it has done is in the log, so a restart goes on where it was and repeats nothing.
//! * It holds no lock, snapshot or thread while it waits for the outside.

pub mod arbiter;
