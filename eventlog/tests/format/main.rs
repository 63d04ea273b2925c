//! The format from outside: vectors that never change, the examples of `FORMAT.md`, and a
//! verifier in another language.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail like tests"
)]

mod format_md;
mod golden;
mod second_opinion;
mod vectors;
