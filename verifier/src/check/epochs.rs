//! Key epochs: which of the log's keys signs which records.
//!
//! Epoch 1 begins with `log.opened`; each later one is certified by the key before. A checkpoint
//! counts only if the key of the epoch its size falls in signed it, and the newest one only if a
//! trusted key stands at or before its epoch.

use minutebook_domain::keys::{KeyRotated, LogOpened};
use minutebook_eventlog::format::{
    epoch::verify_certificate,
    key::{Algorithm, VerifyingKey},
};

use crate::{
    finding::{Code, Finding, Findings},
    policy::Policy,
    report::KeyRange,
    signed::{Signature, Signed},
};

/// One epoch.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) number: u64,
    pub(crate) key: VerifyingKey,
    pub(crate) first_seq: u64,
}

/// All epochs so far, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs {
    list: Vec<Epoch>,
    /// The log's name, once known.
    origin: String,
}

impl Epochs {
    /// Epochs known from before.
    pub(crate) fn resume(origin: String, list: Vec<Epoch>) -> Self {
        Self { list, origin }
    }

    /// `log.opened`: the first epoch. What the rules refuse begins nothing, and they say why.
    pub(crate) fn open(&mut self, event: &LogOpened, seq: u64, line: u64, out: &mut Findings) {
        if seq != 1 || !self.list.is_empty() {
            return;
        }
        if event.origin != self.origin {
            let text = "the log's first record names another log than the manifest";
            let finding = Finding::new(Code::OriginMismatch, text).seq(seq).line(line);
            out.push(finding.hashes(&self.origin, &event.origin));
        }
        if let Some(key) = log_key(&event.vkey, &event.origin) {
            self.begin(1, key, seq);
        }
    }

    /// `log.key_rotated`: the next epoch, if the key before certified it. What is refused here the
    /// rules refuse too, and say why.
    pub(crate) fn rotate(&mut self, event: &KeyRotated, seq: u64) {
        let Some(before) = self.list.last() else {
            return;
        };
        let number = before.number + 1;
        let Some(key) = log_key(&event.vkey, before.key.name()) else {
            return;
        };
        let origin = before.key.name();
        let certified = verify_certificate(&before.key, origin, number, &key, &event.cert).is_ok();
        if event.epoch == number && event.prev_vkey == before.key.vkey() && certified {
            self.begin(number, key, seq);
        }
    }

    fn begin(&mut self, number: u64, key: VerifyingKey, first_seq: u64) {
        self.list.push(Epoch {
            number,
            key,
            first_seq,
        });
    }

    /// Sets the log's name from the manifest.
    pub(crate) fn set_origin(&mut self, origin: &str) {
        origin.clone_into(&mut self.origin);
    }

    /// The epochs, oldest first.
    pub(crate) fn list(&self) -> &[Epoch] {
        &self.list
    }

    /// The epoch whose key signs a tree of this size.
    pub(crate) fn at(&self, size: u64) -> Option<&Epoch> {
        self.list.iter().rev().find(|epoch| epoch.first_seq <= size)
    }

    /// Checks a checkpoint's signature: by the key of its epoch, and no other of ours.
    pub(crate) fn check(&self, signed: &Signed, policy: &Policy) -> Result<(), Box<Finding>> {
        let size = signed.head.size;
        let due: Vec<&VerifyingKey> = match self.at(size) {
            Some(epoch) => vec![&epoch.key],
            // The log's own word is unreadable; what the caller trusts is still known.
            None => policy.keys_named(&self.origin).collect(),
        };
        for key in &due {
            match signed.by(key) {
                Signature::Valid => return Ok(()),
                Signature::Invalid => {
                    let text = "the signature by the log's key does not verify";
                    return Err(Box::new(Finding::new(Code::SignatureInvalid, text)));
                }
                Signature::Absent => {}
            }
        }
        for epoch in &self.list {
            if signed.by(&epoch.key) == Signature::Valid {
                let text = format!(
                    "signed with the key of epoch {}, which does not sign a log of this size",
                    epoch.number
                );
                return Err(Box::new(Finding::new(Code::KeyRetired, text)));
            }
        }
        let text = "no signature by a key of this log: it was stripped, or another key signed";
        Err(Box::new(Finding::new(Code::KeyUnknown, text)))
    }

    /// Whether the key in force at its size signed this checkpoint from outside. Beyond `length`,
    /// the end of what is shown, epochs may have begun that are not known here: there a trusted key
    /// counts too, unless it is one of the shown epochs and so was replaced.
    pub(crate) fn in_force(&self, signed: &Signed, length: u64, policy: &Policy) -> bool {
        let by = |key: &VerifyingKey| signed.by(key) == Signature::Valid;
        let size = signed.head.size;
        // The first key signs the tree of no records, too.
        let due = self.at(size.max(1));
        if due.is_some_and(|epoch| by(&epoch.key)) {
            return true;
        }
        let shown = |key: &VerifyingKey| self.list.iter().any(|epoch| epoch.key == *key);
        (due.is_none() || size > length)
            && policy
                .keys_named(&self.origin)
                .any(|key| !shown(key) && by(key))
    }

    /// The finding when no trusted key stands at or before the epoch of the newest checkpoint.
    pub(crate) fn untrusted(&self, size: u64, policy: &Policy) -> Option<Finding> {
        let newest = self.at(size)?;
        let trusted = |epoch: &&Epoch| policy.trusts(&epoch.key);
        let pinned = self.list.iter().find(trusted);
        if pinned.is_some_and(|epoch| epoch.number <= newest.number) {
            return None;
        }
        let text = "the log's keys do not lead back to a key you trust: someone else signed it";
        let first = self.list.first().map(|epoch| epoch.key.vkey());
        let finding = Finding::new(Code::KeyNotPinned, text).seq(1);
        Some(finding.hashes(policy.describe_keys(), first.unwrap_or_default()))
    }

    /// For the report.
    pub(crate) fn ranges(&self, policy: &Policy) -> Vec<KeyRange> {
        let ends = self
            .list
            .iter()
            .skip(1)
            .map(|next| Some(next.first_seq - 1));
        self.list
            .iter()
            .zip(ends.chain(std::iter::once(None)))
            .map(|(epoch, last_seq)| KeyRange {
                epoch: epoch.number,
                vkey: epoch.key.vkey(),
                first_seq: epoch.first_seq,
                last_seq,
                pinned: policy.trusts(&epoch.key),
            })
            .collect()
    }
}

/// A vkey that may sign this log's checkpoints.
fn log_key(vkey: &str, origin: &str) -> Option<VerifyingKey> {
    let key = VerifyingKey::parse(vkey).ok()?;
    (key.algorithm() == Algorithm::Ed25519 && key.name() == origin).then_some(key)
}
