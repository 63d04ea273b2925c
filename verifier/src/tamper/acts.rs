//! What each tampering does that takes only the file.

use minutebook_eventlog::format::{envelope::Envelope, hash::chain_hash, record::Body};

use super::{
    Means, TamperError, Tampered,
    document::{Document, Entry},
};

pub(super) const MESSAGE: &str = "room.message_posted";

pub(super) type Outcome = Result<Tampered, TamperError>;

pub(super) fn done(document: Document, seq: u64) -> Outcome {
    Ok(Tampered {
        bytes: document.write()?,
        seq,
    })
}

pub(super) fn is_message(envelope: &Envelope<'_>, body: Option<&Body>) -> bool {
    envelope.kind == MESSAGE && body.is_some()
}

fn message(document: &Document, means: &Means) -> Result<(usize, u64), TamperError> {
    document.choose(means.seq, "message with a body", is_message)
}

pub(super) fn set_text(
    document: &mut Document,
    place: usize,
    text: &str,
) -> Result<(), TamperError> {
    document.edit_body(place, |body| {
        body.insert("text".to_owned(), text.into());
    })
}

pub(super) fn edit_envelope(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    document.edit_envelope(place, |envelope| envelope.actor = "agent:mallory".into())?;
    done(document, seq)
}

pub(super) fn respell(document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    let mut bytes = document.write()?;
    let at = line_start(&bytes, place + 1) + b"{\"envelope\":".len();
    bytes.insert(at, b' ');
    Ok(Tampered { bytes, seq })
}

pub(super) fn edit_payload(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    set_text(&mut document, place, "I agree to everything.")?;
    done(document, seq)
}

pub(super) fn delete(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    document.entries.remove(place);
    done(document, seq)
}

pub(super) fn insert(mut document: Document, means: &Means) -> Outcome {
    let (place, before) = message(&document, means)?;
    let Some(Entry::Record(record)) = document.entries.get(place) else {
        return Err(TamperError::Nothing("message"));
    };
    let prev = chain_hash(&record.envelope);
    let forged = Entry::Record(record.clone());
    document.entries.insert(place + 1, forged);
    set_text(&mut document, place + 1, "put in")?;
    let body = document.record_mut(place + 1)?.body.clone();
    document.edit_envelope(place + 1, |envelope| {
        envelope.seq += 1;
        envelope.sseq += 1;
        (envelope.prev, envelope.sprev) = (prev, prev);
        if let Some(body) = &body {
            envelope.body = body.commitment();
        }
    })?;
    done(document, before + 1)
}

pub(super) fn reorder(mut document: Document, means: &Means) -> Outcome {
    let places: Vec<_> = (0..document.entries.len())
        .filter(|place| {
            let is_record = |at| document.entries.get(at).and_then(Entry::record).is_some();
            is_record(*place) && is_record(place + 1)
        })
        .filter_map(|place| document.entries.get(place)?.envelope().map(|e| e.seq))
        .collect();
    let what = "message right before another record";
    let (place, seq) = document.choose(means.seq, what, |envelope, body| {
        is_message(envelope, body) && places.contains(&envelope.seq)
    })?;
    document.entries.swap(place, place + 1);
    done(document, seq)
}

pub(super) fn duplicate_record(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    if let Some(entry) = document.entries.get(place) {
        document.entries.insert(place + 1, entry.clone());
    }
    done(document, seq)
}

fn newest_checkpoint(document: &Document) -> Result<usize, TamperError> {
    let places = document.checkpoints();
    places
        .last()
        .copied()
        .ok_or(TamperError::Nothing("checkpoint"))
}

pub(super) fn strip_checkpoint(mut document: Document, _: &Means) -> Outcome {
    let place = newest_checkpoint(&document)?;
    document.entries.remove(place);
    let seq = document.seq_before(place);
    done(document, seq)
}

pub(super) fn strip_signature(mut document: Document, _: &Means) -> Outcome {
    let place = newest_checkpoint(&document)?;
    let note = document.note_mut(place)?;
    if let Some(end) = note.rfind("\n\n") {
        note.truncate(end + 2);
    }
    let seq = document.seq_before(place);
    done(document, seq)
}

pub(super) fn swap_signature(mut document: Document, _: &Means) -> Outcome {
    let places = document.checkpoints();
    let (Some(last), Some(other)) = (places.last(), places.iter().rev().nth(1)) else {
        return Err(TamperError::Nothing("second checkpoint"));
    };
    let signature = document
        .note_mut(*other)?
        .rsplit_once("\n\n")
        .map(|s| s.1.to_owned());
    let note = document.note_mut(*last)?;
    if let (Some(end), Some(signature)) = (note.rfind("\n\n"), signature) {
        note.truncate(end + 2);
        note.push_str(&signature);
    }
    let seq = document.seq_before(*last);
    done(document, seq)
}

pub(super) fn drop_payload(mut document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    document.record_mut(place)?.body = None;
    done(document, seq)
}

/// Offset of this line, counted from 0.
fn line_start(bytes: &[u8], line: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    match line.checked_sub(1) {
        None => 0,
        Some(before) => ends.nth(before).map_or(bytes.len(), |end| end + 1),
    }
}

pub(super) fn disk_rot(document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    let mut bytes = document.write()?;
    let at = line_start(&bytes, place + 1) + 40;
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 0x80;
    }
    Ok(Tampered { bytes, seq })
}

pub(super) fn cut_file(document: Document, means: &Means) -> Outcome {
    let (place, seq) = message(&document, means)?;
    let mut bytes = document.write()?;
    let at = line_start(&bytes, place + 1) + 40;
    bytes.truncate(at);
    Ok(Tampered { bytes, seq })
}

/// Keeps what is up to a checkpoint.
fn keep_until(mut document: Document, checkpoint: Option<usize>) -> Outcome {
    let place = checkpoint.ok_or(TamperError::Nothing("earlier checkpoint"))?;
    document.entries.truncate(place + 1);
    let seq = document.seq_before(place) + 1;
    done(document, seq)
}

pub(super) fn truncate_tail(document: Document, _: &Means) -> Outcome {
    let checkpoint = document.checkpoints().iter().rev().nth(1).copied();
    keep_until(document, checkpoint)
}

pub(super) fn rollback(document: Document, _: &Means) -> Outcome {
    let places = document.checkpoints();
    let checkpoint = places.first().filter(|_| places.len() > 1).copied();
    keep_until(document, checkpoint)
}
