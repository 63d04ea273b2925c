//! What each tampering does that signs anew, with the log's key or the forger's own.

use minutebook_domain::{Event, keys, time::Timestamp};
use minutebook_eventlog::format::{
    envelope::Envelope,
    epoch::certify,
    key::SigningKey,
    record::{Body, Record},
};

use super::{
    Means, TamperError,
    acts::{MESSAGE, Outcome, done, is_message, set_text},
    document::{Document, Entry},
    forge::{log_key, reseal},
};

/// Seed of the forger's own key.
const FORGER: [u8; 32] = *b"a key of the forger's own making";
const TWO_MINUTES_MICROS: i64 = 120_000_000;

pub(super) fn duplicate_command(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = unsigned(&document, means)?;
    let target = document.entries.get(place).and_then(Entry::envelope);
    let target = target.ok_or(TamperError::Nothing("message"))?;
    let earlier = document
        .entries
        .iter()
        .take(place)
        .filter_map(Entry::envelope);
    let mut twins = earlier.filter(|envelope| {
        envelope.kind == MESSAGE
            && envelope.actor == target.actor
            && envelope.stream == target.stream
    });
    let missing = TamperError::Nothing("earlier message of the same agent in the same room");
    let cmd = twins.next().ok_or(missing)?.cmd.into_owned();
    document.edit_envelope(place, |envelope| envelope.cmd = cmd.into())?;
    with_log_key(document, place, seq, means)
}

pub(super) fn resign(mut document: Document, means: &Means) -> Outcome {
    let (place, _) = unsigned(&document, means)?;
    set_text(&mut document, place, "signed by somebody else")?;
    let key = SigningKey::from_seed(&document.manifest.origin, FORGER)?;
    reseal(&mut document, place, |_| key.clone())?;
    let checkpoints = document.checkpoints();
    let first = checkpoints
        .iter()
        .find(|at| **at > place)
        .copied()
        .unwrap_or(place);
    let seq = document.seq_before(first);
    done(document, seq)
}

pub(super) fn key_swap(mut document: Document, _: &Means) -> Outcome {
    let origin = document.manifest.origin.clone();
    let mut keys: Vec<(u64, SigningKey)> = Vec::new();
    for place in 0..document.entries.len() {
        let Some(envelope) = document.entries.get(place).and_then(Entry::envelope) else {
            continue;
        };
        let (kind, seq) = (envelope.kind.into_owned(), envelope.seq);
        let mut seed = FORGER;
        if let Some(first) = seed.first_mut() {
            *first = u8::try_from(keys.len() % 256).unwrap_or(0);
        }
        let next = SigningKey::from_seed(&origin, seed)?;
        if kind == "log.opened" {
            document.edit_body(place, |body| {
                body.insert("vkey".to_owned(), next.vkey().into());
            })?;
        } else if let ("log.key_rotated", Some((_, before))) = (&*kind, keys.last()) {
            let event = rotation(&origin, before, &next, keys.len() as u64 + 1)?;
            document.record_mut(place)?.body = Some(body_of(&event));
        } else {
            continue;
        }
        keys.push((seq, next));
    }
    let (_, first) = keys
        .first()
        .cloned()
        .ok_or(TamperError::Nothing("log.opened"))?;
    reseal(&mut document, 0, |size| {
        let epoch = keys.iter().rev().find(|(seq, _)| *seq <= size);
        epoch.map_or_else(|| first.clone(), |(_, key)| key.clone())
    })?;
    done(document, 1)
}

pub(super) fn retired_key(mut document: Document, means: &Means) -> Outcome {
    let old = log_key(&document, means.seed.ok_or(TamperError::NeedsKey)?)?;
    let origin = document.manifest.origin.clone();
    let new = SigningKey::from_seed(&origin, FORGER)?;
    let envelopes = document.entries.iter().filter_map(Entry::envelope);
    let epoch = envelopes
        .filter(|envelope| envelope.stream == "log")
        .count() as u64
        + 1;
    let from = document.entries.len();
    let size = document.seq_before(from);
    let rotated = body_of(&rotation(&origin, &old, &new, epoch)?);
    let last = document
        .entries
        .iter()
        .rev()
        .find_map(Entry::record)
        .cloned();
    let last = last.ok_or(TamperError::Nothing("record"))?;
    // A record to take its time from; what the last one says beyond that is replaced.
    document.entries.push(Entry::Record(Record {
        body: Some(rotated),
        ..last
    }));
    document.edit_envelope(from, |envelope| {
        envelope.actor = "arbiter".into();
        envelope.cmd = "a key that was given up".into();
        envelope.stream = "log".into();
        envelope.kind = "log.key_rotated".into();
        envelope.v = 1;
        envelope.cause = None;
    })?;
    document.entries.push(Entry::Checkpoint(String::new()));
    reseal(&mut document, from, |_| old.clone())?;
    done(document, size + 1)
}

pub(super) fn agent_forgery(mut document: Document, means: &Means) -> Outcome {
    let newest = last_rotation(&document);
    let what = "message with an agent's signature in the newest key epoch";
    let (place, seq) = document.choose(means.seq, what, |envelope, body| {
        envelope.seq > newest && is_message(envelope, body) && is_signed(body)
    })?;
    set_text(&mut document, place, "I agree to everything.")?;
    with_log_key(document, place, seq, means)
}

