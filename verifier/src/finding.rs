//! Findings: what is wrong, where, in words, under a name that never changes.
//!
//! Invariants
//! * A [`Code`]'s name is persisted in reports and scripts: names are never renamed or reused.
//! * The list is bounded; what did not fit is counted. A flood of findings can push out neither
//!   the most telling one nor the first bad position.

use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::{report::Verdict, telling};

/// Findings kept in full; later ones are only counted.
pub const FINDINGS_MAX: usize = 1_000;

/// Longest sentence of one finding, in bytes: a hostile bundle must not fill the report.
const MESSAGE_BYTES_MAX: usize = 600;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $verdict:ident,)*) => {
        /// What kind of finding. The name is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What one finding of this kind does to the verdict.
            pub fn verdict(self) -> Verdict {
                match self { $(Self::$variant => Verdict::$verdict,)* }
            }
        }
    };
}

codes! {
    /// The bundle holds no record.
    Empty = "empty" => Inconclusive,
    /// A line is not one the bundle writer could have written.
    LineUnreadable = "line_unreadable" => Refuted,
    /// A line is longer than any the format allows.
    LineTooLong = "line_too_long" => Refuted,
    /// A line stands where its kind may not.
    LineMisplaced = "line_misplaced" => Refuted,
    /// The manifest's counts or range are not what the lines hold.
    ManifestMismatch = "manifest_mismatch" => Refuted,
    /// An envelope is not canonical.
    EnvelopeMalformed = "envelope_malformed" => Refuted,
    /// A field of the envelope is not a value its key may have.
    EnvelopeFieldInvalid = "envelope_field_invalid" => Refuted,
    /// Records are missing before this one.
    SeqGap = "seq_gap" => Refuted,
    /// A number that was already given out, or an earlier one.
    SeqRepeated = "seq_repeated" => Refuted,
    /// The record's bytes are not those its successor was chained to.
    PrevMismatch = "prev_mismatch" => Refuted,
    /// The number within the stream is not the next one.
    StreamSeqWrong = "stream_seq_wrong" => Refuted,
    /// The stream's chain is broken.
    StreamPrevMismatch = "stream_prev_mismatch" => Refuted,
    /// Time ran backwards.
    TimeDecreased = "time_decreased" => Refuted,
    /// The body is not the one the envelope committed to.
    BodyMismatch = "body_mismatch" => Refuted,
    /// The body is gone and nothing in the log says that it may be.
    BodyMissing = "body_missing" => Refuted,
    /// More bodies are missing than can be kept in mind until a later record explains them.
    ErasuresBeyondCheck = "erasures_beyond_check" => Inconclusive,
    /// The body is not what its type says.
    BodyUndecodable = "body_undecodable" => Refuted,
    /// The type or version is newer than this verifier.
    EventUnknown = "event_unknown" => Inconclusive,
    /// A command id was used for a second command.
    CommandReused = "command_reused" => Refuted,
    /// The rules forbid this event here.
    Unlawful = "unlawful" => Refuted,
    /// An agent's own signature does not cover this message.
    AgentSignatureInvalid = "agent_signature_invalid" => Refuted,
    /// The Merkle root over the records is not the signed one.
    RootMismatch = "root_mismatch" => Refuted,
    /// A checkpoint that must be there is not.
    CheckpointMissing = "checkpoint_missing" => Refuted,
    /// A checkpoint is not a signed note of a tree head.
    CheckpointMalformed = "checkpoint_malformed" => Refuted,
    /// A checkpoint's size is not the number of records before it.
    CheckpointMisplaced = "checkpoint_misplaced" => Refuted,
    /// Records after the last checkpoint: nobody signed them.
    RecordsUnsigned = "records_unsigned" => Refuted,
    /// No signature by a key of this log.
    KeyUnknown = "key_unknown" => Refuted,
    /// The signature by the log's key does not verify.
    SignatureInvalid = "signature_invalid" => Refuted,
    /// Signed with a key of the log, but not in its epoch.
    KeyRetired = "key_retired" => Refuted,
    /// The log's keys do not include the one the verifier was told to trust.
    KeyNotPinned = "key_not_pinned" => Refuted,
    /// A key epoch is not certified by the key before it.
    KeyCertificateInvalid = "key_certificate_invalid" => Refuted,
    /// Another log's name.
    OriginMismatch = "origin_mismatch" => Refuted,
    /// A receipt of the bundle does not prove its record.
    ReceiptInvalid = "receipt_invalid" => Refuted,
    /// A receipt the bundle must have is not there.
    ReceiptMissing = "receipt_missing" => Refuted,
    /// The log is shorter than one that was already signed.
    TruncatedBelowAnchor = "truncated_below_anchor" => Refuted,
    /// Another history than the one that was already signed.
    Fork = "fork" => Refuted,
    /// The record is not the one the receipt was given for.
    ReceiptMismatch = "receipt_mismatch" => Refuted,
    /// A receipt that neither proves the record at its place nor holds another one.
    ReceiptUnusable = "receipt_unusable" => Inconclusive,
    /// An anchor that the log's key in force at its size did not sign, or of another log.
    AnchorUnusable = "anchor_unusable" => Inconclusive,
    /// An anchor this kind of bundle cannot be compared with.
    AnchorNotComparable = "anchor_not_comparable" => Inconclusive,
    /// A receipt for a record this bundle does not hold.
    ReceiptNotInBundle = "receipt_not_in_bundle" => Inconclusive,
    /// A known witness's cosignature does not verify.
    CosignatureInvalid = "cosignature_invalid" => Refuted,
    /// The policy's quorum of witnesses did not cosign.
    QuorumNotMet = "quorum_not_met" => Inconclusive,
    /// The stored log itself could not be read to its end: it is damaged.
    LogUnreadable = "log_unreadable" => Refuted,
    /// A row that the server shows its readers is not what the log says.
    ProjectionDiffers = "projection_differs" => Refuted,
    /// The bundle begins in the middle and no saved state covers what came before.
    RangeWithoutState = "range_without_state" => Inconclusive,
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name.
    pub name: Code,
    /// The record it is about, or the first it may be about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The last record it may be about, when the evidence leaves a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq_last: Option<u64>,
    /// The stream, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Line of the bundle, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// A sentence for a human.
    pub message: String,
    /// What should have been there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The rule's own stable code, for [`Code::Unlawful`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The projection whose row it is about, for [`Code::ProjectionDiffers`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<&'static str>,
}

