//! The envelope: canonical JSON, hashed and stored as bytes.
//!
//! Invariants
//! * One envelope has one spelling: `parse(encode(x)) == x` for every `x` that passes `check`, and
//!   `encode(parse(b)) == b` for every `b` that parses.
//! * Every field is bounded (`limits`), so an envelope is at most 8 KiB.
//! * Nothing here looks across envelopes: the chain is the verifier's and the writer's business.

use std::borrow::Cow;

use super::{
    at,
    hash::Hash,
    json::{self, Cursor, Mismatch},
    limits::{
        ACTOR_BYTES_MAX, CMD_BYTES_MAX, ENVELOPE_BYTES_MAX, INTEGER_MAX, STREAM_BYTES_MAX,
        TYPE_BYTES_MAX,
    },
};

/// What an envelope says. Borrowed from its bytes where possible.
/// `encode` writes the one canonical form (keys sorted, no white space, integers only, RFC 8785
/// escapes) and `parse` accepts nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Who acted.
    pub actor: Cow<'a, str>,
    /// `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
    pub at: Cow<'a, str>,
    /// Commitment to the body.
    pub body: Hash,
    /// Seq of the event that led to this one.
    pub cause: Option<u64>,
    /// Command id.
    pub cmd: Cow<'a, str>,
    /// Hash of the previous envelope.
    pub prev: Hash,
    /// 1, 2, 3 …
    pub seq: u64,
    /// Hash of the previous envelope in this stream.
    pub sprev: Hash,
    /// 1, 2, 3 … within the stream.
    pub sseq: u64,
    /// The stream.
    pub stream: Cow<'a, str>,
    /// `room.message_posted` …: the key `type`.
    pub kind: Cow<'a, str>,
    /// Schema version of the body.
    pub v: u32,
}

/// Why bytes are not a canonical envelope, with the byte offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a canonical envelope: expected {expected} at byte {offset}")]
pub struct EnvelopeError {
    /// What should have stood there.
    pub expected: &'static str,
    /// Where.
    pub offset: usize,
}

impl From<Mismatch> for EnvelopeError {
    fn from(at: Mismatch) -> Self {
        Self {
            expected: at.expected,
            offset: at.offset,
        }
    }
}

const ACTOR: &str = "an actor of 1 to 512 bytes";
const AT: &str = "a moment written YYYY-MM-DDTHH:MM:SS.ffffffZ";
const CMD: &str = "a command id of 1 to 512 bytes";
const STREAM: &str = "a stream of 1 to 200 bytes";
const TYPE: &str = "a type of 1 to 64 bytes";
const POSITION: &str = "a position from 1 to 2^53-1";
const VERSION: &str = "a version from 1 to 2^32-1";
const HASH: &str = "64 lower-case hex digits";

#[expect(clippy::similar_names, reason = "the format's own names")]
impl<'a> Envelope<'a> {
    /// Appends the canonical bytes. Fields out of bounds make bytes that `parse` refuses: what
    /// did not come from `parse` goes through [`Self::check`] first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(512);
        out.extend_from_slice(b"{\"actor\":\"");
        json::escape(self.actor.as_bytes(), out);
        out.extend_from_slice(b"\",\"at\":\"");
        json::escape(self.at.as_bytes(), out);
        out.extend_from_slice(b"\",\"body\":\"");
        out.extend_from_slice(&self.body.to_hex());
        out.extend_from_slice(b"\",\"cause\":");
        match self.cause {
            Some(cause) => json::decimal(cause, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"cmd\":\"");
        json::escape(self.cmd.as_bytes(), out);
        out.extend_from_slice(b"\",\"prev\":\"");
        out.extend_from_slice(&self.prev.to_hex());
        out.extend_from_slice(b"\",\"seq\":");
        json::decimal(self.seq, out);
        out.extend_from_slice(b",\"sprev\":\"");
        out.extend_from_slice(&self.sprev.to_hex());
        out.extend_from_slice(b"\",\"sseq\":");
        json::decimal(self.sseq, out);
        out.extend_from_slice(b",\"stream\":\"");
        json::escape(self.stream.as_bytes(), out);
        out.extend_from_slice(b"\",\"type\":\"");
        json::escape(self.kind.as_bytes(), out);
        out.extend_from_slice(b"\",\"v\":");
        json::decimal(u64::from(self.v), out);
        out.push(b'}');
    }

