//! The format, byte for byte: `FORMAT.md` says it in words.
//!
//! Invariants
//! * Pure: bytes in, bytes or an error out. No clock, no randomness, no files.
//! * No input makes it panic, and every input has a bound (`limits`).
//! * Reading is as strict as writing: what is accepted has exactly one spelling, except C2SP
//!   texts, which follow their own pages.

pub mod bundle;
pub mod checkpoint;
pub mod cosignature;
pub mod envelope;
pub mod epoch;
pub mod hash;
pub mod key;
pub mod limits;
pub mod note;
pub mod policy;
pub mod proof;
pub mod record;
pub mod tree;

mod at;
mod json;
mod unescape;
