//! Threads, contexts and handshakes on the wire.

use minutebook_domain::limits::{
    AGENT_NAME_CHARS_MAX, CLAIM_VALUE_CHARS_MAX, CONTEXT_HASH_CHARS_MAX, QUOTE_CHARS_MAX,
    SUBJECT_CHARS_MAX,
};
use minutebook_domain::room::claims::{RevisionKind, SubjectKey};
use minutebook_domain::signature::{LedgerSignature, SURFACE_MINUTEBOOK_V2, SURFACE_ROOMCOMM_V1};
use minutebook_domain::text::Quote;
use minutebook_projections::rooms::RoomRow;
use minutebook_projections::threads::{Context, Discrepancy, RevisionRow, ThreadRow};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::wire::{BAD_PUBKEY, BAD_SIGNATURE, is_hex, mode_name};
use super::heard::{Heard, ReadingJson, SuggestionJson};
use crate::error::{ApiError, ErrorCode};
use crate::http::fields::{Fields, Invalid};
use crate::http::ledger::RevisionJson;

const PAIR: &str = "provide both pubkey_hex and signature_hex, or neither";

/// Longest `subject_key` as sent, in code points; what is made of it is shorter.
const SUBJECT_KEY_CHARS_MAX: usize = 200;

/// Body of `POST /api/rooms/{id}/claims`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `NewThread::read` takes")]
pub(super) struct NewThreadBody {
    /// 1 to 200 code points; stripped unless signed.
    #[schema(example = "Concrete delivery to site 2")]
    subject: String,
    /// 1 to 500 code points; stripped unless signed.
    #[schema(example = "delivery on 2026-05-20")]
    value: String,
    /// 1 to 100 code points; stripped.
    #[schema(example = "alice")]
    opened_by: String,
    /// A short name; made of the subject when empty.
    subject_key: Option<String>,
    /// The message it was taken from.
    source_msg_id: Option<u64>,
    /// Up to 300 code points of that message.
    quote: Option<String>,
    /// 64 hex digits. Ours.
    pubkey_hex: Option<String>,
    /// 128 hex digits: Ed25519 over the `minutebook-v2` bytes. Ours.
    signature_hex: Option<String>,
    /// `minutebook-v2`, the only one for openings. Ours.
    surface: Option<String>,
}

/// A thread to open, its fields valid one by one.
pub(super) struct NewThread {
    pub(super) subject: String,
    pub(super) value: String,
    pub(super) opened_by: String,
    pub(super) subject_key: Option<SubjectKey>,
    pub(super) source: Source,
    pub(super) signing: Signing,
}

impl NewThread {
    pub(super) fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let subject = fields.text("subject", 1, SUBJECT_CHARS_MAX)?.to_owned();
        let value = fields.text("value", 1, CLAIM_VALUE_CHARS_MAX)?.to_owned();
        let opened_by = fields
            .text("opened_by", 1, AGENT_NAME_CHARS_MAX)?
            .to_owned();
        let subject_key = fields.optional_text("subject_key", SUBJECT_KEY_CHARS_MAX)?;
        let subject_key = subject_key.filter(|key| !key.is_empty());
        Ok(Self {
            subject,
            value,
            opened_by,
            subject_key: subject_key.map(SubjectKey::derive),
            source: Source::read(fields)?,
            // The only surface that covers an opening.
            signing: Signing::read(fields, SURFACE_MINUTEBOOK_V2)?,
        })
    }
}

/// Body of `POST /api/rooms/{id}/claims/{cid}/revisions`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `NewRevision::read` takes")]
pub(super) struct NewRevisionBody {
    /// 1 to 100 code points; stripped.
    #[schema(example = "bob")]
    agent_id: String,
    /// 1 to 500 code points: the new value, or the one confirmed, contradicted or withdrawn.
    /// Stripped unless signed.
    #[schema(example = "delivery on 2026-05-20")]
    value: String,
    /// `update`, `confirm`, `contradict` or `retract`.
    #[schema(example = "confirm")]
    kind: String,
    /// The message it was taken from.
    source_msg_id: Option<u64>,
    /// Up to 300 code points of that message.
    quote: Option<String>,
    /// 64 hex digits.
    pubkey_hex: Option<String>,
    /// 128 hex digits: Ed25519 over `{claim_id}|{kind}|{value}`, or over the `minutebook-v2`
    /// bytes.
    signature_hex: Option<String>,
    /// `roomcomm-v1` (default) or `minutebook-v2`. Ours.
    surface: Option<String>,
    /// With `minutebook-v2`: the newest revision that was read, not older than the thread's
    /// `value_revision_id`. Ours.
    position: Option<u64>,
}

/// A revision to make, its fields valid one by one.
pub(super) struct NewRevision {
    pub(super) agent_id: String,
    pub(super) value: String,
    pub(super) kind: RevisionKind,
    pub(super) source: Source,
    pub(super) signing: Signing,
}

