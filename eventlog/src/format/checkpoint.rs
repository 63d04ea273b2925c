//! C2SP checkpoints: origin, size and root of a log's tree as a signed note.
//!
//! Invariants
//! * A size has one spelling, a root has one spelling; text round-trips byte for byte.
//! * `open` believes a checkpoint only when a key named like its origin signed it.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{
    hash::Hash,
    key::{Algorithm, SigningKey, VerifyingKey},
    limits::{KEY_NAME_BYTES_MAX, TREE_SIZE_MAX},
    note::{self, Note, NoteError, Signer},
};

/// A log's size and root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub origin: String,
    /// How many leaves: the seq of the last record.
    pub size: u64,
    /// RFC 6962 root of the envelopes' leaf hashes.
    pub root: Hash,
}

/// A checkpoint with the keys that signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened<'k> {
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// Who signed, of the keys asked about.
    pub signers: Vec<Signer<'k>>,
}

/// Why a checkpoint was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The note itself.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// A line of the text is not what it must be.
    #[error("not a checkpoint: expected {0}")]
    Form(&'static str),
    /// It is about another log.
    #[error("the checkpoint is of {found}, not of {expected}")]
    Origin {
        /// What was asked for.
        expected: String,
        /// What it says.
        found: String,
    },
    /// No log key signed: a witness alone does not make a checkpoint.
    #[error("the checkpoint is not signed by a known key of the log")]
    NoLogKey,
}

impl Checkpoint {
    /// The text to be signed.
    pub fn to_text(&self) -> String {
        format!(
            "{}\n{}\n{}\n",
            self.origin,
            self.size,
            BASE64.encode(self.root.as_bytes())
        )
    }

    /// Reads the text of a checkpoint; extension lines are allowed and ignored. The text is not
    /// to be trusted before a signature over it verified.
    pub fn parse_text(text: &str) -> Result<Self, CheckpointError> {
        let lines = text
            .strip_suffix('\n')
            .ok_or(CheckpointError::Form("a final LF"))?;
        let mut lines = lines.split('\n');
        let origin = lines.next().unwrap_or("");
        if origin.is_empty() || origin.len() > KEY_NAME_BYTES_MAX {
            return Err(CheckpointError::Form("an origin of 1 to 255 bytes"));
        }
        let size = lines.next().and_then(parse_size);
        let size = size.ok_or(CheckpointError::Form("a size without leading zeros"))?;
        let root = lines.next().and_then(parse_hash);
        let root = root.ok_or(CheckpointError::Form("the base64 of a 32-byte root"))?;
        if lines.any(str::is_empty) {
            return Err(CheckpointError::Form("extension lines that are not empty"));
        }
        Ok(Self {
            origin: origin.to_owned(),
            size,
            root,
        })
    }

    /// Signs it and returns the note.
    pub fn sign(&self, key: &SigningKey) -> String {
        note::sign(&self.to_text(), key)
    }

    /// Reads the checkpoint of a note without verifying anything.
    pub fn peek(note: &str) -> Result<Self, CheckpointError> {
        Self::parse_text(Note::parse(note)?.text())
    }

    /// Reads a note and verifies it: it is of this origin, and at least one of the keys that are
    /// the log's (type 0x01, named like the origin) signed it. Lines of the other keys given are
    /// verified too and their signers listed.
    pub fn open<'k>(
        note: &str,
        origin: &str,
        keys: &[&'k VerifyingKey],
    ) -> Result<Opened<'k>, CheckpointError> {
        let note = Note::parse(note)?;
        let signers = note.verify(keys)?;
        let checkpoint = Self::parse_text(note.text())?;
        if checkpoint.origin != origin {
            let expected = origin.to_owned();
            return Err(CheckpointError::Origin {
                expected,
                found: checkpoint.origin,
            });
        }
        let by_log = |signer: &Signer<'_>| {
            signer.key.algorithm() == Algorithm::Ed25519 && signer.key.name() == origin
        };
        if !signers.iter().any(by_log) {
            return Err(CheckpointError::NoLogKey);
        }
        Ok(Opened {
            checkpoint,
            signers,
        })
    }
}

/// A decimal without leading zeros, at most 2^63 - 1.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let leading_zero = text.len() > 1 && text.starts_with('0');
    if leading_zero || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|size| *size <= TREE_SIZE_MAX)
}

/// A hash in standard base64 with padding.
pub(crate) fn parse_hash(text: &str) -> Option<Hash> {
    let mut bytes = [0; 33];
    let len = BASE64.decode_slice(text, &mut bytes).ok()?;
    Hash::from_slice(bytes.get(..len)?)
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
