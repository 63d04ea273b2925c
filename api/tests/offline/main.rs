//! Offline commands and generations, on real stores in temporary directories.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod commands;
mod export;
mod generations;
mod harness;
mod moments;
mod negotiations;
mod programs;
