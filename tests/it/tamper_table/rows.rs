//! What is done to the rows that readers are shown: a row is read, changed and written as the
//! server itself would write it, so that only what it says is wrong.

use minutebook_domain::ids::RoomId;
use minutebook_domain::room::claims::{
    Author, ClaimOpened, ClaimRevised, Entry, Principals, RevisionKind, SubjectKey, Thread,
};
use minutebook_domain::text::{AgentName, ClaimValue, Subject};
use minutebook_eventlog::store::Row;
use minutebook_projections::history::MessageRow;
use minutebook_projections::rooms::RoomRow;
use minutebook_projections::threads::{
    DiscrepancyRow, HandshakeRow, LedgerRow, MadeRow, RevisionRow, SkippedRow, SuggestionRow,
    ThreadRow,
};
use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Error;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize};

use super::database::Database;

/// A projection's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Rooms,
    History,
    Threads,
}

impl Table {
    pub(super) const ALL: [Self; 3] = [Self::Rooms, Self::History, Self::Threads];

    pub(super) fn space(self) -> &'static str {
        match self {
            Self::Rooms => "v.rooms.g1",
            Self::History => "v.history.g1",
            Self::Threads => "v.threads.g1",
        }
    }
}

/// Which rows: the table, and the byte after the room's id in the key. The nth of them is meant,
/// from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct At(pub(super) Table, pub(super) Option<u8>);

pub(super) const ROOM: At = At(Table::Rooms, None);
pub(super) const MESSAGE: At = At(Table::History, None);
pub(super) const LEDGER: At = At(Table::Threads, Some(1));
pub(super) const THREAD: At = At(Table::Threads, Some(2));
pub(super) const CLAIM: At = At(Table::Threads, Some(3));
pub(super) const REVISION: At = At(Table::Threads, Some(4));
pub(super) const NUMBER: At = At(Table::Threads, Some(5));
pub(super) const DISCREPANCY: At = At(Table::Threads, Some(6));
pub(super) const UNRESOLVED: At = At(Table::Threads, Some(7));
pub(super) const HANDSHAKE: At = At(Table::Threads, Some(8));
pub(super) const SHOOK: At = At(Table::Threads, Some(9));
pub(super) const SIGNER: At = At(Table::Threads, Some(10));
pub(super) const MADE: At = At(Table::Threads, Some(11));
pub(super) const SUGGESTION: At = At(Table::Threads, Some(12));
pub(super) const SKIPPED: At = At(Table::Threads, Some(13));

/// What is done to a room's rows. A row that is changed is the nth of its kind, from 1; a revision
/// is named by its number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    Room(fn(&mut RoomRow)),
    Message(usize, fn(&mut MessageRow)),
    Ledger(fn(&mut LedgerRow)),
    Thread(usize, fn(&mut ThreadRow)),
    Revision(u64, fn(&mut RevisionRow)),
    Discrepancy(usize, fn(&mut DiscrepancyRow)),
    Handshake(usize, fn(&mut HandshakeRow)),
    Made(usize, fn(&mut MadeRow)),
    Suggestion(usize, fn(&mut SuggestionRow)),
    Skipped(usize, fn(&mut SkippedRow)),
    /// One bit of a row's last byte.
    Flipped(At, usize),
    /// It is none that can be read.
    Garbage(At, usize),
    Dropped(At, usize),
    /// All rows of this kind.
    AllDropped(At),
    Swapped(At, usize, usize),
    /// It is there once more, under the key with this end.
    Copied(At, usize, &'static [u8]),
    /// It is there instead.
    Moved(At, usize, &'static [u8]),
    /// It says what the other room's says.
    OfOther(At, usize),
    /// All rows are the empty room's.
    AllMoved(Table),
}

/// A row as its projection encodes it.
trait Coded:
    Sized
    + Archive<
        Archived: Deserialize<Self, HighDeserializer<Error>>
                      + for<'a> CheckBytes<HighValidator<'a, Error>>,
    > + for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, Error>>
{
}

impl<R> Coded for R where
    R: Archive<
            Archived: Deserialize<Self, HighDeserializer<Error>>
                          + for<'a> CheckBytes<HighValidator<'a, Error>>,
        > + for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, Error>>
{
}

fn decoded<R: Coded>(bytes: &[u8]) -> R {
    let mut aligned: AlignedVec = AlignedVec::new();
    aligned.extend_from_slice(&bytes[8..]);
    rkyv::from_bytes::<R, Error>(&aligned).unwrap()
}

fn encoded<R: Coded>(prefix: &[u8], row: &R) -> Vec<u8> {
    let archived = rkyv::to_bytes::<Error>(row).unwrap();
    [&prefix[..8], &archived].concat()
}

/// The rows of a stopped server.
pub(super) struct Rows<'a> {
    pub(super) database: &'a Database,
    /// A room with the same rows.
    pub(super) other: RoomId,
    /// A room with none.
    pub(super) empty: RoomId,
}

