//! The signed bytes of messages, and how fields are put together.

use super::{SURFACE_MINUTEBOOK_V2, SURFACE_ROOMCOMM_V1};
use crate::{ids::RoomId, rejection::Rejection};

/// The surfaces there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    RoomcommV1,
    MinutebookV2,
}

impl Surface {
    pub(crate) fn parse(name: &str) -> Result<Self, Rejection> {
        match name {
            SURFACE_ROOMCOMM_V1 => Ok(Self::RoomcommV1),
            SURFACE_MINUTEBOOK_V2 => Ok(Self::MinutebookV2),
            _ => Err(Rejection::SignatureSurfaceUnknown),
        }
    }
}

/// A message, as far as a signature covers it.
#[derive(Clone, Copy, Debug)]
pub struct MessageAct<'a> {
    /// Who speaks.
    pub agent: &'a str,
    /// Its kind's name: `chat`.
    pub kind: &'a str,
    /// The text as sent.
    pub text: &'a str,
    /// The agent's own commitment.
    pub memory_root: Option<&'a str>,
}

/// The bytes a message's `roomcomm-v1` signature covers.
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

/// The bytes a message's `minutebook-v2` signature covers: `minutebook-message-v2`, room UUID,
/// agent, `ts_iso`, kind, text, and `memory_root` or the empty text.
pub fn surface_message_v2(act: &MessageAct<'_>, ts_iso: &str, room: RoomId) -> Vec<u8> {
    framed(&[
        "minutebook-message-v2",
        &room.to_string(),
        act.agent,
        ts_iso,
        act.kind,
        act.text,
        act.memory_root.unwrap_or_default(),
    ])
}

/// Fields one after the other, each behind its length in bytes as 32 bits, big-endian: no two
/// lists of fields give the same bytes.
pub(super) fn framed(fields: &[&str]) -> Vec<u8> {
    let bytes = fields.iter().map(|field| 4 + field.len()).sum();
    let mut out = Vec::with_capacity(bytes);
    for field in fields {
        // No body comes near 4 GiB.
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(field.as_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_stands_behind_its_length() {
        assert_eq!(
            framed(&["ab", "", "ü"]),
            b"\0\0\0\x02ab\0\0\0\0\0\0\0\x02\xc3\xbc"
        );
        assert_ne!(framed(&["ab", "c"]), framed(&["a", "bc"]));
    }
}
