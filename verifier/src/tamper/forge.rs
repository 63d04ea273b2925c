//! Chaining and signing anew, as the holder of a key can.

use std::collections::HashMap;

use minutebook_eventlog::format::{
    bundle::Kind,
    checkpoint::Checkpoint,
    envelope::Envelope,
    hash::{Hash, chain_hash, leaf_hash},
    key::SigningKey,
    tree::Frontier,
};

use super::{
    TamperError,
    document::{Document, Entry},
};

/// The log's newest key, if the seed is its.
pub(super) fn log_key(document: &Document, seed: [u8; 32]) -> Result<SigningKey, TamperError> {
    if matches!(document.manifest.kind, Kind::Room(_)) {
        return Err(TamperError::NeedsLog);
    }
    let key = SigningKey::from_seed(&document.manifest.origin, seed)?;
    let signed_last = document.entries.iter().rev().find_map(|entry| match entry {
        Entry::Checkpoint(note) => Some(note),
        Entry::Record(_) | Entry::Receipt(_) => None,
    });
    let keys = [key.verifying_key()];
    match signed_last {
        Some(note) if Checkpoint::open(note, &document.manifest.origin, &keys).is_ok() => Ok(key),
        Some(_) => Err(TamperError::WrongKey),
        None => Err(TamperError::Nothing("checkpoint")),
    }
}

/// Numbers, chains and commits every record from this place on, and signs every checkpoint that
/// covers one of them. `key_of` answers with the key for a tree of this size.
pub(super) fn reseal(
    document: &mut Document,
    from: usize,
    key_of: impl Fn(u64) -> SigningKey,
) -> Result<(), TamperError> {
    let mut frontier = Frontier::new();
    let mut last = Hash::ZERO;
    let mut streams: HashMap<String, (u64, Hash)> = HashMap::new();
    let origin = document.manifest.origin.clone();
    for (place, entry) in document.entries.iter_mut().enumerate() {
        match entry {
            Entry::Record(record) => {
                let refused = |error: String| TamperError::Input(error);
                let mut envelope = Envelope::parse(&record.envelope)
                    .map_err(|error| refused(error.to_string()))?
                    .into_owned();
                let head = streams
                    .entry(envelope.stream.to_string())
                    .or_insert((0, Hash::ZERO));
                if place >= from {
                    envelope.seq = frontier.size() + 1;
                    envelope.prev = last;
                    (envelope.sseq, envelope.sprev) = (head.0 + 1, head.1);
                    if let Some(body) = &record.body {
                        envelope.body = body.commitment();
                    }
                    record.envelope.clear();
                    envelope.encode(&mut record.envelope);
                }
                last = chain_hash(&record.envelope);
                *head = (head.0 + 1, last);
                frontier.push(leaf_hash(&record.envelope));
            }
            Entry::Checkpoint(note) if place >= from => {
                let head = Checkpoint {
                    origin: origin.clone(),
                    size: frontier.size(),
                    root: frontier.root(),
                };
                *note = head.sign(&key_of(head.size));
            }
            Entry::Checkpoint(_) | Entry::Receipt(_) => {}
        }
    }
    Ok(())
}
