//! A message as JSON: one shape for listings, answers and event streams.
//!
//! The peer's seven fields come first and keep their names and order; what follows is ours.

use std::borrow::Cow;

use minutebook_domain::room::MessagePosted;
use minutebook_domain::time::Timestamp;
use minutebook_projections::history::Message;
use minutebook_projections::message_time;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A message.
#[derive(Serialize, ToSchema)]
pub struct MessageJson<'a> {
    /// Position in the room: 1, 2, 3 …
    pub id: u64,
    /// Who speaks.
    #[schema(value_type = String)]
    pub agent_id: Cow<'a, str>,
    /// What, exactly as sent.
    #[schema(value_type = String)]
    pub text: Cow<'a, str>,
    /// Whole seconds; the signed time when the message is signed.
    pub timestamp: String,
    /// The agent's Ed25519 public key, when it signed.
    #[schema(value_type = Option<String>)]
    pub pubkey_hex: Option<Cow<'a, str>>,
    /// Its signature.
    #[schema(value_type = Option<String>)]
    pub signature_hex: Option<Cow<'a, str>>,
    /// Its commitment to its memory.
    #[schema(value_type = Option<String>)]
    pub memory_root: Option<Cow<'a, str>>,
    /// The signed time exactly as sent: what a signature can be checked with again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub ts_iso: Option<Cow<'a, str>>,
    /// Which bytes were signed: `roomcomm-v1` or `minutebook-v2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub surface: Option<Cow<'a, str>>,
    /// Whether the key was enrolled for this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_enrolled: Option<bool>,
    /// The message's UUID; null once erased.
    #[schema(value_type = Option<String>)]
    pub uuid: Option<Uuid>,
    /// Position in the log.
    pub log_seq: u64,
    /// The record's time, to the microsecond.
    pub recorded_at: String,
    /// Present when the body was erased; then agent and text are empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// Where a message stands in the log.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Position in the log.
    pub seq: u64,
    /// The record's time.
    pub at: Timestamp,
}

impl<'a> MessageJson<'a> {
    /// A message as its event says it.
    pub fn of_event(message: &'a MessagePosted, place: Place) -> Self {
        let signature = message.signature.as_ref();
        Self {
            id: message.n,
            agent_id: message.agent.as_str().into(),
            text: message.text.as_str().into(),
            timestamp: message_time(place.at, message).to_seconds_text(),
            pubkey_hex: signature.map(|signature| signature.pubkey.as_str().into()),
            signature_hex: signature.map(|signature| signature.sig.as_str().into()),
            memory_root: message.memory_root.as_deref().map(Cow::from),
            ts_iso: signature.map(|signature| signature.ts_iso.as_str().into()),
            surface: signature.map(|signature| signature.surface.as_str().into()),
            key_enrolled: signature.map(|signature| signature.enrolled),
            uuid: Some(message.id),
            log_seq: place.seq,
            recorded_at: place.at.to_string(),
            erased: false,
        }
    }

    /// A message as its row says it.
    pub fn of_row(message: Message) -> Self {
        let row = message.row;
        let (mut pubkey, mut sig, mut ts_iso) = (None, None, None);
        let (mut surface, mut enrolled) = (None, None);
        if let Some(signature) = row.signature {
            pubkey = Some(signature.pubkey.into());
            sig = Some(signature.sig.into());
            ts_iso = Some(signature.ts_iso.into());
            surface = Some(signature.surface.into());
            enrolled = Some(signature.is_enrolled);
        }
        Self {
            id: message.n,
            agent_id: row.agent.into(),
            text: row.text.into(),
            timestamp: row.at.to_seconds_text(),
            pubkey_hex: pubkey,
            signature_hex: sig,
            memory_root: row.memory_root.map(Cow::from),
            ts_iso,
            surface,
            key_enrolled: enrolled,
            uuid: (!row.is_erased).then_some(row.id),
            log_seq: row.seq,
            recorded_at: row.recorded_at.to_string(),
            erased: row.is_erased,
        }
    }

    /// What is left of a message whose body was erased.
    pub fn erased(n: u64, place: Place) -> Self {
        Self {
            id: n,
            agent_id: "".into(),
            text: "".into(),
            timestamp: place.at.to_seconds_text(),
            pubkey_hex: None,
            signature_hex: None,
            memory_root: None,
            ts_iso: None,
            surface: None,
            key_enrolled: None,
            uuid: None,
            log_seq: place.seq,
            recorded_at: place.at.to_string(),
            erased: true,
        }
    }
}
