//! All 45 combinations of a thread's standing and what is tried on it.
//!
//! The peer's table (seed 003) with what we decided otherwise: the opener does not contradict, an
//! update clears confirmations, and a confirmation counts for the value it names.

use super::{Status, Thread};
use crate::{Rejection, testing::*};

use Status::{Agreed, Cancelled, Disputed, Proposed};

/// Who tries what. `alice` opened, `bob` and `carol` confirmed where the standing says so, `dave`
/// contradicted, `erin` is new.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Try {
    OpUpdates,
    OpRetracts,
    OpContradicts,
    OpConfirms,
    BobAgain,
    ErinConfirms,
    ErinContradicts,
    ErinUpdates,
    ErinRetracts,
}

const TRIES: [Try; 9] = [
    Try::OpUpdates,
    Try::OpRetracts,
    Try::OpContradicts,
    Try::OpConfirms,
    Try::BobAgain,
    Try::ErinConfirms,
    Try::ErinContradicts,
    Try::ErinUpdates,
    Try::ErinRetracts,
];

fn step(of: Try) -> Step {
    service(match of {
        Try::OpUpdates => update("alice", "$9"),
        Try::OpRetracts => retract("alice"),
        Try::OpContradicts => contradict("alice"),
        Try::OpConfirms => confirm("alice", "$8"),
        Try::BobAgain => confirm("bob", "$8"),
        Try::ErinConfirms => confirm("erin", "$8"),
        Try::ErinContradicts => contradict("erin"),
        Try::ErinUpdates => update("erin", "$9"),
        Try::ErinRetracts => retract("erin"),
    })
}

