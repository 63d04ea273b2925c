//! Records as people and programs read them.

use std::fmt::Write as _;

use minutebook_domain::{
    Event,
    room::{self, claims},
};
use minutebook_eventlog::format::{envelope::Envelope, hash::chain_hash, record::Record};
use serde_json::{Value, json};

use super::{
    OfflineError,
    display::{printable, shortened},
};
use crate::generations::OwnedFact;

/// Characters of a text shown on a line.
const SUMMARY_CHARS: usize = 100;

/// A record as JSON: the envelope's own keys and the body's, as they were signed.
pub fn to_json(record: &Record) -> Result<Value, OfflineError> {
    let damaged = |error: serde_json::Error| OfflineError::Damaged(error.to_string());
    let envelope: Value = serde_json::from_slice(&record.envelope).map_err(damaged)?;
    let body: Option<Value> = record
        .body
        .as_ref()
        .map(|body| serde_json::from_slice(&body.bytes).map_err(damaged))
        .transpose()?;
    Ok(json!({
        "hash": chain_hash(&record.envelope).to_string(),
        "envelope": envelope,
        "salt": record.body.as_ref().map(|body| hex::encode(body.salt)),
        "body": body,
    }))
}

/// A record in full, one field per line.
pub fn to_text(record: &Record) -> Result<String, OfflineError> {
    let envelope = parse(record)?;
    let mut text = String::new();
    let cause = envelope
        .cause
        .map_or_else(|| "-".to_owned(), |seq| seq.to_string());
    let kind = format!("{} v{}", envelope.kind, envelope.v);
    let place = format!("{} #{}", envelope.stream, envelope.sseq);
    for (name, value) in [
        ("seq", envelope.seq.to_string()),
        ("at", envelope.at.to_string()),
        ("type", kind),
        ("stream", place),
        ("actor", envelope.actor.to_string()),
        ("cmd", envelope.cmd.to_string()),
        ("cause", cause),
        ("hash", chain_hash(&record.envelope).to_string()),
        ("prev", envelope.prev.to_string()),
        ("sprev", envelope.sprev.to_string()),
        ("commits", envelope.body.to_string()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:8} {}", printable(&value));
    }
    match &record.body {
        Some(body) => {
            let _ = writeln!(text, "salt     {}", hex::encode(body.salt));
            let body = String::from_utf8_lossy(&body.bytes);
            let _ = writeln!(text, "body     {}", printable(&body));
        }
        None => text.push_str("body     erased\n"),
    }
    Ok(text)
}

/// What the cells of [`to_cells`] are.
pub const CELLS: [&str; 6] = ["SEQ", "AT", "TYPE", "STREAM", "ACTOR", "SAYS"];

/// A record on one line: seq, time, type, stream, actor, and what it says. Not neutralised.
pub fn to_cells(record: &Record) -> Result<[String; 6], OfflineError> {
    let envelope = parse(record)?;
    Ok([
        envelope.seq.to_string(),
        envelope.at.to_string(),
        envelope.kind.to_string(),
        envelope.stream.to_string(),
        envelope.actor.to_string(),
        summary(record),
    ])
}

fn parse(record: &Record) -> Result<Envelope<'_>, OfflineError> {
    Envelope::parse(&record.envelope).map_err(|error| OfflineError::Damaged(error.to_string()))
}

/// What a record says, in a few words. A body this program cannot read is shown as it is.
fn summary(record: &Record) -> String {
    let Some(body) = &record.body else {
        return "(erased)".to_owned();
    };
    let text = match OwnedFact::decode(record).map(|fact| fact.event) {
        Ok(Some(Event::Room(event))) => room_summary(&event),
        Ok(Some(Event::Keys(_) | Event::Skills(_)) | None) | Err(_) => {
            String::from_utf8_lossy(&body.bytes).into_owned()
        }
    };
    shortened(&text, SUMMARY_CHARS)
}

fn room_summary(event: &room::Event) -> String {
    match event {
        room::Event::Opened(opened) => {
            let name = opened.name.as_ref().map_or("", |name| name.as_str());
            format!("{name} {}", opened.description.as_str())
                .trim()
                .to_owned()
        }
        room::Event::Renamed(renamed) => renamed
            .name
            .as_ref()
            .map_or("(no name)", |name| name.as_str())
            .to_owned(),
        room::Event::Joined(joined) => joined.agent.as_str().to_owned(),
        room::Event::Left(left) => left.agent.as_str().to_owned(),
        room::Event::MessagePosted(message) => {
            let signed = if message.signature.is_some() {
                " (signed)"
            } else {
                ""
            };
            format!(
                "#{} {}{signed}: {}",
                message.n,
                message.agent.as_str(),
                message.text.as_str()
            )
        }
        room::Event::BodiesErased(range) => {
            let place = match (range.first, range.last) {
                (first, last) if first == last => format!("position {first}"),
                (first, last) => format!("positions {first}-{last}"),
            };
            format!("{place}: {}", range.reason.as_str())
        }
        room::Event::Closed(closed) => closed.reason.as_str().to_owned(),
        room::Event::Erased(erased) => erased.reason.as_str().to_owned(),
        room::Event::Claim(event) => claim_summary(event),
    }
}

fn claim_summary(event: &claims::Event) -> String {
    let signed = if event.signature().is_some() {
        " (signed)"
    } else {
        ""
    };
    match event {
        claims::Event::Opened(opened) => format!(
            "#{} {}{signed} proposes {}: {}",
            opened.entry.id,
            opened.agent,
            opened.subject.trimmed(),
            opened.value.trimmed()
        ),
        claims::Event::Revised(revised) => format!(
            "#{} {}{signed} {} {}: {}",
            revised.entry.id,
            revised.agent,
            revised.kind.name(),
            revised.claim,
            revised.value.trimmed()
        ),
        claims::Event::HandshakeMade(made) => {
            format!(
                "#{} {}{signed} on {}",
                made.id, made.agent, made.context_hash
            )
        }
        claims::Event::ContextExtracted(read) => {
            let (message, adapter, model) = (read.message, &read.adapter, &read.model);
            match &read.failed {
                None => format!(
                    "message {message} by {adapter}:{model}, {} proposals",
                    read.proposals.len()
                ),
                Some(why) => format!("message {message} by {adapter}:{model}: {}", why.as_str()),
            }
        }
        claims::Event::DiscrepancyRecorded(found) => {
            let (id, severity) = (found.id, found.severity.name());
            format!("#{id} {severity}: {}", found.description)
        }
    }
}
