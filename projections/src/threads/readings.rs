//! The fold of what the arbiter reads and notes.
//!
//! What a reading would confirm, contradict, update or withdraw is kept as a suggestion where the
//! arbiter itself may not do it. What it may do comes as events of its own, and is remembered by
//! the message it was taken from.

use minutebook_domain::{
    Fact,
    ids::{ClaimId, RoomId},
    room::claims::{
        Author, ClaimOpened, ClaimRevised, ContextExtracted, DiscrepancyRecorded, Outcome,
        Proposal, RevisionKind,
    },
};

use super::{
    DiscrepancyRow, MadeRow, ReadingRow, SkippedRow, SuggestionRow, ThreadRow, Threads, keys,
};
use crate::{ProjectionError, Rows};

/// The adapter of a reading for which no model was asked.
const NOBODY: &str = "none";

impl Threads {
    pub(super) fn extract(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ContextExtracted,
    ) -> Result<(), ProjectionError> {
        let failed = event.failed.as_ref();
        let failed = failed.map(|why| why.as_str().to_owned());
        let skipped = keys::skipped(id, event.message);
        let was_skipped = self.pending.get(rows, &skipped)?.is_some();
        let ledger = &mut self.touch(rows, fact, id)?.ledger;
        let is_new = event.message > ledger.last_extracted_msg_id || was_skipped;
        ledger.last_reading = Some(ReadingRow {
            message: event.message,
            adapter: event.adapter.as_str().to_owned(),
            model: event.model.as_str().to_owned(),
            prompt_hash: event.prompt_hash.clone(),
            seq: fact.seq,
        });
        ledger.outage = match event.outcome {
            Outcome::Unavailable => failed.clone(),
            Outcome::Read | Outcome::Skipped => None,
        };
        if event.outcome.is_final() {
            ledger.last_extracted_msg_id = ledger.last_extracted_msg_id.max(event.message);
        }
        match (event.outcome, failed) {
            // An erased message is none that could be read, and no failure.
            (Outcome::Skipped, _) if event.adapter.as_str() == NOBODY => Ok(()),
            (Outcome::Skipped, Some(reason)) => {
                ledger.skipped = ledger.skipped.saturating_add(u64::from(!was_skipped));
                let seq = fact.seq;
                let row = SkippedRow { reason, seq };
                self.pending.put_row(skipped, &row)
            }
            (Outcome::Read, _) => {
                ledger.skipped = ledger.skipped.saturating_sub(u64::from(was_skipped));
                self.pending.delete(skipped);
                // Read again, it says nothing that was not heard before.
                if is_new {
                    self.suggest(rows, fact, id, event)?;
                }
                Ok(())
            }
            (Outcome::Skipped | Outcome::Unavailable, _) => Ok(()),
        }
    }

    fn suggest(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ContextExtracted,
    ) -> Result<(), ProjectionError> {
        for (index, proposal) in (0..=u8::MAX).zip(&event.proposals) {
            let Proposal::Revise {
                claim,
                quote,
                revision,
                value,
            } = proposal
            else {
                continue;
            };
            let Some((_, thread)) = self.thread(rows, id, *claim)? else {
                continue;
            };
            let is_its_own = *thread.thread.opener() == Author::Arbiter;
            let kind = match revision {
                // Made as a revision, which ends this suggestion, if it was for the arbiter to
                // make; else somebody speaks against the value.
                RevisionKind::Update if is_its_own && thread.thread.value() != value.trimmed() => {
                    RevisionKind::Contradict
                }
                RevisionKind::Update | RevisionKind::Retract if is_its_own => continue,
                RevisionKind::Update
                | RevisionKind::Retract
                | RevisionKind::Confirm
                | RevisionKind::Contradict => *revision,
            };
            let row = SuggestionRow {
                claim: *claim,
                kind,
                value: value.as_str().to_owned(),
                quote: quote.as_ref().map(|quote| quote.as_str().to_owned()),
                message: event.message,
                seq: fact.seq,
            };
            let key = keys::suggestion(id, fact.seq, index);
            self.pending.put_row(key, &row)?;
        }
        Ok(())
    }

    pub(super) fn note(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        id: RoomId,
        event: &DiscrepancyRecorded,
    ) -> Result<(), ProjectionError> {
        self.touch(rows, fact, id)?.ledger.discrepancies = event.id;
        if let Some(claim) = event.claim
            && let Some((place, mut thread)) = self.thread(rows, id, claim)?
        {
            thread.unresolved.note(event.id);
            self.pending.put_row(keys::thread(id, place), &thread)?;
        }
        let description = event.description.as_str().to_owned();
        let row = DiscrepancyRow {
            description: description.clone(),
            severity: event.severity.name().to_owned(),
            message: event.source_msg_id,
            claim: event.claim,
            at: fact.at,
            seq: fact.seq,
            is_resolved: false,
        };
        self.pending
            .put_row(keys::discrepancy(id, event.id), &row)?;
        self.pending.put(keys::unresolved(id, event.id), Vec::new());
        let made = MadeRow {
            claim: event.claim,
            subject_key: None,
            text: description,
            is_discrepancy: true,
            seq: fact.seq,
        };
        self.remember(fact, id, event.source_msg_id, &made)
    }

    /// Remembers a thread that the arbiter opened.
    pub(super) fn remember_opening(
        &mut self,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ClaimOpened,
    ) -> Result<(), ProjectionError> {
        self.remember_if_its_own(fact, id, &event.agent, event.source_msg_id, || {
            let key = Some(event.subject_key.as_str().to_owned());
            act_on(event.claim, key, event.value.trimmed(), fact.seq)
        })
    }

    /// Remembers a revision that the arbiter made.
    pub(super) fn remember_revision(
        &mut self,
        fact: &Fact<'_>,
        id: RoomId,
        event: &ClaimRevised,
    ) -> Result<(), ProjectionError> {
        self.remember_if_its_own(fact, id, &event.agent, event.source_msg_id, || {
            act_on(event.claim, None, event.value.trimmed(), fact.seq)
        })
    }

    fn remember_if_its_own(
        &mut self,
        fact: &Fact<'_>,
        id: RoomId,
        author: &Author,
        message: Option<u64>,
        made: impl FnOnce() -> MadeRow,
    ) -> Result<(), ProjectionError> {
        match author {
            Author::Arbiter => self.remember(fact, id, message, &made()),
            Author::Agent(_) => Ok(()),
        }
    }

    fn remember(
        &mut self,
        fact: &Fact<'_>,
        id: RoomId,
        message: Option<u64>,
        made: &MadeRow,
    ) -> Result<(), ProjectionError> {
        match message {
            Some(message) => {
                let key = keys::made(id, message, fact.seq);
                self.pending.put_row(key, made)
            }
            None => Ok(()),
        }
    }

    /// A thread and its place.
    fn thread(
        &self,
        rows: &dyn Rows,
        id: RoomId,
        claim: ClaimId,
    ) -> Result<Option<(u32, ThreadRow)>, ProjectionError> {
        let Some(place) = self.place(rows, id, claim)? else {
            return Ok(None);
        };
        let row = self.pending.get_row(rows, &keys::thread(id, place))?;
        Ok(row.map(|row| (place, row)))
    }
}

/// An opening or revision.
fn act_on(claim: ClaimId, subject_key: Option<String>, value: &str, seq: u64) -> MadeRow {
    MadeRow {
        claim: Some(claim),
        subject_key,
        text: value.to_owned(),
        is_discrepancy: false,
        seq,
    }
}
