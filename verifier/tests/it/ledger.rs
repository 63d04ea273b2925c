//! A room's ledger is judged wherever the room is: in the log's bundle and in its own.

use minutebook_domain::{
    Command, Event,
    actor::Actor,
    ids::{RoomId, StreamId},
    room::{
        self,
        claims::{self, ClaimRevised, OpenClaim, ReviseClaim, RevisionKind, ShakeHands},
    },
    text::{ClaimValue, Subject},
};
use minutebook_verifier::{
    Code, Options, OutsideReceipt, Policy, Report, Verdict, render::render, verify,
};

use crate::support::{Log, agent};

fn check(bundle: &[u8], log: &Log) -> Report {
    let policy = Policy::of_key(&log.vkey()).unwrap();
    verify(bundle, &policy, Options::default()).unwrap().report
}

fn submit(log: &mut Log, room: RoomId, command: claims::Command) -> u64 {
    let command = Command::Room(room, room::Command::Claim(command));
    log.submit(Actor::Owner, command)
}

fn propose(log: &mut Log, room: RoomId, name: &str) -> u64 {
    let command = OpenClaim {
        agent: agent(name).into(),
        quote: None,
        signature: None,
        source_msg_id: None,
        subject: Subject::parse("Price").unwrap(),
        subject_key: None,
        value: ClaimValue::parse("$8").unwrap(),
    };
    submit(log, room, claims::Command::Open(command))
}

fn confirm(log: &mut Log, room: RoomId, name: &str) -> u64 {
    let claim = log.state.room(&room).unwrap().claims().threads()[0].id();
    let command = ReviseClaim {
        agent: agent(name).into(),
        claim,
        kind: RevisionKind::Confirm,
        quote: None,
        signature: None,
        source_msg_id: None,
        value: ClaimValue::parse("$8").unwrap(),
    };
    submit(log, room, claims::Command::Revise(command))
}

fn shake(log: &mut Log, room: RoomId, name: &str) -> u64 {
    let context_hash = log.state.room(&room).unwrap().claims().context_hash();
    let command = ShakeHands {
        agent: agent(name),
        context_hash: context_hash.to_owned(),
        signature: None,
    };
    submit(log, room, claims::Command::ShakeHands(command))
}

/// The newest event of a log.
fn newest(log: &Log) -> Event {
    let record = log.records.last().unwrap();
    let envelope =
        minutebook_eventlog::format::envelope::Envelope::parse(&record.envelope).unwrap();
    let kind = minutebook_domain::EventKind::parse(&envelope.kind, envelope.v).unwrap();
    Event::decode(kind, &record.body.as_ref().unwrap().bytes).unwrap()
}

fn is_refuted(log: &Log, room: RoomId, seq: u64, rule: &str) {
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, log);
        assert_eq!(report.verdict, Verdict::Refuted, "{}", render(&report));
        let [finding] = &*report.findings else {
            panic!("{}", render(&report));
        };
        assert_eq!((finding.name, finding.seq), (Code::Unlawful, Some(seq)));
        assert_eq!(finding.rule, Some(rule));
    }
}

#[test]
fn what_agents_did_unsigned_is_named_whatever_it_was() {
    let mut log = Log::open(1);
    let room = log.open_room("prices");
    propose(&mut log, room, "ann");
    for name in ["bob", "cid"] {
        confirm(&mut log, room, name);
        shake(&mut log, room, name);
    }
    let report = check(&log.room_bundle(room), &log);
    let named = |item: &&minutebook_verifier::NotProven| item.name == "unsigned_authorship";
    let text = &report.not_proven.iter().find(named).unwrap().text;
    let wanted = "3 thread entries and 2 handshakes carry no agent's signature: whose they are \
                  is the server's word";
    assert_eq!(text, wanted);
    let shown = render(&report);
    assert!(
        shown.contains("0 messages, 3 thread entries, 2 handshakes, 3 agents,"),
        "{shown}"
    );
}

