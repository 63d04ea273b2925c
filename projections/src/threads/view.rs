//! Reading threads.

use minutebook_domain::{
    ids::{ClaimId, RoomId},
    limits::{ROOM_SIGNERS_MAX, ROOM_THREADS_MAX},
    room::claims::{Principals, Thread, context_hash},
};

use super::{
    DiscrepancyRow, HandshakeRow, LedgerRow, MadeRow, RevisionRow, SignerRow, SkippedRow,
    SuggestionRow, ThreadRow, keys, sealed::is_sealed,
};
use crate::{
    ProjectionError, Rows,
    overlay::each_row,
    row::{self, Decoder},
};

/// How many more threads are looked at than are wanted: some are cancelled.
const LOOKED_AT_TIMES: usize = 4;

/// A thread's place in its room, from 0, in the order of opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub(crate) u32);

impl Place {
    /// The number.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// A thread and its newest entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its place.
    pub place: Place,
    /// The thread.
    pub row: ThreadRow,
    /// The newest of its revisions.
    pub last: RevisionRow,
}

/// A discrepancy and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// 1, 2, 3 … in its room.
    pub id: u64,
    /// The rest of it.
    pub row: DiscrepancyRow,
}

/// A handshake and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// 1, 2, 3 … in its room.
    pub id: u64,
    /// The rest of it.
    pub row: HandshakeRow,
}

/// A message the arbiter could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its number in its room.
    pub message: u64,
    /// The rest of it.
    pub row: SkippedRow,
}

/// An act of a room's ledger, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerAct {
    /// An opening or a revision.
    Revision(u64),
    /// A handshake.
    Handshake(u64),
}

/// All that is negotiated in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Its counts.
    pub ledger: LedgerRow,
    /// All threads in the order of opening, cancelled ones too.
    pub threads: Vec<Standing>,
    /// Unresolved ones, the newest first.
    pub discrepancies: Vec<Discrepancy>,
    /// The hash of `threads`.
    pub context_hash: String,
    /// Whether two different principals shook hands on it.
    pub is_sealed: bool,
}

/// The threads over the rows of one generation.
#[derive(Clone, Copy)]
pub struct ThreadsView<'a> {
    rows: &'a dyn Rows,
}

