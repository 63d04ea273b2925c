//! One thread: its value, and how far its agreement is.
//!
//! | revision | by | value | confirmations | status |
//! |---|---|---|---|---|
//! | `update` | the opener | changes | all gone | `agreed` → `proposed` |
//! | `confirm` | the others | stays | counts if its value is the thread's | enough → `agreed` |
//! | `contradict` | the others | stays | the principal's own is gone | `agreed` → `disputed` |
//! | `retract` | the opener | stays | stay | → `cancelled`, for good |
//!
//! A cancelled thread takes revisions as others do and stays cancelled. What was agreed stays so
//! until a revision of the same thread changes it: a key that later turns out to have two names
//! makes no agreement undone, but counts once from then on.

use std::collections::BTreeSet;

use super::{
    Author, ClaimOpened, ClaimRevised, ContextThread, Principals, RevisionKind, SubjectKey,
};
use crate::{Rejection, ids::ClaimId, limits::THREAD_CONFIRMATIONS_MAX, text::AgentName};

/// How far a thread's agreement is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub enum Status {
    /// Not enough have confirmed the value.
    Proposed,
    /// Enough have.
    Agreed,
    /// Enough had, and somebody contradicted.
    Disputed,
    /// Its opener withdrew it.
    Cancelled,
}

impl Status {
    /// Its name in the peer's dialect.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Agreed => "agreed",
            Self::Disputed => "disputed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a revision did to a thread's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Before.
    pub from: Status,
    /// After.
    pub to: Status,
}

impl Moved {
    /// Whether it records a discrepancy.
    pub fn disputes(self) -> bool {
        (self.from, self.to) == (Status::Agreed, Status::Disputed)
    }

