//! The fold of `threads`.

use std::collections::hash_map::Entry;

use minutebook_domain::{
    Event, EventKind, Fact, What,
    ids::{ClaimId, RoomId, StreamId},
    room::{
        self, Opened,
        claims::{
            self, Author, ClaimOpened, ClaimRevised, HandshakeMade, Principals, Thread, Unresolved,
        },
    },
    signature::LedgerSignature,
};
use rustc_hash::FxHashMap;

use super::{
    DiscrepancyRow, HandshakeRow, LedgerRow, RevisionRow, ShookRow, SignerRow, ThreadRow, keys,
    view,
};
use crate::{Kind, Projection, ProjectionError, RowOp, Rows, overlay::Overlay, row};

/// Rooms whose ledger and signers are kept in memory between batches.
const CACHED_ROOMS_MAX: usize = 1024;

/// Folds claims, revisions and handshakes into rows. Everything else in a room's stream passes
/// it by without a look at a row.
#[derive(Default)]
pub struct Threads {
    pub(super) pending: Overlay,
    rooms: FxHashMap<RoomId, Cached>,
    /// Rooms whose ledger row is to be written.
    changed: Vec<RoomId>,
}

pub(super) struct Cached {
    pub(super) ledger: LedgerRow,
    principals: Principals,
    is_changed: bool,
}

impl Projection for Threads {
    fn kind(&self) -> Kind {
        Kind::Threads
    }

    fn apply(&mut self, rows: &dyn Rows, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        let StreamId::Room(id) = fact.stream else {
            return Ok(());
        };
        match fact.what {
            What::Present(Event::Room(event)) => match event {
                room::Event::Claim(event) => self.apply_claim(rows, fact, id, event),
                room::Event::Opened(opened) => self.open_room(rows, fact, id, opened),
                room::Event::Erased(_) => self.erase(rows, id),
                room::Event::BodiesErased(_) | room::Event::Closed(_) => {
                    self.touch_if_any(rows, fact, id)
                }
                room::Event::Renamed(_)
                | room::Event::Joined(_)
                | room::Event::Left(_)
                | room::Event::MessagePosted(_) => Ok(()),
            },
            // Bodies of claims go with their whole room only, of which then nothing is shown.
            What::Erased(EventKind::RoomErased) => self.erase(rows, id),
            What::Present(Event::Keys(_) | Event::Skills(_)) | What::Erased(_) => Ok(()),
        }
    }

    fn flush(&mut self, out: &mut Vec<RowOp>) -> Result<(), ProjectionError> {
        for id in self.changed.drain(..) {
            if let Some(cached) = self.rooms.get_mut(&id) {
                cached.is_changed = false;
                self.pending.put_row(keys::ledger(id), &cached.ledger)?;
            }
        }
        if self.rooms.len() > CACHED_ROOMS_MAX {
            self.rooms.clear();
        }
        self.pending.drain(out);
        Ok(())
    }
}

impl Threads {
    fn apply_claim(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &claims::Event,
    ) -> Result<(), ProjectionError> {
        match event {
            claims::Event::Opened(event) => self.open(rows, fact, id, event),
            claims::Event::Revised(event) => self.revise(rows, fact, id, event),
            claims::Event::HandshakeMade(event) => self.shake_hands(rows, fact, id, event),
            claims::Event::ContextExtracted(event) => self.extract(rows, fact, id, event),
            claims::Event::DiscrepancyRecorded(event) => self.note(rows, fact, id, event),
        }
    }

