//! The benches behind `BENCHMARKS.md`. Every run prints its own fsync probe, because the same
//! machine's disk can change speed forty-fold by itself.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

pub mod engine;
pub mod get;
pub mod load;
pub mod metrics;
pub mod million;
pub mod post;
pub mod probe;
pub mod process;
pub mod report;
pub mod sse;
pub mod thread;
pub mod verify_room;
