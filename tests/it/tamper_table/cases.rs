//! The cases of records: the peer's row, how careful the forger is, what he does; and what is then
//! said: by the server that is started on the database, and by the verifier of the bundle.
//!
//! Why these findings:
//!
//! * A body is committed to as a whole, so a plain edit of whatever field is a body that does not
//!   fit, however the field is called. Nor is an agent's signature or the seal looked at then: what
//!   they are over is not what was recorded.
//! * An envelope is what the next one names: a plain edit of it breaks the link there, and the one
//!   that was changed is named. That an envelope is not canonical, or of another room, or out of
//!   its number is nearer to what was done and goes before.
//! * Chained, the record is judged by what it says: it cannot be read, or its seal, an agent's
//!   signature or the rules do not allow it.
//! * What neither a seal nor a rule is about (quotes, subjects, whether an agent signed) is left to
//!   later records: the ledger's next entry, or the handshake on what was agreed, which the new
//!   context does not fit.
//! * When all that fits, the last record of the room is no longer the one that was signed.

use super::records::{Care, Of, What};
use Care::{Chained, Hashed, Plain, Sealed};
use Of::{Handshake, Last, Message, Opening, Revision};
use What::{
    Away, Bridged, Cut, Deleted, Each, Emptied, Forged, FromOther, Head, Later, OfOther, Rekeyed,
    Repeated, Set, Swapped, Taken, Unindexed,
};

/// What is done to a room's records, and what is said of it.
pub(super) struct Case {
    pub(super) row: u8,
    pub(super) care: Care,
    pub(super) what: What,
    /// `details.type` of the server that was started on the database, or [`NO_START`].
    pub(super) server: &'static str,
    /// The finding the verifier's report on the bundle begins with, or [`NO_BUNDLE`].
    pub(super) bundle: &'static str,
    /// What is named, where it is not the record that was tampered with.
    pub(super) named: &'static [Of],
}

impl Case {
    pub(super) fn named(&self) -> Of {
        let named = self.named.first();
        named.copied().unwrap_or_else(|| self.what.of())
    }
}

macro_rules! cases {
    ($($row:literal $care:ident $what:expr => $server:expr, $bundle:expr $(, $named:expr)?;)*) => {
        &[$(Case {
            row: $row,
            care: $care,
            what: $what,
            server: $server,
            bundle: $bundle,
            named: &[$($named)?],
        },)*]
    };
}
pub(super) use cases;

/// The database is not opened: records are missing between others, or stand after the signed end.
pub(super) const NO_START: &str = "no start";
/// There is no such thing in a bundle.
pub(super) const NO_BUNDLE: &str = "no bundle";

/// The server's word for a body of a revision that is not the committed one.
const PAYLOAD: &str = "tampered_revision_payload";
const CHAIN: &str = "broken_chain";
const SEAL: &str = "invalid_arbiter_signature";
const AGENT: &str = "invalid_agent_revision_signature";
const MESSAGE: &str = "invalid_message_signature";
const HANDSHAKE: &str = "invalid_handshake_signature";
pub(super) const BODY: &str = "body_mismatch";
pub(super) const UNREADABLE: &str = "body_undecodable";
pub(super) const GONE: &str = "body_missing";
pub(super) const LINK: &str = "stream_prev_mismatch";
pub(super) const GAP: &str = "stream_seq_wrong";
pub(super) const LAW: &str = "unlawful";
pub(super) const MISPLACED: &str = "line_misplaced";
const SIGNATURE: &str = "agent_signature_invalid";
/// The careful forger's changes are lawful in themselves; what was signed over them is not theirs.
pub(super) const COVER: &str = "receipt_invalid";

pub(super) const OTHER_SIG: &str = concat!(
    "0101010101010101010101010101010101010101010101010101010101010101",
    "0101010101010101010101010101010101010101010101010101010101010101"
);
/// A real key, of nobody here.
pub(super) const OTHER_KEY: &str =
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const OTHER_HASH: &str = "0101010101010101010101010101010101010101010101010101010101010101";

/// The arbiter is said to have passed over the first message.
const WATERMARK: &str = concat!(
    r#"{"adapter":"none","failed":"made up","message":1,"model":"none","outcome":"skipped","#,
    r#""prompt_hash":"0101010101010101010101010101010101010101010101010101010101010101"}"#
);

