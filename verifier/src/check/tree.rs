//! The Merkle tree, and everything from outside that it is compared with on the way.
//!
//! Anchors are sorted by size and receipts by index, so each is compared when the stream passes
//! it and the tree never holds more than its frontier.

use minutebook_eventlog::format::{hash::Hash, tree::Frontier};

use super::{core::Core, receipts::Held};
use crate::{
    evidence::{Anchor, OutsideReceipt},
    finding::{Code, Finding},
    policy::Policy,
    report::AnchorResult,
    saved::Saved,
    signed::Signed,
};

/// The tree so far, and what it was compared with.
#[derive(Debug)]
pub(crate) struct Tree {
    /// None when the beginning of the log is not known.
    frontier: Option<Frontier>,
    anchors: Vec<(Anchor, Option<bool>)>,
    anchors_passed: usize,
    receipts: Vec<Held>,
    receipts_passed: usize,
    /// Size of the newest checkpoint whose root matched.
    matched: u64,
    mismatched: bool,
    /// Sizes and roots a saved state vouches for.
    confirmed: Vec<(u64, Hash)>,
    pub(crate) results: Vec<AnchorResult>,
    /// Largest size an anchor confirms.
    pub(crate) anchored: Option<u64>,
}

impl Tree {
    pub(crate) fn new(anchors: &[Anchor], receipts: &[OutsideReceipt]) -> Self {
        let mut all: Vec<Anchor> = anchors.to_vec();
        all.extend(receipts.iter().map(OutsideReceipt::anchor));
        all.sort_by_key(Anchor::size);
        let mut receipts = receipts.to_vec();
        receipts.sort_by_key(|outside| outside.receipt.index);
        let mut tree = Self {
            frontier: Some(Frontier::new()),
            anchors: all.into_iter().map(|anchor| (anchor, None)).collect(),
            anchors_passed: 0,
            receipts: receipts.into_iter().map(Held::new).collect(),
            receipts_passed: 0,
            matched: 0,
            mismatched: false,
            confirmed: Vec::new(),
            results: Vec::new(),
            anchored: None,
        };
        tree.pass_anchors();
        tree
    }

    /// Goes on from a saved state.
    pub(crate) fn resume(&mut self, saved: &Saved) {
        self.frontier = Some(saved.frontier.clone());
        self.matched = saved.size;
        self.confirmed.push((saved.size, saved.root));
        self.confirmed.extend_from_slice(&saved.confirmed);
        for (anchor, outcome) in &mut self.anchors {
            let head = &anchor.signed.head;
            if head.size <= saved.size {
                let known = self.confirmed.iter().find(|(size, _)| *size == head.size);
                *outcome = known.map(|(_, root)| *root == head.root);
                self.anchors_passed += 1;
            }
        }
    }

    /// Says what the saved state amounts to.
    pub(crate) fn state(&mut self, size: u64, result: &'static str) {
        if result == "consistent" {
            self.anchored = self.anchored.max(Some(size));
        }
        self.results.push(AnchorResult {
            label: "saved state".to_owned(),
            kind: "state",
            size,
            result,
        });
    }

    /// The beginning of the log is unknown: roots cannot be computed.
    pub(crate) fn forget(&mut self) {
        self.frontier = None;
    }

    pub(crate) fn root(&self) -> Option<Hash> {
        self.frontier.as_ref().map(Frontier::root)
    }

    pub(crate) fn frontier(&self) -> Option<&Frontier> {
        self.frontier.as_ref()
    }

    /// Sizes and roots this run or an earlier one vouches for.
    pub(crate) fn confirmed(&self) -> impl Iterator<Item = (u64, Hash)> {
        self.confirmed.iter().copied()
    }

    /// Takes the record at this position.
    pub(crate) fn push(&mut self, position: u64, line: u64, leaf: Hash) {
        while let Some(held) = self.receipts.get_mut(self.receipts_passed)
            && held.seq() <= position
        {
            self.receipts_passed += 1;
            if held.seq() == position {
                held.meet(leaf, line);
            }
        }
        let Some(frontier) = &mut self.frontier else {
            return;
        };
        if position > frontier.size() {
            frontier.push(leaf);
            self.pass_anchors();
        }
    }

    /// Compares the anchors of the size reached. One below it was passed over or never reached.
    fn pass_anchors(&mut self) {
        let Some(frontier) = &self.frontier else {
            return;
        };
        let size = frontier.size();
        while let Some((anchor, outcome)) = self.anchors.get_mut(self.anchors_passed)
            && anchor.size() <= size
        {
            if anchor.size() == size {
                *outcome = Some(frontier.root() == anchor.signed.head.root);
            }
            self.anchors_passed += 1;
        }
    }

