//! What goes over the wire, and its conversion to and from the rules' types.

use minutebook_domain::Rejection;
use minutebook_domain::limits::{
    AGENT_NAME_CHARS_MAX, CONFIRMATIONS_NEEDED_MAX, MEMORY_ROOT_CHARS_MAX,
    ROOM_DESCRIPTION_CHARS_MAX, TS_ISO_BYTES_MAX,
};
use minutebook_domain::room::{CONFIRMATIONS_NEEDED, Opened, ProtocolMode};
use minutebook_domain::signature::{SURFACE_MINUTEBOOK_V2, SURFACE_ROOMCOMM_V1};
use minutebook_domain::text::AgentName;
use minutebook_domain::time::Timestamp;
use minutebook_projections::rooms::RoomRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::write::bad_field;
use crate::error::{ApiError, ErrorCode};
use crate::http::fields::{Fields, Invalid};
use crate::http::message::MessageJson;
use crate::http::{python, views};

/// Longest name of a surface worth comparing.
const SURFACE_CHARS_MAX: usize = 100;
/// Longest message of this dialect, in code points.
pub(super) const TEXT_CHARS_MAX: usize = 10_000;

/// The peer's texts about signatures.
pub(super) const SIGN_TOGETHER: &str =
    "when signing, provide pubkey_hex + signature_hex + ts_iso together";
pub(super) const BAD_PUBKEY: &str = "pubkey_hex must be 64 hex chars";
pub(super) const BAD_SIGNATURE: &str = "signature_hex must be 128 hex chars";
pub(super) const TS_UNREADABLE: &str = "ts_iso is not a valid ISO-8601 timestamp";
pub(super) const TS_OUTSIDE: &str = "ts_iso is more than 5 minutes from server clock";
const NOT_VERIFIED: &str =
    "signature does not verify against (text || ts_iso || room_uuid || memory_root)";

/// Body of `POST /api/rooms`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `NewRoom::read` takes")]
pub(super) struct NewRoomBody {
    /// Up to 500 code points; stripped. Null is empty.
    #[schema(example = "Agree on a delivery date")]
    description: Option<String>,
    /// Whether the directory lists it. False by default.
    is_public: Option<bool>,
    /// `standard` (default) or `premium`.
    protocol_mode: Option<String>,
    /// Who opens it: the record's actor. Ours; `anonymous` by default.
    agent_id: Option<String>,
    /// Confirmations by others that make a thread's value agreed, 1 to 16. Ours; 2 by default.
    confirmations_needed: Option<u8>,
}

/// A room to open.
pub(super) struct NewRoom {
    pub(super) description: String,
    pub(super) is_public: bool,
    pub(super) mode: ProtocolMode,
    pub(super) agent: Option<String>,
    /// None for the default.
    pub(super) confirmations_needed: Option<u8>,
}

impl NewRoom {
    pub(super) fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let description = fields.optional_text("description", ROOM_DESCRIPTION_CHARS_MAX)?;
        let is_public = fields.flag("is_public")?;
        let mode = fields.choice("protocol_mode", ["standard", "premium"])?;
        let agent = fields.optional_text("agent_id", AGENT_NAME_CHARS_MAX)?;
        let needed = confirmations(fields)?;
        Ok(Self {
            description: python::strip(description.unwrap_or_default()).to_owned(),
            is_public,
            mode: if mode == 0 {
                ProtocolMode::Standard
            } else {
                ProtocolMode::Premium
            },
            agent: agent.map(str::to_owned),
            confirmations_needed: Some(needed).filter(|needed| *needed != CONFIRMATIONS_NEEDED),
        })
    }
}

fn confirmations(fields: &Fields<'_, '_>) -> Result<u8, Invalid> {
    let field = "confirmations_needed";
    let max = CONFIRMATIONS_NEEDED_MAX;
    match fields.optional_integer(field)? {
        None => Ok(CONFIRMATIONS_NEEDED),
        Some(value) if value < 1 => Err(Invalid::field(
            field,
            "Input should be greater than or equal to 1",
        )),
        Some(value) => u8::try_from(value)
            .ok()
            .filter(|value| *value <= max)
            .ok_or_else(|| {
                Invalid::field(
                    field,
                    format!("Input should be less than or equal to {max}"),
                )
            }),
    }
}

/// Which bytes were signed; none when it is left open.
pub(super) fn surface(fields: &Fields<'_, '_>) -> Result<Option<&'static str>, Invalid> {
    if fields
        .optional_text("surface", SURFACE_CHARS_MAX)?
        .is_none()
    {
        return Ok(None);
    }
    let words = [SURFACE_ROOMCOMM_V1, SURFACE_MINUTEBOOK_V2];
    let found = fields.choice("surface", words)?;
    Ok(words.get(found).copied())
}