impl Rows<'_> {
    fn of(&self, At(table, tag): At, room: RoomId) -> Vec<Row> {
        let mut rows = self.database.rows(table, room);
        rows.retain(|(key, _)| tag.is_none() || key.get(17).copied() == tag);
        rows
    }

    fn put(&self, At(table, _): At, key: &[u8], value: Option<&[u8]>) {
        self.database.put_row(table, key, value);
    }

    fn change<R: Coded>(&self, at: At, (key, value): &Row, edit: fn(&mut R)) {
        let mut row = decoded::<R>(value);
        assert_eq!(encoded(value, &row), *value, "{at:?} is encoded otherwise");
        edit(&mut row);
        let changed = encoded(value, &row);
        assert_ne!(changed, *value, "{at:?} {key:?} is as it was");
        self.put(at, key, Some(&changed));
    }

    pub(super) fn make(&self, edit: Edit, room: RoomId) {
        let nth = |at: At, n: usize| self.of(at, room).swap_remove(n - 1);
        match edit {
            Edit::Room(edit) => self.change(ROOM, &nth(ROOM, 1), edit),
            Edit::Message(n, edit) => self.change(MESSAGE, &nth(MESSAGE, n), edit),
            Edit::Ledger(edit) => self.change(LEDGER, &nth(LEDGER, 1), edit),
            Edit::Thread(n, edit) => self.change(THREAD, &nth(THREAD, n), edit),
            Edit::Revision(id, edit) => {
                let mut rows = self.of(REVISION, room).into_iter();
                let row = rows.find(|(_, value)| decoded::<RevisionRow>(value).id == id);
                self.change(REVISION, &row.unwrap(), edit);
            }
            Edit::Discrepancy(n, edit) => self.change(DISCREPANCY, &nth(DISCREPANCY, n), edit),
            Edit::Handshake(n, edit) => self.change(HANDSHAKE, &nth(HANDSHAKE, n), edit),
            Edit::Made(n, edit) => self.change(MADE, &nth(MADE, n), edit),
            Edit::Suggestion(n, edit) => self.change(SUGGESTION, &nth(SUGGESTION, n), edit),
            Edit::Skipped(n, edit) => self.change(SKIPPED, &nth(SKIPPED, n), edit),
            Edit::Flipped(at, n) => {
                let (key, mut value) = nth(at, n);
                *value.last_mut().unwrap() ^= 1;
                self.put(at, &key, Some(&value));
            }
            Edit::Garbage(at, n) => self.put(at, &nth(at, n).0, Some(&[0xff; 40])),
            Edit::Dropped(at, n) => self.put(at, &nth(at, n).0, None),
            Edit::AllDropped(at) => {
                for (key, _) in self.of(at, room) {
                    self.put(at, &key, None);
                }
            }
            Edit::Swapped(at, one, other) => {
                let (one, other) = (nth(at, one), nth(at, other));
                self.put(at, &one.0, Some(&other.1));
                self.put(at, &other.0, Some(&one.1));
            }
            Edit::Copied(at, n, end) => {
                let (mut key, value) = nth(at, n);
                let place = key.len() - end.len();
                key[place..].copy_from_slice(end);
                self.put(at, &key, Some(&value));
            }
            Edit::Moved(at, n, end) => {
                self.make(Edit::Copied(at, n, end), room);
                self.put(at, &nth(at, n).0, None);
            }
            Edit::OfOther(at, n) => {
                let theirs = self.of(at, self.other).swap_remove(n - 1).1;
                self.put(at, &nth(at, n).0, Some(&theirs));
            }
            Edit::AllMoved(table) => {
                for (mut key, value) in self.database.rows(table, room) {
                    self.database.put_row(table, &key, None);
                    key[1..17].copy_from_slice(self.empty.uuid().as_bytes());
                    self.database.put_row(table, &key, Some(&value));
                }
            }
        }
    }
}

/// A thread as the rules' own fold makes it of another opening and other revisions.
pub(super) fn thread_made_of(
    thread: &Thread,
    edit: impl FnOnce(&mut ClaimOpened),
    revisions: &[(&str, RevisionKind, &str)],
) -> Thread {
    let hash = || "00".repeat(32);
    let entry = |id| {
        Box::new(Entry {
            arbiter: hash(),
            arbiter_sig: hash(),
            id,
            prev_hash: hash(),
            row_hash: hash(),
        })
    };
    let mut opened = ClaimOpened {
        agent: thread.opener().clone(),
        claim: thread.id(),
        entry: entry(thread.value_revision()),
        quote: None,
        signature: None,
        source_msg_id: None,
        subject: Subject::parse(thread.subject()).unwrap(),
        subject_key: thread.subject_key().clone(),
        value: ClaimValue::parse(thread.value()).unwrap(),
    };
    edit(&mut opened);
    let mut made = Thread::open(&opened);
    for (agent, kind, value) in revisions {
        let revised = ClaimRevised {
            agent: author(agent),
            claim: thread.id(),
            entry: entry(thread.value_revision()),
            kind: *kind,
            quote: None,
            signature: None,
            source_msg_id: None,
            value: ClaimValue::parse(value).unwrap(),
        };
        made.revise(&revised, &Principals::default(), 1);
    }
    made
}

pub(super) fn author(name: &str) -> Author {
    AgentName::parse(name).unwrap().into()
}

pub(super) fn key_of(subject: &str) -> SubjectKey {
    SubjectKey::derive(subject)
}
