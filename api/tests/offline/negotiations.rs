//! `replay`, `replay --step` and `bisect` about what is negotiated in a room.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use minutebook::cli::Exit;
use minutebook_domain::{
    room::claims::{self, ContextExtracted, Outcome, RecordDiscrepancy, RevisionKind, Severity},
    text::{DiscrepancyText, ModelName, Reason},
};
use serde_json::{Map, Value, json};

use crate::commands::ROOM_0;
use crate::harness::{Ran, TestLog, minutebook};

fn reading(message: u64, failed: Option<&str>) -> claims::Command {
    let is_read = failed.is_none();
    claims::Command::ExtractContext(ContextExtracted {
        adapter: ModelName::parse("rules").unwrap(),
        answer: is_read.then(|| "{}".to_owned()),
        failed: failed.map(|why| Reason::parse(why).unwrap()),
        message,
        model: ModelName::parse("builtin").unwrap(),
        outcome: if is_read {
            Outcome::Read
        } else {
            Outcome::Skipped
        },
        prompt_hash: "0".repeat(64),
        proposals: Vec::new(),
    })
}

fn note(what: &str) -> claims::Command {
    claims::Command::RecordDiscrepancy(RecordDiscrepancy {
        claim: None,
        description: DiscrepancyText::parse(what).unwrap(),
        severity: Severity::Low,
        source_msg_id: Some(2),
    })
}

/// Room 0: a price is proposed, agreed, disputed and agreed again; a colour is withdrawn; two shake
/// hands on what is left. Room 1 negotiates elsewhere.
fn negotiation() -> TestLog {
    let mut log = TestLog::new();
    log.open_room(0, true, Some("deal")); // 2
    log.open_room(1, false, None);
    log.post(0, "ann", "12 pieces at $8");
    log.post(0, "bob", "fine");
    log.claim(0, "ann", "Unit price", "$8"); // 6
    log.claim(0, "bob", "colour", "\u{1b}[31mred");
    log.claim(1, "eve", "Unit price", "$1");
    log.arbiter(0, reading(1, None)); // 9
    log.arbiter(0, reading(2, Some("no model puts it into English")));
    log.revise((0, 0), "bob", RevisionKind::Confirm, "$8"); // 11
    log.revise((0, 0), "cid", RevisionKind::Confirm, "$8"); // 12: agreed
    log.revise((0, 0), "bob", RevisionKind::Contradict, "$9"); // 13: disputed
    log.arbiter(0, note("12 or 13 pieces?")); // 14
    log.shake_hands(0, "cid", None); // 15
    log.revise((0, 0), "ann", RevisionKind::Update, "$9"); // 16
    log.revise((0, 0), "bob", RevisionKind::Confirm, "$9"); // 17
    log.revise((0, 0), "cid", RevisionKind::Confirm, "$9"); // 18: agreed again
    log.revise((0, 1), "bob", RevisionKind::Retract, "\u{1b}[31mred"); // 19
    log.shake_hands(0, "ann", None); // 20
    log.shake_hands(0, "bob", Some([5; 32])); // 21: sealed
    log.claim(0, "cid", "delivery", "1 May"); // 22: no longer
    log
}

fn run(args: &[&str]) -> Ran {
    let mut log = negotiation();
    minutebook(log.close(), args)
}

fn out(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    ran.out
}

#[test]
fn replay_shows_what_is_negotiated_in_a_room() {
    assert_snapshot!(out(&["replay", "--until", "14", "--room", ROOM_0]));
    assert_snapshot!(out(&["replay", "--until", "21", "--room", ROOM_0]));
    assert_snapshot!(out(&["replay", "--until", "22"]));
}

#[test]
fn replay_has_all_of_it_in_json() {
    let args = ["replay", "--until", "21", "--room", ROOM_0, "--json"];
    let moment: Value = serde_json::from_str(&out(&args)).unwrap();
    let mut room = moment["room"].clone();
    let fields = room.as_object_mut().unwrap();
    fields.retain(|key, _| {
        let whole = ["arbiter", "context_hash", "sealed", "threads"];
        whole.contains(&key.as_str()) || key.ends_with("_by_id") || key.ends_with("_by_n")
    });
    fields.remove("messages_by_n");
    assert_snapshot!(serde_json::to_string_pretty(&room).unwrap());
}

#[test]
fn replay_shows_how_a_ledger_changed_between_two_moments() {
    let args = ["replay", "--until", "12", "--diff", "19", "--room", ROOM_0];
    assert_snapshot!(out(&args));
}

#[test]
fn replay_steps_show_what_an_event_did_to_the_ledger() {
    let args = ["replay", "--step", "--from", "11", "--room", ROOM_0];
    assert_snapshot!(out(&args));
}