    fn open_room(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        opened: &Opened,
    ) -> Result<(), ProjectionError> {
        match opened.confirmations_needed {
            Some(needed) => {
                self.touch(rows, fact, id)?.ledger.confirmations_needed = needed;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A room that this fact changes.
    pub(super) fn touch(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
    ) -> Result<&mut Cached, ProjectionError> {
        let cached = match self.rooms.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let ledger = self.pending.get_row(rows, &keys::ledger(id))?;
                entry.insert(Cached {
                    ledger: ledger.unwrap_or_default(),
                    principals: view::principals(rows, id)?,
                    is_changed: false,
                })
            }
        };
        cached.ledger.last_seq = fact.seq;
        if !std::mem::replace(&mut cached.is_changed, true) {
            self.changed.push(id);
        }
        Ok(cached)
    }

    /// What is shown of a ledger depends on which messages are there and whether the room is open;
    /// a room where nothing happened has no rows for it.
    fn touch_if_any(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
    ) -> Result<(), ProjectionError> {
        let is_known = self.rooms.contains_key(&id);
        if is_known || self.pending.get(rows, &keys::ledger(id))?.is_some() {
            self.touch(rows, fact, id)?;
        }
        Ok(())
    }

    /// The same, and it learns who signed with what.
    fn touch_signed(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        author: &Author,
        signature: Option<&LedgerSignature>,
    ) -> Result<&mut Cached, ProjectionError> {
        let cached = self.touch(rows, fact, id)?;
        let learnt = cached.principals.learn(author, signature);
        if let (Some(key), Author::Agent(agent)) = (learnt, author) {
            let agent = agent.clone();
            let at = keys::signer(id, &key, agent.as_str());
            self.pending.put_row(at, &SignerRow { agent, key })?;
        }
        self.touch(rows, fact, id)
    }

    fn open(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ClaimOpened,
    ) -> Result<(), ProjectionError> {
        let signature = event.signature.as_deref();
        let room = self.touch_signed(rows, fact, id, &event.agent, signature)?;
        let place = room.ledger.threads;
        room.ledger.threads += 1;
        room.ledger.revisions = event.entry.id;
        let thread = ThreadRow {
            thread: Thread::open(event),
            confirmations: 0,
            created_at: fact.at,
            updated_at: fact.at,
            last_seq: fact.seq,
            unresolved: Unresolved::default(),
        };
        self.pending
            .put(keys::claim(id, event.claim), place.to_be_bytes().to_vec());
        self.pending.put_row(keys::thread(id, place), &thread)?;
        self.remember_opening(fact, id, event)?;
        let row = RevisionRow::of_opening(event, fact.seq, fact.at);
        self.append(id, (place, 0), &row)
    }

    fn append(
        &mut self,
        id: RoomId,
        (place, index): (u32, u32),
        row: &RevisionRow,
    ) -> Result<(), ProjectionError> {
        let places = [place.to_be_bytes(), index.to_be_bytes()].concat();
        self.pending.put(keys::number(id, row.id), places);
        let bytes = row::encode(row, row.bytes_hint())?;
        self.pending.put(keys::revision(id, place, index), bytes);
        Ok(())
    }

    fn revise(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ClaimRevised,
    ) -> Result<(), ProjectionError> {
        let Some(place) = self.place(rows, id, event.claim)? else {
            return Ok(());
        };
        let key = keys::thread(id, place);
        let Some(mut row) = self.pending.get_row::<ThreadRow>(rows, &key)? else {
            return Ok(());
        };
        let agreed = row.thread.value().to_owned();
        let signature = event.signature.as_deref();
        let room = self.touch_signed(rows, fact, id, &event.agent, signature)?;
        room.ledger.revisions = event.entry.id;
        let index = u32::try_from(row.thread.revisions()).unwrap_or(u32::MAX);
        let needed = room.ledger.confirmations_needed;
        let moved = row.thread.revise(event, &room.principals, needed);
        let confirmations = row.thread.confirmations(&room.principals);
        row.confirmations = u32::try_from(confirmations).unwrap_or(u32::MAX);
        row.updated_at = fact.at;
        row.last_seq = fact.seq;
        let number = room.ledger.discrepancies + 1;
        let ThreadRow {
            thread, unresolved, ..
        } = &mut row;
        let resolved = unresolved.revise(thread, event, moved, number, &room.principals);
        if moved.disputes() {
            room.ledger.discrepancies = number;
            let found = contradiction(fact, event, &row.thread, &agreed);
            self.pending
                .put_row(keys::discrepancy(id, number), &found)?;
            self.pending.put(keys::unresolved(id, number), Vec::new());
        }
        for number in resolved {
            self.resolve(rows, id, number)?;
        }
        self.pending.put_row(key, &row)?;
        self.remember_revision(fact, id, event)?;
        let revision = RevisionRow::of_revision(event, fact.seq, fact.at);
        self.append(id, (place, index), &revision)
    }

    pub(super) fn place(
        &self,
        rows: &dyn Rows,
        id: RoomId,
        claim: ClaimId,
    ) -> Result<Option<u32>, ProjectionError> {
        let value = self.pending.get(rows, &keys::claim(id, claim))?;
        value.as_deref().map(view::place_of).transpose()
    }

    fn resolve(&mut self, rows: &dyn Rows, id: RoomId, number: u64) -> Result<(), ProjectionError> {
        let key = keys::discrepancy(id, number);
        if let Some(mut found) = self.pending.get_row::<DiscrepancyRow>(rows, &key)? {
            found.is_resolved = true;
            self.pending.put_row(key, &found)?;
        }
        self.pending.delete(keys::unresolved(id, number));
        Ok(())
    }

    fn shake_hands(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &HandshakeMade,
    ) -> Result<(), ProjectionError> {
        let author = Author::Agent(event.agent.clone());
        let signature = event.signature.as_deref();
        let room = self.touch_signed(rows, fact, id, &author, signature)?;
        room.ledger.handshakes = event.id;
        let row = HandshakeRow::of_event(event, fact.seq, fact.at);
        self.pending.put_row(keys::handshake(id, event.id), &row)?;
        let agent = event.agent.clone();
        let key = keys::shook(id, &event.context_hash, agent.as_str());
        let position = event.signature.as_ref().and_then(|by| by.position);
        self.pending.put_row(key, &ShookRow { agent, position })
    }

    fn erase(&mut self, rows: &dyn Rows, id: RoomId) -> Result<(), ProjectionError> {
        self.rooms.remove(&id);
        let (from, to) = keys::room(id);
        self.pending.delete_range(rows, &from, &to)
    }
}

/// What a contradiction of an agreed value leaves on the list.
fn contradiction(
    fact: &Fact<'_>,
    event: &ClaimRevised,
    thread: &Thread,
    agreed: &str,
) -> DiscrepancyRow {
    let (who, subject, said) = (&event.agent, thread.subject(), event.value.trimmed());
    let mut description =
        format!("{who} contradicts the agreed value of \"{subject}\", \"{agreed}\"");
    if said != agreed {
        description.extend([": \"", said, "\""]);
    }
    DiscrepancyRow {
        description,
        severity: "high".to_owned(),
        message: event.source_msg_id,
        claim: Some(event.claim),
        at: fact.at,
        seq: fact.seq,
        is_resolved: false,
    }
}
