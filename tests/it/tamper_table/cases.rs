//! The cases: the peer's row, what is done, and what must be answered.

/// What was tampered with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Opening,
    Message(usize),
    Revision(usize),
    Handshake(usize),
}
use Of::{Handshake, Message, Opening, Revision};

#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    /// A text in the stored body.
    Body(Of, &'static str, &'static str),
    /// A text in the stored envelope.
    Envelope(Of, &'static str, &'static str),
    /// A record a microsecond later.
    Later(Of),
    /// A body, committed to anew, and all that follows in the room chained anew, without the key.
    Chained(Of, &'static str, &'static str),
    /// A record that its room's index no longer names.
    DropIndex(Of),
    /// Two records' bodies, exchanged.
    SwapBodies(Of, Of),
    /// Two records, exchanged.
    SwapRecords(Of, Of),
    /// A body without its envelope's consent: gone.
    DropBody(Of),
    /// A row of `projection`, the nth with this tag: a text in it.
    Row(&'static str, u8, usize, &'static str, &'static str),
    /// A row that is gone.
    DropRow(&'static str, u8, usize),
    /// A row put once more under the key that ends with this byte.
    CopyRow(&'static str, u8, usize, u8),
    /// All rows of a projection, moved to a room that does not exist.
    MoveRows(&'static str),
}
use Edit::{
    Body, Chained, CopyRow, DropBody, DropIndex, DropRow, Envelope as Head, Later, MoveRows, Row,
    SwapBodies, SwapRecords,
};

/// The peer's row, what is done, and the `type` and number that verify must answer.
pub(super) type Case = (u8, Edit, &'static str, Option<(&'static str, u64)>);

#[expect(clippy::unnecessary_wraps, reason = "a case may name none")]
const fn revision(id: u64) -> Option<(&'static str, u64)> {
    Some(("revision_id", id))
}
#[expect(clippy::unnecessary_wraps, reason = "a case may name none")]
const fn message(id: u64) -> Option<(&'static str, u64)> {
    Some(("message_id", id))
}
#[expect(clippy::unnecessary_wraps, reason = "a case may name none")]
const fn handshake(id: u64) -> Option<(&'static str, u64)> {
    Some(("handshake_id", id))
}

const BODY: &str = "body_mismatch";
const PAYLOAD: &str = "tampered_revision_payload";
const CHAIN: &str = "broken_chain";
const ROW: &str = "projection_differs";

/// Tags of the `threads` rows, and of the others'.
const LEDGER: u8 = 1;
const THREAD: u8 = 2;
const CLAIM: u8 = 3;
const REVISION: u8 = 4;
const DISCREPANCY: u8 = 6;
const HANDSHAKE: u8 = 8;
pub(super) const ANY: u8 = 0;

/// Records that are gone: rows 7 and 8 (revisions), 20 (one bridged over), 35 and 36 (threads), 39
/// and 42 (messages), 45 and 47 (handshakes).
pub(super) const DELETED: &[&[Of]] = &[
    &[Revision(3)],
    &[Revision(1)],
    &[Revision(4)],
    &[Revision(1), Revision(3), Revision(6)],
    &[Message(2)],
    &[Message(3)],
    &[Handshake(1)],
];

/// Rows 4 to 6 and 24 are in `a_cut_tail_…` and in the verifier's own table: only an anchor shows
/// them.
pub(super) const CASES: &[Case] = &[
    (
        1,
        Body(Revision(1), "eight dollars", "seven dollars"),
        PAYLOAD,
        revision(1),
    ),
    (
        1,
        Body(Revision(4), "month of May", "month of Jun"),
        PAYLOAD,
        revision(4),
    ),
    (
        1,
        Body(Revision(6), "nine dollars", "zero dollars"),
        PAYLOAD,
        revision(6),
    ),
    (
        1,
        Row("threads", REVISION, 0, "eight dollars", "seven dollars"),
        ROW,
        revision(1),
    ),
    (
        2,
        Body(Revision(3), "\"bob\"", "\"eve\""),
        PAYLOAD,
        revision(3),
    ),
    (
        2,
        Body(Revision(3), "confirm", "retract"),
        PAYLOAD,
        revision(3),
    ),
    (
        2,
        Body(Revision(1), "\"source_msg_id\":1", "\"source_msg_id\":2"),
        PAYLOAD,
        revision(1),
    ),
    (2, Later(Revision(3)), CHAIN, revision(3)),
    (
        2,
        Row("threads", REVISION, 1, "bob", "eve"),
        ROW,
        revision(3),
    ),
    (
        3,
        Body(Revision(1), "can deliver", "can't deliv"),
        PAYLOAD,
        revision(1),
    ),
    (
        3,
        Row("threads", REVISION, 0, "can deliver", "can't deliv"),
        ROW,
        revision(1),
    ),
    (7, DropIndex(Revision(3)), CHAIN, revision(3)),
    (8, DropIndex(Revision(1)), CHAIN, revision(1)),
    (9, SwapRecords(Revision(3), Revision(4)), CHAIN, revision(3)),
    (
        10,
        SwapBodies(Revision(3), Revision(5)),
        PAYLOAD,
        revision(3),
    ),
    (
        11,
        Body(Revision(4), "\"signature\":{", "\"signaturx\":{"),
        PAYLOAD,
        revision(4),
    ),
    (
        11,
        Row("threads", REVISION, 4, "roomcomm-v1", "roomcomm-v0"),
        ROW,
        revision(4),
    ),
    (
        12,
        Body(Revision(4), "\"sig\":\"", "\"sig\":\"0"),
        PAYLOAD,
        revision(4),
    ),
    (
        13,
        Body(Revision(4), "\"pubkey\":\"", "\"pubkey\":\"0"),
        PAYLOAD,
        revision(4),
    ),
    (
        14,
        Body(Revision(5), "\"kind\":", "\"signature\":{},\"kind\":"),
        PAYLOAD,
        revision(5),
    ),
    (
        15,
        Body(
            Revision(3),
            "\"arbiter_sig\":\"",
            "\"arbiter_sig\":\"\",\"x\":\"",
        ),
        PAYLOAD,
        revision(3),
    ),
    (
        16,
        Body(
            Revision(3),
            "\"prev_hash\":\"",
            "\"prev_hash\":null,\"x\":\"",
        ),
        PAYLOAD,
        revision(3),
    ),
    (17, DropBody(Revision(3)), PAYLOAD, revision(3)),
    (18, DropBody(Revision(6)), PAYLOAD, revision(6)),
    (
        19,
        Chained(Revision(1), "eight dollars", "seven dollars"),
        PAYLOAD,
        revision(1),
    ),
    (22, CopyRow("threads", REVISION, 0, 9), ROW, revision(1)),
    (
        23,
        Chained(Revision(4), "month of May", "month of Jun"),
        "invalid_agent_revision_signature",
        revision(4),
    ),
    (
        25,
        Body(Revision(3), "\"row_hash\":\"", "\"row_hash\":\"0"),
        PAYLOAD,
        revision(3),
    ),
    (
        25,
        Chained(Revision(6), "\"row_hash\":\"", "\"row_hash\":\"0"),
        PAYLOAD,
        revision(6),
    ),
    (
        26,
        Chained(Revision(3), "\"arbiter_sig\":\"", "\"arbiter_sig\":\"0"),
        "unlawful",
        revision(3),
    ),
    (
        27,
        Chained(Revision(3), "\"arbiter_sig\":\"", "\"arbiter_sig\":\"zz"),
        "unlawful",
        revision(3),
    ),
    (
        28,
        Head(Revision(3), "\"at\":\"", "\"at\":\"soon "),
        "envelope_malformed",
        revision(3),
    ),
    (
        29,
        Chained(Revision(3), "\"claim\":\"", "\"claim\":\"0"),
        PAYLOAD,
        revision(3),
    ),
    (
        30,
        Row("threads", THREAD, 0, "eight dollars", "seven dollars"),
        ROW,
        None,
    ),
    (31, Row("threads", THREAD, 0, "", ""), ROW, None),
    (
        32,
        Row("threads", THREAD, 0, "the price", "the prize"),
        ROW,
        None,
    ),
    (33, Row("threads", THREAD, 0, "alice", "mauve"), ROW, None),
    (34, DropRow("threads", CLAIM, 0), ROW, None),
    (36, DropRow("threads", THREAD, 0), ROW, None),
    (37, MoveRows("threads"), ROW, None),
    (38, CopyRow("threads", THREAD, 0, 7), ROW, None),
    (
        39,
        Body(Message(2), "in the month", "on the month"),
        BODY,
        message(2),
    ),
    (
        39,
        SwapRecords(Message(1), Message(2)),
        "stream_seq_wrong",
        message(1),
    ),
    (
        39,
        Row("history", ANY, 1, "in the month", "on the month"),
        ROW,
        message(2),
    ),
    (39, DropRow("history", ANY, 1), ROW, message(2)),
    (39, CopyRow("history", ANY, 1, 9), ROW, message(9)),
    (39, MoveRows("history"), ROW, message(1)),
    (
        40,
        Body(Message(3), "for eight", "for seven"),
        BODY,
        message(3),
    ),
    (
        40,
        Chained(Message(3), "for eight", "for seven"),
        "invalid_message_signature",
        message(3),
    ),
    (
        41,
        Body(Message(3), "\"carol\"", "\"alice\""),
        BODY,
        message(3),
    ),
    (
        41,
        Row("history", ANY, 2, "carol", "alice"),
        ROW,
        message(3),
    ),
    (
        43,
        Row("history", ANY, 2, "for eight", "for seven"),
        ROW,
        message(3),
    ),
    (
        44,
        Body(Message(3), "\"pubkey\":\"", "\"pubkey\":\"0"),
        BODY,
        message(3),
    ),
    (
        45,
        Body(Handshake(1), "\"alice\"", "\"carol\""),
        BODY,
        handshake(1),
    ),
    (45, CopyRow("threads", HANDSHAKE, 0, 9), ROW, handshake(9)),
    (
        46,
        Chained(Handshake(2), "\"context_hash\":\"", "\"context_hash\":\"0"),
        "unlawful",
        handshake(2),
    ),
    (
        47,
        Row("threads", HANDSHAKE, 1, "bob", "eve"),
        ROW,
        handshake(2),
    ),
    (47, DropRow("threads", HANDSHAKE, 1), ROW, handshake(2)),
    (48, CopyRow("threads", HANDSHAKE, 1, 8), ROW, handshake(8)),
    (
        49,
        Body(Handshake(2), "\"context_hash\":\"", "\"context_hash\":\"é"),
        BODY,
        handshake(2),
    ),
    (50, Body(Opening, "a sale", "a gift"), BODY, None),
    (50, Row("rooms", ANY, 0, "a sale", "a gift"), ROW, None),
    (50, DropRow("threads", LEDGER, 0), ROW, None),
    (50, DropRow("threads", DISCREPANCY, 0), ROW, None),
];
