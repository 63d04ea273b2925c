//! The log's next key: the commit that begins its epoch, and what happens to the key files.
//!
//! Invariants
//! * The new key is durable at `<key>.next` before the log names it, so no log ever expects a key
//!   that nobody has.
//! * The rotation is alone in its commit, and the new key signs that commit's checkpoint.
//! * The files change names after the commit. A crash at any step leaves a directory that opens:
//!   before the commit with the old key, after it with the new one (`arbiter` finishes).

use std::path::{Path, PathBuf};

use minutebook_domain::actor::Actor;
use minutebook_domain::{CheckedCommand, Command, Context, decide, keys};
use minutebook_eventlog::format::epoch::certify;
use minutebook_eventlog::format::key::SigningKey;
use minutebook_eventlog::store::LogWriter;
use uuid::Uuid;

use super::arbiter::Sealing;
use super::clock::{Clock, SystemClock};
use super::commit::{Committer, Fatal};
use super::keyfile::{self, KeyFileError};
use super::start::{Options, StartError, open};
use super::types::Submission;

/// A finished rotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// The epoch that began.
    pub epoch: u64,
    /// The seq of the event that began it.
    pub seq: u64,
    /// The log's key now.
    pub vkey: String,
    /// The log's key before.
    pub prev_vkey: String,
    /// Where the log's key is.
    pub key_file: PathBuf,
    /// Where the key before is.
    pub retired_key_file: PathBuf,
    /// Whether an interrupted rotation was finished.
    pub was_interrupted: bool,
}

/// Why a key was not rotated.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// The directory does not open.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A key file.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The log cannot be written.
    #[error(transparent)]
    Fatal(#[from] Fatal),
    /// The rules refuse the new key; nothing was changed.
    #[error("{path} cannot be the log's next key: {reason}")]
    Unusable {
        /// Where it is, or would have been.
        path: PathBuf,
        /// What the rules say.
        reason: String,
    },
    /// The new key file is not there.
    #[error("there is no key file {path}")]
    NoNewKey {
        /// Where it should be.
        path: PathBuf,
    },
    /// A rotation to another key was interrupted.
    #[error(
        "{path} holds the new key of a rotation that was interrupted: run again without --new-key \
         to finish that one, or delete the file if it is nothing you need"
    )]
    Interrupted {
        /// Where that key is.
        path: PathBuf,
    },
}

/// Rotates the key of the log in a directory that no server holds: to the key in a file, to the
/// one an interrupted rotation had made, or to a new one.
pub fn rotate(options: &Options, new_key: Option<&Path>) -> Result<Rotated, RotateError> {
    let key_file = options.key_file();
    let next = keyfile::next_path(&key_file);
    let pending = keyfile::read(&next)?;
    let given = new_key.map(read_new).transpose()?;
    if given.is_some() && pending.is_some() && given != pending {
        return Err(RotateError::Interrupted { path: next });
    }
    let mut committer = open(options)?;
    // If its event was in the log, opening has done the rest.
    let is_done = pending.is_some() && !next.exists();
    let done = if is_done {
        Ok(committer.rotated(&key_file, true))
    } else {
        committer
            .rotate_files(&key_file, pending, given)
            .map_err(|error| error.about(new_key.unwrap_or(&next)))
    };
    let closed = committer.close();
    let rotated = done?;
    closed?;
    Ok(rotated)
}

impl RotateError {
    /// Names the file whose key the rules refuse.
    fn about(self, path: &Path) -> Self {
        match self {
            Self::Fatal(Fatal::Refused(reason)) => Self::Unusable {
                path: path.to_owned(),
                reason,
            },
            Self::Start(_)
            | Self::Key(_)
            | Self::Fatal(_)
            | Self::Unusable { .. }
            | Self::NoNewKey { .. }
            | Self::Interrupted { .. } => self,
        }
    }
}

fn read_new(path: &Path) -> Result<[u8; 32], RotateError> {
    keyfile::read(path)?.ok_or_else(|| RotateError::NoNewKey {
        path: path.to_owned(),
    })
}

