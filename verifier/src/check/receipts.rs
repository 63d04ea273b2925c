//! Receipts from outside, held against the records they are for.
//!
//! Nothing that the log's key did not sign may speak against a log: a receipt does only when the
//! key in force signed its checkpoint, and the record it holds leads there. One that holds no
//! record cannot tell whether it or the log was changed.

use minutebook_eventlog::format::hash::Hash;

use super::core::Core;
use crate::{
    evidence::OutsideReceipt,
    finding::{Code, Finding},
    policy::Policy,
};

/// A receipt, and the record that stands at its place.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) outside: OutsideReceipt,
    met: Option<(Hash, u64)>,
}

impl Held {
    pub(super) fn new(outside: OutsideReceipt) -> Self {
        Self { outside, met: None }
    }

    /// The number of the record it is for.
    pub(super) fn seq(&self) -> u64 {
        self.outside.receipt.index + 1
    }

    /// Notes the leaf and the line of the record at its place.
    pub(super) fn meet(&mut self, leaf: Hash, line: u64) {
        self.met = Some((leaf, line));
    }

    pub(super) fn is_met(&self) -> bool {
        self.met.is_some()
    }

    /// Whether the record at its place is the one it proves.
    pub(super) fn is_kept(&self) -> bool {
        self.met
            .is_some_and(|(leaf, _)| self.outside.receipt.proves(&leaf))
    }

    /// Judges it, now that keys and length are known; says what is wrong, in one word. One whose
    /// checkpoint nobody known signed says nothing: that is found where its checkpoint is compared.
    pub(super) fn judge(
        &self,
        length: u64,
        core: &mut Core,
        policy: &Policy,
    ) -> Option<&'static str> {
        let (_, line) = self.met?;
        let OutsideReceipt { label, receipt } = &self.outside;
        if !core.epochs.in_force(&receipt.signed, length, policy) {
            return None;
        }
        if self.is_kept() {
            core.counts.receipts += 1;
            return None;
        }
        let (code, text, word) = if receipt.holds_a_record() {
            let text = format!("it is not the record receipt {label} was given for");
            (Code::ReceiptMismatch, text, "mismatch")
        } else {
            let text = format!(
                "receipt {label} does not prove it and holds no record: which of the two was \
                 changed cannot be told"
            );
            (Code::ReceiptUnusable, text, "unusable")
        };
        let finding = Finding::new(code, text).seq(self.seq()).line(line);
        core.findings.push(finding);
        Some(word)
    }
}