fn standings() -> [(&'static str, Vec<Step>); 5] {
    let opened = || vec![owner(open()), service(propose("alice"))];
    let and = |more: Vec<Step>| [opened(), more].concat();
    let both = || {
        vec![
            service(confirm("bob", "$8")),
            service(confirm("carol", "$8")),
        ]
    };
    [
        ("proposed", opened()),
        (
            "proposed, bob confirmed",
            and(vec![service(confirm("bob", "$8"))]),
        ),
        ("agreed", and(both())),
        (
            "disputed",
            and([both(), vec![service(contradict("dave"))]].concat()),
        ),
        ("cancelled", and(vec![service(retract("alice"))])),
    ]
}

/// What comes of it: the status, and how many confirmations there are then; none if refused.
const TABLE: [[Option<(Status, usize)>; 9]; 5] = [
    // op updates, retracts, contradicts, confirms; bob again; erin confirms, contradicts, updates,
    // retracts.
    [
        Some((Proposed, 0)),
        Some((Cancelled, 0)),
        None,
        None,
        Some((Proposed, 1)),
        Some((Proposed, 1)),
        Some((Proposed, 0)),
        None,
        None,
    ],
    [
        Some((Proposed, 0)),
        Some((Cancelled, 1)),
        None,
        None,
        Some((Proposed, 1)),
        Some((Agreed, 2)),
        Some((Proposed, 1)),
        None,
        None,
    ],
    [
        Some((Proposed, 0)),
        Some((Cancelled, 2)),
        None,
        None,
        Some((Agreed, 2)),
        Some((Agreed, 3)),
        Some((Disputed, 2)),
        None,
        None,
    ],
    [
        Some((Disputed, 0)),
        Some((Cancelled, 2)),
        None,
        None,
        Some((Agreed, 2)),
        Some((Agreed, 3)),
        Some((Disputed, 2)),
        None,
        None,
    ],
    [
        Some((Cancelled, 0)),
        Some((Cancelled, 0)),
        None,
        None,
        Some((Cancelled, 0)),
        Some((Cancelled, 0)),
        Some((Cancelled, 0)),
        None,
        None,
    ],
];

fn thread(steps: &[Step]) -> (Thread, usize) {
    let (state, _) = events_of(steps);
    let claims = state.room(&room_id(1)).unwrap().claims();
    let thread = claims.thread(claim_id()).unwrap();
    (thread.clone(), thread.confirmations(claims.principals()))
}

#[test]
fn a_thread_moves_as_the_table_says() {
    for ((says, given), row) in standings().into_iter().zip(TABLE) {
        let (before, _) = thread(&given);
        for (of, expected) in TRIES.into_iter().zip(row) {
            println!("{says}: {of:?}");
            let Some(expected) = expected else {
                let why = why_not(of);
                check(&given, &step(of), &refused(why));
                continue;
            };
            let (after, confirmations) = thread(&[given.clone(), vec![step(of)]].concat());
            assert_eq!((after.status(), confirmations), expected);
            let value = if of == Try::OpUpdates { "$9" } else { "$8" };
            assert_eq!(after.value(), value);
            assert_eq!(after.revisions(), before.revisions() + 1);
        }
    }
}

fn why_not(of: Try) -> Rejection {
    let owner = author("alice");
    match of {
        Try::ErinUpdates => Rejection::ClaimNotOwned {
            owner,
            what: "update",
        },
        Try::ErinRetracts => Rejection::ClaimNotOwned {
            owner,
            what: "retract",
        },
        Try::OpContradicts => Rejection::ClaimOwned { what: "contradict" },
        Try::OpConfirms => Rejection::ClaimOwned { what: "confirm" },
        Try::OpUpdates
        | Try::OpRetracts
        | Try::BobAgain
        | Try::ErinConfirms
        | Try::ErinContradicts => panic!("{of:?} is never refused"),
    }
}

fn status(steps: &[Step]) -> Status {
    let opened = [owner(open()), service(propose("alice"))];
    thread(&[&opened, steps].concat()).0.status()
}

#[test]
fn others_confirm_again_after_an_update() {
    let agreed = [
        service(confirm("bob", "$8")),
        service(confirm("carol", "$8")),
    ];
    assert_eq!(status(&agreed), Agreed);
    let updated = [&agreed[..], &[service(update("alice", "$9"))]].concat();
    let one = [&updated[..], &[service(confirm("dave", "$9"))]].concat();
    assert_eq!(status(&one), Proposed);
    let both = [&one[..], &[service(confirm("bob", " $9 "))]].concat();
    assert_eq!(status(&both), Agreed);
    let stale = [&one[..], &[service(confirm("bob", "$8"))]].concat();
    assert_eq!(status(&stale), Proposed, "bob confirmed another value");
}

#[test]
fn an_update_does_not_end_a_dispute() {
    let disputed = [
        service(confirm("bob", "$8")),
        service(confirm("carol", "$8")),
        service(contradict("bob")),
        service(update("alice", "$9")),
        service(confirm("bob", "$9")),
    ];
    assert_eq!(status(&disputed), Disputed);
    let agreed = [&disputed[..], &[service(confirm("carol", "$9"))]].concat();
    assert_eq!(status(&agreed), Agreed);
}

#[test]
fn who_contradicts_confirms_no_longer() {
    let steps = [
        service(confirm("bob", "$8")),
        service(contradict("bob")),
        service(confirm("carol", "$8")),
    ];
    assert_eq!(status(&steps), Proposed);
}

#[test]
fn two_names_of_one_key_count_once() {
    let twice = [
        service(confirm_signed("bob", 7)),
        service(ask_revision(signed_revision(
            revision("bobby", super::RevisionKind::Confirm, "$8"),
            7,
            V2,
            Some(1),
        ))),
    ];
    assert_eq!(status(&twice), Proposed);
    let carol = [&twice[..], &[service(confirm("carol", "$8"))]].concat();
    assert_eq!(status(&carol), Agreed);
    let withdrawn = [&twice[..], &[service(contradict("bob"))]].concat();
    let carol = [&withdrawn[..], &[service(confirm("carol", "$8"))]].concat();
    assert_eq!(status(&carol), Proposed, "bobby's is gone with bob's");
}

#[test]
fn agents_are_one_by_way_of_a_third() {
    let empty = super::EMPTY_CONTEXT_HASH;
    let meet = |agent: &str, number, position| {
        service(ask_handshake(signed_shake(
            shake(agent, empty),
            number,
            V2,
            Some(position),
        )))
    };
    // bob has key 7, dora has both, carol has key 8.
    let keys = [
        meet("bob", 7, 0),
        meet("dora", 7, 0),
        meet("carol", 8, 0),
        meet("dora", 8, 0),
    ];
    let steps = [
        &[owner(open())],
        &keys[..],
        &[
            service(propose("alice")),
            service(confirm("bob", "$8")),
            service(confirm("carol", "$8")),
        ],
    ]
    .concat();
    assert_eq!(thread(&steps).0.status(), Proposed);
}

/// Bob's and carol's handshakes on another room's empty context, carried here by mallory.
#[test]
fn nobody_makes_two_agents_one_with_signatures_from_another_room() {
    let empty = super::EMPTY_CONTEXT_HASH;
    let carried = |number| {
        let signed = signed_shake(shake("mallory", empty), number, V1, None);
        service(ask_handshake(signed))
    };
    let steps = [
        owner(open()),
        carried(7),
        carried(8),
        service(propose("alice")),
        service(confirm_signed("bob", 7)),
        service(confirm_signed("carol", 8)),
    ];
    assert_eq!(thread(&steps).0.status(), Agreed);
}

#[test]
fn the_opener_under_another_name_does_not_count() {
    let opened = service(ask_claim(signed_claim(claim("alice"), 7)));
    let steps = [
        owner(open()),
        opened,
        service(confirm_signed("alicia", 7)),
        service(confirm("bob", "$8")),
    ];
    let (thread, confirmations) = thread(&steps);
    assert_eq!((thread.status(), confirmations), (Proposed, 1));
}

#[test]
fn a_room_says_how_many_confirmations_it_takes() {
    let opened = in_room(crate::room::Command::Open(needing(1)));
    let steps = [
        owner(opened),
        service(propose("alice")),
        service(confirm("bob", "$8")),
    ];
    assert_eq!(thread(&steps).0.status(), Agreed);
}