/// Whether this command begins a key epoch.
pub(super) fn is_rotation(command: &Command) -> bool {
    matches!(command, Command::Keys(keys::Command::RotateKey(_)))
}

impl<W: LogWriter> Committer<W> {
    /// Begins the next key epoch with the key of this seed. Returns the seq since which it signs.
    /// The seed must be durable somewhere by now.
    pub fn rotate(&mut self, new_seed: [u8; 32], clock: &dyn Clock) -> Result<u64, Fatal> {
        let (command, key) = self.rotation(new_seed)?;
        let submission = Submission {
            command,
            actor: Actor::Arbiter,
            idempotency: None,
            cause: None,
        };
        // Only here, so that nothing else shares the commit.
        self.next_key = Some(key);
        let written = self.commit(vec![submission], clock.now(), false);
        self.next_key = None;
        match written?.outcomes.into_iter().next() {
            Some(Ok(_)) => Ok(self.chain.seq),
            Some(Err(error)) => Err(Fatal::Refused(error.to_string())),
            None => Err(Fatal::Refused("no outcome".to_owned())),
        }
    }

    /// The command that the current key certifies, and the new key, if the rules agree.
    fn rotation(&self, new_seed: [u8; 32]) -> Result<(CheckedCommand, SigningKey), Fatal> {
        let refused = |reason: &dyn std::fmt::Display| Fatal::Refused(reason.to_string());
        let epoch = self.state.keys().current_epoch().map_or(1, |now| now.epoch) + 1;
        let new = SigningKey::from_seed(&self.origin, new_seed).map_err(|e| refused(&e))?;
        let cert = certify(&self.key, &self.origin, epoch, new.verifying_key())
            .map_err(|e| refused(&e))?;
        let rotated = keys::KeyRotated {
            cert,
            epoch,
            prev_vkey: self.key.vkey(),
            vkey: new.vkey(),
        };
        let command = Command::Keys(keys::Command::RotateKey(rotated));
        let command = command.check().map_err(|e| refused(&e))?;
        let context = Context {
            actor: Actor::Arbiter,
            at: self.last_at,
            fresh: Uuid::nil(),
            arbiter: &Sealing(&self.key),
        };
        decide(&self.state, command.clone(), &context).map_err(|e| refused(&e))?;
        Ok((command, new))
    }

    /// The whole rotation, on a directory that has just been opened.
    fn rotate_files(
        &mut self,
        key_file: &Path,
        pending: Option<[u8; 32]>,
        given: Option<[u8; 32]>,
    ) -> Result<Rotated, RotateError> {
        let epoch = self.state.keys().current_epoch().map_or(0, |now| now.epoch);
        keyfile::may_retire(key_file, epoch)?;
        let seed = match pending.or(given) {
            Some(seed) => seed,
            None => self.entropy.salt(),
        };
        // Refused before there is a file, not after.
        self.rotation(seed)?;
        if pending.is_none() {
            keyfile::write_next(key_file, &seed)?;
        }
        self.rotate(seed, &SystemClock)?;
        keyfile::promote(key_file, epoch)?;
        Ok(self.rotated(key_file, pending.is_some()))
    }

    fn rotated(&self, key_file: &Path, was_interrupted: bool) -> Rotated {
        let mut newest = self.state.keys().epochs().iter().rev();
        let (now, before) = (newest.next(), newest.next());
        let before_epoch = before.map_or(0, |epoch| epoch.epoch);
        Rotated {
            epoch: now.map_or(0, |epoch| epoch.epoch),
            seq: now.map_or(0, |epoch| epoch.since),
            vkey: self.key.vkey(),
            prev_vkey: before.map(|epoch| epoch.vkey.clone()).unwrap_or_default(),
            key_file: key_file.to_owned(),
            retired_key_file: keyfile::retired_path(key_file, before_epoch),
            was_interrupted,
        }
    }
}
