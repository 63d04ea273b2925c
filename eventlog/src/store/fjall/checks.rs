//! What is looked at before an opened log is trusted.
//!
//! The head must be whole in every keyspace. And what came out of the journals must be without
//! gaps: fjall cuts a sealed journal at the first thing it cannot read and goes on with the next
//! one, which loses events in the middle.

use std::path::PathBuf;

use fjall::{Database, Keyspace};

use super::{failure, tuning, tuning::Tables};
use crate::{
    format::hash::{Hash, chain_hash},
    store::{
        Head, StoreError,
        keys::{
            KeyKind, body, checkpoint, envelope,
            head::{self, HeadRow},
            stream,
        },
    },
};

fn damaged(what: String) -> StoreError {
    StoreError::Damaged(what)
}

/// Refuses a log that lost a keyspace, before a new one, empty, takes its place: without its
/// commands a log would take every command a second time. All were made before anything was
/// written, so a log that has anything has all of them.
pub(super) fn all_there(db: &Database, saved_seq: u64) -> Result<(), StoreError> {
    let exists = |kind: &KeyKind| db.keyspace_exists(kind.keyspace());
    let (there, missing): (Vec<_>, Vec<_>) = Tables::KINDS.into_iter().partition(exists);
    if missing.is_empty() {
        return Ok(());
    }
    let mut had_rows = saved_seq > 0;
    for kind in there {
        let keyspace = db.keyspace(kind.keyspace(), || tuning::keyspace_options(kind));
        had_rows |= keyspace.map_err(failure)?.first_key_value().is_some();
    }
    if !had_rows {
        return Ok(());
    }
    let names: Vec<_> = missing.iter().map(|kind| kind.keyspace()).collect();
    Err(damaged(format!(
        "the database lost what is in every log (missing below db/keyspaces: {})",
        names.join(", ")
    )))
}

/// Where the log in these keyspaces ends.
pub(super) fn log_head(tables: &Tables) -> Result<(Head, Option<HeadRow>), StoreError> {
    let row = tables.meta.get(head::KEY).map_err(failure)?;
    let row = row.map(|bytes| head::deser_value(&bytes)).transpose()?;
    let (seq, envelope) = match tables.envelopes.last_key_value() {
        None => (0, None),
        Some(guard) => {
            let (key, envelope) = guard.into_inner().map_err(failure)?;
            (envelope::deser_key(&key)?, Some(envelope))
        }
    };
    let expected = row.map_or(0, |row| row.seq);
    if seq != expected {
        return Err(damaged(format!(
            "the envelopes end at {seq}, the head row says {expected}"
        )));
    }
    let (Some(row), Some(envelope)) = (row, envelope) else {
        return Ok((empty(), None));
    };
    if chain_hash(&envelope) != row.hash {
        return Err(damaged(format!(
            "envelope {seq} is not the one that was written"
        )));
    }
    whole(tables, &row)?;
    let head = Head {
        seq,
        hash: row.hash,
        checkpoint: last_checkpoint(tables, seq)?,
    };
    Ok((head, Some(row)))
}

pub(super) fn empty() -> Head {
    Head {
        seq: 0,
        hash: Hash::ZERO,
        checkpoint: String::new(),
    }
}

/// The head's body and place in its stream.
fn whole(tables: &Tables, row: &HeadRow) -> Result<(), StoreError> {
    let seq = row.seq;
    let body = tables.bodies.get(body::ser_key(seq)).map_err(failure)?;
    match (row.has_body, body) {
        (true, None) => return Err(damaged(format!("the body of event {seq} is missing"))),
        (true, Some(body)) => drop(body::deser_value(&body)?),
        (false, _) => {}
    }
    let place = tables.streams.get(row.stream_key).map_err(failure)?;
    let found = place.map(|seq| stream::deser_value(&seq)).transpose()?;
    if found == Some(seq) {
        return Ok(());
    }
    Err(damaged(format!(
        "event {seq} is not where it should be in its stream"
    )))
}

fn last_checkpoint(tables: &Tables, seq: u64) -> Result<String, StoreError> {
    let last = tables
        .checkpoints
        .last_key_value()
        .ok_or_else(|| damaged("there is no checkpoint".to_owned()))?;
    let (key, note) = last.into_inner().map_err(failure)?;
    let size = checkpoint::deser_key(&key)?;
    if size != seq {
        return Err(damaged(format!(
            "the newest checkpoint is for {size}, the log ends at {seq}"
        )));
    }
    checkpoint::deser_value(&note)
}

/// A record's hash.
pub(super) fn hash_at(tables: &Tables, seq: u64) -> Result<Hash, StoreError> {
    let envelope = tables
        .envelopes
        .get(envelope::ser_key(seq))
        .map_err(failure)?;
    envelope
        .map(|envelope| chain_hash(&envelope))
        .ok_or_else(|| {
            damaged(format!(
                "event {seq} is missing although the log goes on after it"
            ))
        })
}

/// Walks back from the head over everything that can have come out of the journals.
pub(super) fn no_gaps(
    envelopes: &Keyspace,
    head: u64,
    journals: &[(PathBuf, u64)],
) -> Result<(), StoreError> {
    let mut bytes: u64 = journals.iter().map(|(_, bytes)| bytes).sum();
    for (expected, guard) in (1..=head).rev().zip(envelopes.iter().rev()) {
        let (key, envelope) = guard.into_inner().map_err(failure)?;
        let seq = envelope::deser_key(&key)?;
        if seq != expected {
            return Err(damaged(format!(
                "events {} to {expected} are missing in the middle of the log",
                seq + 1
            )));
        }
        // An envelope in a journal takes at least its own length there.
        bytes = bytes.saturating_sub(envelope.len() as u64);
        if bytes == 0 {
            return Ok(());
        }
    }
    match envelopes.first_key_value() {
        Some(guard) => {
            let first = envelope::deser_key(&guard.key().map_err(failure)?)?;
            if first == 1 {
                Ok(())
            } else {
                Err(damaged(format!("events 1 to {} are missing", first - 1)))
            }
        }
        None => Ok(()),
    }
}
