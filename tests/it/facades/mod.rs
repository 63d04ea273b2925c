//! Each facade as its clients see it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod gate;
mod here;

mod arbiter;
mod arbiter_bounds;
mod arbiter_crash;
mod arbiter_failures;
mod arbiter_ownership;
mod arbiter_premium;
mod arbiter_words;
mod audit;
mod claims;
mod claims_chain;
pub(crate) mod claims_signed;
mod claims_status;
mod described;
mod events;
mod hostile;
mod keys;
mod manage;
mod memory;
mod messages;
mod places;
mod reads;
mod repeats;
mod rooms;
mod server;
mod signatures;
mod skills;
mod skills_hostile;
mod skills_kept;
mod verify_rows;
