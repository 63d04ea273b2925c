//! C2SP `.tlog-proof` files: a receipt that one entry is in a log, checkable offline.
//!
//! Invariants
//! * The text has one spelling around the checkpoint, which is kept verbatim.
//! * `extra` is not authenticated. When it is an envelope, the inclusion proof is what
//!   authenticates it; nothing else of it is ever believed.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{
    checkpoint::{Checkpoint, CheckpointError, Opened, parse_hash, parse_size},
    hash::{Hash, leaf_hash},
    key::VerifyingKey,
    limits::{PROOF_BYTES_MAX, PROOF_EXTRA_BYTES_MAX, PROOF_HASHES_MAX},
    policy::Policy,
    tree::{TreeError, verify_inclusion},
};

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

/// A receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    /// Opaque data; in a receipt that leaves the log, the envelope.
    pub extra: Option<Vec<u8>>,
    /// The entry's index: `seq - 1`.
    pub index: u64,
    /// The inclusion proof, leaf's sibling first.
    pub path: Vec<Hash>,
    /// The checkpoint note, verbatim, with cosignatures.
    pub checkpoint: String,
}

/// Why a receipt was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The text is not a tlog-proof.
    #[error("not a tlog-proof: expected {0}")]
    Form(&'static str),
    /// The checkpoint in it.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The inclusion proof in it.
    #[error(transparent)]
    Inclusion(#[from] TreeError),
    /// The policy asks for more cosignatures.
    #[error("the cosignatures do not meet the policy's quorum")]
    Quorum,
    /// There is no `extra`, or it is another entry than the one at hand.
    #[error("the receipt does not hold the entry")]
    NoEntry,
}

impl TlogProof {
    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut out = format!("{FIRST_LINE}\n");
        if let Some(extra) = &self.extra {
            out.push_str("extra ");
            BASE64.encode_string(extra, &mut out);
            out.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(out, "index {}", self.index);
        for hash in &self.path {
            BASE64.encode_string(hash.as_bytes(), &mut out);
            out.push('\n');
        }
        out.push('\n');
        out.push_str(&self.checkpoint);
        out
    }

    /// Reads the text of a file. Nothing is verified.
    pub fn parse(text: &str) -> Result<Self, ProofError> {
        if text.len() > PROOF_BYTES_MAX {
            return Err(ProofError::Form("a shorter text"));
        }
        // No line before the first empty line is empty, so that line ends the proof proper.
        let (head, checkpoint) = text
            .split_once("\n\n")
            .ok_or(ProofError::Form("an empty line before a checkpoint"))?;
        let mut lines = head.split('\n');
        if lines.next() != Some(FIRST_LINE) {
            return Err(ProofError::Form(FIRST_LINE));
        }
        let mut line = lines.next().unwrap_or("");
        let mut extra = None;
        if let Some(base64) = line.strip_prefix("extra ") {
            extra = Some(parse_extra(base64)?);
            line = lines.next().unwrap_or("");
        }
        let index = line.strip_prefix("index ").and_then(parse_size);
        let index = index.ok_or(ProofError::Form("an index line"))?;
        let mut path = Vec::new();
        for line in lines {
            if path.len() == PROOF_HASHES_MAX {
                return Err(ProofError::Form("at most 64 hashes"));
            }
            path.push(parse_hash(line).ok_or(ProofError::Form("the base64 of a 32-byte hash"))?);
        }
        Checkpoint::peek(checkpoint)?;
        Ok(Self {
            extra,
            index,
            path,
            checkpoint: checkpoint.to_owned(),
        })
    }

    /// Verifies that an entry with this leaf hash is in the log of this origin, by a checkpoint
    /// that one of the log's keys signed. Cosignatures by keys given are verified too.
    pub fn verify<'k>(
        &self,
        leaf: &Hash,
        origin: &str,
        keys: &[&'k VerifyingKey],
    ) -> Result<Opened<'k>, ProofError> {
        let opened = Checkpoint::open(&self.checkpoint, origin, keys)?;
        self.verify_in(leaf, &opened.checkpoint)?;
        Ok(opened)
    }

    /// Verifies under a policy: one of its logs signed, and the quorum of its witnesses.
    pub fn verify_under<'p>(
        &self,
        leaf: &Hash,
        policy: &'p Policy,
    ) -> Result<Opened<'p>, ProofError> {
        let opened = policy.open(&self.checkpoint)?;
        self.verify_in(leaf, &opened.checkpoint)?;
        if policy.quorum_met(&opened.signers) {
            Ok(opened)
        } else {
            Err(ProofError::Quorum)
        }
    }

    /// Verifies the inclusion in a checkpoint that is already believed.
    pub fn verify_in(&self, leaf: &Hash, checkpoint: &Checkpoint) -> Result<(), TreeError> {
        verify_inclusion(
            self.index,
            checkpoint.size,
            leaf,
            &self.path,
            &checkpoint.root,
        )
    }

    /// The leaf hash of the entry the receipt carries in `extra`.
    pub fn entry_leaf(&self) -> Result<Hash, ProofError> {
        self.extra
            .as_deref()
            .map(leaf_hash)
            .ok_or(ProofError::NoEntry)
    }
}

fn parse_extra(base64: &str) -> Result<Vec<u8>, ProofError> {
    let extra = BASE64
        .decode(base64)
        .map_err(|_| ProofError::Form("base64 after extra"))?;
    if extra.len() > PROOF_EXTRA_BYTES_MAX {
        return Err(ProofError::Form("at most 8 KiB of extra data"));
    }
    Ok(extra)
}

#[cfg(test)]
#[path = "proof_tests.rs"]
mod tests;
