//! A whole log, or the part of it after a saved state.
//!
//! Invariants
//! * The newest checkpoint stands last and its size is the number of records; every other one
//!   stands right after the records it covers.
//! * A key rotation stands between two checkpoints: one by the old key, one by the new.
//! * After the first root that does not match, later ones cannot match: one finding is enough.

use std::cmp::Ordering;

use minutebook_domain::EventKind;
use minutebook_eventlog::format::bundle::Manifest;

use super::{
    core::{Core, Scope},
    sequence::{Of, Sequence, Step},
    tree::Tree,
};
use crate::{
    error::VerifyError,
    finding::{Code, Finding},
    policy::{Cosignatures, Policy},
    prepare::Prepared,
    report::WitnessResult,
    saved::Saved,
    signed::Signed,
};

/// The state of the check.
#[derive(Debug)]
pub(crate) struct LogCheck<'a> {
    pub(crate) core: Core,
    pub(crate) sequence: Sequence,
    pub(crate) tree: Tree,
    pub(crate) newest: Option<Signed>,
    pub(crate) witnesses: Vec<WitnessResult>,
    pub(crate) witnessed: Option<(u64, u64)>,
    policy: &'a Policy,
    pub(crate) origin: String,
    /// Size of the last checkpoint line, good or not.
    checkpoint_size: Option<u64>,
    /// A rotation that waits for its checkpoint.
    rotation: Option<u64>,
    trusted: Option<Saved>,
    /// Whether the bundle holds nothing that was verified before.
    began_after_state: bool,
}

impl<'a> LogCheck<'a> {
    pub(crate) fn new(
        manifest: &Manifest,
        policy: &'a Policy,
        mut tree: Tree,
        trusted: Option<Saved>,
    ) -> Result<Self, VerifyError> {
        let first = manifest.first;
        let mut core = Core::of(Scope::Whole);
        let mut sequence = Sequence::new(Of::Log);
        if let Some(saved) = &trusted {
            saved.fits(manifest)?;
            saved.restore(&mut core);
            core.counts.events_before = saved.size;
            if first > 1 {
                let known = (first == saved.size + 1).then_some(saved.chain);
                sequence = Sequence::resume(first, known);
                tree.resume(saved);
                core.time = saved.time().filter(|_| known.is_some());
            }
        } else if first > 1 {
            let text = "the bundle begins in the middle of the log: what came before is unknown";
            let finding = Finding::new(Code::RangeWithoutState, text);
            core.findings.push(finding.range(1, first - 1));
            core.scope = Scope::Tail;
            sequence = Sequence::resume(first, None);
            tree.forget();
        }
        core.epochs.set_origin(&manifest.origin);
        Ok(Self {
            core,
            sequence,
            tree,
            newest: None,
            witnesses: Vec::new(),
            witnessed: None,
            policy,
            origin: manifest.origin.clone(),
            checkpoint_size: trusted
                .as_ref()
                .map(|saved| saved.size)
                .filter(|_| first > 1),
            rotation: None,
            began_after_state: trusted
                .as_ref()
                .is_some_and(|saved| first == saved.size + 1),
            trusted,
        })
    }

    fn tail_only(&self) -> bool {
        self.core.scope == Scope::Tail
    }

    fn trusted_size(&self) -> u64 {
        self.trusted.as_ref().map_or(0, |saved| saved.size)
    }

    /// Number of the last record.
    pub(crate) fn position(&self) -> u64 {
        self.sequence.next() - 1
    }

    /// Takes a record.
    pub(crate) fn record(&mut self, record: &Prepared, line: u64) {
        self.rotation_unsigned();
        self.core.problems(record, line);
        let step = self.sequence.accept(record, line, &mut self.core.findings);
        let explained_until = match step {
            Step::OutOfPlace => return,
            Step::InPlace => self.sequence.broken_until(),
            Step::AfterGap | Step::Renumbered => u64::MAX,
        };
        let position = self.position();
        let trusted = position <= self.trusted_size();
        if record.kind == Some(EventKind::KeyRotated) && !trusted {
            self.rotation_begins(position, line);
        }
        self.tree.push(position, line, record.leaf.hash());
        if trusted {
            self.core.trusted(record, line);
            if position == self.trusted_size() {
                self.rejoin(record, line);
            }
        } else {
            self.core.epoch(record, line);
            self.core.record(record, line, explained_until);
        }
    }

    /// Compares the log with what was verified before, where that ended.
    fn rejoin(&mut self, record: &Prepared, line: u64) {
        let Some(saved) = &self.trusted else {
            return;
        };
        let same_tree = self.tree.root().is_none_or(|root| root == saved.root);
        if same_tree && record.chain == saved.chain {
            return self.tree.state(saved.size, "consistent");
        }
        self.tree.state(saved.size, "fork");
        let text = "this is not the log that was verified before: its first records were changed";
        let finding = Finding::new(Code::Fork, text)
            .range(1, saved.size)
            .line(line);
        self.core
            .findings
            .push(finding.hashes(saved.chain, record.chain));
        self.core.scope = Scope::Lost;
    }

    fn rotation_begins(&mut self, position: u64, line: u64) {
        if self.checkpoint_size != Some(position - 1) {
            let text = "no checkpoint by the old key stands right before this key rotation";
            let finding = Finding::new(Code::CheckpointMissing, text).seq(position);
            self.core.findings.push(finding.line(line));
        }
        self.rotation = Some(position);
    }

