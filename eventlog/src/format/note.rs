//! C2SP signed notes: text and the signatures under it.
//!
//! Invariants
//! * Lines of keys that were not asked for are ignored; every line of a key that was asked for is
//!   verified, and one that fails refuses the whole note.
//! * Nobody gets to use the text before a signature verified: `Verified` is the only way to trust.
//! * Size and number of signatures are bounded.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

pub use super::key::{Algorithm, KeyError, SigningKey, VerifyingKey};
use super::{
    cosignature,
    key::check_name,
    limits::{NOTE_BYTES_MAX, NOTE_SIGNATURES_MAX},
};

/// What every signature line begins with: an em dash and a space.
const LINE_START: &str = "\u{2014} ";

/// A note that was read, not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    text: &'a str,
    signatures: Vec<SignatureLine<'a>>,
}

/// One signature line: who, and what they signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureLine<'a> {
    /// The key's name.
    pub name: &'a str,
    /// The key's id.
    pub id: [u8; 4],
    /// What follows the id: a signature, or a time and a signature.
    pub signature: Vec<u8>,
}

/// A key whose signature on a note verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer<'k> {
    /// The key.
    pub key: &'k VerifyingKey,
    /// A cosigner's time, in seconds since the Unix epoch.
    pub time: Option<u64>,
}

/// Why a note was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Larger than any note we handle.
    #[error("a note of more than {NOTE_BYTES_MAX} bytes")]
    TooLarge,
    /// More signature lines than we handle.
    #[error("a note with more than {NOTE_SIGNATURES_MAX} signatures")]
    TooManySignatures,
    /// A control character other than LF.
    #[error("a control character in the note at byte {0}")]
    Control(usize),
    /// No empty line followed by signature lines.
    #[error("not a note: expected text, an empty line and signature lines")]
    Form,
    /// A line below the last empty line is not `— name base64`.
    #[error("signature line {0} of the note is malformed")]
    SignatureLine(usize),
    /// A known key's signature does not verify.
    #[error("the signature by {0} does not verify")]
    BadSignature(String),
    /// None of the keys asked for signed.
    #[error("no known key signed the note")]
    NoKnownKey,
}

impl<'a> Note<'a> {
    /// Reads a note. The signatures are not verified.
    pub fn parse(note: &'a str) -> Result<Self, NoteError> {
        if note.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLarge);
        }
        if let Some(at) = note.bytes().position(|b| b < 0x20 && b != b'\n') {
            return Err(NoteError::Control(at));
        }
        let split = note.rfind("\n\n").ok_or(NoteError::Form)?;
        let (text, below) = note.split_at_checked(split + 1).ok_or(NoteError::Form)?;
        let lines = below
            .strip_prefix('\n')
            .and_then(|lines| lines.strip_suffix('\n'));
        let lines = lines.ok_or(NoteError::Form)?;
        let mut signatures = Vec::new();
        for (i, line) in lines.split('\n').enumerate() {
            if i == NOTE_SIGNATURES_MAX {
                return Err(NoteError::TooManySignatures);
            }
            signatures.push(SignatureLine::parse(line).ok_or(NoteError::SignatureLine(i + 1))?);
        }
        Ok(Self { text, signatures })
    }

    /// What was signed, with its final LF. Not to be trusted before [`Self::verify`].
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// All signature lines, in order.
    pub fn signatures(&self) -> &[SignatureLine<'a>] {
        &self.signatures
    }

    /// The keys among these that signed, each once, in the order of the lines. Refuses the note
    /// when a line of one of them does not verify or when none of them signed.
    pub fn verify<'k>(&self, keys: &[&'k VerifyingKey]) -> Result<Vec<Signer<'k>>, NoteError> {
        let signers = self.verify_any(keys)?;
        if signers.is_empty() {
            Err(NoteError::NoKnownKey)
        } else {
            Ok(signers)
        }
    }

    /// Like [`Self::verify`], but it is no error when none of the keys signed.
    pub fn verify_any<'k>(&self, keys: &[&'k VerifyingKey]) -> Result<Vec<Signer<'k>>, NoteError> {
        let mut signers: Vec<Signer<'k>> = Vec::new();
        for line in &self.signatures {
            let known = |key: &VerifyingKey| key.name() == line.name && key.id() == line.id;
            let mut matching = keys.iter().copied().filter(|key| known(key)).peekable();
            if matching.peek().is_none() {
                continue;
            }
            // Two known keys may share name and id by accident; one of them has to have signed.
            let signer = matching.find_map(|key| line.verify(self.text, key));
            let signer = signer.ok_or_else(|| NoteError::BadSignature(line.name.to_owned()))?;
            if !signers.iter().any(|known| known.key == signer.key) {
                signers.push(signer);
            }
        }
        Ok(signers)
    }
}

impl<'a> SignatureLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, base64) = line.strip_prefix(LINE_START)?.split_once(' ')?;
        check_name(name).ok()?;
        let blob = BASE64.decode(base64).ok()?;
        let (id, signature) = blob.split_first_chunk::<4>()?;
        if signature.is_empty() {
            return None;
        }
        Some(Self {
            name,
            id: *id,
            signature: signature.to_vec(),
        })
    }

    fn verify<'k>(&self, text: &str, key: &'k VerifyingKey) -> Option<Signer<'k>> {
        match key.algorithm() {
            Algorithm::Ed25519 => {
                let signature = self.signature.as_slice().try_into().ok()?;
                key.verifies(text.as_bytes(), signature)
                    .then_some(Signer { key, time: None })
            }
            Algorithm::CosignatureV1 => {
                let time = cosignature::verify(text, &self.signature, key)?;
                Some(Signer {
                    key,
                    time: Some(time),
                })
            }
        }
    }
}

/// The signature line, with its LF, for this blob.
pub(crate) fn signature_line(key: &VerifyingKey, signature: &[u8]) -> String {
    let blob = [&key.id()[..], signature].concat();
    format!("{LINE_START}{} {}\n", key.name(), BASE64.encode(blob))
}

/// Signs a text with a log's key and returns the whole note. The text must end with LF.
pub fn sign(text: &str, key: &SigningKey) -> String {
    let line = signature_line(key.verifying_key(), &key.sign(text.as_bytes()));
    format!("{text}\n{line}")
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