const ALL: &[Of] = &[
    Revision(1),
    Revision(2),
    Revision(3),
    Revision(4),
    Revision(5),
    Revision(6),
];

pub(super) const CASES: &[Case] = cases! {
    1 Plain Set(Revision(1), &[("value", "seven dollars")]) => PAYLOAD, BODY;
    1 Plain Set(Revision(3), &[("value", "seven dollars")]) => PAYLOAD, BODY;
    1 Plain Set(Revision(6), &[("value", "zero dollars")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(1), &[("agent", "eve")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(3), &[("agent", "eve")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(6), &[("agent", "eve")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(3), &[("kind", "contradict")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(6), &[("kind", "confirm")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(1), &[("source_msg_id", "2")]) => PAYLOAD, BODY;
    2 Plain Set(Revision(6), &[("source_msg_id", "2")]) => PAYLOAD, BODY;
    2 Plain Later(Revision(1), 1) => CHAIN, LINK;
    2 Plain Later(Revision(3), 1) => CHAIN, LINK;
    2 Plain Later(Revision(6), 1) => CHAIN, LINK;
    2 Chained Later(Revision(6), 1) => PAYLOAD, LAW;
    3 Plain Set(Revision(1), &[("quote", "can't deliver")]) => PAYLOAD, BODY;
    3 Chained Set(Revision(1), &[("quote", "can't deliver")]) => COVER, COVER;
    // A gap is nearer than what follows from it. Closed, the handshakes are on another context; cut
    // off with all that follows, the last record is not the one there is a receipt for.
    4 Plain Deleted(&[Revision(6)]) => NO_START, GAP;
    4 Chained Deleted(&[Revision(6)]) => NO_START, LAW, Handshake(1);
    4 Plain Cut(Revision(6)) => NO_START, COVER;
    5 Plain Deleted(&[Revision(5), Revision(6)]) => NO_START, GAP;
    5 Chained Deleted(&[Revision(5), Revision(6)]) => NO_START, LAW, Handshake(1);
    5 Plain Cut(Revision(5)) => NO_START, COVER;
    6 Plain Deleted(ALL) => NO_START, GAP;
    6 Chained Deleted(ALL) => NO_START, LAW;
    6 Plain Cut(Revision(1)) => NO_START, COVER;
    7 Plain Deleted(&[Revision(3)]) => NO_START, GAP;
    7 Chained Deleted(&[Revision(3)]) => NO_START, LAW;
    7 Plain Unindexed(Revision(3)) => CHAIN, NO_BUNDLE;
    8 Plain Deleted(&[Revision(1)]) => NO_START, GAP;
    8 Chained Deleted(&[Revision(1)]) => NO_START, LAW;
    8 Plain Unindexed(Revision(1)) => CHAIN, NO_BUNDLE;
    // Out of its number, a revision is what the dialect calls a broken chain; with the numbers
    // exchanged as well, the ledger's own chain is.
    9 Plain Swapped(Revision(3), Revision(4)) => CHAIN, GAP;
    9 Chained Swapped(Revision(3), Revision(4)) => CHAIN, LAW;
    10 Plain Each(&[
        Taken(Revision(3), "value", Revision(5)),
        Taken(Revision(5), "value", Revision(3)),
    ]) => PAYLOAD, BODY;
    11 Plain Set(Revision(4), &[("signature", "")]) => PAYLOAD, BODY;
    11 Sealed Set(Revision(4), &[("signature", "")]) => COVER, COVER;
    12 Plain Set(Revision(4), &[("signature/sig", OTHER_SIG)]) => PAYLOAD, BODY;
    12 Chained Set(Revision(4), &[("signature/sig", OTHER_SIG)]) => AGENT, SIGNATURE;
    13 Plain Rekeyed(Revision(4), "", "") => PAYLOAD, BODY;
    13 Sealed Rekeyed(Revision(4), "", "") => COVER, COVER;
    14 Plain Rekeyed(Revision(5), "", "") => PAYLOAD, BODY;
    14 Sealed Rekeyed(Revision(5), "", "") => COVER, COVER;
    // Emptied fields make a body that is none, and no entry of another age.
    15 Plain Set(Revision(3), &[("value", "seven"), ("entry/arbiter_sig", "null")])
        => PAYLOAD, BODY;
    15 Chained Set(Revision(3), &[("value", "seven"), ("entry/arbiter_sig", "null")])
        => PAYLOAD, UNREADABLE;
    15 Chained Set(Revision(3), &[("value", "seven"), ("entry/arbiter_sig", "\"\"")])
        => PAYLOAD, LAW;
    16 Plain Set(Revision(3), &[("value", "seven"), ("entry/prev_hash", "null")])
        => PAYLOAD, BODY;
    16 Chained Set(Revision(3), &[("value", "seven"), ("entry/prev_hash", "\"\"")])
        => PAYLOAD, LAW;
    17 Plain Set(Revision(3), &[("value", "seven"), ("entry", "null")]) => PAYLOAD, BODY;
    17 Chained Set(Revision(3), &[("value", "seven"), ("entry", "null")]) => PAYLOAD, UNREADABLE;
    17 Plain Emptied(Revision(3)) => PAYLOAD, GONE;
    18 Plain Set(Revision(6), &[("value", "seven"), ("entry", "null")]) => PAYLOAD, BODY;
    18 Chained Set(Revision(6), &[("value", "seven"), ("entry", "null")]) => PAYLOAD, UNREADABLE;
    18 Plain Emptied(Revision(6)) => PAYLOAD, GONE;
    19 Chained Each(&[
        Set(Revision(1), &[("value", "seven"), ("entry", "null")]),
        Set(Revision(2), &[("value", "seven"), ("entry", "null")]),
        Set(Revision(3), &[("value", "seven"), ("entry", "null")]),
        Set(Revision(4), &[("value", "seven"), ("entry", "null")]),
        Set(Revision(5), &[("value", "seven"), ("entry", "null")]),
        Set(Revision(6), &[("value", "seven"), ("entry", "null")]),
    ]) => PAYLOAD, UNREADABLE;
    20 Plain Bridged(Revision(4), Revision(3)) => NO_START, GAP, Revision(4);
    20 Chained Bridged(Revision(4), Revision(3)) => NO_START, UNREADABLE;
    21 Chained Each(&[Repeated(Revision(6)), Set(Last, &[("entry", "null")])])
        => NO_START, UNREADABLE;
    22 Chained Repeated(Revision(6)) => NO_START, LAW;
    // The seal is over the value; where an agent signed, its own signature says so first.
    23 Hashed Set(Revision(3), &[("value", "seven dollars")]) => SEAL, LAW;
    // The seal is over the value; where an agent signed, its own signature says so first.
    23 Hashed Set(Revision(4), &[("value", "seven dollars")]) => AGENT, SIGNATURE;
    // Allowed as an entry. But a confirmation of another value agrees to nothing, so the context is
    // another one. All of it written anew: `anchored`.
    24 Sealed Set(Revision(3), &[("value", "seven dollars")]) => LAW, LAW, Handshake(1);
    24 Sealed Set(Revision(4), &[("value", "seven dollars")]) => AGENT, SIGNATURE;
    25 Plain Set(Revision(3), &[("entry/row_hash", OTHER_HASH)]) => PAYLOAD, BODY;
    25 Chained Set(Revision(3), &[("entry/row_hash", OTHER_HASH)]) => PAYLOAD, LAW;
    25 Chained Set(Revision(6), &[("entry/row_hash", OTHER_HASH)]) => PAYLOAD, LAW;
    25 Plain Set(Revision(3), &[("entry/prev_hash", OTHER_HASH)]) => PAYLOAD, BODY;
    25 Chained Set(Revision(3), &[("entry/prev_hash", OTHER_HASH)]) => PAYLOAD, LAW;
    // A seal of another entry does not verify; one that is not even spelled like one is as much
    // another entry as a wrong hash.
    26 Plain Taken(Revision(3), "entry/arbiter_sig", Revision(2)) => PAYLOAD, BODY;
    26 Chained Taken(Revision(3), "entry/arbiter_sig", Revision(2)) => SEAL, LAW;
    26 Chained Set(Revision(3), &[("entry/arbiter_sig", "ab")]) => PAYLOAD, LAW;
    27 Plain Set(Revision(3), &[("entry/arbiter_sig", "not hex")]) => PAYLOAD, BODY;
    27 Chained Set(Revision(3), &[("entry/arbiter_sig", "not hex")]) => PAYLOAD, LAW;
    28 Plain Head(Revision(3), "\"at\":\"2", "\"at\":\"soon 2")
        => "envelope_malformed", "envelope_malformed";
    29 Plain Taken(Revision(3), "claim", Revision(2)) => PAYLOAD, BODY;
    29 Chained Taken(Revision(3), "claim", Revision(2)) => PAYLOAD, LAW;
    29 Sealed Taken(Revision(3), "claim", Revision(2)) => LAW, LAW;
    32 Plain Set(Revision(1), &[("subject", "the prize")]) => PAYLOAD, BODY;
    32 Chained Set(Revision(1), &[("subject", "the prize")]) => LAW, LAW, Handshake(1);
    32 Plain Set(Revision(1), &[("subject_key", "the-prize")]) => PAYLOAD, BODY;
    32 Chained Set(Revision(1), &[("subject_key", "the-prize")]) => LAW, LAW, Handshake(1);
    // The opener is the opening's author, which the seal covers.
    33 Plain Set(Revision(1), &[("agent", "carol")]) => PAYLOAD, BODY;
    33 Hashed Set(Revision(1), &[("agent", "dave")]) => SEAL, LAW;
    // The order of threads is the ledger's; what came after the opening is before it now.
    34 Plain Later(Revision(1), 60_000_000) => CHAIN, LINK;
    34 Sealed Later(Revision(1), 60_000_000)
        => "time_decreased", "time_decreased", Revision(2);
    35 Plain Deleted(&[Revision(1), Revision(3), Revision(6)]) => NO_START, GAP;
    35 Chained Deleted(&[Revision(1), Revision(3), Revision(6)]) => NO_START, LAW;
    36 Plain Deleted(ALL) => NO_START, GAP;
    36 Plain Deleted(&[Revision(1), Revision(2)]) => NO_START, GAP;
    36 Chained Deleted(&[Revision(1), Revision(2)]) => NO_START, LAW;
    37 Plain Away(ALL) => MISPLACED, MISPLACED;
    38 Chained Repeated(Revision(1)) => NO_START, LAW;
    39 Plain Set(Message(2), &[("text", "on the month of May")]) => BODY, BODY;
    39 Plain Set(Message(1), &[("text", "I can't deliver")]) => BODY, BODY;
    39 Chained Set(Message(2), &[("text", "on the month of May")]) => COVER, COVER;
    39 Plain Set(Message(2), &[("agent", "eve")]) => BODY, BODY;
    39 Plain Later(Message(2), 1) => LINK, LINK;
    39 Plain Deleted(&[Message(2)]) => NO_START, GAP;
    39 Chained Deleted(&[Message(2)]) => NO_START, LAW;
    39 Chained Repeated(Message(2)) => NO_START, LAW;
    39 Plain Swapped(Message(1), Message(2)) => GAP, GAP;
    39 Plain Away(&[Message(2)]) => MISPLACED, MISPLACED;
    40 Plain Set(Message(3), &[("text", "for seven dollars")]) => BODY, BODY;
    40 Chained Set(Message(3), &[("text", "for seven dollars")]) => MESSAGE, SIGNATURE;
    40 Chained Set(Message(3), &[("signature/ts_iso", "2026-01-01T00:00:00Z")])
        => MESSAGE, SIGNATURE;
    40 Chained Set(Message(3), &[("memory_root", "a root")]) => MESSAGE, SIGNATURE;
    40 Chained Set(Message(3), &[("signature/pubkey", OTHER_KEY)]) => MESSAGE, SIGNATURE;
    // The record's actor is who acted. With that changed as well, the seed's signed bytes do not
    // name the agent.
    41 Plain Set(Message(3), &[("agent", "alice")]) => BODY, BODY;
    41 Chained Set(Message(3), &[("agent", "alice")]) => LAW, LAW;
    41 Chained Each(&[
        Set(Message(3), &[("agent", "alice")]),
        Head(Message(3), "agent:carol", "agent:alice"),
    ]) => COVER, COVER;
    42 Plain Deleted(&[Message(3)]) => NO_START, GAP;
    42 Chained Deleted(&[Message(3)]) => NO_START, COVER;
    43 Plain Set(Message(3), &[("text", "for seven"), ("signature", "")]) => BODY, BODY;
    43 Chained Set(Message(3), &[("text", "for seven"), ("signature", "")]) => COVER, COVER;
    43 Plain Set(Message(3), &[("text", "for seven"), ("signature/pubkey", "")]) => BODY, BODY;
    43 Chained Set(Message(3), &[("text", "for seven"), ("signature/pubkey", "")])
        => UNREADABLE, UNREADABLE;
    44 Plain Rekeyed(Message(3), "text", "for seven dollars") => BODY, BODY;
    44 Chained Rekeyed(Message(3), "text", "for seven dollars") => COVER, COVER;
    45 Plain Set(Handshake(1), &[("context_hash", OTHER_HASH)]) => BODY, BODY;
    45 Chained Set(Handshake(1), &[("context_hash", OTHER_HASH)]) => LAW, LAW;
    45 Plain Set(Handshake(1), &[("agent", "carol")]) => BODY, BODY;
    45 Chained Set(Handshake(1), &[("agent", "carol")]) => LAW, LAW;
    45 Chained Each(&[
        Set(Handshake(1), &[("agent", "carol")]),
        Head(Handshake(1), "agent:alice", "agent:carol"),
    ]) => COVER, COVER;
    45 Plain Deleted(&[Handshake(1)]) => NO_START, GAP;
    45 Chained Deleted(&[Handshake(1)]) => NO_START, LAW;
    45 Chained Repeated(Handshake(1)) => NO_START, LAW;
    // That the agent did not sign it goes before that it does not fit.
    46 Plain Set(Handshake(2), &[("context_hash", OTHER_HASH)]) => BODY, BODY;
    46 Chained Set(Handshake(2), &[("context_hash", OTHER_HASH)]) => HANDSHAKE, SIGNATURE;
    47 Plain Set(Handshake(2), &[("agent", "eve")]) => BODY, BODY;
    47 Chained Set(Handshake(2), &[("agent", "eve")]) => LAW, LAW;
    47 Chained Each(&[
        Set(Handshake(2), &[("agent", "eve")]),
        Head(Handshake(2), "agent:bob", "agent:eve"),
    ]) => COVER, COVER;
    47 Plain Later(Handshake(2), 1) => COVER, COVER;
    47 Plain Deleted(&[Handshake(2)]) => NO_START, COVER;
    47 Plain Set(Handshake(2), &[("context_hash", OTHER_HASH), ("signature", "")]) => BODY, BODY;
    47 Chained Set(Handshake(2), &[("context_hash", OTHER_HASH), ("signature", "")]) => LAW, LAW;
    // Only the body; with its commitment; the whole record.
    48 Plain OfOther(Handshake(2)) => BODY, BODY;
    48 Chained OfOther(Handshake(2)) => LAW, LAW;
    48 Plain FromOther(Handshake(2)) => MISPLACED, MISPLACED;
    49 Plain Set(Handshake(2), &[("context_hash", "é")]) => BODY, BODY;
    49 Chained Set(Handshake(1), &[("context_hash", "é")]) => LAW, LAW;
    50 Plain Set(Opening, &[("description", "a gift")]) => BODY, BODY;
    50 Chained Set(Opening, &[("description", "a gift")]) => COVER, COVER;
    50 Plain Set(Opening, &[("is_public", "true")]) => BODY, BODY;
    50 Chained Forged("arbiter", "room.discrepancy_recorded",
        r#"{"description":"made up","id":2,"severity":"high"}"#) => NO_START, COVER;
    50 Chained Forged("agent:eve", "room.discrepancy_recorded",
        r#"{"description":"made up","id":2,"severity":"high"}"#) => NO_START, LAW;
    50 Chained Forged("arbiter", "room.context_extracted",
        WATERMARK)
        => NO_START, COVER;
};
