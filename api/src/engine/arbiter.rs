//! Which key signs the log now, and where it is. Read from the log's newest epoch record before
//! anything is folded or rebuilt, so that a wrong key or origin is refused at once.
//!
//! Invariants
//! * An interrupted rotation is finished here: once its event is in the log, the new key at
//!   `<key>.next` is the log's, whatever the files are called.
//! * A key file is moved away only when its key is the one that the rotation gave up.

use std::path::Path;

use minutebook_domain::limits::KEY_EPOCHS_MAX;
use minutebook_domain::{Arbiter, Event, keys};
use minutebook_eventlog::format::key::{SigningKey, VerifyingKey};
use minutebook_eventlog::store::LogReader;

use super::clock::Entropy;
use super::keyfile::{self, KeyFileError};
use super::recover::{RecoverError, origin_of};
use super::start::StartError;
use crate::generations::OwnedFact;

/// The log's key as the one that signs rooms' ledgers.
#[derive(Debug)]
pub(super) struct Sealing<'a>(pub &'a SigningKey);

impl Arbiter for Sealing<'_> {
    fn public_key(&self) -> [u8; 32] {
        *self.0.verifying_key().public_key()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes)
    }
}

/// The newest key epoch as its record tells it.
struct Newest {
    epoch: u64,
    vkey: String,
    before: Option<String>,
}

/// The arbiter's seed for this log: from the key file, made for a new log, or from a rotation that
/// was interrupted after its commit.
pub(super) fn settle(
    path: &Path,
    origin: Option<&str>,
    reader: &dyn LogReader,
    entropy: &mut Entropy,
) -> Result<[u8; 32], StartError> {
    let at_hand = keyfile::read(path)?;
    let Some(newest) = newest(reader)? else {
        let seed = at_hand.unwrap_or_else(|| entropy.salt());
        if at_hand.is_none() {
            keyfile::create(path, &seed)?;
        }
        return Ok(seed);
    };
    let name = origin_of(origin, Some(&newest.vkey))?.unwrap_or_default();
    let given = at_hand.map(|seed| vkey(&name, seed)).transpose()?;
    if let (Some(seed), true) = (at_hand, given.as_deref() == Some(&newest.vkey)) {
        return Ok(seed);
    }
    if given.is_none() || given == newest.before {
        let next = keyfile::read(&keyfile::next_path(path))?;
        if let Some(seed) = next
            && vkey(&name, seed)? == newest.vkey
        {
            tracing::info!(
                epoch = newest.epoch,
                "finishing an interrupted key rotation"
            );
            keyfile::promote(path, newest.epoch.saturating_sub(1))?;
            return Ok(seed);
        }
    }
    let path = path.to_owned();
    match given {
        None => Err(KeyFileError::Missing { path }.into()),
        Some(given) => Err(RecoverError::WrongKey {
            given,
            expected: newest.vkey,
        }
        .into()),
    }
}

fn newest(reader: &dyn LogReader) -> Result<Option<Newest>, StartError> {
    if reader.head()?.seq == 0 {
        return Ok(None);
    }
    let page = reader.read_stream("log", 1, KEY_EPOCHS_MAX)?;
    let damaged = |seq, reason: String| RecoverError::Damaged { seq, reason };
    let Some((seq, record)) = page.last() else {
        return Err(damaged(1, "the log does not begin with log.opened".to_owned()).into());
    };
    let fact = OwnedFact::decode(record).map_err(|reason| damaged(*seq, reason))?;
    match fact.event {
        Some(Event::Keys(keys::Event::LogOpened(opened))) => Ok(Some(Newest {
            epoch: 1,
            vkey: opened.vkey,
            before: None,
        })),
        Some(Event::Keys(keys::Event::KeyRotated(rotated))) => Ok(Some(Newest {
            epoch: rotated.epoch,
            vkey: rotated.vkey,
            before: Some(rotated.prev_vkey),
        })),
        Some(
            Event::Keys(
                keys::Event::ApiKeyIssued(_)
                | keys::Event::ApiKeyRevoked(_)
                | keys::Event::AgentKeyEnrolled(_)
                | keys::Event::AgentKeyRevoked(_),
            )
            | Event::Skills(_)
            | Event::Room(_),
        )
        | None => Err(damaged(*seq, "it does not begin a key epoch".to_owned()).into()),
    }
}

/// The vkey of a seed under the log's name.
fn vkey(name: &str, seed: [u8; 32]) -> Result<String, RecoverError> {
    SigningKey::from_seed(name, seed)
        .as_ref()
        .map(SigningKey::verifying_key)
        .map(VerifyingKey::vkey)
        .map_err(|error| RecoverError::Key(error.to_string()))
}
