//! Agents' Ed25519 signatures: what bytes they cover and when one counts.
//!
//! Invariants
//! * There are two surfaces. `roomcomm-v1` is the seed's: it has no separators and leaves out the
//!   agent's name, of a ledger act also the room and the place. `minutebook-v2` covers all of
//!   these, each field behind its length, and says what it is for in its first field; so no
//!   signature fits two acts.
//! * A signature is refused a second time, under any name: of a message while its time window is
//!   open, of a ledger act for as long as the room lives.
//! * What was signed is kept as sent, to the byte.

mod ledger;
mod surface;

use serde::{Deserialize, Serialize};

use crate::{ed25519, ids::RoomId, limits, rejection::Rejection, time::Timestamp};

pub use ledger::{LedgerAct, LedgerSignature};
pub(crate) use surface::Surface;
pub use surface::{MessageAct, surface_message_v2, surface_roomcomm_v1};

/// Seed 003's surface.
pub const SURFACE_ROOMCOMM_V1: &str = "roomcomm-v1";
/// Our own surface: it covers who, where and in what place.
pub const SURFACE_MINUTEBOOK_V2: &str = "minutebook-v2";

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
    /// Which bytes were signed: `roomcomm-v1` ([`surface_roomcomm_v1`]) or `minutebook-v2`
    /// ([`surface_message_v2`]).
    pub surface: String,
    /// The time the agent signed, kept exactly as sent.
    pub ts_iso: String,
}

impl MessageSignature {
    /// A signature as a client sends it: hex in either case, over the seed's surface. Whether the
    /// key is enrolled is for [`crate::decide`] to say.
    pub fn from_client(pubkey: &str, sig: &str, ts_iso: &str) -> Self {
        Self {
            enrolled: false,
            pubkey: pubkey.to_ascii_lowercase(),
            sig: sig.to_ascii_lowercase(),
            surface: SURFACE_ROOMCOMM_V1.to_owned(),
            ts_iso: ts_iso.to_owned(),
        }
    }

    /// The same signature, over another surface.
    #[must_use]
    pub fn with_surface(self, surface: &str) -> Self {
        let surface = surface.to_owned();
        Self { surface, ..self }
    }

    /// The rules that need no state, in this order: surface, key, signature's spelling, time's
    /// spelling, and last the signature itself. The act's own time is this signature's.
    pub(crate) fn intrinsic(&self, act: &MessageAct<'_>, room: RoomId) -> Result<(), Rejection> {
        let surface = Surface::parse(&self.surface)?;
        let key = ed25519::public_key(&self.pubkey)?;
        self.signed_at()?;
        let message = match surface {
            Surface::RoomcommV1 => {
                surface_roomcomm_v1(act.text, &self.ts_iso, room, act.memory_root)
            }
            Surface::MinutebookV2 => surface_message_v2(act, &self.ts_iso, room),
        };
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
