//! One integration binary, in reading order.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it did not expect, in its helpers too"
)]

mod client;
mod crash;
mod erasure;
mod facades;
mod kill;
mod matrix;
mod negotiation;
mod pages;
mod readme;
mod rotate;
mod sim;
mod support;
mod tamper_table;
mod tidy;
