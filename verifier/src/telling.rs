//! Which finding to show first: the one that explains the others.
//!
//! One change to a bundle leaves several findings. A line that was cut in two also leaves the
//! records before it unsigned; a record put in also breaks a chain, a root and maybe a rule. Each
//! class here may cause findings of the classes after it, so the first in this order is the
//! nearest to what was done.

use std::cmp::Reverse;

use crate::{
    finding::{Code, Finding},
    report::Verdict,
};

/// Classes of findings, causes before consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// It is not the log that was asked about.
    OtherLog,
    /// The log's own store is damaged.
    Store,
    /// Bytes that are no line of a bundle.
    Line,
    /// A record that does not belong where it stands.
    Moved,
    /// Records that are gone.
    Gone,
    /// A record that is not the one its neighbours were chained to.
    Changed,
    /// The end that is gone.
    Cut,
    /// A body that is not the record's.
    Body,
    /// A record as it was signed, and not allowed.
    Rule,
    /// A signature or certificate that does not hold.
    Signature,
    /// A key that is nobody's.
    Stranger,
    /// Another history than one known from outside.
    OtherHistory,
    /// Signed heads and proofs that do not fit the records.
    Cover,
    /// What readers are shown is not what the log says.
    Shown,
    /// Nothing wrong, but not all shown.
    Open,
}

fn class(code: Code) -> Class {
    match code {
        Code::KeyNotPinned | Code::OriginMismatch => Class::OtherLog,
        Code::LogUnreadable => Class::Store,
        Code::ProjectionDiffers => Class::Shown,
        Code::LineUnreadable
        | Code::LineTooLong
        | Code::LineMisplaced
        | Code::EnvelopeMalformed
        | Code::EnvelopeFieldInvalid => Class::Line,
        Code::SeqRepeated => Class::Moved,
        Code::SeqGap | Code::StreamSeqWrong => Class::Gone,
        Code::PrevMismatch | Code::StreamPrevMismatch => Class::Changed,
        Code::TruncatedBelowAnchor => Class::Cut,
        Code::BodyMismatch | Code::BodyMissing | Code::BodyUndecodable => Class::Body,
        Code::CommandReused
        | Code::AgentSignatureInvalid
        | Code::Unlawful
        | Code::TimeDecreased => Class::Rule,
        Code::CheckpointMalformed
        | Code::SignatureInvalid
        | Code::KeyRetired
        | Code::KeyCertificateInvalid
        | Code::CosignatureInvalid => Class::Signature,
        Code::KeyUnknown => Class::Stranger,
        Code::Fork | Code::ReceiptMismatch => Class::OtherHistory,
        Code::RootMismatch
        | Code::CheckpointMissing
        | Code::CheckpointMisplaced
        | Code::RecordsUnsigned
        | Code::ReceiptInvalid
        | Code::ReceiptMissing
        | Code::ManifestMismatch => Class::Cover,
        Code::Empty
        | Code::RangeWithoutState
        | Code::EventUnknown
        | Code::ErasuresBeyondCheck
        | Code::AnchorUnusable
        | Code::AnchorNotComparable
        | Code::ReceiptNotInBundle
        | Code::ReceiptUnusable
        | Code::QuorumNotMet => Class::Open,
    }
}

/// Whether the finding is about a record itself, not about what was signed over it.
pub(crate) fn is_about_a_record(code: Code) -> bool {
    class(code) <= Class::Rule
}

/// Whether a finding may be a cause as much as the other one. Records that are gone are no
/// consequence of anything.
pub(crate) fn is_as_telling(finding: &Finding, other: &Finding) -> bool {
    finding.name.verdict() == Verdict::Refuted
        && class(finding.name) <= class(other.name).max(Class::Gone)
}

/// Orders findings: refuting ones first, then causes, then those that name one record, then by
/// place.
pub(crate) fn order(finding: &Finding) -> impl Ord + use<> {
    (
        Reverse(finding.name.verdict() == Verdict::Refuted),
        class(finding.name),
        finding.seq.is_none(),
        finding.seq_last.is_some(),
        finding.seq,
        finding.line.unwrap_or(u64::MAX),
    )
}
