//! All tamperings: what each does and what the verifier must say.

use super::{Means, TamperError, Tampered, acts, document::Document, keyed};
use crate::{finding::Code, report::Verdict};

/// What it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Only the file.
    File,
    /// The log's own secret key.
    Key,
}

/// What the verifier must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The verdict.
    pub verdict: Verdict,
    /// The finding the report begins with, which points at the record; none when nothing can be
    /// found.
    pub finding: Option<Code>,
}

const CLEAN: Expected = Expected {
    verdict: Verdict::Clean,
    finding: None,
};

const fn refuted(code: Code) -> Expected {
    Expected {
        verdict: Verdict::Refuted,
        finding: Some(code),
    }
}

/// One way to tamper with a bundle.
#[derive(Clone, Copy)]
pub struct Tampering {
    /// Its name on the command line.
    pub name: &'static str,
    /// Rows of the threat table it shows.
    pub rows: &'static [u8],
    /// What it does, in words.
    pub what: &'static str,
    /// What it takes.
    pub needs: Needs,
    /// The verdict from the log and a trusted key alone.
    pub alone: Expected,
    /// The verdict with an anchor saved before the tampering.
    pub anchored: Expected,
    /// The verdict on a room's bundle; none if it cannot be done to one.
    pub room: Option<Expected>,
    pub(super) act: fn(Document, &Means) -> Result<Tampered, TamperError>,
}

impl std::fmt::Debug for Tampering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

type Act = fn(Document, &Means) -> Result<Tampered, TamperError>;

/// Found from the file and the key alone, anchor or not.
const fn found(
    name: &'static str,
    rows: &'static [u8],
    what: &'static str,
    code: Code,
    room: Option<Code>,
    act: Act,
) -> Tampering {
    Tampering {
        name,
        rows,
        what,
        needs: Needs::File,
        alone: refuted(code),
        anchored: refuted(code),
        room: match room {
            Some(code) => Some(refuted(code)),
            None => None,
        },
        act,
    }
}

/// Found although the forger holds the log's key.
const fn found_with_key(
    name: &'static str,
    rows: &'static [u8],
    what: &'static str,
    code: Code,
    act: Act,
) -> Tampering {
    Tampering {
        needs: Needs::Key,
        ..found(name, rows, what, code, None, act)
    }
}

/// Found only against an anchor.
const fn hidden(
    name: &'static str,
    rows: &'static [u8],
    what: &'static str,
    needs: Needs,
    anchored: Code,
    act: Act,
) -> Tampering {
    Tampering {
        needs,
        alone: CLEAN,
        ..found(name, rows, what, anchored, None, act)
    }
}

