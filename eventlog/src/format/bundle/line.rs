//! One line of a bundle.

use std::borrow::Cow;

use super::manifest::Manifest;
use crate::format::{
    hash::Hash,
    json::{Cursor, Mismatch},
    limits::{BODY_BYTES_MAX, LINE_BYTES_MAX},
    record::{Body, Record},
};

/// What a line of a bundle holds, borrowed from it where nothing was escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The first line.
    Manifest(Manifest),
    /// A record.
    Record(RecordLine<'a>),
    /// A checkpoint: a signed note.
    Checkpoint(Cow<'a, str>),
    /// A receipt: the text of a `.tlog-proof`.
    Receipt(Cow<'a, str>),
}

/// A record line. That the envelope is one is for the reader to find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLine<'a> {
    /// The envelope's bytes, which are UTF-8.
    pub envelope: Cow<'a, [u8]>,
    /// Salt and body, unless erased.
    pub body: Option<BodyLine<'a>>,
}

/// Salt and body of a record line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyLine<'a> {
    /// The salt.
    pub salt: [u8; 32],
    /// The body's bytes, which are UTF-8.
    pub bytes: Cow<'a, [u8]>,
}

impl RecordLine<'_> {
    /// The record, owning its bytes.
    pub fn into_record(self) -> Record {
        Record {
            envelope: self.envelope.into_owned(),
            body: self.body.map(|b| Body {
                salt: b.salt,
                bytes: b.bytes.into_owned(),
            }),
        }
    }
}

/// Why a line was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is not one of the four forms.
    #[error("expected {expected} at byte {offset}")]
    Form {
        /// What should have stood there.
        expected: &'static str,
        /// Where in the line.
        offset: usize,
    },
    /// It is not UTF-8.
    #[error("not UTF-8 at byte {offset}")]
    Utf8 {
        /// Where in the line.
        offset: usize,
    },
    /// It is longer than any line may be.
    #[error("longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
}

impl From<Mismatch> for LineError {
    fn from(at: Mismatch) -> Self {
        Self::Form {
            expected: at.expected,
            offset: at.offset,
        }
    }
}

/// Reads one line, given without its LF. Pure, so several threads can share a bundle's lines.
pub fn parse_line(line: &[u8]) -> Result<Line<'_>, LineError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(LineError::TooLong);
    }
    let text = std::str::from_utf8(line).map_err(|e| LineError::Utf8 {
        offset: e.valid_up_to(),
    })?;
    let mut cursor = Cursor::new(text);
    if cursor.try_literal("{\"envelope\":\"") {
        return Ok(Line::Record(record(&mut cursor)?));
    }
    if cursor.try_literal("{\"checkpoint\":\"") {
        return Ok(Line::Checkpoint(last_string(&mut cursor)?));
    }
    if cursor.try_literal("{\"receipt\":\"") {
        return Ok(Line::Receipt(last_string(&mut cursor)?));
    }
    if text.starts_with("{\"manifest\"") {
        return Ok(Line::Manifest(Manifest::read(&mut cursor)?));
    }
    Err(cursor
        .fail("a record, checkpoint, receipt or manifest")
        .into())
}

fn record<'a>(cursor: &mut Cursor<'a>) -> Result<RecordLine<'a>, Mismatch> {
    let envelope = cursor.string_bytes()?;
    if cursor.try_literal("}") {
        cursor.end()?;
        return Ok(RecordLine {
            envelope,
            body: None,
        });
    }
    cursor.literal(",\"salt\":\"")?;
    let start = cursor.fail("64 lower-case hex digits");
    let salt = Hash::parse_hex(cursor.take(64, start.expected)?.as_bytes()).map_err(|_| start)?;
    cursor.literal("\",\"body\":\"")?;
    let start = cursor.fail("a body of at most 491,520 bytes");
    let bytes = cursor.string_bytes()?;
    if bytes.len() > BODY_BYTES_MAX {
        return Err(start);
    }
    cursor.literal("}")?;
    cursor.end()?;
    let body = BodyLine {
        salt: *salt.as_bytes(),
        bytes,
    };
    Ok(RecordLine {
        envelope,
        body: Some(body),
    })
}

fn last_string<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Mismatch> {
    let text = cursor.string()?;
    cursor.literal("}")?;
    cursor.end()?;
    Ok(text)
}
