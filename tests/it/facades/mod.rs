//! Each facade as its clients see it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod gate;
mod here;

mod audit;
mod described;
mod events;
mod hostile;
mod keys;
mod manage;
mod messages;
mod reads;
mod repeats;
mod rooms;
mod server;
mod signatures;
