//! Doing what a reading proposes, as far as the arbiter may.
//!
//! What was done because of a message is known by that message, so doing it again does nothing:
//! after a crash, and when a room is read anew.

use minutebook_domain::ids::{ClaimId, RoomId};
use minutebook_domain::room::claims::{
    self, Author, ContextExtracted, OpenClaim, Proposal, RecordDiscrepancy, ReviseClaim,
    RevisionKind, Status, SubjectKey,
};
use minutebook_projections::ProjectionError;
use minutebook_projections::threads::{MadeRow, Place, ThreadRow};

use super::{Arbiter, Run, RunError};
use crate::engine::Idempotency;

impl Arbiter {
    /// Does what the reading at `seq` proposes.
    pub(super) async fn apply(
        &self,
        room: RoomId,
        seq: u64,
        reading: &ContextExtracted,
        run: &mut Run,
    ) -> Result<(), RunError> {
        for (place, proposal) in reading.proposals.iter().enumerate() {
            // Anew each time: one proposal may be what another one is about.
            let made = self
                .engine
                .threads(|threads| threads.made_from(room, reading.message))?;
            let made = Made { rows: &made, seq };
            let Some(command) = self.command(room, reading.message, proposal, made)? else {
                continue;
            };
            let is_note = matches!(command, claims::Command::RecordDiscrepancy(_));
            let because = Some((seq, derived(seq, place)));
            let committed = self.submit(room, command, because).await?;
            let is_done = committed.is_some_and(|committed| !committed.replayed);
            let count = if is_note {
                &mut run.discrepancies
            } else {
                &mut run.extracted
            };
            *count += u64::from(is_done);
        }
        Ok(())
    }

    /// The command for a proposal; none if the arbiter may not, or has done it.
    fn command(
        &self,
        room: RoomId,
        message: u64,
        proposal: &Proposal,
        made: Made<'_>,
    ) -> Result<Option<claims::Command>, ProjectionError> {
        let source_msg_id = Some(message);
        Ok(match proposal {
            Proposal::Open {
                quote,
                subject,
                subject_key,
                value,
            } => {
                let key = subject_key.clone();
                let key = key.unwrap_or_else(|| SubjectKey::derive(subject.trimmed()));
                let is_made = made.opened(key.as_str(), value.trimmed());
                let open = OpenClaim {
                    agent: Author::Arbiter,
                    quote: quote.clone(),
                    signature: None,
                    source_msg_id,
                    subject: subject.clone(),
                    subject_key: Some(key),
                    value: value.clone(),
                };
                (!is_made).then_some(claims::Command::Open(open))
            }
            Proposal::Revise {
                claim,
                quote,
                revision,
                value,
            } => {
                let revise = ReviseClaim {
                    agent: Author::Arbiter,
                    claim: *claim,
                    kind: *revision,
                    quote: quote.clone(),
                    signature: None,
                    source_msg_id,
                    value: value.clone(),
                };
                let is_made = made.revised(*claim, value.trimmed());
                let may = !is_made && self.may_revise(room, &revise)?;
                may.then_some(claims::Command::Revise(revise))
            }
            Proposal::Discrepancy {
                claim,
                description,
                severity,
            } => {
                let is_made = made.noted(*claim, description.as_str());
                let note = RecordDiscrepancy {
                    claim: *claim,
                    description: description.clone(),
                    severity: *severity,
                    source_msg_id,
                };
                let is_overtaken = match claim {
                    Some(claim) => match self.engine.threads(|t| t.thread(room, *claim))? {
                        Some(found) => self.is_overtaken(room, &found, message)?,
                        None => true,
                    },
                    None => false,
                };
                let may = !is_made && !is_overtaken;
                may.then_some(claims::Command::RecordDiscrepancy(note))
            }
        })
    }

    /// Whether a revision is the arbiter's to make and makes a difference. The rules have the last
    /// word on whose the thread is; that only the agent whose message began it may have the
    /// arbiter move it is the arbiter's own rule.
    fn may_revise(&self, room: RoomId, revise: &ReviseClaim) -> Result<bool, ProjectionError> {
        let found = self
            .engine
            .threads(|threads| threads.thread(room, revise.claim))?;
        let (Some(found), Some(message)) = (found, revise.source_msg_id) else {
            return Ok(false);
        };
        let (place, thread) = (found.0, &found.1.thread);
        let moves = match revise.kind {
            RevisionKind::Update => thread.value() != revise.value.trimmed(),
            RevisionKind::Retract => true,
            RevisionKind::Confirm | RevisionKind::Contradict => false,
        };
        let is_own = *thread.opener() == Author::Arbiter && thread.status() != Status::Cancelled;
        if !is_own || !moves || self.is_overtaken(room, &found, message)? {
            return Ok(false);
        }
        let opening = self
            .engine
            .threads(|threads| threads.revisions(room, place, 0, 1))?;
        let began = opening.first().and_then(|entry| entry.source_msg_id);
        let said = |n: Option<u64>| match n {
            Some(n) => self.engine.history(|history| history.message(room, n)),
            None => Ok(None),
        };
        let (began, now) = (said(began)?, said(Some(message))?);
        Ok(began.is_some_and(|began| {
            now.is_some_and(|now| now.row.agent == began.row.agent && !began.row.is_erased)
        }))
    }

    /// Whether a thread has moved on since a message was said: reading it again, or late, must not
    /// turn it back.
    fn is_overtaken(
        &self,
        room: RoomId,
        (place, row): &(Place, ThreadRow),
        message: u64,
    ) -> Result<bool, ProjectionError> {
        let newest = self
            .engine
            .threads(|threads| threads.last(room, *place, row))?;
        if newest.author == Author::Arbiter.as_str() {
            return Ok(newest.source_msg_id.is_some_and(|source| source > message));
        }
        let said = self
            .engine
            .history(|history| history.message(room, message))?;
        Ok(said.is_none_or(|said| newest.seq > said.row.seq))
    }
}

/// What was done because of a message before, and the reading that proposes more.
#[derive(Clone, Copy)]
struct Made<'a> {
    rows: &'a [MadeRow],
    seq: u64,
}

impl Made<'_> {
    /// A matter is known by its key; from one reading to the next a model may name it otherwise,
    /// so there its value is enough.
    fn opened(self, key: &str, value: &str) -> bool {
        self.rows.iter().any(|row| match &row.subject_key {
            Some(made) => made == key || (row.seq < self.seq && row.text == value),
            None => false,
        })
    }

    fn revised(self, claim: ClaimId, value: &str) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| !row.is_discrepancy && row.claim == Some(claim) && row.text == value)
    }

    fn noted(self, claim: Option<ClaimId>, text: &str) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.is_discrepancy && row.claim == claim && row.text == text)
    }
}

/// The command's id, made of what caused it.
fn derived(seq: u64, place: usize) -> Idempotency {
    let key = format!("arbiter:{seq}:{place}");
    let hash = blake3::hash(key.as_bytes());
    let mut request = [0; 16];
    request
        .iter_mut()
        .zip(hash.as_bytes())
        .for_each(|(to, from)| *to = *from);
    Idempotency {
        key,
        asker: String::new(),
        request,
    }
}
