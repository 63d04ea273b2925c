//! Identifiers: parse-only newtypes, one spelling each.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    hex_text,
    newtype::{Recorded, recorded_text},
};

/// A room's UUID. For a private room it is also the key to it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[rkyv(derive(PartialEq, Eq, PartialOrd, Ord))]
pub struct RoomId(Uuid);

impl RoomId {
    /// The room with this UUID.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// Parses the canonical lower-case hyphenated form, the only one records hold.
    pub fn parse_canonical(text: &str) -> Option<Self> {
        // Of the forms the uuid crate takes, only the hyphenated one has 36 bytes.
        if text.len() != 36 || text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        Uuid::try_parse(text).ok().map(Self)
    }

    /// The UUID itself.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

/// A claim thread's UUID.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[rkyv(derive(PartialEq, Eq, PartialOrd, Ord))]
#[serde(transparent)]
pub struct ClaimId(Uuid);

impl ClaimId {
    /// The thread with this UUID.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// Parses the canonical lower-case hyphenated form, the only one there is.
    pub fn parse_canonical(text: &str) -> Option<Self> {
        RoomId::parse_canonical(text).map(|id| Self(id.0))
    }

    /// The UUID itself.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for ClaimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

/// A stream of the log: what an event belongs to.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub enum StreamId {
    /// `log`: the log itself, its key epochs.
    Log,
    /// `keys`: API keys and agents' keys.
    Keys,
    /// `room/<uuid>`.
    Room(RoomId),
    /// `skills`: shared skills.
    Skills,
}

impl StreamId {
    /// Parses the form of `Display`, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "log" => Some(Self::Log),
            "keys" => Some(Self::Keys),
            "skills" => Some(Self::Skills),
            _ => RoomId::parse_canonical(text.strip_prefix("room/")?).map(Self::Room),
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log => f.write_str("log"),
            Self::Keys => f.write_str("keys"),
            Self::Room(id) => write!(f, "room/{id}"),
            Self::Skills => f.write_str("skills"),
        }
    }
}

recorded_text! {
    /// Public name of an API key, `k_` and 16 lower-case hex digits; not the secret.
    KeyId
}

impl KeyId {
    /// Parses the one form of a key id.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("k_")?;
        let lower_hex = digits.len() == 16 && hex_text::is_lower_hex(digits);
        lower_hex.then(|| Self(text.to_owned()))
    }
}

/// Not the one form of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key's id: `k_` and 16 lower-case hex digits")]
pub(crate) struct BadKeyId;

impl Recorded for KeyId {
    type Error = BadKeyId;
    const WHAT: &str = "an API key's id";

    fn recorded(text: &str) -> Result<Self, BadKeyId> {
        Self::parse(text).ok_or(BadKeyId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: &str = "7002cc19-fc28-4472-a4ca-828206128894";

    #[test]
    fn a_room_id_has_one_spelling() {
        assert_eq!(RoomId::parse_canonical(ROOM).unwrap().to_string(), ROOM);
        let others = [
            String::new(),
            ROOM.to_uppercase(),
            ROOM.replace('-', ""),
            format!("{{{ROOM}}}"),
            format!("urn:uuid:{ROOM}"),
            format!("{ROOM} "),
            ROOM.replace("8894", "889g"),
            ROOM.replace("-4472", "4-472"),
        ];
        for other in others {
            assert_eq!(RoomId::parse_canonical(&other), None, "{other}");
        }
    }

    #[test]
    fn a_stream_reads_back_as_written_and_nothing_else() {
        let room = StreamId::Room(RoomId::parse_canonical(ROOM).unwrap());
        for stream in [StreamId::Log, StreamId::Keys, StreamId::Skills, room] {
            assert_eq!(StreamId::parse(&stream.to_string()), Some(stream));
        }
        for other in [
            "", "Log", "room", "room/", "room/x", "keys/", "skills/", "list/x",
        ] {
            assert_eq!(StreamId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_key_id_has_one_spelling() {
        let id = KeyId::parse("k_0123456789abcdef").unwrap();
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, "\"k_0123456789abcdef\"");
        assert_eq!(serde_json::from_str::<KeyId>(&json).unwrap(), id);
        for other in [
            "",
            "k_",
            "k_0123456789ABCDEF",
            "k_0123456789abcde",
            "k-0123456789abcdef",
        ] {
            assert_eq!(KeyId::parse(other), None, "{other}");
            let read = serde_json::from_str::<KeyId>(&format!("\"{other}\""));
            let error = read.unwrap_err().to_string();
            assert!(error.starts_with("not an API key's id"), "{other}: {error}");
        }
    }
}
