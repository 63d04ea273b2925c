//! The rules of Minutebook.
//!
//! A [`Command`] asks for something; [`decide`] answers with the [`Event`]s it makes or a
//! [`Rejection`] and changes nothing; [`lawful`] says whether an event may follow a [`State`];
//! [`evolve`] folds it in and cannot fail. The writer and the offline verifier run the same three.
//!
//! Invariants
//! * Nothing here does I/O, reads a clock, draws a random number or awaits. Time and fresh ids
//!   arrive in [`Context`].
//! * All rules are in `lawful`, whose three parts can be run apart: [`intrinsic`] needs no state
//!   (sizes, spellings, signatures: the expensive part), [`contextual`] needs the event's own
//!   stream, [`cross_stream`] needs other streams. `decide` builds events and then asks them;
//!   `evolve` decides nothing.
//! * A room's rules look only at the room's own state, the envelope (`actor`, `at`) and the body,
//!   so a room's bundle can be checked alone ([`room::lawful`], [`room::evolve`]). What depends on
//!   another stream is decided at the door, recorded as a fact in the event, and cross-checked
//!   when the whole log is verified.
//! * A body that was erased with authority is judged by what is left of it, and never makes an
//!   honest log unlawful.
//! * This crate does not know about logs, hashes of envelopes, HTTP or storage.

pub mod actor;
pub mod ids;
pub mod keys;
pub mod limits;
pub mod rejection;
mod remembered;
pub mod room;
pub mod signature;
pub mod skills;
pub mod text;
pub mod time;

mod command;
mod ed25519;
mod event;
mod hex_text;
mod newtype;
mod rules;
mod state;
#[cfg(test)]
mod testing;

pub use command::{Arbiter, CheckedCommand, Command, Context, decide};
pub use event::{DecodeError, Event, EventKind, Fact, What};
pub use rejection::Rejection;
pub use rules::{contextual, cross_stream, evolve, intrinsic, lawful, ledger_key};
pub use state::{SnapshotError, State};
