//! A room's ledger, kept at hand while its events go by.
//!
//! Invariant: an event costs the thread it is about, not all of them; and the hash of all threads
//! is taken only when somebody asks, and once between two events on the ledger.

use std::cell::OnceCell;

use minutebook_domain::{
    EventKind,
    ids::{ClaimId, RoomId},
    room::claims::Thread,
};
use minutebook_projections::{
    Kind, ThreadsView,
    threads::{LedgerRow, Place, ThreadRow},
};

use super::moment::{Fold, ledger, wrong};
use crate::generations::{GenerationError, OwnedFact};

/// The ledger of one room.
pub(super) struct Ledger {
    room: RoomId,
    fold: Fold,
    /// Cancelled ones too, in the order of opening.
    threads: Vec<ThreadRow>,
    is_sealed: OnceCell<bool>,
}

impl Ledger {
    /// Before its room's first event.
    pub(super) fn new(room: RoomId) -> Self {
        Self {
            room,
            fold: Fold::threads(),
            threads: Vec::new(),
            is_sealed: OnceCell::new(),
        }
    }

    /// Goes on by an event of the room.
    pub(super) fn apply(&mut self, fact: &OwnedFact) -> Result<(), GenerationError> {
        self.fold.apply(fact)?;
        self.fold.flush()?;
        // With the room, all of it is gone.
        if fact.kind == EventKind::RoomErased {
            self.threads.clear();
            self.is_sealed = OnceCell::new();
        }
        let Some(event) = ledger::event_of(fact) else {
            return Ok(());
        };
        self.is_sealed = OnceCell::new();
        if let Some(claim) = ledger::thread_of(event) {
            let thread = ThreadsView::new(&self.fold.rows).thread(self.room, claim);
            if let Some((place, row)) = thread.map_err(wrong(Kind::Threads))? {
                self.put(place, row);
            }
        }
        Ok(())
    }

    fn put(&mut self, place: Place, row: ThreadRow) {
        let index = usize::try_from(place.index()).unwrap_or(usize::MAX);
        match self.threads.get_mut(index) {
            Some(known) => *known = row,
            None => self.threads.push(row),
        }
    }

    /// The threads with this subject, short name or id.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Thread> {
        let id = name.parse().ok().map(ClaimId::new);
        let threads = self.threads.iter().map(|row| &row.thread);
        threads.filter(move |thread| {
            thread.subject() == name
                || thread.subject_key().as_str() == name
                || Some(thread.id()) == id
        })
    }

    /// Threads opened.
    pub(super) fn threads(&self) -> u64 {
        self.threads.len() as u64
    }

    /// Handshakes made.
    pub(super) fn handshakes(&self) -> Result<u64, GenerationError> {
        Ok(self.row()?.handshakes)
    }

    /// Discrepancies that are not resolved.
    pub(super) fn discrepancies(&self) -> Result<u64, GenerationError> {
        let view = ThreadsView::new(&self.fold.rows);
        let open = view.unresolved(self.room).map_err(wrong(Kind::Threads))?;
        Ok(open.len() as u64)
    }

    /// Whether two different principals shook hands on the context as it is.
    pub(super) fn is_sealed(&self) -> Result<bool, GenerationError> {
        if let Some(known) = self.is_sealed.get() {
            return Ok(*known);
        }
        let view = ThreadsView::new(&self.fold.rows);
        let sealed = self.row()?.handshakes >= 2
            && view
                .seal(self.room, &self.threads)
                .map_err(wrong(Kind::Threads))?
                .1;
        Ok(*self.is_sealed.get_or_init(|| sealed))
    }

    fn row(&self) -> Result<LedgerRow, GenerationError> {
        let view = ThreadsView::new(&self.fold.rows);
        view.ledger(self.room).map_err(wrong(Kind::Threads))
    }
}