    fn rotation_unsigned(&mut self) {
        if let Some(seq) = self.rotation.take() {
            let text = "no checkpoint by the new key stands right after this key rotation";
            let finding = Finding::new(Code::CheckpointMissing, text).seq(seq);
            self.core.findings.push(finding);
        }
    }

    /// Takes a checkpoint line.
    pub(crate) fn checkpoint(&mut self, text: &str, line: u64) {
        let position = self.position();
        let signed = match Signed::parse(text.as_bytes()) {
            Ok(signed) => signed,
            Err(why) => {
                let finding = Finding::new(Code::CheckpointMalformed, why);
                return self.core.findings.push(finding.seq(position).line(line));
            }
        };
        let size = signed.head.size;
        let before = self.checkpoint_size.replace(size);
        let mut good = true;
        let mut report = |core: &mut Core, finding: Finding| {
            good = false;
            core.findings.push(finding.line(line));
        };
        if signed.head.origin != self.origin {
            let finding = Finding::new(Code::OriginMismatch, "a checkpoint of another log");
            let finding = finding.hashes(&self.origin, &signed.head.origin);
            report(&mut self.core, finding.seq(position));
        }
        if size != position || before == Some(size) && self.trusted_size() != size {
            let text = format!("a checkpoint of size {size} stands after record {position}");
            let finding = Finding::new(Code::CheckpointMisplaced, text);
            let finding = match size.cmp(&position) {
                Ordering::Less => finding.range(size + 1, position),
                Ordering::Equal => finding.seq(position),
                Ordering::Greater => finding.range(position + 1, size),
            };
            report(&mut self.core, finding);
        } else if let Some(finding) = self.tree.check_root(size, signed.head.root) {
            report(&mut self.core, finding);
        }
        match self.core.epochs.check(&signed, self.policy) {
            Ok(()) => {}
            // The record that began the key's epoch may be in the part that is not here.
            Err(finding) if self.tail_only() && finding.name == Code::KeyUnknown => {}
            Err(finding) => report(&mut self.core, (*finding).seq(size)),
        }
        if self.rotation == Some(size) {
            self.rotation = None;
        }
        self.cosignatures(&signed, line);
        if good {
            self.core.counts.checkpoints += 1;
            self.newest = Some(signed);
        }
    }

    fn cosignatures(&mut self, signed: &Signed, line: u64) {
        let size = signed.head.size;
        let outcome = self.policy.cosignatures(signed);
        for name in &outcome.invalid {
            let text = format!("the cosignature of witness {name} does not verify");
            let finding = Finding::new(Code::CosignatureInvalid, text);
            self.core.findings.push(finding.seq(size).line(line));
        }
        self.witness(size, outcome);
    }

    /// Counts a quorum of witnesses, of a checkpoint in the bundle or brought from outside.
    fn witness(&mut self, size: u64, outcome: Cosignatures) {
        let larger = self.witnessed.is_none_or(|known| known.0 <= size);
        if larger && outcome.quorum && !outcome.valid.is_empty() {
            let time = outcome.valid.iter().map(|w| w.time).max().unwrap_or(0);
            self.witnessed = Some((size, time));
            self.witnesses = outcome.valid;
        }
    }

    /// A line that is no line of a bundle.
    pub(crate) fn bad(&mut self, code: Code, why: &str, line: u64) {
        self.sequence.unreadable();
        let finding = Finding::new(code, why).seq(self.sequence.next()).line(line);
        self.core.findings.push(finding);
    }

    /// Ends the check.
    pub(crate) fn finish(&mut self) {
        self.rotation_unsigned();
        self.sequence.finish(&mut self.core.findings);
        let position = self.position();
        let signed_until = self.checkpoint_size.unwrap_or(0);
        if self.checkpoint_size.is_none() && position > 0 {
            let text = "there is no checkpoint: nobody signed these records";
            let finding = Finding::new(Code::CheckpointMissing, text);
            self.core.findings.push(finding.range(1, position));
        } else if signed_until < position {
            let text = "these records stand after the last checkpoint: nobody signed them";
            let finding = Finding::new(Code::RecordsUnsigned, text);
            self.core
                .findings
                .push(finding.range(signed_until + 1, position));
        }
        if position < self.trusted_size() {
            let size = self.trusted_size();
            let text = format!(
                "the log ends at record {position}, but it was verified up to record {size} \
                 before: the end was cut off, or an older state was put back"
            );
            let finding = Finding::new(Code::TruncatedBelowAnchor, text);
            self.core.findings.push(finding.range(position + 1, size));
            self.tree.state(size, "truncated");
        } else if self.began_after_state && self.newest.is_some() {
            // A matching root over the state's own tree and what followed proves both.
            self.tree.state(self.trusted_size(), "consistent");
        }
        for signed in self.tree.finish(position, &mut self.core, self.policy) {
            self.witness(signed.head.size, self.policy.cosignatures(&signed));
        }
        if let Some(finding) = self.core.epochs.untrusted(position, self.policy) {
            self.core.findings.push(finding);
        }
        if self.policy.demands_quorum() && self.witnessed.is_none_or(|w| w.0 < position) {
            let text = "the newest checkpoint lacks the cosignatures the policy demands";
            self.core
                .findings
                .push(Finding::new(Code::QuorumNotMet, text));
        }
        self.core.finish();
    }
}