    /// Reads canonical bytes; anything else is refused with the offset.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(EnvelopeError {
                expected: "the end",
                offset: ENVELOPE_BYTES_MAX,
            });
        }
        let text = std::str::from_utf8(bytes).map_err(|e| EnvelopeError {
            expected: "UTF-8",
            offset: e.valid_up_to(),
        })?;
        Ok(Self::read(&mut Cursor::new(text))?)
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Mismatch> {
        cursor.literal("{\"actor\":\"")?;
        let actor = bounded(cursor, ACTOR_BYTES_MAX, ACTOR)?;
        cursor.literal(",\"at\":\"")?;
        let at = moment(cursor)?;
        cursor.literal("\",\"body\":\"")?;
        let body = hash(cursor)?;
        cursor.literal("\",\"cause\":")?;
        let cause = if cursor.try_literal("null") {
            None
        } else {
            Some(position(cursor)?)
        };
        cursor.literal(",\"cmd\":\"")?;
        let cmd = bounded(cursor, CMD_BYTES_MAX, CMD)?;
        cursor.literal(",\"prev\":\"")?;
        let prev = hash(cursor)?;
        cursor.literal("\",\"seq\":")?;
        let seq = position(cursor)?;
        cursor.literal(",\"sprev\":\"")?;
        let sprev = hash(cursor)?;
        cursor.literal("\",\"sseq\":")?;
        let sseq = position(cursor)?;
        cursor.literal(",\"stream\":\"")?;
        let stream = bounded(cursor, STREAM_BYTES_MAX, STREAM)?;
        cursor.literal(",\"type\":\"")?;
        let kind = bounded(cursor, TYPE_BYTES_MAX, TYPE)?;
        cursor.literal(",\"v\":")?;
        let v = version(cursor)?;
        cursor.literal("}")?;
        cursor.end()?;
        Ok(Self {
            actor,
            at,
            body,
            cause,
            cmd,
            prev,
            seq,
            sprev,
            sseq,
            stream,
            kind,
            v,
        })
    }

    /// Whether the fields are within bounds, so that `encode` makes what `parse` accepts.
    pub fn check(&self) -> Result<(), EnvelopeError> {
        let texts = [
            (self.actor.len(), ACTOR_BYTES_MAX, ACTOR),
            (self.cmd.len(), CMD_BYTES_MAX, CMD),
            (self.stream.len(), STREAM_BYTES_MAX, STREAM),
            (self.kind.len(), TYPE_BYTES_MAX, TYPE),
        ];
        let numbers = [
            (self.cause.unwrap_or(1), POSITION),
            (self.seq, POSITION),
            (self.sseq, POSITION),
            (u64::from(self.v), VERSION),
        ];
        let texts = texts.iter().find(|(len, max, _)| !(1..=*max).contains(len));
        let numbers = numbers.iter().find(|(n, _)| !(1..=INTEGER_MAX).contains(n));
        let at = (!at::is_canonical(self.at.as_bytes())).then_some(AT);
        match texts.map(|t| t.2).or(numbers.map(|n| n.1)).or(at) {
            Some(expected) => Err(EnvelopeError {
                expected,
                offset: 0,
            }),
            None => Ok(()),
        }
    }

    /// The same envelope, owning its text.
    pub fn into_owned(self) -> Envelope<'static> {
        Envelope {
            actor: Cow::Owned(self.actor.into_owned()),
            at: Cow::Owned(self.at.into_owned()),
            cmd: Cow::Owned(self.cmd.into_owned()),
            stream: Cow::Owned(self.stream.into_owned()),
            kind: Cow::Owned(self.kind.into_owned()),
            ..self
        }
    }
}

#[inline]
fn bounded<'a>(
    cursor: &mut Cursor<'a>,
    bytes_max: usize,
    expected: &'static str,
) -> Result<Cow<'a, str>, Mismatch> {
    let start = cursor.fail(expected);
    let text = cursor.string()?;
    if (1..=bytes_max).contains(&text.len()) {
        Ok(text)
    } else {
        Err(start)
    }
}

#[inline]
fn moment<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Mismatch> {
    let start = cursor.fail(AT);
    let text = cursor.take(at::AT_BYTES, AT)?;
    if at::is_canonical(text.as_bytes()) {
        Ok(Cow::Borrowed(text))
    } else {
        Err(start)
    }
}

#[inline]
fn hash(cursor: &mut Cursor<'_>) -> Result<Hash, Mismatch> {
    let start = cursor.fail(HASH);
    Hash::parse_hex(cursor.take(64, HASH)?.as_bytes()).map_err(|_| start)
}

#[inline]
fn position(cursor: &mut Cursor<'_>) -> Result<u64, Mismatch> {
    let start = cursor.fail(POSITION);
    let value = cursor.integer()?;
    if value >= 1 { Ok(value) } else { Err(start) }
}

#[inline]
fn version(cursor: &mut Cursor<'_>) -> Result<u32, Mismatch> {
    let start = cursor.fail(VERSION);
    let value = u32::try_from(cursor.integer()?).map_err(|_| start)?;
    if value >= 1 { Ok(value) } else { Err(start) }
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;
