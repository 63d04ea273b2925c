//! Signatures over the acts of a room's ledger: openings, revisions, handshakes.

use serde::{Deserialize, Serialize};

use super::surface::{Surface, framed};
use crate::{
    ed25519,
    ids::{ClaimId, RoomId},
    rejection::Rejection,
};

/// An agent's signature over an act of the ledger, as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerSignature {
    /// Whether the key was enrolled for this agent then (a fact from another stream,
    /// cross-checked when the whole log is verified).
    pub enrolled: bool,
    /// What the signer had read when it signed: of a revision the revision that gave the thread
    /// its value, of a handshake the room's newest. Only `minutebook-v2` has it, and an opening,
    /// before which there is nothing to read, has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Public key, 64 lower-case hex digits.
    pub pubkey: String,
    /// Signature, 128 lower-case hex digits.
    pub sig: String,
    /// Which bytes were signed, see [`LedgerAct::signed_bytes`].
    pub surface: String,
}

/// An act of the ledger, as far as a signature covers it.
#[derive(Clone, Copy, Debug)]
pub enum LedgerAct<'a> {
    /// Opening a thread.
    Opening {
        /** Who opens it. */
        agent: &'a str,
        /** What it is about, as sent. */
        subject: &'a str,
        /** Its first value, as sent. */
        value: &'a str,
    },
    /// Revising a thread.
    Revision {
        /** Which thread. */
        claim: ClaimId,
        /** Who revises it. */
        agent: &'a str,
        /** `update`, `confirm`, `contradict` or `retract`. */
        kind: &'a str,
        /** The value, as sent. */
        value: &'a str,
    },
    /// Shaking hands on a context.
    Handshake {
        /** Who. */
        agent: &'a str,
        /** The context's hash. */
        context_hash: &'a str,
    },
}

impl LedgerAct<'_> {
    /// The bytes that a signature over this act covers.
    ///
    /// `roomcomm-v1`: of a revision claim, kind and value with `|` between, of a handshake the
    /// context's hash; an opening cannot be signed so.
    /// `minutebook-v2`: `minutebook-claim-v2`, room, agent, subject, value; or
    /// `minutebook-revision-v2`, room, claim, agent, position, kind, value; or
    /// `minutebook-handshake-v2`, room, agent, position, hash; each behind its length in bytes as
    /// 32 bits, big-endian.
    pub fn signed_bytes(
        &self,
        surface: &str,
        room: RoomId,
        position: Option<u64>,
    ) -> Result<Vec<u8>, Rejection> {
        let surface = Surface::parse(surface)?;
        match (surface, *self, position) {
            (Surface::RoomcommV1, Self::Opening { .. }, _) => {
                Err(Rejection::SignatureSurfaceUnknown)
            }
            (
                Surface::RoomcommV1,
                Self::Revision {
                    claim, kind, value, ..
                },
                None,
            ) => Ok(format!("{claim}|{kind}|{value}").into_bytes()),
            (Surface::RoomcommV1, Self::Handshake { context_hash, .. }, None) => {
                Ok(context_hash.as_bytes().to_vec())
            }
            (Surface::MinutebookV2, _, _) => self.minutebook_v2(&room.to_string(), position),
            (Surface::RoomcommV1, Self::Revision { .. } | Self::Handshake { .. }, Some(_)) => {
                Err(Rejection::SignaturePositionMisplaced)
            }
        }
    }

    fn minutebook_v2(&self, room: &str, position: Option<u64>) -> Result<Vec<u8>, Rejection> {
        match (*self, position.map(|position| position.to_string())) {
            (
                Self::Opening {
                    agent,
                    subject,
                    value,
                },
                None,
            ) => Ok(framed(&[
                "minutebook-claim-v2",
                room,
                agent,
                subject,
                value,
            ])),
            (
                Self::Revision {
                    claim,
                    agent,
                    kind,
                    value,
                },
                Some(position),
            ) => Ok(framed(&[
                "minutebook-revision-v2",
                room,
                &claim.to_string(),
                agent,
                &position,
                kind,
                value,
            ])),
            (
                Self::Handshake {
                    agent,
                    context_hash,
                },
                Some(position),
            ) => Ok(framed(&[
                "minutebook-handshake-v2",
                room,
                agent,
                &position,
                context_hash,
            ])),
            (Self::Opening { .. }, Some(_))
            | (Self::Revision { .. } | Self::Handshake { .. }, None) => {
                Err(Rejection::SignaturePositionMisplaced)
            }
        }
    }

    /// What a signature over it fails to fit, in the peer's words where it has any.
    fn covers(&self) -> &'static str {
        match self {
            Self::Opening { .. } => {
                "the opening's minutebook-v2 bytes, the only ones it is signed with"
            }
            Self::Revision { .. } => "revision canonical bytes",
            Self::Handshake { .. } => "context_hash",
        }
    }
}

impl LedgerSignature {
    /// A signature as a client sends it: hex in either case. Whether the key is enrolled is for
    /// [`crate::decide`] to say.
    pub fn from_client(surface: &str, position: Option<u64>, pubkey: &str, sig: &str) -> Self {
        Self {
            enrolled: false,
            position,
            pubkey: pubkey.to_ascii_lowercase(),
            sig: sig.to_ascii_lowercase(),
            surface: surface.to_owned(),
        }
    }

    /// The rules that need no state, in this order: key, signature's spelling, surface and
    /// position, and last the signature itself.
    pub(crate) fn intrinsic(&self, act: &LedgerAct<'_>, room: RoomId) -> Result<(), Rejection> {
        let key = ed25519::public_key(&self.pubkey)?;
        let message = act.signed_bytes(&self.surface, room, self.position)?;
        match ed25519::verifies(&key, &message, &self.sig) {
            None => Err(Rejection::SignatureMalformed),
            Some(false) => Err(Rejection::LedgerSignatureInvalid { what: act.covers() }),
            Some(true) => Ok(()),
        }
    }
}