/// Takes a change of a step into the moment before it.
fn take_in(moment: &mut Value, change: &Value) {
    let path = change["path"].as_str().unwrap();
    let (parents, last) = path.rsplit_once('/').unwrap();
    let mut at = moment;
    for key in parents.split('/') {
        let fields = at.as_object_mut().unwrap();
        at = fields
            .entry(key)
            .or_insert_with(|| Value::Object(Map::new()));
    }
    let fields = at.as_object_mut().unwrap();
    let after = &change["after"];
    if after.is_null() && change["before"].is_object() {
        fields.remove(last);
    } else {
        fields.insert(last.to_owned(), after.clone());
    }
}

/// Steps leave out what changes with every event.
fn without_last_seqs(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.remove("last_seq");
        fields.values_mut().for_each(without_last_seqs);
    }
}

#[test]
fn the_steps_of_a_room_add_up_to_every_moment_of_it() {
    let mut log = negotiation();
    let dir = log.close();
    let room_at = |seq: &str| {
        let args = ["replay", "--until", seq, "--room", ROOM_0, "--json"];
        let moment: Value = serde_json::from_str(&minutebook(dir, &args).out).unwrap();
        let mut room = moment["room"].clone();
        without_last_seqs(&mut room);
        room
    };
    let step = [
        "replay", "--step", "--room", ROOM_0, "--from", "3", "--json",
    ];
    let mut sum = json!({"rooms": {ROOM_0: room_at("2")}});
    let mut looked_at = BTreeMap::new();
    for line in minutebook(dir, &step).out.lines() {
        let step: Value = serde_json::from_str(line).unwrap();
        for change in step["changes"].as_array().unwrap() {
            take_in(&mut sum, change);
        }
        let seq = step["seq"].to_string();
        assert_eq!(sum["rooms"][ROOM_0], room_at(&seq), "seq {seq}");
        *looked_at.entry(step["type"].to_string()).or_insert(0) += 1;
    }
    assert_eq!(looked_at.len(), 6, "{looked_at:?}");
}

fn assert_first(predicate: &str, seq: Option<u64>, log: &std::path::Path) {
    let args = ["bisect", "--room", ROOM_0, "--where", predicate, "--json"];
    let ran = minutebook(log, &args);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    let found = value["record"]["envelope"]["seq"].as_u64();
    assert_eq!(found, seq, "{predicate}: {}", ran.err);
}

#[test]
fn bisect_finds_when_something_was_agreed_disputed_or_sealed() {
    let mut log = negotiation();
    let id = {
        let args = ["replay", "--until", "6", "--room", ROOM_0, "--json"];
        let moment: Value = serde_json::from_str(&out(&args)).unwrap();
        let threads = moment["room"]["threads_by_id"].as_object().unwrap();
        threads.keys().next().unwrap().clone()
    };
    let dir = log.close();
    for (predicate, seq) in [
        ("threads >= 1", Some(6)),
        ("threads = 3", Some(22)),
        ("threads > 3", None),
        ("handshakes >= 2", Some(20)),
        ("discrepancies >= 1", Some(13)),
        ("discrepancies >= 2", Some(14)),
        (
            "discrepancies = 1 and thread \"Unit price\" agreed",
            Some(18),
        ),
        ("sealed", Some(21)),
        ("handshakes >= 3 and not sealed", Some(22)),
        ("thread \"Unit price\" proposed", Some(6)),
        ("thread unit-price agreed", Some(12)),
        ("thread unit-price disputed", Some(13)),
        (&format!("thread {id} disputed"), Some(13)),
        ("thread colour cancelled", Some(19)),
        ("thread \"unit price\" agreed", None),
        ("thread weight proposed", None),
        ("not thread weight proposed", Some(2)),
        ("thread unit-price = $9", Some(16)),
        ("thread unit-price != $8", Some(16)),
        ("thread weight != $8", None),
        (
            "thread unit-price = $9 and thread unit-price agreed",
            Some(18),
        ),
        ("thread delivery contains May", Some(22)),
        ("thread unit-price = $1", None),
    ] {
        assert_first(predicate, seq, dir);
    }
}

#[test]
fn bisect_knows_nothing_of_the_ledger_of_an_erased_room() {
    let mut log = negotiation();
    log.erase_room(0);
    let dir = log.close();
    for (predicate, seq) in [
        ("room.erased and threads = 0 and handshakes = 0", Some(23)),
        ("room.erased and discrepancies = 0 and not sealed", Some(23)),
        ("thread unit-price agreed", None),
        ("threads >= 1", None),
    ] {
        assert_first(predicate, seq, dir);
    }
    for args in [
        &["replay", "--until", "21", "--room", ROOM_0][..],
        &["replay", "--until", "22"],
        &["replay", "--step"],
    ] {
        let ran = minutebook(dir, args);
        assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
        assert!(!ran.out.contains("$9"), "{}", ran.out);
    }
}