pub(super) fn illegal_transition(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = unsigned(&document, means)?;
    document.edit_body(place, |body| {
        let n = body
            .get("n")
            .and_then(serde_json::Value::as_u64)
            .unwrap_or(0);
        body.insert("n".to_owned(), (n + 7).into());
    })?;
    with_log_key(document, place, seq, means)
}

pub(super) fn rewrite(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = unsigned(&document, means)?;
    set_text(
        &mut document,
        place,
        "what the operator would rather have read",
    )?;
    with_log_key(document, place, seq, means)
}

pub(super) fn fork(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = unsigned(&document, means)?;
    for at in place..document.entries.len() {
        let entry = document.entries.get(at);
        let suits = entry.and_then(|entry| {
            let body = entry.record()?.body.as_ref();
            Some(is_message(&entry.envelope()?, body) && !is_signed(body))
        });
        if suits == Some(true) {
            set_text(&mut document, at, "the other version")?;
        }
    }
    with_log_key(document, place, seq, means)
}

pub(super) fn backdate(document: Document, means: &Means) -> Outcome {
    let newest = last_rotation(&document);
    if newest > 0 {
        // Without the older keys only the newest epoch can be moved, which cannot go back before
        // the rotation; forward shows the same.
        return shift(document, means, newest + 1, TWO_MINUTES_MICROS);
    }
    shift(document, means, 1, -TWO_MINUTES_MICROS)
}

pub(super) fn omit(mut document: Document, means: &Means) -> Outcome {
    let newest = document
        .entries
        .iter()
        .rposition(|entry| entry.record().is_some());
    let place = newest.ok_or(TamperError::Nothing("record"))?;
    let seq = document.seq_before(place + 1);
    let envelope = document.entries.get(place).and_then(Entry::envelope);
    if envelope.is_none_or(|envelope| envelope.kind != MESSAGE) {
        return Err(TamperError::Nothing("message at its end"));
    }
    document.entries.remove(place);
    // The checkpoint before may now be the newest too.
    let checkpoints = document.checkpoints();
    if let [.., before, last] = *checkpoints.as_slice()
        && before + 1 == last
    {
        document.entries.remove(last);
    }
    with_log_key(document, place, seq, means)
}

pub(super) fn clock_jump(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = unsigned(&document, means)?;
    let before = document.place(seq.saturating_sub(1));
    let before = before.and_then(|place| document.entries.get(place)?.envelope());
    let at = before
        .map(|envelope| envelope.at.into_owned())
        .unwrap_or_default();
    document.edit_envelope(place, |envelope| {
        envelope.at = at.into();
        move_time(envelope, -1);
    })?;
    with_log_key(document, place, seq, means)
}

/// A message nobody signed, which only the log's key protects: after the last rotation, because
/// the forger holds the newest key alone.
fn unsigned(document: &Document, means: &Means) -> Result<(usize, u64), TamperError> {
    let newest = last_rotation(document);
    let what = "message without an agent's signature in the newest key epoch";
    document.choose(means.seq, what, |envelope, body| {
        envelope.seq > newest && is_message(envelope, body) && !is_signed(body)
    })
}

fn is_signed(body: Option<&Body>) -> bool {
    let value = body.map(|body| serde_json::from_slice::<serde_json::Value>(&body.bytes));
    matches!(value, Some(Ok(value)) if value.get("signature").is_some())
}

fn last_rotation(document: &Document) -> u64 {
    let envelopes = document.entries.iter().rev().filter_map(Entry::envelope);
    let mut rotations = envelopes.filter(|envelope| envelope.kind == "log.key_rotated");
    rotations.next().map_or(0, |envelope| envelope.seq)
}

/// Chains and signs anew with the log's own key.
fn with_log_key(mut document: Document, from: usize, seq: u64, means: &Means) -> Outcome {
    let key = log_key(&document, means.seed.ok_or(TamperError::NeedsKey)?)?;
    reseal(&mut document, from, |_| key.clone())?;
    done(document, seq)
}

fn rotation(
    origin: &str,
    before: &SigningKey,
    next: &SigningKey,
    epoch: u64,
) -> Result<Event, TamperError> {
    let cert = certify(before, origin, epoch, next.verifying_key())
        .map_err(|error| TamperError::Input(error.to_string()))?;
    let rotated = keys::KeyRotated {
        cert,
        epoch,
        prev_vkey: before.vkey(),
        vkey: next.vkey(),
    };
    Ok(Event::Keys(keys::Event::KeyRotated(rotated)))
}

fn body_of(event: &Event) -> Body {
    let mut bytes = Vec::new();
    event.encode_body(&mut bytes);
    Body {
        salt: FORGER,
        bytes,
    }
}

fn shift(mut document: Document, means: &Means, first: u64, micros: i64) -> Outcome {
    let from = document
        .place(first)
        .ok_or(TamperError::Nothing("record to move"))?;
    for place in from..document.entries.len() {
        if document
            .entries
            .get(place)
            .and_then(Entry::record)
            .is_none()
        {
            continue;
        }
        document.edit_envelope(place, |envelope| move_time(envelope, micros))?;
    }
    with_log_key(document, from, first, means)
}

fn move_time(envelope: &mut Envelope<'_>, micros: i64) {
    if let Some(at) = Timestamp::parse(&envelope.at) {
        let moved = Timestamp::from_micros(at.as_micros().saturating_add(micros));
        envelope.at = moved.to_string().into();
    }
}
