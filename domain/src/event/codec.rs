//! Bodies to and from bytes.

use std::io;

use serde::{Serialize, de::DeserializeOwned};

use super::{Event, EventKind, plain, plain_claim};
use crate::{
    keys,
    limits::EVENT_BODY_BYTES_MAX,
    room::{self, claims},
    skills,
};

/// Why a body could not be read as its event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The type or version is not known to this build.
    #[error("unknown event type {name} v{version}")]
    UnknownKind {
        /** The name. */
        name: String,
        /** The version. */
        version: u32,
    },
    /// The body is not what its type says.
    #[error("body of {name} does not decode: {reason}")]
    BadBody {
        /** The name. */
        name: &'static str,
        /** Why. */
        reason: String,
    },
}

impl Event {
    /// Appends the body's JSON.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        let written = self.write(out);
        debug_assert!(written.is_ok(), "a Vec takes every byte");
    }

    /// Reads a body of this kind: exactly the bytes `encode_body` makes.
    pub fn decode(kind: EventKind, body: &[u8]) -> Result<Self, DecodeError> {
        let bad = |reason: String| DecodeError::BadBody {
            name: kind.name(),
            reason,
        };
        if body.len() > EVENT_BODY_BYTES_MAX {
            return Err(bad(format!("longer than {EVENT_BODY_BYTES_MAX} bytes")));
        }
        if let Some(event) = Self::decode_usual(kind, body) {
            return Ok(event);
        }
        Self::decode_general(kind, body).map_err(bad)
    }

    /// The short way for the bodies of which there are most.
    pub(super) fn decode_usual(kind: EventKind, body: &[u8]) -> Option<Self> {
        if kind == EventKind::MessagePosted {
            return plain::read(body).map(|message| room::Event::MessagePosted(message).into());
        }
        if kind == EventKind::ClaimRevised {
            return plain_claim::revised(body).map(|event| claims::Event::Revised(event).into());
        }
        if kind == EventKind::ClaimOpened {
            return plain_claim::opened(body).map(|event| claims::Event::Opened(event).into());
        }
        None
    }

    /// The way for every body there is; says why not.
    pub(super) fn decode_general(kind: EventKind, body: &[u8]) -> Result<Self, String> {
        let event = Self::read(kind, body).map_err(|error| error.to_string())?;
        if event.kind() != kind {
            return Err(format!("not of version {}", kind.version()));
        }
        let mut rest = Expected(body);
        if event.write(&mut rest).is_err() || !rest.0.is_empty() {
            return Err("not in its one canonical spelling".to_owned());
        }
        Ok(event)
    }

    fn read(kind: EventKind, body: &[u8]) -> serde_json::Result<Self> {
        fn of<T: DeserializeOwned>(
            body: &[u8],
            wrap: impl FnOnce(T) -> Event,
        ) -> serde_json::Result<Event> {
            serde_json::from_slice(body).map(wrap)
        }
        match kind {
            EventKind::LogOpened => of(body, |e| keys::Event::LogOpened(e).into()),
            EventKind::KeyRotated => of(body, |e| keys::Event::KeyRotated(e).into()),
            EventKind::ApiKeyIssued => of(body, |e| keys::Event::ApiKeyIssued(e).into()),
            EventKind::ApiKeyRevoked => of(body, |e| keys::Event::ApiKeyRevoked(e).into()),
            EventKind::AgentKeyEnrolled => of(body, |e| keys::Event::AgentKeyEnrolled(e).into()),
            EventKind::AgentKeyRevoked => of(body, |e| keys::Event::AgentKeyRevoked(e).into()),
            EventKind::RoomOpened | EventKind::RoomOpenedV2 => {
                of(body, |e| room::Event::Opened(e).into())
            }
            EventKind::RoomRenamed => of(body, |e| room::Event::Renamed(e).into()),
            EventKind::RoomJoined => of(body, |e| room::Event::Joined(e).into()),
            EventKind::RoomLeft => of(body, |e| room::Event::Left(e).into()),
            EventKind::MessagePosted => of(body, |e| room::Event::MessagePosted(e).into()),
            EventKind::BodiesErased => of(body, |e| room::Event::BodiesErased(e).into()),
            EventKind::RoomClosed => of(body, |e| room::Event::Closed(e).into()),
            EventKind::RoomErased => of(body, |e| room::Event::Erased(e).into()),
            EventKind::ClaimOpened => of(body, |e| claims::Event::Opened(e).into()),
            EventKind::ClaimRevised => of(body, |e| claims::Event::Revised(e).into()),
            EventKind::HandshakeMade => of(body, |e| claims::Event::HandshakeMade(e).into()),
            EventKind::ContextExtracted => of(body, |e| claims::Event::ContextExtracted(e).into()),
            EventKind::DiscrepancyRecorded => {
                of(body, |e| claims::Event::DiscrepancyRecorded(e).into())
            }
            EventKind::SkillPublished => of(body, |e| skills::Event::Published(e).into()),
            EventKind::SkillWithdrawn => of(body, |e| skills::Event::Withdrawn(e).into()),
        }
    }

    fn write(&self, out: impl io::Write) -> serde_json::Result<()> {
        fn of(out: impl io::Write, body: &impl Serialize) -> serde_json::Result<()> {
            serde_json::to_writer(out, body)
        }
        match self {
            Self::Keys(keys::Event::LogOpened(body)) => of(out, body),
            Self::Keys(keys::Event::KeyRotated(body)) => of(out, body),
            Self::Keys(keys::Event::ApiKeyIssued(body)) => of(out, body),
            Self::Keys(keys::Event::ApiKeyRevoked(body)) => of(out, body),
            Self::Keys(keys::Event::AgentKeyEnrolled(body)) => of(out, body),
            Self::Keys(keys::Event::AgentKeyRevoked(body)) => of(out, body),
            Self::Room(room::Event::Opened(body)) => of(out, body),
            Self::Room(room::Event::Renamed(body)) => of(out, body),
            Self::Room(room::Event::Joined(body)) => of(out, body),
            Self::Room(room::Event::Left(body)) => of(out, body),
            Self::Room(room::Event::MessagePosted(body)) => of(out, body),
            Self::Room(room::Event::BodiesErased(body)) => of(out, body),
            Self::Room(room::Event::Closed(body)) => of(out, body),
            Self::Room(room::Event::Erased(body)) => of(out, body),
            Self::Room(room::Event::Claim(claims::Event::Opened(body))) => of(out, body),
            Self::Room(room::Event::Claim(claims::Event::Revised(body))) => of(out, body),
            Self::Room(room::Event::Claim(claims::Event::HandshakeMade(body))) => of(out, body),
            Self::Room(room::Event::Claim(claims::Event::ContextExtracted(body))) => of(out, body),
            Self::Room(room::Event::Claim(claims::Event::DiscrepancyRecorded(body))) => {
                of(out, body)
            }
            Self::Skills(skills::Event::Published(body)) => of(out, body),
            Self::Skills(skills::Event::Withdrawn(body)) => of(out, body),
        }
    }
}

impl From<room::Event> for Event {
    fn from(event: room::Event) -> Self {
        Self::Room(event)
    }
}

impl From<claims::Event> for Event {
    fn from(event: claims::Event) -> Self {
        Self::Room(room::Event::Claim(event))
    }
}

impl From<keys::Event> for Event {
    fn from(event: keys::Event) -> Self {
        Self::Keys(event)
    }
}

impl From<skills::Event> for Event {
    fn from(event: skills::Event) -> Self {
        Self::Skills(event)
    }
}

/// A writer that takes only the bytes it expects: comparing needs no second buffer.
struct Expected<'a>(&'a [u8]);

impl io::Write for Expected<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let rest = self.0.strip_prefix(bytes);
        self.0 = rest.ok_or(io::ErrorKind::InvalidData)?;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