impl Tampering {
    /// All of them, in the order of the threat table.
    pub const ALL: &'static [Self] = &[
        found(
            "edit-envelope",
            &[1],
            "changes who acted in a record",
            Code::PrevMismatch,
            Some(Code::StreamPrevMismatch),
            acts::edit_envelope,
        ),
        found(
            "respell",
            &[1],
            "writes a line's JSON another way, meaning the same",
            Code::LineUnreadable,
            Some(Code::LineUnreadable),
            acts::respell,
        ),
        found(
            "edit-payload",
            &[2],
            "changes the text of a message",
            Code::BodyMismatch,
            Some(Code::BodyMismatch),
            acts::edit_payload,
        ),
        found(
            "delete",
            &[3],
            "removes a record",
            Code::SeqGap,
            Some(Code::StreamSeqWrong),
            acts::delete,
        ),
        found(
            "insert",
            &[4],
            "puts in a record of its own, chained to the one before it",
            Code::SeqRepeated,
            None,
            acts::insert,
        ),
        found(
            "reorder",
            &[5],
            "swaps a record with the next",
            Code::SeqRepeated,
            Some(Code::StreamSeqWrong),
            acts::reorder,
        ),
        found(
            "duplicate-record",
            &[6],
            "repeats a record",
            Code::SeqRepeated,
            Some(Code::StreamSeqWrong),
            acts::duplicate_record,
        ),
        found_with_key(
            "duplicate-command",
            &[6],
            "gives a message the command id of an earlier one; chains and signs anew",
            Code::CommandReused,
            keyed::duplicate_command,
        ),
        found(
            "strip-checkpoint",
            &[7],
            "removes the newest checkpoint",
            Code::RecordsUnsigned,
            Some(Code::CheckpointMissing),
            acts::strip_checkpoint,
        ),
        found(
            "strip-signature",
            &[7],
            "removes the signature under the newest checkpoint",
            Code::CheckpointMalformed,
            Some(Code::CheckpointMalformed),
            acts::strip_signature,
        ),
        found(
            "swap-signature",
            &[7],
            "puts another checkpoint's signature under the newest one",
            Code::SignatureInvalid,
            None,
            acts::swap_signature,
        ),
        found(
            "resign",
            &[7, 8],
            "changes a message, chains anew, and signs with a key of its own",
            Code::KeyUnknown,
            None,
            keyed::resign,
        ),
        found(
            "key-swap",
            &[8],
            "makes the whole log its own: first key replaced, all chained and signed anew",
            Code::KeyNotPinned,
            None,
            keyed::key_swap,
        ),
        found_with_key(
            "retired-key",
            &[9],
            "rotates the log's key, then goes on signing with the old one",
            Code::KeyRetired,
            keyed::retired_key,
        ),
        found_with_key(
            "agent-forgery",
            &[10],
            "changes the text of a message its agent signed; chains and signs anew",
            Code::AgentSignatureInvalid,
            keyed::agent_forgery,
        ),
        found_with_key(
            "illegal-transition",
            &[12],
            "gives a message a number the rules forbid; chains and signs anew",
            Code::Unlawful,
            keyed::illegal_transition,
        ),
        found(
            "drop-payload",
            &[13],
            "removes a message's body without authority",
            Code::BodyMissing,
            Some(Code::BodyMissing),
            acts::drop_payload,
        ),
        found(
            "disk-rot",
            &[14],
            "flips one bit",
            Code::LineUnreadable,
            Some(Code::LineUnreadable),
            acts::disk_rot,
        ),
        found(
            "cut-file",
            &[14],
            "cuts the file in the middle of a record",
            Code::LineUnreadable,
            Some(Code::LineUnreadable),
            acts::cut_file,
        ),
        hidden(
            "truncate-tail",
            &[15],
            "cuts off what came after the last but one checkpoint",
            Needs::File,
            Code::TruncatedBelowAnchor,
            acts::truncate_tail,
        ),
        hidden(
            "rollback",
            &[16],
            "puts back the log as it was at its first checkpoint",
            Needs::File,
            Code::TruncatedBelowAnchor,
            acts::rollback,
        ),
        hidden(
            "rewrite",
            &[17],
            "changes a message nobody signed; chains and signs anew",
            Needs::Key,
            Code::Fork,
            keyed::rewrite,
        ),
        hidden(
            "fork",
            &[18],
            "makes a second version of the log that differs from a record on",
            Needs::Key,
            Code::Fork,
            keyed::fork,
        ),
        hidden(
            "backdate",
            &[19],
            "moves all times two minutes back; chains and signs anew",
            Needs::Key,
            Code::Fork,
            keyed::backdate,
        ),
        hidden(
            "omit",
            &[20],
            "leaves out the last message, as if it had never been recorded",
            Needs::Key,
            Code::TruncatedBelowAnchor,
            keyed::omit,
        ),
        found_with_key(
            "clock-jump",
            &[22],
            "sets one record's time before the record before it; chains and signs anew",
            Code::TimeDecreased,
            keyed::clock_jump,
        ),
    ];

    /// Rows of the threat table that no tampering with a bundle can show, and why.
    pub const ELSEWHERE: &'static [(u8, &'static str)] = &[
        (
            11,
            "projection tampering: views are not in a bundle; `minutebook projections check`",
        ),
        (
            21,
            "a changed verifier: its own report cannot show that; binary hash and --selftest",
        ),
    ];
}