impl<'a> ThreadsView<'a> {
    /// A view of these rows.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows }
    }

    /// A room's counts; those of a room where nothing happened if there are none.
    pub fn ledger(&self, room: RoomId) -> Result<LedgerRow, ProjectionError> {
        let value = self.rows.get(&keys::ledger(room))?;
        Ok(value
            .map(|value| row::decode(&value))
            .transpose()?
            .unwrap_or_default())
    }

    /// All that is negotiated in a room.
    pub fn context(&self, room: RoomId) -> Result<Context, ProjectionError> {
        // First what says how new it is: what comes after may be newer, never older.
        let ledger = self.ledger(room)?;
        let rows = self.threads(room)?;
        let (context_hash, is_sealed) = self.seal(room, &rows)?;
        let discrepancies = self.unresolved(room)?;
        let mut threads = Vec::with_capacity(rows.len());
        for (place, row) in (0..).map(Place).zip(rows) {
            let last = self.last(room, place, &row)?;
            threads.push(Standing { place, row, last });
        }
        Ok(Context {
            ledger,
            threads,
            discrepancies,
            context_hash,
            is_sealed,
        })
    }

    /// The hash of a room's context and whether it is sealed, given all its threads.
    pub fn seal(
        &self,
        room: RoomId,
        threads: &[ThreadRow],
    ) -> Result<(String, bool), ProjectionError> {
        let context_hash = hash_of(threads);
        let is_sealed = is_sealed(self.rows, room, &context_hash, threads)?;
        Ok((context_hash, is_sealed))
    }

    /// The hash of a room's context now.
    pub fn context_hash(&self, room: RoomId) -> Result<String, ProjectionError> {
        Ok(hash_of(&self.threads(room)?))
    }

    /// All threads of a room in the order of opening, cancelled ones too.
    pub fn threads(&self, room: RoomId) -> Result<Vec<ThreadRow>, ProjectionError> {
        let (from, to) = keys::threads(room);
        let rows = self.rows.range(&from, &to, false, ROOM_THREADS_MAX)?;
        let mut decoder = Decoder::default();
        rows.iter()
            .map(|(_, value)| decoder.decode(value))
            .collect()
    }

    /// The newest threads that are not cancelled, in the order of opening; of the last
    /// [`LOOKED_AT_TIMES`] times as many.
    pub fn newest_in_context(
        &self,
        room: RoomId,
        limit: usize,
    ) -> Result<Vec<ThreadRow>, ProjectionError> {
        let (from, to) = keys::threads(room);
        let rows = self.rows.range(&from, &to, true, LOOKED_AT_TIMES * limit)?;
        let mut decoder = Decoder::default();
        let mut found = Vec::with_capacity(limit);
        for (_, value) in &rows {
            let row: ThreadRow = decoder.decode(value)?;
            if found.len() < limit && row.thread.in_context().is_some() {
                found.push(row);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// A thread of a room.
    pub fn thread(
        &self,
        room: RoomId,
        claim: ClaimId,
    ) -> Result<Option<(Place, ThreadRow)>, ProjectionError> {
        let Some(value) = self.rows.get(&keys::claim(room, claim))? else {
            return Ok(None);
        };
        let place = place_of(&value)?;
        let Some(value) = self.rows.get(&keys::thread(room, place))? else {
            return Ok(None);
        };
        Ok(Some((Place(place), row::decode(&value)?)))
    }

    /// The newest entry of a thread as it stands.
    pub fn last(
        &self,
        room: RoomId,
        place: Place,
        row: &ThreadRow,
    ) -> Result<RevisionRow, ProjectionError> {
        let index = row.thread.revisions().saturating_sub(1);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let value = self.rows.get(&keys::revision(room, place.0, index))?;
        let value = value.ok_or_else(|| damaged("a thread's newest revision is missing"))?;
        row::decode(&value)
    }

    /// Entries of a thread in their order, from its `first` (0 is the opening) on.
    pub fn revisions(
        &self,
        room: RoomId,
        place: Place,
        first: u32,
        limit: usize,
    ) -> Result<Vec<RevisionRow>, ProjectionError> {
        let from = keys::revision(room, place.0, first);
        let to = keys::revision(room, place.0, u32::MAX);
        let rows = self.rows.range(&from, &to, false, limit)?;
        let mut decoder = Decoder::default();
        rows.iter()
            .map(|(_, value)| decoder.decode(value))
            .collect()
    }

    /// An entry by its number in the room, and its thread's place.
    pub fn revision(
        &self,
        room: RoomId,
        id: u64,
    ) -> Result<Option<(Place, RevisionRow)>, ProjectionError> {
        let Some(value) = self.rows.get(&keys::number(room, id))? else {
            return Ok(None);
        };
        let Some((place, index)) = value.split_first_chunk::<4>() else {
            return Err(damaged("an entry's places are too short"));
        };
        let (place, index) = (u32::from_be_bytes(*place), place_of(index)?);
        let value = self.rows.get(&keys::revision(room, place, index))?;
        let row = value.map(|value| row::decode(&value)).transpose()?;
        Ok(row.map(|row| (Place(place), row)))
    }

    /// Discrepancies that are not resolved, the newest first.
    pub fn unresolved(&self, room: RoomId) -> Result<Vec<Discrepancy>, ProjectionError> {
        let (from, to) = keys::all_unresolved(room);
        let mut found = Vec::new();
        each_row(self.rows, &from, &to, |key, _| {
            let id = keys::unresolved_id(&key);
            let id = id.ok_or_else(|| damaged("a discrepancy's key is too short"))?;
            found.extend(self.discrepancy(room, id)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// A discrepancy, resolved or not.
    pub fn discrepancy(
        &self,
        room: RoomId,
        id: u64,
    ) -> Result<Option<Discrepancy>, ProjectionError> {
        let value = self.rows.get(&keys::discrepancy(room, id))?;
        let row = value.map(|value| row::decode(&value)).transpose()?;
        Ok(row.map(|row| Discrepancy { id, row }))
    }

    /// Handshakes, the oldest first, after a number.
    pub fn handshakes(
        &self,
        room: RoomId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Handshake>, ProjectionError> {
        let from = keys::handshake(room, after.saturating_add(1));
        let (_, to) = keys::handshakes(room);
        let rows = self.rows.range(&from, &to, false, limit)?;
        let mut decoder = Decoder::default();
        rows.iter()
            .map(|(key, value)| {
                let id = keys::last_number(key);
                let id = id.ok_or_else(|| damaged("a handshake's key is too short"))?;
                let row = decoder.decode(value)?;
                Ok(Handshake { id, row })
            })
            .collect()
    }

    /// One handshake.
    pub fn handshake(&self, room: RoomId, id: u64) -> Result<Option<Handshake>, ProjectionError> {
        let value = self.rows.get(&keys::handshake(room, id))?;
        let row = value.map(|value| row::decode(&value)).transpose()?;
        Ok(row.map(|row| Handshake { id, row }))
    }

    /// The act whose event has this seq, by bisection: numbers grow with seqs.
    pub fn act_at(&self, room: RoomId, seq: u64) -> Result<Option<LedgerAct>, ProjectionError> {
        let ledger = self.ledger(room)?;
        let revision = |id| Ok(self.revision(room, id)?.map(|(_, row)| row.seq));
        if let Some(id) = bisect(ledger.revisions, seq, revision)? {
            return Ok(Some(LedgerAct::Revision(id)));
        }
        let handshake = |id| Ok(self.handshake(room, id)?.map(|one| one.row.seq));
        let found = bisect(ledger.handshakes, seq, handshake)?;
        Ok(found.map(LedgerAct::Handshake))
    }

    /// What the arbiter did because of a message, in order.
    pub fn made_from(&self, room: RoomId, message: u64) -> Result<Vec<MadeRow>, ProjectionError> {
        let (from, to) = keys::all_made(room, message);
        let mut made = Vec::new();
        each_row(self.rows, &from, &to, |_, value| {
            made.push(row::decode(&value)?);
            Ok(())
        })?;
        Ok(made)
    }

    /// What it heard that agents must do themselves, the newest first. Whether they did since is
    /// for the reader to see.
    pub fn suggestions(
        &self,
        room: RoomId,
        limit: usize,
    ) -> Result<Vec<SuggestionRow>, ProjectionError> {
        let (from, to) = keys::suggestions(room);
        let rows = self.rows.range(&from, &to, false, limit)?;
        rows.iter().map(|(_, value)| row::decode(value)).collect()
    }

    /// The newest messages it could not read, the newest first.
    pub fn skipped(&self, room: RoomId, limit: usize) -> Result<Vec<Skipped>, ProjectionError> {
        let (from, to) = keys::all_skipped(room);
        let rows = self.rows.range(&from, &to, true, limit)?;
        rows.iter()
            .map(|(key, value)| {
                let message = keys::last_number(key);
                let message = message.ok_or_else(|| damaged("a message's key is too short"))?;
                let row = row::decode(value)?;
                Ok(Skipped { message, row })
            })
            .collect()
    }
}

/// The number from 1 to `last` whose seq is this one.
fn bisect(
    last: u64,
    seq: u64,
    seq_of: impl Fn(u64) -> Result<Option<u64>, ProjectionError>,
) -> Result<Option<u64>, ProjectionError> {
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        if seq_of(middle)?.is_some_and(|found| found < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok((seq_of(low)? == Some(seq)).then_some(low))
}

fn hash_of(rows: &[ThreadRow]) -> String {
    let threads = rows.iter().map(|row| &row.thread);
    context_hash(threads.filter_map(Thread::in_context))
}

/// Who signed with what in a room, as its rows have it.
pub(crate) fn principals(rows: &dyn Rows, room: RoomId) -> Result<Principals, ProjectionError> {
    let (from, to) = keys::signers(room);
    let mut principals = Principals::default();
    let mut decoder = Decoder::default();
    for (_, value) in rows.range(&from, &to, false, ROOM_SIGNERS_MAX)? {
        let signer: SignerRow = decoder.decode(&value)?;
        principals.learn_pair(&signer.agent, signer.key);
    }
    Ok(principals)
}

/// The place in a row's value.
pub(crate) fn place_of(value: &[u8]) -> Result<u32, ProjectionError> {
    let bytes = value.try_into();
    let bytes = bytes.map_err(|_| damaged("a place is not 4 bytes long"))?;
    Ok(u32::from_be_bytes(bytes))
}

fn damaged(reason: &str) -> ProjectionError {
    ProjectionError::Damaged {
        row: "thread index",
        reason: reason.to_owned(),
    }
}
