//! What anchors and receipts from outside say about one room's bundle.
//!
//! The bundle has one checkpoint, so a checkpoint from outside can be compared only at its size. A
//! receipt can always be used if its record is in the bundle.

use super::room::RoomCheck;
use crate::{
    evidence::Anchor,
    finding::{Code, Finding},
    report::AnchorResult,
};

impl RoomCheck<'_> {
    /// Says what each anchor and receipt amounts to.
    pub(super) fn compare_anchors(&mut self) {
        for anchor in std::mem::take(&mut self.anchors) {
            let result = self.anchor(&anchor, false);
            self.result(&anchor, result);
        }
        let length = self.newest.as_ref().map_or(0, |newest| newest.head.size);
        for held in std::mem::take(&mut self.receipts) {
            let anchor = held.outside.anchor();
            let wrong = held.judge(length, &mut self.core, self.policy);
            let result = self.anchor(&anchor, held.is_kept());
            if !held.is_met() && result != "truncated" && result != "unusable" {
                let text = format!(
                    "receipt {} is for record {}, which is not in this room's bundle",
                    held.outside.label,
                    held.seq()
                );
                self.core
                    .findings
                    .push(Finding::new(Code::ReceiptNotInBundle, text));
            }
            let says_more = matches!(result, "consistent" | "not_comparable");
            self.result(&anchor, wrong.filter(|_| says_more).unwrap_or(result));
        }
    }

    fn result(&mut self, anchor: &Anchor, result: &'static str) {
        if result == "consistent" {
            self.anchored = self.anchored.max(Some(anchor.size()));
        }
        self.results.push(AnchorResult {
            label: anchor.label.clone(),
            kind: anchor.kind,
            size: anchor.size(),
            result,
        });
    }

    /// Compares an anchor with the bundle's one checkpoint. `in_bundle`: a receipt whose record is
    /// in the bundle needs no equal size to be of use.
    fn anchor(&mut self, anchor: &Anchor, in_bundle: bool) -> &'static str {
        let head = &anchor.signed.head;
        let label = &anchor.label;
        let length = self.newest.as_ref().map_or(0, |newest| newest.head.size);
        let epochs = &self.core.epochs;
        if !epochs.in_force(&anchor.signed, length, self.policy) {
            let text = format!("anchor {label} is not signed by the log's key for its size");
            self.core
                .findings
                .push(Finding::new(Code::AnchorUnusable, text));
            return "unusable";
        }
        let Some(newest) = &self.newest else {
            return "not_comparable";
        };
        let size = newest.head.size;
        if head.size > size {
            let text = format!(
                "the bundle is of the log up to record {size}, but anchor {label} shows that it \
                 was already signed up to record {}: an older state was put back",
                head.size
            );
            let finding = Finding::new(Code::TruncatedBelowAnchor, text);
            self.core.findings.push(finding.range(size + 1, head.size));
            "truncated"
        } else if head.size == size && head.root != newest.head.root {
            let text = format!("anchor {label} is of the same size but of another log history");
            let finding = Finding::new(Code::Fork, text).range(1, size);
            let finding = finding.hashes(head.root, newest.head.root);
            self.core.findings.push(finding);
            "fork"
        } else if head.size == size {
            "consistent"
        } else if in_bundle {
            "record_held"
        } else {
            if anchor.kind == "checkpoint" {
                let text = format!(
                    "anchor {label} is of size {}; a room's bundle can only be compared at its \
                     own size {size}",
                    head.size
                );
                self.core
                    .findings
                    .push(Finding::new(Code::AnchorNotComparable, text));
            }
            "not_comparable"
        }
    }
}