#[test]
fn the_advice_about_a_room_keeps_it_clean_when_the_log_has_grown() {
    let mut log = Log::open(1);
    let room = log.open_room("prices");
    let seq = propose(&mut log, room, "ann");
    let kept = log.receipt(seq);
    let before = check(&log.room_bundle(room), &log);
    for item in &before.not_proven {
        let remedy = item.remedy.unwrap_or_default();
        assert!(!remedy.contains("--anchor"), "no room has it: {remedy}");
    }
    confirm(&mut log, room, "bob");
    let options = Options {
        receipts: vec![OutsideReceipt::parse("kept", kept.as_bytes()).unwrap()],
        ..Options::default()
    };
    let policy = Policy::of_key(&log.vkey()).unwrap();
    let bundle = log.room_bundle(room);
    let after = verify(&*bundle, &policy, options).unwrap().report;
    assert_eq!(after.verdict, Verdict::Clean, "{}", render(&after));
}

#[test]
fn an_honest_negotiation_is_clean_over_two_key_epochs() {
    let mut log = Log::open(1);
    let room = log.open_room("prices");
    propose(&mut log, room, "ann");
    log.rotate(2);
    for name in ["bob", "cid"] {
        confirm(&mut log, room, name);
        shake(&mut log, room, name);
    }
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, &log);
        assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
    }
    log.erase(room);
    for bundle in [log.bundle(), log.room_bundle(room)] {
        let report = check(&bundle, &log);
        assert_eq!(report.verdict, Verdict::Clean, "{}", render(&report));
        assert_eq!(report.counts.bodies_erased, 6);
    }
}

#[test]
fn an_entry_sealed_with_a_key_that_is_not_the_logs_is_found() {
    let mut other = Log::open(9);
    let room = other.open_room("prices");
    propose(&mut other, room, "ann");

    let mut log = Log::open(1);
    assert_eq!(log.open_room("prices"), room, "ids are made in order");
    log.post(room, "ann", "at the moment of the other's opening");
    let stream = StreamId::Room(room);
    let seq = log.append(&newest(&other), stream, &Actor::Owner, "idem:1");
    is_refuted(&log, room, seq, "ledger_key_wrong");
}

#[test]
fn an_entry_sealed_with_a_key_that_was_given_up_is_found() {
    let mut other = Log::open(1);
    let room = other.open_room("prices");
    propose(&mut other, room, "ann");
    other.post(room, "ann", "x");
    confirm(&mut other, room, "bob");

    let mut log = Log::open(1);
    log.open_room("prices");
    propose(&mut log, room, "ann");
    log.rotate(2);
    log.post(room, "ann", "at the moment of the other's confirmation");
    let stream = StreamId::Room(room);
    let seq = log.append(&newest(&other), stream, &Actor::Owner, "idem:1");
    is_refuted(&log, room, seq, "ledger_key_wrong");
}

#[test]
fn an_entry_that_was_changed_is_found_though_the_log_was_made_with_it() {
    let forged = |change: fn(&mut ClaimRevised)| {
        let mut other = Log::open(1);
        let room = other.open_room("prices");
        propose(&mut other, room, "ann");
        confirm(&mut other, room, "bob");
        let mut event = newest(&other);
        if let Event::Room(room::Event::Claim(claims::Event::Revised(revised))) = &mut event {
            change(revised);
        }
        let mut log = Log::open(1);
        log.open_room("prices");
        propose(&mut log, room, "ann");
        log.post(room, "ann", "at the moment of the other's confirmation");
        let stream = StreamId::Room(room);
        let seq = log.append(&event, stream, &Actor::Owner, "idem:1");
        (log, room, seq)
    };
    for (change, rule) in [
        (
            (|event| event.agent = agent("cid").into()) as fn(&mut ClaimRevised),
            "ledger_hash_wrong",
        ),
        (
            |event| event.kind = RevisionKind::Contradict,
            "ledger_hash_wrong",
        ),
        (
            |event| event.entry.row_hash = "00".repeat(32),
            "ledger_hash_wrong",
        ),
        (
            |event| event.entry.arbiter_sig = "00".repeat(64),
            "ledger_arbiter_invalid",
        ),
        (
            |event| event.entry.arbiter.truncate(2),
            "ledger_entry_malformed",
        ),
    ] {
        let (log, room, seq) = forged(change);
        for bundle in [log.bundle(), log.room_bundle(room)] {
            let report = check(&bundle, &log);
            assert_eq!(report.verdict, Verdict::Refuted, "{}", render(&report));
            let finding = &report.findings[0];
            assert_eq!((finding.rule, finding.seq), (Some(rule), Some(seq)));
        }
    }
}