impl Finding {
    /// A finding about the whole; refine it with the builders below.
    pub(crate) fn new(name: Code, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MESSAGE_BYTES_MAX {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
            message.push('…');
        }
        Self {
            name,
            seq: None,
            seq_last: None,
            stream: None,
            line: None,
            message,
            expected: None,
            found: None,
            rule: None,
            projection: None,
        }
    }

    pub(crate) fn seq(mut self, seq: u64) -> Self {
        self.seq = Some(seq);
        self
    }

    pub(crate) fn range(mut self, first: u64, last: u64) -> Self {
        self.seq = Some(first);
        self.seq_last = (last > first).then_some(last);
        self
    }

    pub(crate) fn stream(mut self, stream: impl Display) -> Self {
        self.stream = Some(format!("{stream}"));
        self
    }

    pub(crate) fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn hashes(mut self, expected: impl Display, found: impl Display) -> Self {
        self.expected = Some(format!("{expected}"));
        self.found = Some(format!("{found}"));
        self
    }

    pub(crate) fn rule(mut self, rule: &'static str) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Whether the finding is, or may be, about this record.
    pub fn covers(&self, seq: u64) -> bool {
        self.seq
            .is_some_and(|first| first <= seq && seq <= self.seq_last.unwrap_or(first))
    }
}

/// The bounded list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    beyond: u64,
    /// The most telling one, which never leaves the list.
    headline: usize,
    /// The first record that a refuting finding names exactly: by itself, and by what was signed
    /// over it.
    first_exact: [Option<u64>; 2],
    refuted: bool,
    inconclusive: bool,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        match finding.name.verdict() {
            Verdict::Refuted => {
                self.refuted = true;
                if let (Some(new), None) = (finding.seq, finding.seq_last) {
                    let [by_itself, by_cover] = &mut self.first_exact;
                    let first = if telling::is_about_a_record(finding.name) {
                        by_itself
                    } else {
                        by_cover
                    };
                    *first = Some(first.map_or(new, |old| old.min(new)));
                }
            }
            Verdict::Inconclusive => self.inconclusive = true,
            Verdict::Clean => {}
        }
        self.keep(finding);
    }

    fn keep(&mut self, finding: Finding) {
        let known = self.list.get(self.headline);
        let tells_more =
            known.is_some_and(|known| telling::order(&finding) < telling::order(known));
        if self.list.len() < FINDINGS_MAX {
            if tells_more {
                self.headline = self.list.len();
            }
            return self.list.push(finding);
        }
        self.beyond += 1;
        if tells_more && let Some(known) = self.list.get_mut(self.headline) {
            *known = finding;
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        if self.refuted {
            Verdict::Refuted
        } else if self.inconclusive {
            Verdict::Inconclusive
        } else {
            Verdict::Clean
        }
    }

    /// The first record that is bad by itself; failing that, the first that what was signed does
    /// not cover. Findings about a range count only where they are no consequence of the headline
    /// and nothing in the range or before it is named.
    pub(crate) fn first_bad_seq(&self) -> Option<u64> {
        let headline = self.list.get(self.headline)?;
        let by_itself = telling::is_about_a_record(headline.name);
        let exact = match (self.first_exact, by_itself) {
            ([first, _], true) | ([_, first], false) => first,
        };
        let ranges = self.list.iter().filter_map(|finding| {
            let (first, last) = (finding.seq?, finding.seq_last?);
            let tells_as_much = telling::is_as_telling(finding, headline);
            (tells_as_much && exact.is_none_or(|exact| exact > last)).then_some(first)
        });
        ranges.chain(exact).min().filter(|_| self.refuted)
    }

    pub(crate) fn is_clean(&self) -> bool {
        !self.refuted && !self.inconclusive
    }

    /// The list, the most telling first, and how many did not fit.
    pub(crate) fn into_parts(mut self) -> (Vec<Finding>, u64) {
        self.list.sort_by_cached_key(telling::order);
        (self.list, self.beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_snake_case() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let name = code.name();
            assert!(seen.insert(name), "{name} twice");
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{name}"
            );
        }
    }

    #[test]
    fn a_flood_keeps_the_first_bad_position() {
        let mut findings = Findings::default();
        for seq in (2..=FINDINGS_MAX as u64 + 10).rev() {
            findings.push(Finding::new(Code::SeqGap, "gap").seq(seq));
        }
        findings.push(Finding::new(Code::PrevMismatch, "x").seq(1));
        assert_eq!(findings.first_bad_seq(), Some(1));
        assert_eq!(findings.verdict(), Verdict::Refuted);
        let (list, beyond) = findings.into_parts();
        assert_eq!((list.len(), beyond), (FINDINGS_MAX, 10));
    }

    #[test]
    fn a_gap_before_an_exact_finding_is_the_first_bad_position() {
        let mut findings = Findings::default();
        findings.push(Finding::new(Code::BodyMismatch, "body").seq(20));
        findings.push(Finding::new(Code::SeqGap, "gap").range(3, 5));
        findings.push(Finding::new(Code::RootMismatch, "root").range(1, 30));
        assert_eq!(findings.first_bad_seq(), Some(3));
        findings.push(Finding::new(Code::LineUnreadable, "line").seq(10));
        assert_eq!(findings.first_bad_seq(), Some(3));
        findings.push(Finding::new(Code::BodyMismatch, "body").seq(2));
        assert_eq!(findings.first_bad_seq(), Some(2));
    }

    #[test]
    fn a_flood_keeps_the_most_telling_finding() {
        let mut findings = Findings::default();
        for seq in 1..=FINDINGS_MAX as u64 + 10 {
            findings.push(Finding::new(Code::Unlawful, "x").seq(seq));
        }
        findings.push(Finding::new(Code::SeqGap, "gap").seq(5_000));
        findings.push(Finding::new(Code::LineUnreadable, "cut").seq(6_000));
        findings.push(Finding::new(Code::QuorumNotMet, "last"));
        let (list, beyond) = findings.into_parts();
        assert_eq!(list.first().map(|f| f.name), Some(Code::LineUnreadable));
        assert_eq!((list.len(), beyond), (FINDINGS_MAX, 13));
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let finding = Finding::new(Code::LineUnreadable, "ä".repeat(1_000));
        assert!(finding.message.len() <= MESSAGE_BYTES_MAX + '…'.len_utf8());
    }
}
