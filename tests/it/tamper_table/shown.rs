//! The cases of rows: the peer's row, what is done, and the act that verify must name. The type is
//! always `projection_differs`.

use minutebook_domain::room::claims::RevisionKind::{Confirm, Contradict, Retract};
use minutebook_domain::text::{ClaimValue, Subject};
use minutebook_domain::time::Timestamp;
use minutebook_projections::threads::LedgerSignatureRow;

use super::cases::{OTHER_KEY, OTHER_SIG};
use super::records::Of;
use super::rows::{
    CLAIM, DISCREPANCY, Edit, HANDSHAKE, LEDGER, MESSAGE, NUMBER, REVISION, ROOM, SHOOK, SIGNER,
    THREAD, Table, UNRESOLVED, author, key_of, thread_made_of,
};
use Edit::{
    AllDropped, AllMoved, Copied, Discrepancy, Dropped, Flipped, Garbage, Handshake, Ledger,
    Message, Moved, OfOther, Revision, Room, Swapped, Thread,
};

/// What is done to a room's rows, and the act that is named, if there is one.
pub(super) struct Shown {
    pub(super) row: u8,
    pub(super) edit: Edit,
    pub(super) named: &'static [Of],
}

macro_rules! cases {
    ($($row:literal $edit:expr $(=> $named:expr)?;)*) => {
        &[$(Shown { row: $row, edit: $edit, named: &[$($named)?] },)*]
    };
}
pub(super) use cases;

fn later(at: &mut Timestamp) {
    *at = Timestamp::from_micros(at.as_micros() + 1);
}

/// Signed by another, real key.
fn by_another(signature: &mut Option<LedgerSignatureRow>) {
    *signature = Some(LedgerSignatureRow {
        pubkey: OTHER_KEY.to_owned(),
        sig: OTHER_SIG.to_owned(),
        surface: "roomcomm-v1".to_owned(),
        position: None,
        is_enrolled: false,
    });
}

/// Agreed by whom nobody asked: the price was disputed.
const AGREED: &[(&str, minutebook_domain::room::claims::RevisionKind, &str)] = &[
    ("carol", Contradict, "nine dollars"),
    ("bob", Confirm, "eight dollars"),
];