    /// Compares a checkpoint's root. Only the first mismatch is a finding.
    pub(crate) fn check_root(&mut self, size: u64, root: Hash) -> Option<Finding> {
        let frontier = self.frontier.as_ref().filter(|f| f.size() == size)?;
        let found = frontier.root();
        if found == root {
            self.matched = self.matched.max(size);
            return None;
        }
        if self.mismatched {
            return None;
        }
        self.mismatched = true;
        let text = format!(
            "the Merkle root up to record {size} is not the signed one: a record up to there was \
             changed, removed or put in"
        );
        let finding = Finding::new(Code::RootMismatch, text);
        Some(finding.range(self.matched + 1, size).hashes(root, found))
    }

    /// Says what each anchor and receipt amounts to, now that keys and length are known. Gives
    /// back the checkpoints that are of this history: witnesses may have cosigned them.
    pub(crate) fn finish(&mut self, length: u64, core: &mut Core, policy: &Policy) -> Vec<Signed> {
        let mut consistent = Vec::new();
        let judged = self.judge_receipts(length, core, policy);
        for (anchor, outcome) in std::mem::take(&mut self.anchors) {
            let result = self.outcome(&anchor, outcome, length, core, policy);
            if result == "consistent" {
                self.anchored = self.anchored.max(Some(anchor.size()));
                self.confirmed
                    .push((anchor.size(), anchor.signed.head.root));
                consistent.push(anchor.signed.clone());
            }
            let wrong = |(label, _): &&(String, _)| {
                result == "consistent" && anchor.kind == "receipt" && *label == anchor.label
            };
            let word = judged.iter().find(wrong).map(|(_, word)| *word);
            self.results.push(AnchorResult {
                size: anchor.size(),
                label: anchor.label,
                kind: anchor.kind,
                result: word.unwrap_or(result),
            });
        }
        consistent
    }

    /// Says what each receipt amounts to besides its checkpoint: the words for those of which
    /// something is wrong, by label.
    fn judge_receipts(
        &self,
        length: u64,
        core: &mut Core,
        policy: &Policy,
    ) -> Vec<(String, &'static str)> {
        let mut wrong = Vec::new();
        for held in &self.receipts {
            let label = &held.outside.label;
            if let Some(word) = held.judge(length, core, policy) {
                wrong.push((label.clone(), word));
            }
            if !held.is_met() && held.outside.receipt.index < length {
                let text = format!("the record of receipt {label} is not in the bundle");
                let finding = Finding::new(Code::ReceiptNotInBundle, text);
                core.findings.push(finding.seq(held.seq()));
            }
        }
        wrong
    }

    fn outcome(
        &self,
        anchor: &Anchor,
        outcome: Option<bool>,
        length: u64,
        core: &mut Core,
        policy: &Policy,
    ) -> &'static str {
        let head = &anchor.signed.head;
        let label = &anchor.label;
        if !core.epochs.in_force(&anchor.signed, length, policy) {
            let text = format!("anchor {label} is not signed by the log's key for its size");
            core.findings.push(Finding::new(Code::AnchorUnusable, text));
            return "unusable";
        }
        if head.size > length {
            let text = format!(
                "the log ends at record {length}, but anchor {label} shows that it was already \
                 signed up to record {}: the end was cut off, or an older state was put back",
                head.size
            );
            let finding = Finding::new(Code::TruncatedBelowAnchor, text);
            core.findings.push(finding.range(length + 1, head.size));
            return "truncated";
        }
        match outcome {
            Some(true) => "consistent",
            // The bundle does not even match its own checkpoint there: no other history was signed.
            Some(false) if head.size > self.matched => "mismatch",
            Some(false) => {
                let text = format!(
                    "anchor {label} shows another history up to record {}, signed by the same log: \
                     it was rewritten, or two versions exist",
                    head.size
                );
                let finding = Finding::new(Code::Fork, text).range(1, head.size);
                core.findings
                    .push(finding.hashes(head.root, "another root"));
                "fork"
            }
            None => {
                let text = format!(
                    "anchor {label} is of size {}, which this bundle cannot be compared at",
                    head.size
                );
                core.findings
                    .push(Finding::new(Code::AnchorNotComparable, text));
                "not_comparable"
            }
        }
    }
}
