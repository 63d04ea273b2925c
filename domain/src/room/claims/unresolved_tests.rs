//! Who can end an objection, and who cannot.

use super::*;
use crate::{
    ids::ClaimId,
    room::claims::{Author, ClaimOpened, Entry, SubjectKey},
    text::{ClaimValue, Subject},
};
use RevisionKind::{Confirm, Contradict, Retract, Update};

/// A thread of alice's, in a room where one confirmation makes an agreement.
struct World {
    thread: Thread,
    unresolved: Unresolved,
    principals: Principals,
    made: u64,
    resolved: Vec<u64>,
}

fn name(agent: &str) -> AgentName {
    AgentName::parse(agent).unwrap()
}

fn entry(id: u64) -> Entry {
    let text = String::new;
    Entry {
        arbiter: text(),
        arbiter_sig: text(),
        id,
        prev_hash: text(),
        row_hash: text(),
    }
}

impl World {
    fn new() -> Self {
        let thread = Thread::open(&ClaimOpened {
            agent: Author::Agent(name("alice")),
            claim: ClaimId::new(uuid::Uuid::from_u128(1)),
            entry: Box::new(entry(1)),
            quote: None,
            signature: None,
            source_msg_id: None,
            subject: Subject::parse("price").unwrap(),
            subject_key: SubjectKey::derive("price"),
            value: ClaimValue::parse("$8").unwrap(),
        });
        Self {
            thread,
            unresolved: Unresolved::default(),
            principals: Principals::default(),
            made: 0,
            resolved: Vec::new(),
        }
    }

    fn does(mut self, agent: &str, kind: RevisionKind, value: &str) -> Self {
        let event = ClaimRevised {
            agent: Author::Agent(name(agent)),
            claim: self.thread.id(),
            entry: Box::new(entry(self.thread.revisions() + 1)),
            kind,
            quote: None,
            signature: None,
            source_msg_id: None,
            value: ClaimValue::parse(value).unwrap(),
        };
        let moved = self.thread.revise(&event, &self.principals, 1);
        let number = self.made + 1;
        let (thread, principals) = (&self.thread, &self.principals);
        let resolved = self
            .unresolved
            .revise(thread, &event, moved, number, principals);
        self.resolved.extend(resolved);
        self.made += u64::from(moved.disputes());
        self
    }

    /// Numbers of what is not resolved, after a check that the rest is.
    fn open(&self) -> Vec<u64> {
        let open: Vec<u64> = self.unresolved.numbers().collect();
        let mut all = [&open[..], &self.resolved].concat();
        all.sort_unstable();
        let wanted: Vec<u64> = (1..=self.made).collect();
        assert_eq!(all, wanted, "each is open or was resolved, once");
        open
    }
}

fn disputed() -> World {
    let agreed = World::new().does("bob", Confirm, "$8");
    agreed.does("cid", Contradict, "$8")
}

#[test]
fn the_others_cannot_agree_an_objection_away() {
    assert_eq!(disputed().open(), [1]);
    assert_eq!(disputed().does("bob", Confirm, "$8").open(), [1]);
    let updated = disputed().does("alice", Update, "$8");
    assert_eq!(
        updated.does("bob", Confirm, "$8").open(),
        [1],
        "the same value"
    );
    let there = disputed().does("alice", Update, "$9");
    assert_eq!(there.open(), [1], "only proposed");
    let back = there.does("alice", Update, "$8");
    assert_eq!(
        back.does("bob", Confirm, "$8").open(),
        [1],
        "there and back"
    );
}

#[test]
fn agreement_on_another_value_ends_it_and_so_does_the_threads_end() {
    let other = disputed().does("alice", Update, "$9");
    assert!(other.does("bob", Confirm, "$9").open().is_empty());
    assert!(disputed().does("alice", Retract, "$8").open().is_empty());
}

