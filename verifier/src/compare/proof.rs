//! The proof file: two signed checkpoints and why both cannot be of one log.
//!
//! A checkpoint counts only with the key in force at its size. Where an epoch begins is the word of
//! the log it was read from, for a certificate does not say it; so whoever holds a log's retired
//! key can still forge a history in which it was never replaced.

use minutebook_eventlog::format::{
    epoch::verify_certificate, hash::Hash, key::VerifyingKey, tree::verify_consistency,
};
use serde::{Deserialize, Serialize};

use super::PROOF_BYTES_MAX;
use crate::{
    error::VerifyError,
    policy::Policy,
    signed::{Signature, Signed},
};

/// First value of a proof file.
pub(super) const FORMAT: &str = "minutebook-fork-proof/1";
/// Key epochs a proof may hold.
const EPOCHS_MAX: usize = 1_024;

/// A key epoch, as certified by the key before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Certificate {
    pub(super) epoch: u64,
    pub(super) vkey: String,
    pub(super) cert: String,
    /// The record that began it: the smallest tree its key signs.
    pub(super) since: u64,
}

/// A key and the sizes of the trees it signs.
#[derive(Clone, Debug)]
struct Term {
    key: VerifyingKey,
    since: u64,
    /// The size at which the next key begins to sign.
    until: Option<u64>,
}

/// A portable proof of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkProof {
    pub(super) format: String,
    pub(super) origin: String,
    /// In words.
    pub(super) why: String,
    /// The checkpoint of the smaller size.
    pub(super) first: String,
    /// The other one.
    pub(super) second: String,
    /// The second tree's own root at the first one's size, when the sizes differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) root_at_first: Option<String>,
    /// Consistency proof from that root to the second checkpoint's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) consistency: Vec<String>,
    /// Key epochs after the first, each certified by the one before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) epochs: Vec<Certificate>,
    /// Those of the first checkpoint's history, when they are not the second's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) epochs_of_first: Option<Vec<Certificate>>,
}

impl ForkProof {
    /// Reads a proof file. Nothing is verified.
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifyError> {
        let refused = |why: String| VerifyError::Policy(format!("not a proof of a fork: {why}"));
        if bytes.len() > PROOF_BYTES_MAX {
            return Err(refused("too long".to_owned()));
        }
        let proof: Self =
            serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
        if proof.format != FORMAT {
            return Err(refused(format!("its format is not {FORMAT}")));
        }
        Ok(proof)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// What it claims, in words.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether it proves that the log's keys signed two histories.
    pub fn check(&self, policy: &Policy) -> Result<(), VerifyError> {
        let refused = |why: &str| VerifyError::Policy(format!("the proof does not hold: {why}"));
        let read = |text: &str| {
            Signed::parse(text.as_bytes()).map_err(|why| VerifyError::Anchor {
                label: "in the proof".to_owned(),
                why,
            })
        };
        let (first, second) = (read(&self.first)?, read(&self.second)?);
        if first.head.origin != self.origin || second.head.origin != self.origin {
            return Err(refused("a checkpoint is of another log"));
        }
        if self.why != claim(first.head.size, second.head.size) {
            return Err(refused(
                "what it says in words is not what its checkpoints say",
            ));
        }
        let of_first = self.epochs_of_first.as_ref().unwrap_or(&self.epochs);
        signed_in_force(&first, policy, of_first)?;
        signed_in_force(&second, policy, &self.epochs)?;
        if first.head.size == second.head.size {
            return if first.head.root == second.head.root {
                Err(refused("both checkpoints are the same"))
            } else {
                Ok(())
            };
        }
        let hash = |text: &String| Hash::parse_hex(text.as_bytes()).ok();
        let root = self.root_at_first.as_ref().and_then(hash);
        let root = root.ok_or_else(|| refused("there is no root to compare"))?;
        let hashes: Option<Vec<Hash>> = self.consistency.iter().map(hash).collect();
        let hashes = hashes.ok_or_else(|| refused("a hash is malformed"))?;
        let (from, to) = (first.head.size, second.head.size);
        verify_consistency(from, to, &hashes, &root, &second.head.root)
            .map_err(|error| refused(&error.to_string()))?;
        if root == first.head.root {
            return Err(refused("the first is the beginning of the second"));
        }
        Ok(())
    }
}

/// What a proof of two checkpoints of these sizes shows, in words.
pub(super) fn claim(first: u64, second: u64) -> String {
    if first == second {
        return format!("two roots were signed for one size, {first}");
    }
    format!(
        "the log that was signed at size {second} does not begin with the log that was signed at \
         size {first}"
    )
}

/// The trusted keys of a log and those certified from there on, with the sizes they sign.
fn terms(policy: &Policy, origin: &str, epochs: &[Certificate]) -> Vec<Term> {
    if epochs.len() > EPOCHS_MAX || !epochs.is_sorted_by(|a, b| a.since < b.since) {
        return Vec::new();
    }
    let certifies = |key: &VerifyingKey, epoch: &Certificate, next: &VerifyingKey| {
        verify_certificate(key, origin, epoch.epoch, next, &epoch.cert).is_ok()
    };
    let keys: Vec<Option<VerifyingKey>> = epochs
        .iter()
        .map(|epoch| VerifyingKey::parse(&epoch.vkey).ok())
        .collect();
    let mut terms = Vec::new();
    let mut before = None;
    for key in policy.keys_named(origin) {
        if keys.iter().flatten().any(|known| known == key) {
            continue;
        }
        let is_first = match (epochs.first(), keys.first()) {
            (Some(epoch), Some(Some(next))) => certifies(key, epoch, next),
            (_, _) => false,
        };
        if is_first {
            before = Some(key.clone());
        }
        terms.push(Term {
            key: key.clone(),
            // One that has no place here can only be of an epoch that began later.
            since: epochs.last().filter(|_| !is_first).map_or(0, |e| e.since),
            until: epochs.first().filter(|_| is_first).map(|next| next.since),
        });
    }
    for (i, (epoch, key)) in epochs.iter().zip(keys).enumerate() {
        let certified = |key: &VerifyingKey| {
            policy.trusts(key) || before.as_ref().is_some_and(|b| certifies(b, epoch, key))
        };
        before = key.filter(certified);
        if let Some(key) = &before {
            terms.push(Term {
                key: key.clone(),
                since: epoch.since,
                until: epochs.get(i + 1).map(|next| next.since),
            });
        }
    }
    terms
}

/// Whether the key in force at the checkpoint's size, of those the policy leads to, signed it.
pub(super) fn signed_in_force(
    signed: &Signed,
    policy: &Policy,
    epochs: &[Certificate],
) -> Result<(), VerifyError> {
    let head = &signed.head;
    let in_force =
        |term: &&Term| term.since <= head.size && term.until.is_none_or(|until| head.size < until);
    let terms = terms(policy, &head.origin, epochs);
    if terms
        .iter()
        .filter(in_force)
        .any(|term| signed.by(&term.key) == Signature::Valid)
    {
        return Ok(());
    }
    let text = format!(
        "the checkpoint of size {} of {} is not signed by a key you trust that was in force there",
        head.size, head.origin
    );
    Err(VerifyError::Policy(text))
}
