//! Why a command was refused. One variant per reason, with a stable code.
//!
//! Invariants
//! * A code is never renamed or reused: clients and verifier reports name it.
//! * Every code is reached by a table test; `all_codes_are_reached` fails otherwise.
//! * A message says what was expected and names nothing that the caller could not see.

use crate::{keys::Scope, room::claims::Author, text::AgentName};

/// A refusal: the caller must act; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum Rejection {
    // Texts and ids.
    #[error("{what} is empty")]
    TextEmpty { what: &'static str },
    #[error("{what} is longer than {max} {unit}")]
    TextTooLong {
        what: &'static str,
        max: usize,
        unit: &'static str,
    },
    #[error("{what} holds a control or format character (U+{code_point:04X}); remove it")]
    TextUnprintable { what: &'static str, code_point: u32 },
    #[error("{what} is recorded in another form than its rules give it")]
    TextNotCanonical { what: &'static str },
    #[error("this name is reserved, or looks like a reserved one; choose another")]
    NameReserved,
    #[error("a room name must not read as a UUID")]
    RoomNameLooksLikeId,

    // Who may act.
    #[error("{actor} may not do this")]
    ActorNotAllowed { actor: &'static str },
    #[error("{actor} may act under its own name only")]
    SpeaksForAnother { actor: AgentName },
    #[error("this API key was never issued")]
    KeyNotFound,
    #[error("this API key was revoked; use another")]
    KeyRevoked,
    #[error("this needs an API key with the scope {needed}")]
    KeyLacksScope { needed: Scope },
    #[error("this API key may act as {agent} only")]
    KeyBoundToAgent { agent: AgentName },

    // Rooms.
    #[error("room not found")]
    RoomNotFound,
    #[error("a room with this id was opened before")]
    RoomAlreadyOpen,
    #[error("room is closed")]
    RoomClosed,
    #[error("room was erased")]
    RoomErased,
    #[error("room message limit reached ({limit})")]
    RoomFull { limit: u64 },
    #[error("a room's message limit must be at least 1; leave it out for none")]
    RoomLimitZero,
    #[error("another room has this name, or one that looks like it; choose another")]
    RoomNameTaken,
    #[error("the room already has this name")]
    RoomNameUnchanged,
    #[error("already a member of this room")]
    AlreadyMember,
    #[error("not a member of this room")]
    NotMember,
    #[error("the room has its {max} members; somebody must leave first")]
    RoomMembersFull { max: usize },
    #[error("this name looks like another one known in this room; choose another")]
    NameTwin {
        /// Not in the message: it may go to somebody who cannot see the room.
        taken: AgentName,
    },
    #[error("message number {found} is out of order; expected {expected}")]
    MessageOutOfOrder { expected: u64, found: u64 },
    #[error("the range to erase must lie before this event, first ({first}) to last ({last})")]
    ErasureRange { first: u64, last: u64 },

    #[error("confirmations_needed is 1 to {max}; leave it out for 2")]
    RoomConfirmationsMalformed { max: u8 },

    // Claim threads and handshakes.
    #[error("thread not found in this room")]
    ClaimNotFound,
    #[error("a thread with this id was opened before")]
    ClaimAlreadyOpen,
    #[error("only the thread owner ({owner}) can {what} it")]
    ClaimNotOwned { owner: Author, what: &'static str },
    #[error("the opener cannot {what} their own thread")]
    ClaimOwned { what: &'static str },
    #[error("source_msg_id does not belong to this room")]
    SourceMessageUnknown,
    #[error("context_hash stale (current: {current})")]
    ContextStale { current: String },
    #[error("handshake number {found} is out of order; expected {expected}")]
    HandshakeOutOfOrder { expected: u64, found: u64 },
    #[error("the room has its {max} threads; go on in one of them or open another room")]
    ThreadsFull { max: usize },
    #[error("discrepancy number {found} is out of order; expected {expected}")]
    DiscrepancyOutOfOrder { expected: u64, found: u64 },
    #[error("the room has its {max} discrepancies; open another room")]
    DiscrepanciesFull { max: u64 },
    #[error("message {found} cannot be read before message {expected}")]
    ExtractionOutOfOrder { expected: u64, found: u64 },
    #[error("the room's messages were read again {max} times; no more")]
    RereadingsFull { max: u64 },
    #[error("a reading has an answer, or why there is none, within its limits")]
    ExtractionMalformed,
    #[error("the room's ledger has its {max} entries; open another room")]
    RevisionsFull { max: u64 },
    #[error("the room has its {max} handshakes; open another room")]
    HandshakesFull { max: u64 },

    // The arbiter's chain of the ledger.
    #[error("ledger entry {found} is out of order; expected {expected}")]
    LedgerOutOfOrder { expected: u64, found: u64 },
    #[error("the entry's prev_hash is not the row_hash of the entry before")]
    LedgerChainBroken,
    #[error("the entry's row_hash is not SHA-256 of prev_hash and payload")]
    LedgerHashWrong,
    #[error("the entry's key, hash or signature is not lower-case hex of its length")]
    LedgerEntryMalformed,
    #[error("the arbiter's signature does not verify against the entry's payload")]
    LedgerArbiterInvalid,
    #[error("the entry was not signed with the log's key of that time")]
    LedgerKeyWrong,

    // Signatures on the ledger.
    #[error("signature does not verify against {what}")]
    LedgerSignatureInvalid { what: &'static str },
    #[error("position goes with a minutebook-v2 signature of a revision or handshake, only there")]
    SignaturePositionMisplaced,
    #[error("the signed position is stale (current: {current}); read the thread and sign again")]
    SignaturePositionStale { current: u64 },
    #[error("the arbiter's acts carry no agent's signature")]
    SignatureNotAllowed,
    #[error("this agent has enrolled keys; sign with one of them, or not at all")]
    SignatureKeyForeign,
    #[error("the room knows its {max} signers; sign with a key used here before, or not at all")]
    SignersFull { max: usize },

    // Message signatures.
    #[error(
        "signature surface is not known for this act; use minutebook-v2, or roomcomm-v1 where no \
         thread is opened"
    )]
    SignatureSurfaceUnknown,
    #[error("public key is not 64 lower-case hex digits of an Ed25519 key")]
    PublicKeyMalformed,
    #[error("public key is weak; make another")]
    PublicKeyWeak,
    #[error("signature is not 128 lower-case hex digits")]
    SignatureMalformed,
    #[error("the signed time is not RFC 3339 with an upper-case T and a Z or offset")]
    SignatureTimeUnreadable,
    #[error("signature does not verify against text, ts_iso, room UUID and memory_root")]
    SignatureInvalid,
    #[error("the signed time is more than {max} seconds from the server's; sign again")]
    SignatureOutsideWindow { max: i64 },
    #[error(
        "this signature was used in this room before; sign again with a newer ts_iso or, over a \
         thread, a newer position (minutebook-v2; roomcomm-v1 signs the same act the same way). A \
         handshake that is recorded need not be made again"
    )]
    SignatureReplayed,
    #[error("the record says enrolled={found}, but the key's enrolment says otherwise")]
    SignatureEnrolmentWrong { found: bool },

    // Shared skills.
    #[error("sha256 is not 64 lower-case hex digits")]
    SkillDigestMalformed,
    #[error("a skill's bundle has 1 to {max} bytes")]
    SkillSizeWrong { max: u64 },
    #[error("author_pubkey and author_sig go together")]
    SkillSignatureHalf,
    #[error("author_sig does not verify against author_pubkey and sha256")]
    SkillSignatureInvalid,
    #[error("these bytes were published before")]
    SkillAlreadyPublished,
    #[error("this skill was withdrawn and cannot come back")]
    SkillWithdrawn,
    #[error("skill not found")]
    SkillNotFound,
    #[error("a skill with this id was published before")]
    SkillIdTaken,
    #[error("the log has published its {max} skills")]
    SkillsFull { max: usize },

    // API keys and agents' keys.
    #[error("a secret's hash must be 64 lower-case hex digits")]
    KeyHashMalformed,
    #[error("an API key with this id was issued before")]
    KeyIdTaken,
    #[error("an API key with this hash was issued before")]
    KeyHashTaken,
    #[error("scopes must be sorted, without repetition, at least one")]
    KeyScopesMalformed,
    #[error("the log has issued its {max} API keys")]
    KeysFull { max: usize },
    #[error("this public key is enrolled already")]
    AgentKeyTaken,
    #[error("this public key was revoked and cannot come back; make another")]
    AgentKeyRevoked,
    #[error("this public key is not enrolled for this agent")]
    AgentKeyNotFound,
    #[error("no more than {max} public keys can be enrolled; revoke one first")]
    AgentKeysFull { max: usize },

    // The log and its key epochs.
    #[error("an event of this type does not belong in this stream")]
    WrongStream,
    #[error("the body of this event is missing, and nothing may erase it")]
    BodyMissing,
    #[error("the log is not opened; log.opened comes first")]
    LogNotOpened,
    #[error("the log was opened before")]
    LogAlreadyOpened,
    #[error("log.opened must be the first event")]
    LogOpenedLate,
    #[error("an origin is 1 to {max} bytes of visible text without `+`")]
    OriginMalformed { max: usize },
    #[error("vkey is not a C2SP Ed25519 verifier key")]
    VkeyMalformed,
    #[error("vkey does not carry the log's origin as its name")]
    VkeyWrongName,
    #[error("key epoch {found} is out of order; expected {expected}")]
    EpochOutOfOrder { expected: u64, found: u64 },
    #[error("prev_vkey is not the key of the current epoch")]
    EpochWrongPredecessor,
    #[error("this key was the log's before; make another")]
    EpochKeyReused,
    #[error("the log has had its {max} key epochs")]
    EpochsFull { max: usize },
    #[error("the certificate is not the current key's signature over the new one")]
    EpochCertificateInvalid,
}

macro_rules! codes {
    ($($pattern:pat => $code:literal,)*) => {
        /// Every code, in the order of the variants.
        pub const ALL_CODES: &[&str] = &[$($code),*];

        /// Stable `snake_case` code, for programs.
        pub const fn code(&self) -> &'static str {
            match self {
                $($pattern => $code,)*
            }
        }
    };
}

impl Rejection {
    codes! {
        Self::TextEmpty { .. } => "text_empty",
        Self::TextTooLong { .. } => "text_too_long",
        Self::TextUnprintable { .. } => "text_unprintable",
        Self::TextNotCanonical { .. } => "text_not_canonical",
        Self::NameReserved => "name_reserved",
        Self::RoomNameLooksLikeId => "room_name_looks_like_id",
        Self::ActorNotAllowed { .. } => "actor_not_allowed",
        Self::SpeaksForAnother { .. } => "speaks_for_another",
        Self::KeyNotFound => "key_not_found",
        Self::KeyRevoked => "key_revoked",
        Self::KeyLacksScope { .. } => "key_lacks_scope",
        Self::KeyBoundToAgent { .. } => "key_bound_to_agent",
        Self::RoomNotFound => "room_not_found",
        Self::RoomAlreadyOpen => "room_already_open",
        Self::RoomClosed => "room_closed",
        Self::RoomErased => "room_erased",
        Self::RoomFull { .. } => "room_full",
        Self::RoomLimitZero => "room_limit_zero",
        Self::RoomNameTaken => "room_name_taken",
        Self::RoomNameUnchanged => "room_name_unchanged",
        Self::AlreadyMember => "already_member",
        Self::NotMember => "not_member",
        Self::RoomMembersFull { .. } => "room_members_full",
        Self::NameTwin { .. } => "name_twin",
        Self::MessageOutOfOrder { .. } => "message_out_of_order",
        Self::ErasureRange { .. } => "erasure_range",
        Self::RoomConfirmationsMalformed { .. } => "room_confirmations_malformed",
        Self::ClaimNotFound => "claim_not_found",
        Self::ClaimAlreadyOpen => "claim_already_open",
        Self::ClaimNotOwned { .. } => "claim_not_owned",
        Self::ClaimOwned { .. } => "claim_owned",
        Self::SourceMessageUnknown => "source_message_unknown",
        Self::ContextStale { .. } => "context_stale",
        Self::HandshakeOutOfOrder { .. } => "handshake_out_of_order",
        Self::ThreadsFull { .. } => "threads_full",
        Self::DiscrepancyOutOfOrder { .. } => "discrepancy_out_of_order",
        Self::DiscrepanciesFull { .. } => "discrepancies_full",
        Self::ExtractionOutOfOrder { .. } => "extraction_out_of_order",
        Self::ExtractionMalformed => "extraction_malformed",
        Self::RereadingsFull { .. } => "rereadings_full",
        Self::RevisionsFull { .. } => "revisions_full",
        Self::HandshakesFull { .. } => "handshakes_full",
        Self::LedgerOutOfOrder { .. } => "ledger_out_of_order",
        Self::LedgerChainBroken => "ledger_chain_broken",
        Self::LedgerHashWrong => "ledger_hash_wrong",
        Self::LedgerEntryMalformed => "ledger_entry_malformed",
        Self::LedgerArbiterInvalid => "ledger_arbiter_invalid",
        Self::LedgerKeyWrong => "ledger_key_wrong",
        Self::LedgerSignatureInvalid { .. } => "ledger_signature_invalid",
        Self::SignaturePositionMisplaced => "signature_position_misplaced",
        Self::SignaturePositionStale { .. } => "signature_position_stale",
        Self::SignatureNotAllowed => "signature_not_allowed",
        Self::SignatureKeyForeign => "signature_key_foreign",
        Self::SignersFull { .. } => "signers_full",
        Self::SignatureSurfaceUnknown => "signature_surface_unknown",
        Self::PublicKeyMalformed => "public_key_malformed",
        Self::PublicKeyWeak => "public_key_weak",
        Self::SignatureMalformed => "signature_malformed",
        Self::SignatureTimeUnreadable => "signature_time_unreadable",
        Self::SignatureInvalid => "signature_invalid",
        Self::SignatureOutsideWindow { .. } => "signature_outside_window",
        Self::SignatureReplayed => "signature_replayed",
        Self::SignatureEnrolmentWrong { .. } => "signature_enrolment_wrong",
        Self::SkillDigestMalformed => "skill_digest_malformed",
        Self::SkillSizeWrong { .. } => "skill_size_wrong",
        Self::SkillSignatureHalf => "skill_signature_half",
        Self::SkillSignatureInvalid => "skill_signature_invalid",
        Self::SkillAlreadyPublished => "skill_already_published",
        Self::SkillWithdrawn => "skill_withdrawn",
        Self::SkillNotFound => "skill_not_found",
        Self::SkillIdTaken => "skill_id_taken",
        Self::SkillsFull { .. } => "skills_full",
        Self::KeyHashMalformed => "key_hash_malformed",
        Self::KeyIdTaken => "key_id_taken",
        Self::KeyHashTaken => "key_hash_taken",
        Self::KeyScopesMalformed => "key_scopes_malformed",
        Self::KeysFull { .. } => "keys_full",
        Self::AgentKeyTaken => "agent_key_taken",
        Self::AgentKeyRevoked => "agent_key_revoked",
        Self::AgentKeyNotFound => "agent_key_not_found",
        Self::AgentKeysFull { .. } => "agent_keys_full",
        Self::WrongStream => "wrong_stream",
        Self::BodyMissing => "body_missing",
        Self::LogNotOpened => "log_not_opened",
        Self::LogAlreadyOpened => "log_already_opened",
        Self::LogOpenedLate => "log_opened_late",
        Self::OriginMalformed { .. } => "origin_malformed",
        Self::VkeyMalformed => "vkey_malformed",
        Self::VkeyWrongName => "vkey_wrong_name",
        Self::EpochOutOfOrder { .. } => "epoch_out_of_order",
        Self::EpochWrongPredecessor => "epoch_wrong_predecessor",
        Self::EpochKeyReused => "epoch_key_reused",
        Self::EpochsFull { .. } => "epochs_full",
        Self::EpochCertificateInvalid => "epoch_certificate_invalid",
    }
}

#[cfg(test)]
#[path = "rejection_tests.rs"]
mod tests;