/// Body of `POST /api/rooms/{id}/messages`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what `NewMessage::read` takes")]
pub(super) struct NewMessageBody {
    /// 1 to 100 code points; stripped.
    #[schema(example = "alice")]
    agent_id: String,
    /// 1 to 10,000 code points, kept as sent.
    #[schema(example = "Is May 20 fine?")]
    text: String,
    /// The time signed, within 5 minutes of now.
    ts_iso: Option<String>,
    /// 64 hex digits.
    pubkey_hex: Option<String>,
    /// 128 hex digits: Ed25519 over text, `ts_iso`, room UUID and `memory_root`, concatenated, or
    /// over the `minutebook-v2` bytes.
    signature_hex: Option<String>,
    /// `roomcomm-v1` (default) or `minutebook-v2`. Ours.
    surface: Option<String>,
    /// Up to 128 code points.
    memory_root: Option<String>,
}

/// A message to post, its fields valid one by one.
pub(super) struct NewMessage {
    pub(super) agent_id: String,
    pub(super) text: String,
    pub(super) memory_root: Option<String>,
    pub(super) signing: Signing,
}

/// The three fields that sign a message, as sent.
#[derive(Default)]
pub(super) struct Signing {
    pub(super) ts_iso: Option<String>,
    pub(super) pubkey_hex: Option<String>,
    pub(super) signature_hex: Option<String>,
    pub(super) surface: Option<&'static str>,
}

/// The three fields that sign a message, present and well spelled.
pub(super) struct Signed<'a> {
    pub(super) ts_iso: &'a str,
    pub(super) pubkey_hex: &'a str,
    pub(super) signature_hex: &'a str,
}

impl NewMessage {
    pub(super) fn read(fields: &Fields<'_, '_>) -> Result<Self, Invalid> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let agent_id = fields.text("agent_id", 1, AGENT_NAME_CHARS_MAX)?.to_owned();
        let text = fields.text("text", 1, TEXT_CHARS_MAX)?.to_owned();
        let ts_iso = owned(fields.optional_text("ts_iso", TS_ISO_BYTES_MAX)?);
        // Their lengths are part of their spelling, which is looked at after the room.
        let pubkey_hex = owned(fields.optional_text("pubkey_hex", usize::MAX)?);
        let signature_hex = owned(fields.optional_text("signature_hex", usize::MAX)?);
        let memory_root = owned(fields.optional_text("memory_root", MEMORY_ROOT_CHARS_MAX)?);
        let surface = surface(fields)?;
        let signing = Signing {
            ts_iso,
            pubkey_hex,
            signature_hex,
            surface,
        };
        Ok(Self {
            agent_id,
            text,
            memory_root,
            signing,
        })
    }
}

impl Signing {
    /// None when the message is not signed: an empty key and signature count as none, and a time
    /// alone signs nothing.
    pub(super) fn complete(&self) -> Result<Option<Signed<'_>>, ApiError> {
        let present = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        if !present(&self.pubkey_hex) && !present(&self.signature_hex) {
            return Ok(None);
        }
        let filled = |text: &'_ Option<String>| present(text);
        let all = filled(&self.pubkey_hex) && filled(&self.signature_hex) && filled(&self.ts_iso);
        let (Some(pubkey_hex), Some(signature_hex), Some(ts_iso), true) =
            (&self.pubkey_hex, &self.signature_hex, &self.ts_iso, all)
        else {
            return Err(ApiError::new(ErrorCode::SignatureMalformed, SIGN_TOGETHER));
        };
        if !is_hex(pubkey_hex, 64) {
            return Err(ApiError::new(ErrorCode::PublicKeyMalformed, BAD_PUBKEY));
        }
        if !is_hex(signature_hex, 128) {
            return Err(ApiError::new(ErrorCode::SignatureMalformed, BAD_SIGNATURE));
        }
        Ok(Some(Signed {
            ts_iso,
            pubkey_hex,
            signature_hex,
        }))
    }
}

pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What the peer says of an empty text.
pub(super) const AT_LEAST_ONE: &str = "String should have at least 1 character";

/// An agent's name from a field: stripped, then the rules' own checks.
pub(super) fn agent_name(field: &'static str, text: &str) -> Result<AgentName, ApiError> {
    let text = python::strip(text);
    AgentName::parse(text).map_err(|rejection| bad_field(field, &rejection))
}

