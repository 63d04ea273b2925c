//! What the arbiter did: its records and rows, beyond the peer's table.
//!
//! Records of the room: 4 messages, 4 readings, an opening of the arbiter's (revision 1), and a
//! discrepancy it noted.

use minutebook_domain::room::claims::RevisionKind;

use super::cases::{
    BODY, COVER, Case, GAP, GONE, LAW, LINK, MISPLACED, NO_START, UNREADABLE, cases,
};
use super::records::{Care, Of, What};
use super::rows::{
    DISCREPANCY, Edit, LEDGER, MADE, REVISION, SKIPPED, SUGGESTION, THREAD, UNRESOLVED,
};
use super::shown::{Shown, cases as rows};
use Care::{Chained, Plain, Sealed};
use Edit::{
    Copied, Discrepancy, Dropped, Flipped, Garbage, Ledger, Made, Skipped, Suggestion, Swapped,
};
use Of::{Noted, Reading, Revision};
use What::{
    Away, Deleted, Emptied, Forged, Head, Later, OfOther, Repeated, Set, Swapped as Exchanged,
};

/// The peer's table has no such rows: their number is 0.
pub(super) const CASES: &[Case] = cases! {
    0 Plain Set(Reading(1), &[("answer", "nothing")]) => BODY, BODY;
    0 Chained Set(Reading(1), &[("answer", "nothing")]) => COVER, COVER;
    0 Plain Set(Reading(1), &[("model", "another")]) => BODY, BODY;
    0 Plain Set(Reading(1), &[("prompt_hash", "none")]) => BODY, BODY;
    0 Chained Set(Reading(1), &[("prompt_hash", "none")]) => LAW, LAW;
    0 Plain Set(Reading(1), &[("proposals", "[]")]) => BODY, BODY;
    0 Chained Set(Reading(1), &[("answer", "")]) => LAW, LAW;
    0 Chained Set(Reading(3), &[("message", "4")]) => LAW, LAW;
    0 Chained Set(Reading(3), &[("message", "5")]) => LAW, LAW;
    0 Chained Set(Reading(3), &[("outcome", "skipped")]) => LAW, LAW;
    0 Chained Set(Reading(4), &[("outcome", "read")]) => LAW, LAW;
    0 Chained Head(Reading(1), "\"actor\":\"arbiter\"", "\"actor\":\"agent:eve\"") => LAW, LAW;
    0 Plain Head(Reading(1), "\"actor\":\"arbiter\"", "\"actor\":\"agent:eve\"") => LINK, LINK;
    0 Plain Later(Reading(1), 1) => LINK, LINK;
    0 Plain Emptied(Reading(1)) => GONE, GONE;
    0 Plain Deleted(&[Reading(1)]) => NO_START, GAP;
    0 Chained Deleted(&[Reading(1)]) => NO_START, LAW, Reading(2);
    0 Chained Deleted(&[Reading(4)]) => NO_START, COVER;
    0 Plain Exchanged(Reading(1), Reading(2)) => GAP, GAP;
    0 Plain Away(&[Reading(1)]) => MISPLACED, MISPLACED;
    0 Plain OfOther(Reading(3)) => BODY, BODY;
    0 Chained OfOther(Reading(3)) => COVER, COVER;
    0 Chained Repeated(Reading(1)) => NO_START, COVER;
    0 Chained Forged("agent:eve", "room.context_extracted", READ) => NO_START, LAW;
    0 Chained Forged("owner", "room.context_extracted", READ) => NO_START, LAW;
    0 Chained Forged("arbiter", "room.context_extracted", READ) => NO_START, COVER;
    0 Plain Set(Noted(1), &[("description", "made up")]) => BODY, BODY;
    0 Chained Set(Noted(1), &[("description", "made up")]) => COVER, COVER;
    0 Plain Set(Noted(1), &[("severity", "low")]) => BODY, BODY;
    0 Chained Set(Noted(1), &[("severity", "none")]) => UNREADABLE, UNREADABLE;
    0 Chained Set(Noted(1), &[("id", "2")]) => LAW, LAW;
    0 Chained Set(Noted(1), &[("source_msg_id", "9")]) => LAW, LAW;
    0 Chained Head(Noted(1), "\"actor\":\"arbiter\"", "\"actor\":\"agent:eve\"") => LAW, LAW;
    0 Plain Deleted(&[Noted(1)]) => NO_START, GAP;
    0 Chained Deleted(&[Noted(1)]) => NO_START, COVER;
    0 Chained Repeated(Noted(1)) => NO_START, LAW;
    0 Chained Forged("agent:eve", "room.discrepancy_recorded", NOTED) => NO_START, LAW;
    0 Chained Forged("owner", "room.discrepancy_recorded", NOTED) => NO_START, LAW;
    0 Chained Forged("arbiter", "room.discrepancy_recorded", NOTED) => NO_START, COVER;
    0 Sealed Set(Revision(1), &[("agent", "alice")]) => LAW, LAW;
    0 Chained Head(Revision(1), "\"actor\":\"arbiter\"", "\"actor\":\"agent:eve\"") => LAW, LAW;
};

