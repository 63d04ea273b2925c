//! Frames of the stream, as bytes.

use axum::body::Bytes;
use memchr::memchr2;
use minutebook_domain::ids::{ClaimId, StreamId};
use minutebook_domain::room::claims;
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Event, EventKind, room};
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::store::Head;
use minutebook_projections::threads::{HandshakeRow, RevisionRow};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::engine::Published;
use crate::http::ledger::{HandshakeJson, RevisionJson};
use crate::http::message::{MessageJson, Place};

/// A record on the stream.
#[derive(Serialize)]
struct RecordJson<'a> {
    seq: u64,
    #[serde(rename = "type")]
    kind: &'a str,
    v: u32,
    at: &'a str,
    actor: &'a str,
    stream: &'a str,
    room_id: Option<String>,
    sseq: u64,
    cause: Option<u64>,
    body: Option<&'a RawValue>,
    #[serde(flatten)]
    act: Option<ActJson<'a>>,
}

/// What was done, as the rooms dialect shows it elsewhere.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ActJson<'a> {
    Message(MessageJson<'a>),
    Revision(RevisionJson<'a>),
    Handshake(HandshakeJson<'a>),
}

/// Rows of the ledger as its event says them, for [`ActJson`] to borrow from.
enum Row {
    Revision(ClaimId, RevisionRow),
    Handshake(u64, HandshakeRow),
}

/// A record's frame, made by whoever needs it first and shared by all.
pub(super) fn of_record(record: &Published) -> Bytes {
    record.frame.get_or_init(|| render(record)).clone()
}

fn render(record: &Published) -> Bytes {
    let mut data = Vec::with_capacity(1024);
    // The envelope was parsed before it was published; if it no longer does, the event is sent
    // with what is known about it rather than not at all.
    let envelope = Envelope::parse(&record.envelope).ok();
    let event = record
        .body
        .as_deref()
        .and_then(|body| Event::decode(record.kind, body).ok());
    let at = envelope.as_ref().and_then(|e| Timestamp::parse(&e.at));
    let row = match (&event, at) {
        (Some(Event::Room(room::Event::Claim(event))), Some(at)) => {
            ledger_row(event, record.seq, at)
        }
        _ => None,
    };
    let act = match (&event, at, &row) {
        (_, _, Some(Row::Revision(claim, row))) => {
            Some(ActJson::Revision(RevisionJson::new(row, *claim)))
        }
        (_, _, Some(Row::Handshake(id, row))) => {
            Some(ActJson::Handshake(HandshakeJson::new(*id, row)))
        }
        (Some(Event::Room(room::Event::MessagePosted(message))), Some(at), None) => {
            let seq = record.seq;
            Some(ActJson::Message(MessageJson::of_event(
                message,
                Place { seq, at },
            )))
        }
        _ => None,
    };
    let field = |text: Option<&'_ str>| text.unwrap_or_default().to_owned();
    let (at, actor, stream) = (
        field(envelope.as_ref().map(|e| &*e.at)),
        field(envelope.as_ref().map(|e| &*e.actor)),
        field(envelope.as_ref().map(|e| &*e.stream)),
    );
    let json = RecordJson {
        seq: record.seq,
        kind: record.kind.name(),
        v: record.kind.version(),
        at: &at,
        actor: &actor,
        stream: &stream,
        room_id: match record.stream {
            StreamId::Room(id) => Some(id.to_string()),
            StreamId::Log | StreamId::Keys | StreamId::Skills => None,
        },
        sseq: record.sseq,
        cause: envelope.as_ref().and_then(|e| e.cause),
        body: record
            .body
            .as_deref()
            .and_then(|body| serde_json::from_slice(body).ok()),
        act,
    };
    serde_json::to_writer(&mut data, &json).ok();
    frame(Some(record.seq), record.kind.name(), &data)
}

/// None of what only the arbiter makes: its body says it all.
fn ledger_row(event: &claims::Event, seq: u64, at: Timestamp) -> Option<Row> {
    Some(match event {
        claims::Event::Opened(event) => {
            Row::Revision(event.claim, RevisionRow::of_opening(event, seq, at))
        }
        claims::Event::Revised(event) => {
            Row::Revision(event.claim, RevisionRow::of_revision(event, seq, at))
        }
        claims::Event::HandshakeMade(event) => {
            Row::Handshake(event.id, HandshakeRow::of_event(event, seq, at))
        }
        claims::Event::ContextExtracted(_) | claims::Event::DiscrepancyRecorded(_) => return None,
    })
}

/// Whether nothing can come after this in its room's stream.
pub(super) fn ends_room(record: &Published) -> bool {
    record.kind == EventKind::RoomErased
}

/// What the stream starts with.
#[derive(Serialize)]
struct ReadyJson {
    after: u64,
    head: u64,
}

/// The first frame: an id before anything can go wrong, and how soon to come back.
pub(super) fn ready(after: u64, head: u64) -> Bytes {
    let mut out = b"retry: 3000\n".to_vec();
    let data = serde_json::to_vec(&ReadyJson { after, head }).unwrap_or_default();
    out.extend_from_slice(&frame(Some(after), "ready", &data));
    out.into()
}

#[derive(Serialize)]
struct ResetJson {
    reason: &'static str,
    asked: String,
    earliest: u64,
    latest: u64,
}

/// The client's position is none of this log's: what it holds may be another log's.
pub(super) fn reset(asked: u64, latest: u64) -> Bytes {
    let reason = "the log has not reached the position asked for";
    let json = ResetJson {
        reason,
        asked: asked.to_string(),
        earliest: 1,
        latest,
    };
    frame(
        Some(latest),
        "reset",
        &serde_json::to_vec(&json).unwrap_or_default(),
    )
}

#[derive(Serialize)]
struct CheckpointJson<'a> {
    size: u64,
    note: &'a str,
}

/// The newest signed checkpoint. `id` moves a quiet stream's position on.
pub(super) fn checkpoint(head: &Head) -> Bytes {
    let json = CheckpointJson {
        size: head.seq,
        note: &head.checkpoint,
    };
    frame(
        Some(head.seq),
        "checkpoint",
        &serde_json::to_vec(&json).unwrap_or_default(),
    )
}

/// The last frame.
pub(super) fn closing(position: u64, reason: &'static str) -> Bytes {
    let data = format!("{{\"reason\":\"{reason}\"}}");
    frame(Some(position), "closing", data.as_bytes())
}

/// A comment that keeps the connection alive.
pub(super) const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

/// One frame. `event` is one of our own names.
fn frame(id: Option<u64>, event: &str, data: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(data.len() + event.len() + 48);
    if let Some(id) = id {
        out.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(event.as_bytes());
    out.push(b'\n');
    let mut rest = data;
    loop {
        let end = memchr2(b'\r', b'\n', rest);
        let line = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
        let Some(end) = end else { break };
        let tail = rest.get(end..).unwrap_or_default();
        let width = if tail.starts_with(b"\r\n") { 2 } else { 1 };
        rest = tail.get(width..).unwrap_or_default();
    }
    out.push(b'\n');
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &Bytes) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_line_break_in_data_starts_a_data_line() {
        let out = frame(Some(7), "x", b"a\nb\rc\r\nd\n");
        assert_eq!(
            text(&out),
            "id: 7\nevent: x\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
        );
        // U+2028 and U+0085 end no line here.
        let out = frame(None, "x", "a\u{2028}\u{85}b".as_bytes());
        assert_eq!(text(&out), "event: x\ndata: a\u{2028}\u{85}b\n\n");
    }

    #[test]
    fn the_stream_starts_with_an_id_and_a_retry() {
        let out = ready(3, 9);
        assert_eq!(
            text(&out),
            "retry: 3000\nid: 3\nevent: ready\ndata: {\"after\":3,\"head\":9}\n\n"
        );
    }

    #[test]
    fn a_checkpoint_is_one_line_and_moves_the_position() {
        let hash = minutebook_eventlog::format::hash::Hash::ZERO;
        let head = Head {
            seq: 5,
            hash,
            checkpoint: "o\n5\nroot\n\n— k sig\n".to_owned(),
        };
        let out = checkpoint(&head);
        let expected = "id: 5\nevent: checkpoint\ndata: \
                        {\"size\":5,\"note\":\"o\\n5\\nroot\\n\\n— k sig\\n\"}\n\n";
        assert_eq!(text(&out), expected);
    }
}