/// The dialect's words for refusals, where it has any.
const WORDS: [(ErrorCode, &str); 5] = [
    (ErrorCode::PublicKeyMalformed, BAD_PUBKEY),
    (ErrorCode::SignatureInvalid, NOT_VERIFIED),
    (ErrorCode::SignatureMalformed, BAD_SIGNATURE),
    (ErrorCode::SignatureOutsideWindow, TS_OUTSIDE),
    (ErrorCode::SignatureTimeUnreadable, TS_UNREADABLE),
];

/// A refusal by the rules, in the dialect's words where it has any.
pub(super) fn refused(rejection: &Rejection) -> ApiError {
    let code = ErrorCode::from(rejection);
    if matches!(code, ErrorCode::RoomNotFound | ErrorCode::RoomErased) {
        return views::no_room();
    }
    if let Rejection::RoomFull { limit } = rejection {
        return ApiError::new(code, room_full(*limit));
    }
    match WORDS.iter().find(|(known, _)| *known == code) {
        Some((_, words)) => ApiError::new(code, *words),
        None => ApiError::new(code, rejection.to_string()),
    }
}

/// The peer's text about a premium room where nobody would read it.
pub(super) const NO_PREMIUM: &str =
    "premium rooms require the LLM arbiter, which is not configured on this server";

/// The peer's text about a full room.
pub(super) fn room_full(limit: u64) -> String {
    format!("Room message limit reached ({limit})")
}

/// A mode as the wire spells it.
pub(super) fn mode_name(mode: ProtocolMode) -> &'static str {
    match mode {
        ProtocolMode::Standard => "standard",
        ProtocolMode::Premium => "premium",
    }
}

/// Answer of `POST /api/rooms`.
#[derive(Serialize, ToSchema)]
pub(super) struct OpenedJson<'a> {
    uuid: String,
    url: String,
    description: &'a str,
    created_at: String,
    is_public: bool,
    protocol_mode: &'static str,
    message_limit: Option<u64>,
    confirmations_needed: u8,
    log_seq: u64,
}

impl<'a> OpenedJson<'a> {
    pub(super) fn new(
        uuid: String,
        base: &str,
        opened: &'a Opened,
        place: crate::http::message::Place,
    ) -> Self {
        Self {
            url: format!("{base}/{uuid}"),
            uuid,
            description: opened.description.as_str(),
            created_at: place.at.to_seconds_text(),
            is_public: opened.is_public,
            protocol_mode: mode_name(opened.protocol_mode),
            message_limit: opened.message_limit,
            confirmations_needed: opened.confirmations_needed.unwrap_or(CONFIRMATIONS_NEEDED),
            log_seq: place.seq,
        }
    }
}

/// Answer of `GET /api/rooms/{id}`.
#[derive(Serialize, ToSchema)]
pub(super) struct RoomJson<'a> {
    uuid: String,
    description: &'a str,
    created_at: String,
    message_count: u64,
    is_public: bool,
    protocol_mode: &'static str,
    name: Option<&'a str>,
    is_closed: bool,
    message_limit: Option<u64>,
    last_activity_at: Option<String>,
    agent_count: u64,
    member_count: u64,
    confirmations_needed: u8,
    /// Whether the arbiter reads this room by itself.
    arbiter_active: bool,
    /// Why not all of it could be read.
    last_extraction_error: Option<String>,
    log_seq: u64,
}

impl<'a> RoomJson<'a> {
    pub(super) fn new(row: &'a RoomRow, is_active: bool, error: Option<String>) -> Self {
        Self {
            uuid: row.id.to_string(),
            description: &row.description,
            created_at: row.created_at.to_seconds_text(),
            message_count: row.message_count,
            is_public: row.is_public,
            protocol_mode: mode_name(row.mode),
            name: row.name.as_deref(),
            is_closed: row.is_closed,
            message_limit: row.message_limit,
            last_activity_at: row.last_message_at.map(Timestamp::to_seconds_text),
            agent_count: row.agent_count,
            member_count: row.member_count,
            confirmations_needed: row.confirmations_needed,
            arbiter_active: is_active,
            last_extraction_error: error,
            log_seq: row.last_seq,
        }
    }
}

/// Answer of `GET /api/rooms/{id}/messages`.
#[derive(Serialize, ToSchema)]
pub(super) struct PageJson<'a> {
    pub(super) messages: Vec<MessageJson<'a>>,
    pub(super) has_more: bool,
}

/// Answer of writes that make nothing to show.
#[derive(Serialize, ToSchema)]
pub(super) struct DoneJson {
    pub(super) done: bool,
    pub(super) log_seq: u64,
}
