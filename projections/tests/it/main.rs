//! What every projection keeps: the rows depend on the log as it is, and on nothing else.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on should stop, and its numbers are small"
)]

mod agreement;
mod arbiter;
mod arbiter_world;
mod audit;
mod damage;
mod golden;
mod history;
mod ledger_world;
mod rooms;
mod skills;
mod threads;
mod world;
