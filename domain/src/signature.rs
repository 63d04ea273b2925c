//! Agents' Ed25519 signatures: what bytes they cover and when one counts.
//!
//! Invariants
//! * The signed bytes are the seed's, with no separators: text ‖ `ts_iso` ‖ room UUID ‖
//!   `memory_root` or nothing. The agent's name is not among them, so a signature is remembered
//!   for as long as its time window is open and is refused a second time, under any name.
//! * `ts_iso` is kept as sent, because it is part of the signed bytes.

use serde::{Deserialize, Serialize};

use crate::{
    ed25519, ids::RoomId, limits, rejection::Rejection, text::MessageText, time::Timestamp,
};

/// The one surface known today: seed 003's.
pub const SURFACE_ROOMCOMM_V1: &str = "roomcomm-v1";

/// An agent's signature over a message, as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageSignature {
    /// Whether the key was enrolled for this agent when the message was taken (a fact from
    /// another stream, cross-checked when the whole log is verified).
    pub enrolled: bool,
    /// Public key, 64 lower-case hex digits.
    pub pubkey: String,
    /// Signature, 128 lower-case hex digits.
    pub sig: String,
    /// Which bytes were signed: `roomcomm-v1` = text ‖ `ts_iso` ‖ room uuid ‖ `memory_root` or
    /// nothing.
    pub surface: String,
    /// The time the agent signed, kept exactly as sent.
    pub ts_iso: String,
}

impl MessageSignature {
    /// A signature as a client sends it: hex in either case. Whether the key is enrolled is for
    /// [`crate::decide`] to say.
    pub fn from_client(pubkey: &str, sig: &str, ts_iso: &str) -> Self {
        Self {
            enrolled: false,
            pubkey: pubkey.to_ascii_lowercase(),
            sig: sig.to_ascii_lowercase(),
            surface: SURFACE_ROOMCOMM_V1.to_owned(),
            ts_iso: ts_iso.to_owned(),
        }
    }

    /// The rules that need no state, in this order: surface, key, signature's spelling, time's
    /// spelling, and last the signature itself.
    pub(crate) fn intrinsic(
        &self,
        room: RoomId,
        text: &MessageText,
        memory_root: Option<&str>,
    ) -> Result<(), Rejection> {
        if self.surface != SURFACE_ROOMCOMM_V1 {
            return Err(Rejection::SignatureSurfaceUnknown);
        }
        let key = ed25519::public_key(&self.pubkey)?;
        self.signed_at()?;
        let message = surface_roomcomm_v1(text.as_str(), &self.ts_iso, room, memory_root);
        match ed25519::verifies(&key, &message, &self.sig) {
            None => Err(Rejection::SignatureMalformed),
            Some(false) => Err(Rejection::SignatureInvalid),
            Some(true) => Ok(()),
        }
    }

    /// The rule that needs the record's time; returns the moment the window closes.
    pub(crate) fn window(&self, at: Timestamp) -> Result<Timestamp, Rejection> {
        let max = limits::SIGNATURE_WINDOW_SECONDS_MAX;
        let signed_at = self.signed_at()?;
        if signed_at.micros_from(at) > max.unsigned_abs() * 1_000_000 {
            return Err(Rejection::SignatureOutsideWindow { max });
        }
        Ok(signed_at.plus_seconds(max))
    }

    /// The moment the agent says it signed.
    pub fn signed_at(&self) -> Result<Timestamp, Rejection> {
        if self.ts_iso.len() > limits::TS_ISO_BYTES_MAX {
            return Err(Rejection::SignatureTimeUnreadable);
        }
        Timestamp::parse_rfc3339(&self.ts_iso).ok_or(Rejection::SignatureTimeUnreadable)
    }
}

/// The bytes a `roomcomm-v1` signature covers.
pub fn surface_roomcomm_v1(
    text: &str,
    ts_iso: &str,
    room: RoomId,
    memory_root: Option<&str>,
) -> Vec<u8> {
    let uuid = room.to_string();
    [text, ts_iso, &uuid, memory_root.unwrap_or_default()]
        .concat()
        .into_bytes()
}
