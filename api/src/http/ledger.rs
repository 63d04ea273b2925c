//! Revisions and handshakes as JSON: one shape for listings, answers and event streams.
//!
//! The peer's fields come first and keep their names and order; what follows is ours, and with it
//! a reader can check the arbiter's chain and the agents' signatures by himself.

use minutebook_domain::ids::ClaimId;
use minutebook_domain::room::claims::{RevisionKind, ledger::PROPOSE};
use minutebook_projections::threads::{HandshakeRow, LedgerSignatureRow, RevisionRow};
use serde::Serialize;
use utoipa::ToSchema;

/// An entry of a room's ledger.
#[derive(Serialize, ToSchema)]
pub struct RevisionJson<'a> {
    /// Its number in the room, over all threads: 1, 2, 3 …
    pub id: u64,
    /// The thread.
    #[schema(value_type = String)]
    pub claim_id: ClaimId,
    /// The value it is about, as recorded.
    pub value: &'a str,
    /// `propose`, `update`, `confirm`, `contradict` or `retract`.
    pub kind: &'static str,
    /// Who wrote it.
    pub author_agent_id: &'a str,
    /// The message it was taken from.
    pub source_msg_id: Option<u64>,
    /// Words of that message.
    pub quote: Option<&'a str>,
    /// The agent's Ed25519 public key, when it signed.
    pub pubkey_hex: Option<&'a str>,
    /// Its signature.
    pub signature_hex: Option<&'a str>,
    /// When, in whole seconds.
    pub created_at: String,
    /// The same to the microsecond, as the arbiter's payload has it.
    pub created_at_us: String,
    /// `row_hash` of the entry before in this room; 64 zeros before the first.
    pub prev_hash: &'a str,
    /// SHA-256 of `prev_hash` and the payload.
    pub row_hash: &'a str,
    /// The arbiter's Ed25519 signature over the payload.
    pub arbiter_signature_hex: &'a str,
    /// The key it was made with.
    pub arbiter_pubkey_hex: &'a str,
    /// Which bytes the agent signed: `roomcomm-v1` or `minutebook-v2`.
    pub surface: Option<&'a str>,
    /// The entry the signer had read: part of what a `minutebook-v2` signature covers.
    pub position: Option<u64>,
    /// Position in the log.
    pub log_seq: u64,
}

impl<'a> RevisionJson<'a> {
    /// An entry as its row says it.
    pub fn new(row: &'a RevisionRow, claim: ClaimId) -> Self {
        let signature = row.signature.as_ref();
        Self {
            id: row.id,
            claim_id: claim,
            value: &row.value,
            kind: row.kind.map_or(PROPOSE, RevisionKind::name),
            author_agent_id: &row.author,
            source_msg_id: row.source_msg_id,
            quote: row.quote.as_deref(),
            pubkey_hex: signature.map(pubkey),
            signature_hex: signature.map(sig),
            created_at: row.at.to_seconds_text(),
            created_at_us: row.at.to_string(),
            prev_hash: &row.prev_hash,
            row_hash: &row.row_hash,
            arbiter_signature_hex: &row.arbiter_sig,
            arbiter_pubkey_hex: &row.arbiter,
            surface: signature.map(surface),
            position: signature.and_then(|signature| signature.position),
            log_seq: row.seq,
        }
    }
}

/// A handshake.
#[derive(Serialize, ToSchema)]
pub struct HandshakeJson<'a> {
    /// Its number in the room: 1, 2, 3 …
    pub id: u64,
    /// Who.
    pub agent_id: &'a str,
    /// On what.
    pub context_hash: &'a str,
    /// The agent's Ed25519 public key, when it signed.
    pub pubkey_hex: Option<&'a str>,
    /// Its signature.
    pub signature_hex: Option<&'a str>,
    /// When, in whole seconds.
    pub created_at: String,
    /// True where the signature was just checked; listings check none.
    pub signature_valid: Option<bool>,
    /// When, to the microsecond.
    pub created_at_us: String,
    /// Which bytes the agent signed: `roomcomm-v1` or `minutebook-v2`.
    pub surface: Option<&'a str>,
    /// The ledger's newest entry the signer had read: part of what `minutebook-v2` covers.
    pub position: Option<u64>,
    /// Position in the log.
    pub log_seq: u64,
}

impl<'a> HandshakeJson<'a> {
    /// A handshake as its row says it.
    pub fn new(id: u64, row: &'a HandshakeRow) -> Self {
        let signature = row.signature.as_ref();
        Self {
            id,
            agent_id: &row.agent,
            context_hash: &row.context_hash,
            pubkey_hex: signature.map(pubkey),
            signature_hex: signature.map(sig),
            created_at: row.at.to_seconds_text(),
            signature_valid: None,
            created_at_us: row.at.to_string(),
            surface: signature.map(surface),
            position: signature.and_then(|signature| signature.position),
            log_seq: row.seq,
        }
    }

    /// The same as the answer to who made it, whose signature, if any, was checked.
    pub fn checked(self) -> Self {
        let signature_valid = self.signature_hex.map(|_| true);
        Self {
            signature_valid,
            ..self
        }
    }
}

fn pubkey(signature: &LedgerSignatureRow) -> &str {
    &signature.pubkey
}

fn sig(signature: &LedgerSignatureRow) -> &str {
    &signature.sig
}

fn surface(signature: &LedgerSignatureRow) -> &str {
    &signature.surface
}