pub(super) const CASES: &[Shown] = cases! {
    1 Revision(1, |row| row.value = "seven dollars".into()) => Of::Revision(1);
    1 Revision(3, |row| row.value = "seven dollars".into()) => Of::Revision(3);
    1 Revision(6, |row| row.value = "seven dollars".into()) => Of::Revision(6);
    2 Revision(3, |row| row.author = "eve".into()) => Of::Revision(3);
    2 Revision(3, |row| row.kind = Some(Contradict)) => Of::Revision(3);
    2 Revision(6, |row| row.kind = None) => Of::Revision(6);
    2 Revision(3, |row| later(&mut row.at)) => Of::Revision(3);
    2 Revision(1, |row| row.source_msg_id = Some(2)) => Of::Revision(1);
    3 Revision(1, |row| row.quote = Some("can't deliver".into())) => Of::Revision(1);
    4 Dropped(REVISION, 3) => Of::Revision(6);
    4 Dropped(NUMBER, 6) => Of::Revision(6);
    5 Ledger(|row| row.revisions = 4);
    6 AllDropped(REVISION) => Of::Revision(1);
    6 AllDropped(NUMBER) => Of::Revision(1);
    7 Dropped(REVISION, 2) => Of::Revision(3);
    8 Dropped(REVISION, 1) => Of::Revision(1);
    9 Swapped(REVISION, 2, 4) => Of::Revision(3);
    9 Swapped(NUMBER, 3, 4) => Of::Revision(3);
    10 Revision(3, |row| row.value = "month of May".into()) => Of::Revision(3);
    11 Revision(4, |row| row.signature = None) => Of::Revision(4);
    12 Revision(4, |row| row.signature.as_mut().unwrap().sig = "01".repeat(64)) => Of::Revision(4);
    13 Revision(4, |row| by_another(&mut row.signature)) => Of::Revision(4);
    13 Flipped(SIGNER, 1);
    14 Revision(5, |row| by_another(&mut row.signature)) => Of::Revision(5);
    14 Dropped(SIGNER, 1);
    15 Revision(3, |row| row.arbiter_sig = String::new()) => Of::Revision(3);
    16 Revision(3, |row| row.prev_hash = String::new()) => Of::Revision(3);
    17 Garbage(REVISION, 2) => Of::Revision(3);
    18 Garbage(REVISION, 3) => Of::Revision(6);
    19 AllDropped(LEDGER);
    20 Dropped(REVISION, 5) => Of::Revision(4);
    21 Copied(REVISION, 3, &[3]) => Of::Revision(6);
    22 Copied(REVISION, 1, &[9]) => Of::Revision(1);
    23 Revision(3, |row| (row.value, row.row_hash) = ("seven".into(), "01".repeat(32)))
        => Of::Revision(3);
    25 Revision(3, |row| row.row_hash = "01".repeat(32)) => Of::Revision(3);
    25 Revision(3, |row| row.prev_hash = "01".repeat(32)) => Of::Revision(3);
    26 Revision(3, |row| row.arbiter_sig = "ab".into()) => Of::Revision(3);
    27 Revision(3, |row| row.arbiter_sig = "not hex".into()) => Of::Revision(3);
    28 Revision(3, |row| row.at = Timestamp::from_micros(i64::MAX)) => Of::Revision(3);
    29 Moved(REVISION, 2, &[0, 0, 0, 1, 0, 0, 0, 3]) => Of::Revision(3);
    30 Thread(1, |row| row.thread = thread_made_of(
        &row.thread,
        |opened| opened.value = ClaimValue::parse("seven dollars").unwrap(),
        &[("bob", Confirm, "seven dollars"), ("carol", Contradict, "nine dollars")],
    ));
    31 Thread(1, |row| row.thread = thread_made_of(&row.thread, |_| (), AGREED));
    31 Thread(1, |row| row.thread = thread_made_of(
        &row.thread,
        |_| (),
        &[("bob", Confirm, "eight dollars"), ("alice", Retract, "eight dollars")],
    ));
    31 Thread(1, |row| row.confirmations += 1);
    31 Flipped(THREAD, 1);
    32 Thread(1, |row| row.thread = thread_made_of(
        &row.thread,
        |opened| opened.subject = Subject::parse("the prize").unwrap(),
        &[("bob", Confirm, "eight dollars"), ("carol", Contradict, "nine dollars")],
    ));
    32 Thread(1, |row| row.thread = thread_made_of(
        &row.thread,
        |opened| opened.subject_key = key_of("the prize"),
        &[("bob", Confirm, "eight dollars"), ("carol", Contradict, "nine dollars")],
    ));
    33 Thread(1, |row| row.thread = thread_made_of(
        &row.thread,
        |opened| opened.agent = author("dave"),
        &[("bob", Confirm, "eight dollars"), ("carol", Contradict, "nine dollars")],
    ));
    33 Thread(1, |row| later(&mut row.updated_at));
    33 Thread(1, |row| row.last_seq -= 1);
    34 Thread(1, |row| row.created_at = Timestamp::from_micros(i64::MAX));
    34 Swapped(THREAD, 1, 2);
    35 Dropped(THREAD, 1);
    35 Dropped(CLAIM, 1);
    36 AllDropped(THREAD);
    36 AllDropped(CLAIM);
    37 AllMoved(Table::Threads);
    38 Copied(THREAD, 1, &[7]);
    39 Message(2, |row| row.text = "on the month of May".into()) => Of::Message(2);
    39 Message(2, |row| row.agent = "eve".into()) => Of::Message(2);
    39 Message(2, |row| later(&mut row.at)) => Of::Message(2);
    39 Message(1, |row| row.text = "I can't deliver".into()) => Of::Message(1);
    39 Dropped(MESSAGE, 2) => Of::Message(2);
    39 Copied(MESSAGE, 2, &[9]) => Of::Message(9);
    39 Swapped(MESSAGE, 1, 2) => Of::Message(1);
    39 AllMoved(Table::History) => Of::Message(1);
    40 Message(3, |row| row.text = "for seven dollars".into()) => Of::Message(3);
    40 Message(3, |row| later(&mut row.recorded_at)) => Of::Message(3);
    40 Message(3, |row| row.memory_root = Some("a root".into())) => Of::Message(3);
    40 Message(3, |row| row.signature.as_mut().unwrap().pubkey = "01".repeat(32)) => Of::Message(3);
    41 Message(3, |row| row.agent = "alice".into()) => Of::Message(3);
    42 Dropped(MESSAGE, 3) => Of::Message(3);
    43 Message(3, |row| (row.text, row.signature) = ("seven".into(), None)) => Of::Message(3);
    44 OfOther(MESSAGE, 3) => Of::Message(3);
    45 Handshake(1, |row| row.context_hash = "01".repeat(32)) => Of::Handshake(1);
    45 Handshake(1, |row| row.agent = "carol".into()) => Of::Handshake(1);
    45 Dropped(HANDSHAKE, 1) => Of::Handshake(1);
    45 Copied(HANDSHAKE, 1, &[9]) => Of::Handshake(9);
    45 Dropped(SHOOK, 1);
    46 Handshake(2, |row| row.context_hash = "01".repeat(32)) => Of::Handshake(2);
    47 Handshake(2, |row| row.agent = "eve".into()) => Of::Handshake(2);
    47 Handshake(2, |row| later(&mut row.at)) => Of::Handshake(2);
    47 Handshake(2, |row| row.signature = None) => Of::Handshake(2);
    47 Dropped(HANDSHAKE, 2) => Of::Handshake(2);
    48 OfOther(HANDSHAKE, 2) => Of::Handshake(2);
    49 Handshake(2, |row| row.context_hash = "é".into()) => Of::Handshake(2);
    50 Room(|row| row.description = "a gift".into());
    50 Room(|row| row.is_public = true);
    50 Ledger(|row| row.last_extracted_msg_id = 3);
    50 Dropped(LEDGER, 1);
    50 Dropped(DISCREPANCY, 1);
    50 Discrepancy(1, |row| row.description = "made up".into());
    50 Discrepancy(1, |row| row.is_resolved = true);
    50 Copied(DISCREPANCY, 1, &[2]);
    50 Dropped(UNRESOLVED, 1);
    50 Dropped(ROOM, 1);
};