/// A reading of the last message.
const READ: &str = concat!(
    r#"{"adapter":"rules","answer":"{}","message":4,"model":"rules","outcome":"read","#,
    r#""prompt_hash":"0101010101010101010101010101010101010101010101010101010101010101"}"#
);
const NOTED: &str = r#"{"description":"made up","id":2,"severity":"high"}"#;

pub(super) const ROWS: &[Shown] = rows! {
    0 Ledger(|row| row.last_extracted_msg_id = 3);
    0 Ledger(|row| row.last_reading.as_mut().unwrap().model = "another".into());
    0 Ledger(|row| row.last_reading = None);
    0 Ledger(|row| row.outage = Some("made up".into()));
    0 Ledger(|row| row.skipped = 0);
    0 Garbage(LEDGER, 1);
    0 Made(1, |row| row.text = "$7".into());
    0 Made(1, |row| row.claim = None);
    0 Made(1, |row| row.subject_key = Some("the-prize".into()));
    0 Made(2, |row| row.is_discrepancy = false);
    0 Made(2, |row| row.seq += 1);
    0 Flipped(MADE, 1);
    0 Garbage(MADE, 1);
    0 Dropped(MADE, 1);
    0 Copied(MADE, 1, &[0xff]);
    0 Swapped(MADE, 1, 2);
    0 Suggestion(1, |row| row.value = "$7".into());
    0 Suggestion(1, |row| row.kind = RevisionKind::Contradict);
    0 Suggestion(1, |row| row.quote = None);
    0 Suggestion(1, |row| row.message = 1);
    0 Flipped(SUGGESTION, 1);
    0 Garbage(SUGGESTION, 1);
    0 Dropped(SUGGESTION, 1);
    0 Copied(SUGGESTION, 1, &[9]);
    0 Skipped(1, |row| row.reason = "made up".into());
    0 Skipped(1, |row| row.seq += 1);
    0 Flipped(SKIPPED, 1);
    0 Garbage(SKIPPED, 1);
    0 Dropped(SKIPPED, 1);
    0 Copied(SKIPPED, 1, &[1]);
    0 Discrepancy(1, |row| row.severity = "low".into());
    0 Discrepancy(1, |row| row.message = None);
    0 Garbage(DISCREPANCY, 1);
    0 Dropped(DISCREPANCY, 1);
    0 Copied(DISCREPANCY, 1, &[2]);
    0 Dropped(UNRESOLVED, 1);
    0 Copied(UNRESOLVED, 1, &[2]);
    0 Garbage(THREAD, 1);
    0 Dropped(REVISION, 1) => Of::Revision(1);
};