    /// Whether it resolves what the arbiter noted about the thread.
    pub fn resolves(self) -> bool {
        self.from != self.to && matches!(self.to, Status::Agreed | Status::Cancelled)
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Thread {
    id: ClaimId,
    opener: Author,
    subject: String,
    subject_key: SubjectKey,
    value: String,
    status: Status,
    value_revision: u64,
    revisions: u64,
    /// Who confirmed this value: one name of each principal, [`THREAD_CONFIRMATIONS_MAX`] at
    /// most. Beyond, confirmations are written down but not counted; by then the value is agreed,
    /// because a room never asks for that many.
    confirmed_by: BTreeSet<AgentName>,
}

impl Thread {
    /// The thread an opening begins.
    pub fn open(event: &ClaimOpened) -> Self {
        Self {
            id: event.claim,
            opener: event.agent.clone(),
            subject: event.subject.trimmed().to_owned(),
            subject_key: event.subject_key.clone(),
            value: event.value.trimmed().to_owned(),
            status: Status::Proposed,
            value_revision: event.entry.id,
            revisions: 1,
            confirmed_by: BTreeSet::new(),
        }
    }

    /// Folds a revision of this thread in. `principals` knows this revision's signature already,
    /// and `needed` confirmations make an agreement in this room.
    pub fn revise(&mut self, event: &ClaimRevised, principals: &Principals, needed: u8) -> Moved {
        let from = self.status;
        self.revisions = self.revisions.saturating_add(1);
        match event.kind {
            RevisionKind::Update => self.update(event),
            RevisionKind::Confirm => self.confirm(event, principals, needed),
            RevisionKind::Contradict => self.contradict(event, principals),
            RevisionKind::Retract => self.status = Status::Cancelled,
        }
        let to = self.status;
        Moved { from, to }
    }

    fn update(&mut self, event: &ClaimRevised) {
        event.value.trimmed().clone_into(&mut self.value);
        self.value_revision = event.entry.id;
        self.confirmed_by.clear();
        if self.status == Status::Agreed {
            self.status = Status::Proposed;
        }
    }

    fn confirm(&mut self, event: &ClaimRevised, principals: &Principals, needed: u8) {
        let Some(agent) = event.agent.agent() else {
            return;
        };
        if event.value.trimmed() != self.value || self.status == Status::Cancelled {
            return;
        }
        self.remember(agent, principals);
        if self.confirmations(principals) >= usize::from(needed) {
            self.status = Status::Agreed;
        }
    }

    fn contradict(&mut self, event: &ClaimRevised, principals: &Principals) {
        if let Some(agent) = event.agent.agent() {
            let who = principals.of(agent);
            self.confirmed_by
                .retain(|other| principals.of(other) != who);
        }
        if self.status == Status::Agreed {
            self.status = Status::Disputed;
        }
    }

    fn remember(&mut self, agent: &AgentName, principals: &Principals) {
        let who = principals.of(agent);
        if self.confirmed_by.iter().any(|by| principals.of(by) == who) {
            return;
        }
        if self.confirmed_by.len() >= THREAD_CONFIRMATIONS_MAX {
            // Some may have turned out to be one since.
            let mut seen = BTreeSet::new();
            let one_each = self.confirmed_by.iter();
            let one_each = one_each.filter(|by| seen.insert(principals.of(by)));
            self.confirmed_by = one_each.cloned().collect();
        }
        if self.confirmed_by.len() < THREAD_CONFIRMATIONS_MAX {
            self.confirmed_by.insert(agent.clone());
        }
    }

    /// Whether this author may revise it so.
    pub fn may_revise(&self, author: &Author, kind: RevisionKind) -> Result<(), Rejection> {
        let what = kind.name();
        let owns = self.opener == *author;
        match kind {
            RevisionKind::Update | RevisionKind::Retract if !owns => {
                let owner = self.opener.clone();
                Err(Rejection::ClaimNotOwned { owner, what })
            }
            RevisionKind::Confirm | RevisionKind::Contradict if owns => {
                Err(Rejection::ClaimOwned { what })
            }
            RevisionKind::Update
            | RevisionKind::Retract
            | RevisionKind::Confirm
            | RevisionKind::Contradict => Ok(()),
        }
    }

    /// The thread's UUID.
    pub fn id(&self) -> ClaimId {
        self.id
    }

    /// Who opened it.
    pub fn opener(&self) -> &Author {
        &self.opener
    }

    /// What it is about.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its short name.
    pub fn subject_key(&self) -> &SubjectKey {
        &self.subject_key
    }

    /// The value now.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// How far its agreement is.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Number of the entry that gave it its value.
    pub fn value_revision(&self) -> u64 {
        self.value_revision
    }

    /// Its entries, the opening included.
    pub fn revisions(&self) -> u64 {
        self.revisions
    }

    /// How many principals confirmed its value, its opener's left out.
    pub fn confirmations(&self, principals: &Principals) -> usize {
        let opener = self.opener.agent().map(|agent| principals.of(agent));
        let confirmed: BTreeSet<_> = self
            .confirmed_by
            .iter()
            .map(|agent| principals.of(agent))
            .filter(|who| Some(*who) != opener)
            .collect();
        confirmed.len()
    }

    /// Whether this agent is among those remembered to have confirmed its value.
    pub fn is_confirmed_by(&self, agent: &AgentName) -> bool {
        self.confirmed_by.contains(agent)
    }

    /// Those remembered to have confirmed its value.
    pub(super) fn confirmed_by(&self) -> impl Iterator<Item = &AgentName> {
        self.confirmed_by.iter()
    }

    /// Its part of the context; none if it is cancelled.
    pub fn in_context(&self) -> Option<ContextThread<'_>> {
        if self.status == Status::Cancelled {
            return None;
        }
        Some(ContextThread {
            current_value: &self.value,
            id: self.id,
            status: self.status.name(),
            subject: &self.subject,
            subject_key: self.subject_key.as_str(),
        })
    }

    /// The agents it knows.
    pub(super) fn agents(&self) -> impl Iterator<Item = &AgentName> {
        self.opener.agent().into_iter().chain(&self.confirmed_by)
    }
}
