//! The hash of a room's context: what all handshakes are about.
//!
//! Byte for byte the peer's (seed 003): the threads that are not cancelled, in the order they
//! were opened, as one JSON array with a blank after every comma and colon, keys sorted.

use std::io;

use serde::{Serialize, Serializer as _};
use sha2::{Digest as _, Sha256};

use crate::ids::ClaimId;

/// The hash of no threads.
pub const EMPTY_CONTEXT_HASH: &str =
    "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";

/// A thread as the hash sees it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ContextThread<'a> {
    /// The value now.
    pub current_value: &'a str,
    /// The thread.
    pub id: ClaimId,
    /// `proposed`, `agreed` or `disputed`.
    pub status: &'a str,
    /// What it is about.
    pub subject: &'a str,
    /// Its short name.
    pub subject_key: &'a str,
}

/// SHA-256, in lower-case hex, of these threads. The caller leaves out the cancelled ones.
pub fn context_hash<'a>(threads: impl IntoIterator<Item = ContextThread<'a>>) -> String {
    let mut hash = Sha256::new();
    let mut json = serde_json::Serializer::with_formatter(Hashing(&mut hash), Spaced);
    let written = json.collect_seq(threads);
    debug_assert!(written.is_ok(), "a hash takes every byte");
    hex::encode(hash.finalize())
}

struct Hashing<'a>(&'a mut Sha256);

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON with a blank after every comma and colon.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
