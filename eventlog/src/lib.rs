//! Minutebook's log: a durable, hash-chained, signed sequence of records with opaque bodies.
//!
//! Invariants
//! * `format` is pure: no I/O beyond `std::io` traits, no storage engine, no clock.
//! * `store` is the only code that names fjall.
//! * Hashes and signatures are taken over the stored bytes; nothing is re-serialised to check it.
//! * The log does not know what a body means: no domain type appears here.

pub mod format;
#[cfg(feature = "store")]
pub mod store;
