//! The verifier against logs made by the rules, untouched and tampered with.

#![expect(
    clippy::indexing_slicing,
    clippy::similar_names,
    clippy::unwrap_used,
    reason = "a test that panics has failed; seq and sseq are the format's own names"
)]

mod changes;
mod clean;
mod cli;
mod compare;
mod ledger;
mod limits;
mod lines;
mod support;
mod tamper;
mod trust;
