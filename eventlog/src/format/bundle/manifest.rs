//! The first line of a bundle: what is in it, so that a missing line is found.

use crate::format::{
    json::{self, Cursor, Mismatch},
    limits::KEY_NAME_BYTES_MAX,
};

/// The one value of the manifest's `format`.
pub const FORMAT: &str = "minutebook-bundle/1";

/// What a bundle holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Records of the whole log, all streams.
    Log,
    /// One room's records and the log's key epochs, with receipts. The room's UUID.
    Room(String),
}

/// What a bundle's first line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The log's origin.
    pub origin: String,
    /// A log or a room.
    pub kind: Kind,
    /// First position: `seq` of a log's records, `sseq` of a room's.
    pub first: u64,
    /// Last position; `first - 1` when there is none.
    pub last: u64,
    /// How many record lines follow, key epochs of a room bundle included.
    pub records: u64,
    /// How many checkpoint lines follow.
    pub checkpoints: u64,
}

const BEGIN: &str = "{\"manifest\":{\"format\":\"minutebook-bundle/1\",\"kind\":\"";

impl Manifest {
    /// Appends the manifest line with its LF.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(BEGIN.as_bytes());
        out.extend_from_slice(match self.kind {
            Kind::Log => b"log".as_slice(),
            Kind::Room(_) => b"room",
        });
        out.extend_from_slice(b"\",\"origin\":\"");
        json::escape(self.origin.as_bytes(), out);
        for (key, value) in [
            (&b"\",\"first\":"[..], self.first),
            (b",\"last\":", self.last),
            (b",\"records\":", self.records),
            (b",\"checkpoints\":", self.checkpoints),
        ] {
            out.extend_from_slice(key);
            json::decimal(value, out);
        }
        if let Kind::Room(room) = &self.kind {
            out.extend_from_slice(b",\"room\":\"");
            out.extend_from_slice(room.as_bytes());
            out.push(b'"');
        }
        out.extend_from_slice(b"}}\n");
    }

    /// Reads a manifest line, if the cursor stands before one.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Mismatch> {
        cursor.literal(BEGIN)?;
        let is_room = cursor.try_literal("room");
        if !is_room {
            cursor.literal("log")?;
        }
        cursor.literal("\",\"origin\":\"")?;
        let start = cursor.fail("an origin of 1 to 255 bytes");
        let origin = cursor.string()?.into_owned();
        if !(1..=KEY_NAME_BYTES_MAX).contains(&origin.len()) {
            return Err(start);
        }
        cursor.literal(",\"first\":")?;
        let first = cursor.integer()?;
        cursor.literal(",\"last\":")?;
        let last = cursor.integer()?;
        cursor.literal(",\"records\":")?;
        let records = cursor.integer()?;
        cursor.literal(",\"checkpoints\":")?;
        let checkpoints = cursor.integer()?;
        let kind = if is_room {
            Kind::Room(room(cursor)?)
        } else {
            Kind::Log
        };
        cursor.literal("}}")?;
        cursor.end()?;
        Ok(Self {
            origin,
            kind,
            first,
            last,
            records,
            checkpoints,
        })
    }
}

fn room(cursor: &mut Cursor<'_>) -> Result<String, Mismatch> {
    cursor.literal(",\"room\":\"")?;
    let start = cursor.fail("a lower-case hyphenated UUID");
    let room = cursor.take(36, start.expected)?;
    cursor.literal("\"")?;
    if is_uuid(room.as_bytes()) {
        Ok(room.to_owned())
    } else {
        Err(start)
    }
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}
