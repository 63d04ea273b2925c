//! `replay --step` and `bisect`: the past, event by event.

use std::path::Path;

use insta::assert_snapshot;
use minutebook::cli::Exit;

use crate::commands::{ROOM_0, out};
use crate::harness::{TestLog, minutebook};

#[test]
fn replay_steps_through_events_with_what_each_changed() {
    assert_snapshot!(out(&["replay", "--step"]));
    assert_snapshot!(out(&[
        "replay", "--step", "--room", ROOM_0, "--from", "3", "--until", "6"
    ]));
    let json = out(&["replay", "--step", "--from", "6", "--until", "7", "--json"]);
    let steps: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0]["seq"], 6);
    let message = steps[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["path"].as_str().unwrap().ends_with("/messages_by_n/2"))
        .unwrap();
    assert_eq!(message["after"]["text"], "\u{1b}[2Jcleared?");
    assert_eq!(message["before"], serde_json::Value::Null);
}

#[test]
fn the_steps_between_two_moments_add_up_to_their_difference() {
    let value = |args: &[&str]| -> Vec<serde_json::Value> {
        let text = out(args);
        let values = serde_json::Deserializer::from_str(&text).into_iter();
        values.map(Result::unwrap).collect()
    };
    let diff = value(&["replay", "--until", "4", "--diff", "7", "--json"]).remove(0);
    let steps = value(&["replay", "--step", "--from", "5", "--until", "7", "--json"]);
    let changes = |of: &serde_json::Value, key: &str| of[key].as_array().unwrap().clone();
    let mut last = std::collections::BTreeMap::new();
    for change in steps.iter().flat_map(|step| changes(step, "changes")) {
        last.insert(change["path"].to_string(), change["after"].clone());
    }
    let mut compared = 0;
    for change in changes(&diff, "differences") {
        let path = change["path"].as_str().unwrap();
        // A step leaves out what changes with every event.
        if path.starts_with("rooms/") && !path.ends_with("/last_seq") {
            assert_eq!(
                last.get(&change["path"].to_string()),
                Some(&change["after"]),
                "{path}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 4, "only {compared}");
}

/// In room 0 ann and bob join, they talk, ann leaves and comes back, it is renamed and closed.
fn eventful() -> TestLog {
    let mut log = TestLog::new();
    log.open_room(1, false, None);
    log.open_room(0, true, Some("lobby"));
    log.join(0, "ann");
    log.join(0, "bob");
    log.post(0, "ann", "one");
    log.post(1, "eve", "elsewhere");
    log.leave(0, "ann");
    log.post(0, "bob", "two");
    log.join(0, "ann");
    log.rename(0, Some("the \"den\""));
    log.close_room(0);
    log
}

fn assert_first(dir: &Path, predicate: &str, seq: Option<u64>) {
    let args = ["bisect", "--room", ROOM_0, "--where", predicate, "--json"];
    let ran = minutebook(dir, &args);
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let found = value["record"]["envelope"]["seq"].as_u64();
    assert_eq!(found, seq, "{predicate}");
    let exit = if seq.is_some() { Exit::Ok } else { Exit::Error };
    assert_eq!(ran.exit, exit, "{predicate}: {}", ran.err);
}

#[test]
fn bisect_knows_of_an_erased_room_what_is_left_of_it() {
    let mut log = eventful();
    log.erase_room(0);
    let dir = log.close();
    for (predicate, seq) in [
        ("room.open", Some(3)),
        ("room.erased", Some(13)),
        ("room.erased and messages = 2 and members = 0", Some(13)),
        ("room.erased and member ann", None),
        ("name = lobby", None),
    ] {
        assert_first(dir, predicate, seq);
    }
}

#[test]
fn bisect_finds_the_first_event_after_which_a_predicate_holds() {
    let mut log = eventful();
    let dir = log.close();
    for (predicate, seq) in [
        ("room.open", Some(3)),
        ("room.public and members >= 1", Some(4)),
        ("members >= 2", Some(5)),
        ("members >= 2 and messages >= 2", Some(10)),
        ("not member ann and messages > 0", Some(8)),
        ("message 1 exists", Some(6)),
        ("message 2 exists or members = 2", Some(5)),
        ("messages = 2", Some(9)),
        ("message 3 exists", None),
        ("message 0 exists", None),
        ("name = lobby", Some(3)),
        ("name != lobby", Some(11)),
        (r#"name = "the \"den\"""#, Some(11)),
        ("name contains den", Some(11)),
        ("description contains \"about 0\"", Some(3)),
        ("agents >= 2", Some(9)),
        ("room.closed", Some(12)),
        ("room.erased", None),
        ("not room.open and not room.closed", None),
    ] {
        assert_first(dir, predicate, seq);
    }
    let early = [
        "bisect",
        "--room",
        ROOM_0,
        "--where",
        "room.closed",
        "--until",
        "11",
    ];
    assert_eq!(minutebook(dir, &early).exit, Exit::Error);
    let ran = minutebook(dir, &["bisect", "--room", ROOM_0, "--where", "members = 2"]);
    assert_eq!(
        ran.out,
        "seq 5  2026-11-30T12:00:05.000000Z  room.joined  agent:bob  bob\n"
    );
}
