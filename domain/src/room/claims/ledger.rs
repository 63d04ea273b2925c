//! The arbiter's chain over a room's revisions, byte for byte as the seed has it.
//!
//! Invariants
//! * An entry's payload is JSON without white space, its keys sorted; its `row_hash` is SHA-256 of
//!   `prev_hash`, as 64 ASCII digits, and the payload; the arbiter signs the payload.
//! * Entries are numbered 1, 2, 3 … over all threads of a room, and each names the `row_hash` of
//!   the one before, the first [`GENESIS`].

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::super::RoomState;
use crate::{Arbiter, Rejection, ed25519, hex_text, ids::ClaimId, time::Timestamp};

/// `prev_hash` of a room's first entry.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The kind of an opening in the chain.
pub const PROPOSE: &str = "propose";

/// A revision's place in its room's chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The arbiter's public key, 64 lower-case hex digits.
    pub arbiter: String,
    /// The arbiter's signature over the payload, 128 lower-case hex digits.
    pub arbiter_sig: String,
    /// Its number in the room: 1, 2, 3 …
    pub id: u64,
    /// `row_hash` of the entry before, or [`GENESIS`].
    pub prev_hash: String,
    /// SHA-256 of `prev_hash` and the payload, 64 lower-case hex digits.
    pub row_hash: String,
}

/// What an entry says. Its fields are named as the seed names them, in the order it writes them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row<'a> {
    #[serde(rename = "author_agent_id")]
    author: &'a str,
    claim_id: ClaimId,
    #[serde(serialize_with = "as_text")]
    created_at: Timestamp,
    kind: &'a str,
    prev_hash: &'a str,
    revision_id: u64,
    source_msg_id: Option<u64>,
    value: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn as_text<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// What an opening or a revision says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Who wrote it.
    pub author: &'a str,
    /// The thread.
    pub claim: ClaimId,
    /// When.
    pub at: Timestamp,
    /// [`PROPOSE`], `update`, `confirm`, `contradict` or `retract`.
    pub kind: &'a str,
    /// The message it was taken from.
    pub source_msg_id: Option<u64>,
    /// The value as recorded.
    pub value: &'a str,
}

impl<'a> Said<'a> {
    /// The same in its place in the chain.
    pub fn in_place(self, id: u64, prev_hash: &'a str) -> Row<'a> {
        Row {
            author: self.author,
            claim_id: self.claim,
            created_at: self.at,
            kind: self.kind,
            prev_hash,
            revision_id: id,
            source_msg_id: self.source_msg_id,
            value: self.value,
        }
    }
}

impl Row<'_> {
    /// The canonical payload, which is hashed and signed.
    pub fn payload(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(384 + self.value.len());
        let written = serde_json::to_writer(&mut out, self);
        debug_assert!(written.is_ok(), "a Vec takes every byte");
        out
    }

    /// Hash of this row over its payload.
    fn hash(&self, payload: &[u8]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.prev_hash);
        hash.update(payload);
        hex::encode(hash.finalize())
    }
}

impl Entry {
    /// The next entry of a room, with the arbiter's signature.
    pub(super) fn next(room: Option<&RoomState>, said: Said<'_>, arbiter: &dyn Arbiter) -> Self {
        match room.map(RoomState::claims) {
            Some(claims) => Self::seal(said, claims.next_entry(), claims.tail(), arbiter),
            None => Self::seal(said, 1, GENESIS, arbiter),
        }
    }

    /// The entry of this number after `prev_hash`.
    pub(crate) fn seal(said: Said<'_>, id: u64, prev_hash: &str, arbiter: &dyn Arbiter) -> Self {
        let row = said.in_place(id, prev_hash);
        let payload = row.payload();
        Self {
            arbiter: hex::encode(arbiter.public_key()),
            arbiter_sig: hex::encode(arbiter.sign(&payload)),
            id,
            prev_hash: prev_hash.to_owned(),
            row_hash: row.hash(&payload),
        }
    }

    /// Whether hash and signature are those of what is said.
    pub(super) fn intrinsic(&self, said: Said<'_>) -> Result<(), Rejection> {
        let malformed = Rejection::LedgerEntryMalformed;
        if self.prev_hash.len() != GENESIS.len() || !hex_text::is_lower_hex(&self.prev_hash) {
            return Err(malformed);
        }
        let row = said.in_place(self.id, &self.prev_hash);
        let payload = row.payload();
        if self.row_hash != row.hash(&payload) {
            return Err(Rejection::LedgerHashWrong);
        }
        let key = ed25519::public_key(&self.arbiter).map_err(|_| malformed.clone())?;
        match ed25519::verifies(&key, &payload, &self.arbiter_sig) {
            None => Err(malformed),
            Some(false) => Err(Rejection::LedgerArbiterInvalid),
            Some(true) => Ok(()),
        }
    }
}