impl NewRevision {
    pub(super) fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let agent_id = fields.text("agent_id", 1, AGENT_NAME_CHARS_MAX)?.to_owned();
        let value = fields.text("value", 1, CLAIM_VALUE_CHARS_MAX)?.to_owned();
        let kind = fields.word("kind", ["update", "confirm", "contradict", "retract"])?;
        Ok(Self {
            agent_id,
            value,
            kind: match kind {
                0 => RevisionKind::Update,
                1 => RevisionKind::Confirm,
                2 => RevisionKind::Contradict,
                _ => RevisionKind::Retract,
            },
            source: Source::read(fields)?,
            signing: Signing::read(fields, SURFACE_ROOMCOMM_V1)?,
        })
    }
}

/// Where something was taken from.
pub(super) struct Source {
    pub(super) message: Option<u64>,
    pub(super) quote: Option<Quote>,
}

impl Source {
    fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let message = fields.optional_integer("source_msg_id")?;
        let quote = fields.optional_text("quote", QUOTE_CHARS_MAX)?;
        Ok(Self {
            // No room has a message 0: what is below is as little there.
            message: message.map(|id| u64::try_from(id).unwrap_or(0)),
            quote: quote.and_then(|quote| Quote::parse(quote).ok()),
        })
    }
}

/// Body of `POST /api/rooms/{id}/handshake`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `NewHandshake::read` takes")]
pub(super) struct NewHandshakeBody {
    /// 1 to 100 code points; stripped.
    #[schema(example = "alice")]
    agent_id: String,
    /// The hash of the context that was read: 64 characters. The example is an empty room's.
    #[schema(example = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945")]
    context_hash: String,
    /// 64 hex digits.
    pubkey_hex: Option<String>,
    /// 128 hex digits: Ed25519 over the hash's 64 characters, or over the `minutebook-v2` bytes.
    signature_hex: Option<String>,
    /// `roomcomm-v1` (default) or `minutebook-v2`. Ours.
    surface: Option<String>,
    /// With `minutebook-v2`: the id of the room's newest revision that was read. Ours.
    position: Option<u64>,
}

/// A handshake to make, its fields valid one by one.
pub(super) struct NewHandshake {
    pub(super) agent_id: String,
    pub(super) context_hash: String,
    pub(super) signing: Signing,
}

impl NewHandshake {
    pub(super) fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let agent_id = fields.text("agent_id", 1, AGENT_NAME_CHARS_MAX)?.to_owned();
        let digits = CONTEXT_HASH_CHARS_MAX;
        Ok(Self {
            agent_id,
            context_hash: fields.text("context_hash", digits, digits)?.to_owned(),
            signing: Signing::read(fields, SURFACE_ROOMCOMM_V1)?,
        })
    }
}

/// The fields that sign an act of the ledger, as sent.
pub(super) struct Signing {
    pubkey_hex: Option<String>,
    signature_hex: Option<String>,
    surface: &'static str,
    position: Option<u64>,
}

impl Signing {
    fn read(fields: &Fields<'_, '_>, surface: &'static str) -> Result<Self, Invalid> {
        let given = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        // Their lengths are part of their spelling, which is looked at after the room.
        let pubkey_hex = given(fields.optional_text("pubkey_hex", usize::MAX)?);
        let signature_hex = given(fields.optional_text("signature_hex", usize::MAX)?);
        let surface = super::super::wire::surface(fields)?.unwrap_or(surface);
        let position = fields.optional_integer("position")?;
        Ok(Self {
            pubkey_hex,
            signature_hex,
            surface,
            // No entry is 0: what is below is as stale.
            position: position.map(|id| u64::try_from(id).unwrap_or(0)),
        })
    }

    /// None when the act is not signed: an empty key and signature count as none, and the rest
    /// signs nothing.
    pub(super) fn complete(&self) -> Result<Option<LedgerSignature>, ApiError> {
        let (pubkey, sig) = match (&self.pubkey_hex, &self.signature_hex) {
            (None, None) => return Ok(None),
            (Some(pubkey), Some(sig)) => (pubkey, sig),
            (None, Some(_)) | (Some(_), None) => {
                return Err(ApiError::new(ErrorCode::SignatureMalformed, PAIR));
            }
        };
        if !is_hex(pubkey, 64) {
            return Err(ApiError::new(ErrorCode::PublicKeyMalformed, BAD_PUBKEY));
        }
        if !is_hex(sig, 128) {
            return Err(ApiError::new(ErrorCode::SignatureMalformed, BAD_SIGNATURE));
        }
        let position = self.position;
        Ok(Some(LedgerSignature::from_client(
            self.surface,
            position,
            pubkey,
            sig,
        )))
    }
}