#[test]
fn who_objected_gives_it_up_by_confirming_the_agreed_value() {
    let late = disputed().does("bob", Confirm, "$8");
    assert_eq!(disputed().does("cid", Confirm, "$7").open(), [1], "another");
    assert!(late.does("cid", Confirm, "$8").open().is_empty());
    assert!(disputed().does("cid", Confirm, "$8").open().is_empty());
}

#[test]
fn a_principal_gives_up_under_any_of_its_names() {
    let mut world = disputed();
    for agent in ["cid", "sid"] {
        world.principals.learn_pair(&name(agent), [7; 32]);
    }
    assert!(world.does("sid", Confirm, "$8").open().is_empty());
}

#[test]
fn whoever_joins_a_dispute_objects_too() {
    let joined = disputed().does("dan", Contradict, "$8");
    assert_eq!(joined.open(), [1], "under the same discrepancy");
    let half = joined.does("cid", Confirm, "$8");
    assert_eq!(half.open(), [1], "dan objects still");
    assert!(half.does("dan", Confirm, "$8").open().is_empty());
}

#[test]
fn a_principal_objects_once() {
    let mut world = disputed();
    for _ in 0..3 {
        world = world.does("bob", Confirm, "$8");
        world = world.does("cid", Contradict, "$8");
    }
    assert_eq!(world.open(), [4]);
    assert_eq!(world.unresolved.0[0].objections.len(), 1);
    world = world.does("cid", Contradict, "$8");
    assert_eq!(world.open(), [4], "once more");
    assert_eq!(world.unresolved.0[0].objections.len(), 1);
    // What it objects to is what it contradicted last.
    world = world
        .does("alice", Update, "$9")
        .does("cid", Contradict, "$9");
    assert_eq!(world.does("bob", Confirm, "$9").open(), [4]);
}

#[test]
fn what_was_only_proposed_is_no_objection() {
    assert!(World::new().does("cid", Contradict, "$8").open().is_empty());
}

#[test]
fn who_is_not_remembered_any_more_gives_up_all_the_same() {
    let mut world = disputed();
    for n in 0..=crate::limits::THREAD_CONFIRMATIONS_MAX {
        world = world.does(&format!("agent {n}"), Confirm, "$8");
    }
    assert_eq!(world.open(), [1]);
    assert!(world.does("cid", Confirm, "$8").open().is_empty());
}

#[test]
fn what_the_arbiter_noted_ends_when_the_thread_becomes_agreed_or_cancelled() {
    let noted = || {
        let mut world = World::new();
        world.made = 1;
        world.unresolved.note(1);
        world
    };
    assert_eq!(noted().does("alice", Update, "$9").open(), [1]);
    assert!(noted().does("bob", Confirm, "$8").open().is_empty());
    assert!(noted().does("alice", Retract, "$8").open().is_empty());
}

#[test]
fn objections_and_notes_of_a_thread_are_bounded() {
    let most = THREAD_UNRESOLVED_MAX;
    let mut world = disputed();
    for n in 0..2 * most {
        world = world.does("bob", Confirm, "$8");
        world = world.does(&format!("agent {n}"), Contradict, "$8");
        world = world.does(&format!("other {n}"), Contradict, "$8");
    }
    let open = world.open();
    assert!(open.len() <= most && open.contains(&1), "{open:?}");
    let objections = world.unresolved.0.iter().map(|open| open.objections.len());
    assert_eq!(objections.sum::<usize>(), most);
    // The first ones are not pushed out, and make room when they are given up.
    assert!(world.open().contains(&1));
    world = world.does("bob", Confirm, "$8").does("cid", Confirm, "$8");
    world = world.does("late", Contradict, "$8");
    assert_eq!(world.open().last(), Some(&world.made));
    for number in 0..2 * most as u64 {
        world.unresolved.note(1000 + number);
    }
    let notes = world
        .unresolved
        .0
        .iter()
        .filter(|open| open.objections.is_empty());
    assert_eq!(notes.count(), most);
}
