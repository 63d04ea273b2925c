//! The discrepancies of one thread that are not resolved: contradictions of what was agreed, and
//! what the arbiter noted.
//!
//! Invariants
//! * An objection is its own principal's to give up, by confirming the agreed value; else it ends
//!   with the thread, or when another value is agreed. The others cannot agree it away.
//! * Whoever contradicts while a thread is disputed objects too, under the same discrepancy.
//! * A principal has one objection to a thread, to the value that was agreed last.
//! * What the arbiter noted ends when the thread becomes agreed or cancelled.
//! * [`THREAD_UNRESOLVED_MAX`] objections are open at a time, and as many notes: names are free,
//!   and each revision looks at all of them. An objection beyond stands on the ledger and is not
//!   listed; the thread shows enough by then. A note beyond stays listed.

use super::{ClaimRevised, Moved, Principals, RevisionKind, Status, Thread};
use crate::{limits::THREAD_UNRESOLVED_MAX, text::AgentName};

/// Unresolved discrepancies, the oldest first.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Unresolved(Vec<Open>);

#[derive(Clone, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Open {
    number: u64,
    /// None of what the arbiter noted.
    objections: Vec<Objection>,
}

#[derive(Clone, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Objection {
    by: AgentName,
    /// The value that was agreed.
    to: String,
}

impl Unresolved {
    /// Their numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|open| open.number)
    }

    /// Adds what the arbiter noted.
    pub fn note(&mut self, number: u64) {
        let notes = self.0.iter().filter(|open| open.objections.is_empty());
        if notes.count() < THREAD_UNRESOLVED_MAX {
            let objections = Vec::new();
            self.0.push(Open { number, objections });
        }
    }

    fn is_full(&self) -> bool {
        let objections = self.0.iter().map(|open| open.objections.len());
        objections.sum::<usize>() >= THREAD_UNRESOLVED_MAX
    }

    /// Folds in a revision of the thread, as it is after it, and says which discrepancies that
    /// resolves. `number` is that of the discrepancy the revision makes, if [`Moved::disputes`].
    pub fn revise(
        &mut self,
        thread: &Thread,
        event: &ClaimRevised,
        moved: Moved,
        number: u64,
        principals: &Principals,
    ) -> Vec<u64> {
        let mut resolved = self.settle(thread, event, moved, principals);
        if let (RevisionKind::Contradict, Status::Disputed, Some(by)) =
            (event.kind, thread.status(), event.agent.agent())
        {
            let (by, to) = (by.clone(), thread.value().to_owned());
            let objection = Objection { by, to };
            if moved.disputes() {
                resolved.extend(self.withdraw(&objection, principals));
                if self.is_full() {
                    resolved.push(number);
                } else {
                    let objections = vec![objection];
                    self.0.push(Open { number, objections });
                }
            } else {
                self.join(objection, principals);
            }
        }
        resolved
    }

    fn settle(
        &mut self,
        thread: &Thread,
        event: &ClaimRevised,
        moved: Moved,
        principals: &Principals,
    ) -> Vec<u64> {
        self.take_out(|open| {
            if open.objections.is_empty() {
                return moved.resolves();
            }
            let settled = |objection: &mut Objection| settles(thread, event, objection, principals);
            open.objections.extract_if(.., settled).for_each(drop);
            open.objections.is_empty()
        })
    }

    /// Takes back what the same principal objected before.
    fn withdraw(&mut self, objection: &Objection, principals: &Principals) -> Vec<u64> {
        let who = principals.of(&objection.by);
        self.take_out(|open| {
            let before = open.objections.len();
            open.objections
                .retain(|objection| principals.of(&objection.by) != who);
            open.objections.is_empty() && before > 0
        })
    }

    fn take_out(&mut self, is_resolved: impl FnMut(&mut Open) -> bool) -> Vec<u64> {
        let resolved = self.0.extract_if(.., is_resolved);
        resolved.map(|open| open.number).collect()
    }

    /// Puts an objection in the place of the same principal's, else under the newest discrepancy
    /// that is one.
    fn join(&mut self, objection: Objection, principals: &Principals) {
        let who = principals.of(&objection.by);
        let objections = self.0.iter_mut().flat_map(|open| &mut open.objections);
        let mut theirs = objections.filter(|known| principals.of(&known.by) == who);
        if let Some(known) = theirs.next() {
            known.to.clone_from(&objection.to);
            return;
        }
        if self.is_full() {
            return;
        }
        let mut newest_first = self.0.iter_mut().rev();
        if let Some(open) = newest_first.find(|open| !open.objections.is_empty()) {
            open.objections.push(objection);
        }
    }
}

/// Whether a revision leaves nothing of an objection.
fn settles(
    thread: &Thread,
    event: &ClaimRevised,
    objection: &Objection,
    principals: &Principals,
) -> bool {
    match thread.status() {
        Status::Cancelled => true,
        Status::Agreed => {
            let who = principals.of(&objection.by);
            let is_theirs = |agent: &AgentName| principals.of(agent) == who;
            // Not only those that are remembered: the thread may be full of them.
            let is_confirming = event.kind == RevisionKind::Confirm
                && event.value.trimmed() == thread.value()
                && event.agent.agent().is_some_and(is_theirs);
            thread.value() != objection.to || is_confirming || thread.confirmed_by().any(is_theirs)
        }
        Status::Proposed | Status::Disputed => false,
    }
}

#[cfg(test)]
#[path = "unresolved_tests.rs"]
mod tests;
