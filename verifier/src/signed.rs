//! Signed texts: checkpoints and receipts, kept as the text that was signed.

use minutebook_eventlog::format::{
    checkpoint::Checkpoint,
    hash::Hash,
    key::VerifyingKey,
    note::{Note, NoteError, Signer},
    policy::Policy as Witnessing,
    proof::TlogProof,
};

/// A checkpoint with the note it came in. Signatures are checked against keys later, because
/// which key counts depends on where in the log it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) text: String,
    pub(crate) head: Checkpoint,
}

/// What a note says about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// The key signed.
    Valid,
    /// A line of the key does not verify.
    Invalid,
    /// No line of the key.
    Absent,
}

impl Signed {
    /// Reads a signed note of a tree head; the signatures are only parsed.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let head = Checkpoint::peek(text).map_err(|error| error.to_string())?;
        Ok(Self {
            text: text.to_owned(),
            head,
        })
    }

    /// What this key says about it.
    pub(crate) fn by(&self, key: &VerifyingKey) -> Signature {
        let signers = Note::parse(&self.text).and_then(|note| note.verify(&[key]).map(|_| ()));
        match signers {
            Ok(()) => Signature::Valid,
            Err(NoteError::NoKnownKey) => Signature::Absent,
            Err(_) => Signature::Invalid,
        }
    }

    /// The witnesses of a policy that cosigned, with their times; or the ones whose line does not
    /// verify.
    pub(crate) fn cosigned<'p>(&self, policy: &'p Witnessing) -> Cosigned<'p> {
        let mut out = Cosigned::default();
        let Ok(note) = Note::parse(&self.text) else {
            return out;
        };
        for witness in policy.witnesses() {
            match note.verify_any(&[witness]) {
                Ok(signers) => out.signers.extend(signers),
                Err(_) => out.invalid.push(witness.name().to_owned()),
            }
        }
        out
    }
}

/// What the witnesses of a policy say about a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Cosigned<'p> {
    pub(crate) signers: Vec<Signer<'p>>,
    pub(crate) invalid: Vec<String>,
}

/// A `.tlog-proof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// The record's seq less one.
    pub(crate) index: u64,
    proof: TlogProof,
    pub(crate) signed: Signed,
}

impl Receipt {
    /// Reads a receipt; nothing is verified yet.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let proof = TlogProof::parse(text).map_err(|error| error.to_string())?;
        Ok(Self {
            index: proof.index,
            signed: Signed::parse(proof.checkpoint.as_bytes())?,
            proof,
        })
    }

    /// Whether the record with this leaf stands at the index in the checkpoint's tree.
    pub(crate) fn proves(&self, leaf: &Hash) -> bool {
        self.proof.verify_in(leaf, &self.signed.head).is_ok()
    }

    /// Whether there is a record in it.
    pub(crate) fn holds_a_record(&self) -> bool {
        self.proof.extra.is_some()
    }

    /// Whether the record in it, if there is one, is the one it proves.
    pub(crate) fn is_whole(&self) -> bool {
        let proves = |leaf| self.proves(&leaf);
        !self.holds_a_record() || self.proof.entry_leaf().is_ok_and(proves)
    }

    /// Whether the data it carries, which nothing authenticates, is this record or nothing.
    pub(crate) fn carries_only(&self, leaf: &Hash) -> bool {
        self.proof.extra.is_none() || self.proof.entry_leaf().is_ok_and(|entry| entry == *leaf)
    }
}