/// A thread.
#[derive(Serialize, ToSchema)]
pub(super) struct ThreadJson<'a> {
    id: String,
    subject: &'a str,
    subject_key: &'a str,
    current_value: &'a str,
    /// `proposed`, `agreed`, `disputed` or `cancelled`.
    status: &'static str,
    opened_by: &'a str,
    revisions_count: u64,
    last_revision: RevisionJson<'a>,
    created_at: String,
    updated_at: String,
    /// The whole ledger of the thread, where a single thread is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    revisions: Option<Vec<RevisionJson<'a>>>,
    /// The revision that gave it its value.
    value_revision_id: u64,
    /// Different principals, its opener's left out, that confirmed its value, counted when it was
    /// last revised.
    confirmations: u32,
    /// As many make it agreed.
    confirmations_needed: u8,
}

impl<'a> ThreadJson<'a> {
    pub(super) fn new(row: &'a ThreadRow, last: &'a RevisionRow, needed: u8) -> Self {
        let thread = &row.thread;
        Self {
            id: thread.id().to_string(),
            subject: thread.subject(),
            subject_key: thread.subject_key().as_str(),
            current_value: thread.value(),
            status: thread.status().name(),
            opened_by: thread.opener().as_str(),
            revisions_count: thread.revisions(),
            last_revision: RevisionJson::new(last, thread.id()),
            created_at: row.created_at.to_seconds_text(),
            updated_at: row.updated_at.to_seconds_text(),
            revisions: None,
            value_revision_id: thread.value_revision(),
            confirmations: row.confirmations,
            confirmations_needed: needed,
        }
    }

    /// The same with its ledger.
    pub(super) fn with_ledger(self, rows: &'a [RevisionRow], row: &ThreadRow) -> Self {
        let claim = row.thread.id();
        let revisions = rows.iter().map(|row| RevisionJson::new(row, claim));
        Self {
            revisions: Some(revisions.collect()),
            ..self
        }
    }
}

/// A discrepancy.
#[derive(Serialize, ToSchema)]
pub(super) struct DiscrepancyJson<'a> {
    id: u64,
    description: &'a str,
    /// `high`, `medium` or `low`.
    severity: &'a str,
    related_msg_id: Option<u64>,
    related_claim_id: Option<String>,
    created_at: String,
    resolved: bool,
    log_seq: u64,
}

impl<'a> DiscrepancyJson<'a> {
    fn new(found: &'a Discrepancy) -> Self {
        let row = &found.row;
        Self {
            id: found.id,
            description: &row.description,
            severity: &row.severity,
            related_msg_id: row.message,
            related_claim_id: row.claim.map(|claim| claim.to_string()),
            created_at: row.at.to_seconds_text(),
            resolved: row.is_resolved,
            log_seq: row.seq,
        }
    }
}

/// Answer of `GET /api/rooms/{id}/context`.
#[derive(Serialize, ToSchema)]
pub(super) struct ContextJson<'a> {
    room_uuid: String,
    protocol_mode: &'static str,
    /// All threads in the order of opening, cancelled ones too.
    threads: Vec<ThreadJson<'a>>,
    /// Unresolved ones, the newest first.
    discrepancies: Vec<DiscrepancyJson<'a>>,
    context_hash: &'a str,
    last_extracted_msg_id: u64,
    /// Whether the arbiter reads this room by itself.
    arbiter_active: bool,
    /// Why not all of it could be read: an outage, or a message that was passed over.
    last_extraction_error: Option<String>,
    /// Whether two different principals shook hands on this context.
    sealed: bool,
    /// The newest revision's id: the `position` of a `minutebook-v2` handshake.
    last_revision_id: u64,
    confirmations_needed: u8,
    /// What agents said that only they can put on the ledger, the newest first. Ours.
    suggestions: Vec<SuggestionJson>,
    /// The arbiter's newest attempt at a message. Ours.
    last_extraction: Option<ReadingJson>,
    /// Messages that could not be read. Ours.
    skipped_messages: u64,
    /// Position of the newest event here; the answer's entity tag.
    log_seq: u64,
}

impl<'a> ContextJson<'a> {
    pub(super) fn new(room: &RoomRow, context: &'a Context, heard: Heard) -> Self {
        let ledger = &context.ledger;
        let needed = ledger.confirmations_needed;
        let threads = context.threads.iter();
        Self {
            room_uuid: room.id.to_string(),
            protocol_mode: mode_name(room.mode),
            threads: threads
                .map(|one| ThreadJson::new(&one.row, &one.last, needed))
                .collect(),
            discrepancies: context
                .discrepancies
                .iter()
                .map(DiscrepancyJson::new)
                .collect(),
            context_hash: &context.context_hash,
            last_extracted_msg_id: ledger.last_extracted_msg_id,
            arbiter_active: heard.is_active,
            last_extraction_error: heard.error,
            sealed: context.is_sealed,
            last_revision_id: ledger.revisions,
            confirmations_needed: needed,
            suggestions: heard.suggestions,
            last_extraction: ledger.last_reading.as_ref().map(ReadingJson::new),
            skipped_messages: ledger.skipped,
            log_seq: ledger.last_seq,
        }
    }
}
