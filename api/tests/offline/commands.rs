//! What the commands print, on a log with fixed bytes. The snapshots are the promise to scripts.

use insta::assert_snapshot;
use minutebook::cli::Exit;
use minutebook_eventlog::store::{META_SPACE, RowOp};

use crate::harness::{Ran, Raw, TestLog, minutebook, room_id, small};

pub(crate) const ROOM_0: &str = "a0000000-0000-4000-8000-000000000000";

/// Runs a command on the small log.
fn run(args: &[&str]) -> Ran {
    let mut log = small();
    minutebook(log.close(), args)
}

pub(crate) fn out(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    ran.out
}

fn refused(args: &[&str], exit: Exit, message: &str) {
    let ran = run(args);
    assert_eq!(ran.exit, exit, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(message), "{}", ran.err);
    assert!(ran.out.is_empty(), "{}", ran.out);
}

#[test]
fn log_show_says_everything_about_a_record() {
    assert_snapshot!(out(&["log", "show", "6"]));
    assert_snapshot!(out(&["log", "show", "5"]));
}

#[test]
fn log_show_in_json_has_the_signed_keys() {
    let value: serde_json::Value =
        serde_json::from_str(&out(&["log", "show", "6", "--json"])).unwrap();
    assert_eq!(value["envelope"]["seq"], 6);
    assert_eq!(value["body"]["text"], "\u{1b}[2Jcleared?");
    assert_eq!(value["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn log_tail_shows_the_newest_and_neutralises_what_they_say() {
    let shown = out(&["log", "tail"]);
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert_snapshot!(shown);
}

#[test]
fn log_tail_filters_by_room_and_type() {
    assert_snapshot!(out(&["log", "tail", "--room", ROOM_0, "-n", "2"]));
    assert_snapshot!(out(&["log", "tail", "--type", "room.opened", "-n", "2"]));
    let json = out(&["log", "tail", "--type", "room.message_posted", "--json"]);
    assert_eq!(json.lines().count(), 4);
}

#[test]
fn log_tail_finds_rare_records_far_back() {
    let mut log = TestLog::new();
    log.open_room(0, true, None);
    log.talk(1, 3000);
    let ran = minutebook(
        log.close(),
        &["log", "tail", "--type", "room.opened", "--json"],
    );
    assert_eq!(ran.out.lines().count(), 1);
}

#[test]
fn replay_shows_the_rooms_at_a_moment() {
    assert_snapshot!(out(&["replay", "--until", "4"]));
    assert_snapshot!(out(&["replay", "--until", "10"]));
    assert_snapshot!(out(&["replay", "--until", "0"]));
}

#[test]
fn replay_shows_a_room_with_agents_and_messages() {
    assert_snapshot!(out(&["replay", "--until", "10", "--room", ROOM_0]));
    let early = out(&["replay", "--until", "1", "--room", ROOM_0]);
    assert!(early.ends_with("the room was not there yet\n"), "{early}");
}

#[test]
fn replay_shows_what_changed_between_two_moments() {
    let forth = out(&["replay", "--until", "5", "--diff", "7", "--room", ROOM_0]);
    let back = out(&["replay", "--until", "7", "--diff", "5", "--room", ROOM_0]);
    assert_eq!(forth, back);
    assert_snapshot!(forth);
    let json = out(&["replay", "--until", "5", "--diff", "7", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["from"], &value["to"]), (&5.into(), &7.into()));
}

#[test]
fn projections_are_shown_checked_rebuilt_and_switched() {
    let mut log = small();
    let dir = log.close();
    let step = |args: &[&str]| {
        let ran = minutebook(dir, args);
        assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
        ran.out
    };
    let all = [
        step(&["projections", "status"]),
        step(&["projections", "check"]),
        step(&["projections", "rebuild"]),
        step(&["projections", "status"]),
        step(&["projections", "use", "rooms", "1"]),
        step(&["projections", "use", "rooms", "1"]),
        step(&["projections", "rebuild", "history", "--json"]),
    ];
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_difference_is_exit_code_2_and_says_what_to_do() {
    let mut log = small();
    let dir = log.close();
    let raw = Raw::open(dir);
    let space = raw.access.reader.space("history.g1").unwrap();
    let row = RowOp {
        space,
        key: vec![9],
        value: Some(vec![9]),
    };
    raw.access.maintenance.append_rows(vec![row]).unwrap();
    drop(raw);
    let check = minutebook(dir, &["projections", "check"]);
    assert_eq!(check.exit, Exit::Differences);
    let rebuild = minutebook(dir, &["projections", "rebuild"]);
    assert_eq!(rebuild.exit, Exit::Differences);
    assert_snapshot!(format!("{}\n{}", check.out, rebuild.out));
    let accepted = minutebook(
        dir,
        &["projections", "rebuild", "history", "--accept-difference"],
    );
    assert_eq!(accepted.exit, Exit::Ok, "{}", accepted.err);
}

#[test]
fn export_writes_a_bundle_to_stdout_or_a_new_file() {
    let mut log = small();
    let dir = log.close().to_owned();
    let ran = minutebook(&dir, &["log", "export"]);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    let path = dir.join("log.ndjson");
    let file = path.to_str().unwrap();
    let ran_file = minutebook(&dir, &["log", "export", "-o", file]);
    assert_eq!(ran_file.exit, Exit::Ok, "{}", ran_file.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), ran.out);
    let again = minutebook(&dir, &["log", "export", "-o", file]);
    assert_eq!(again.exit, Exit::Error);
    assert!(again.err.contains("exists; --force"), "{}", again.err);
    let forced = minutebook(
        &dir,
        &["log", "export", "--room", ROOM_0, "-o", file, "--force"],
    );
    assert_eq!(forced.exit, Exit::Ok, "{}", forced.err);
    let room = std::fs::read_to_string(&path).unwrap();
    assert!(room.starts_with("{\"manifest\":") && room.contains(&room_id(0).to_string()));
    assert!(!dir.join("log.ndjson.partial").exists());
}

#[test]
fn keys_are_issued_listed_and_revoked() {
    let mut log = small();
    let dir = log.close();
    let issue = [
        "keys", "issue", "--label", "audit", "--scope", "auditor", "--json",
    ];
    let issued = minutebook(dir, &issue);
    assert_eq!(issued.exit, Exit::Ok, "{}", issued.err);
    let issued: serde_json::Value = serde_json::from_str(&issued.out).unwrap();
    let (key, secret) = (
        issued["key"].as_str().unwrap(),
        issued["secret"].as_str().unwrap(),
    );
    assert!(secret.starts_with("mb_") && secret.len() == 67, "{secret}");
    let list = minutebook(dir, &["keys", "list"]);
    assert!(
        list.out.contains(key) && list.out.contains("auditor"),
        "{}",
        list.out
    );
    let revoked = minutebook(dir, &["keys", "revoke", key, "--reason", "lost"]);
    assert_eq!(
        (revoked.exit, revoked.out),
        (Exit::Ok, format!("{key} is revoked\n"))
    );
    let again = minutebook(dir, &["keys", "revoke", key, "--reason", "lost"]);
    assert_eq!(again.exit, Exit::Error, "{}", again.out);
    let list = minutebook(dir, &["keys", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
    assert!(list["keys"][0]["revoked_at"].is_string(), "{list}");
    let log = minutebook(dir, &["log", "export"]);
    assert!(!log.out.contains(secret), "the secret is not in the log");
}

#[test]
fn agents_keys_are_enrolled_listed_and_revoked() {
    let mut log = small();
    let dir = log.close();
    let key = "D27D5787D3FDE65F753D5C5462D40FD5EC5AEF1284B566144BB6BFFD94615366";
    let enrolled = minutebook(dir, &["agents", "enrol", "ann", key]);
    assert_eq!(enrolled.exit, Exit::Ok, "{}", enrolled.err);
    let list = minutebook(dir, &["agents", "list"]);
    assert!(
        list.out.contains(&key.to_lowercase()) && list.out.contains("ann"),
        "{}",
        list.out
    );
    let revoked = minutebook(dir, &["agents", "revoke", "ann", key, "--reason", "stolen"]);
    assert_eq!(revoked.exit, Exit::Ok, "{}", revoked.err);
    let list = minutebook(dir, &["agents", "list", "--json"]);
    assert!(list.out.contains("revoked_at"), "{}", list.out);
}

#[test]
fn a_directory_in_use_is_refused_with_its_holder() {
    let mut log = small();
    let dir = log.close().to_owned();
    let _raw = Raw::open(&dir);
    for (args, route) in [
        (&["projections", "status"][..], "GET /metrics"),
        (&["log", "tail"], "GET /api/events follows"),
        (
            &["log", "tail", "--room", ROOM_0],
            "GET /api/events?room_id=a0000000-",
        ),
        (&["log", "show", "7"], "GET /api/events?since=6"),
        (&["log", "export"], "GET /api/log/bundle gives"),
        (
            &["log", "export", "--room", ROOM_0],
            "GET /api/log/bundle?room=a0000000-",
        ),
        (&["replay", "--until", "1"], "GET /api/log/bundle"),
        (&["keys", "list"], "GET /api/keys"),
        (&["agents", "list"], "GET /api/agents/{name}/keys"),
    ] {
        let ran = minutebook(&dir, args);
        assert!(ran.err.contains(route), "{}", ran.err);
        assert_eq!(ran.exit, Exit::Unavailable, "{}", ran.err);
        let pid = std::process::id().to_string();
        assert!(
            ran.err.contains(&pid) && ran.err.contains("stop that server"),
            "{}",
            ran.err
        );
    }
    let issue = minutebook(&dir, &["keys", "issue", "--label", "x", "--scope", "agent"]);
    assert_eq!(issue.exit, Exit::Unavailable);
    assert!(issue.err.contains("POST /api/keys"), "{}", issue.err);
}

#[test]
fn a_directory_without_a_log_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none");
    let ran = minutebook(&missing, &["log", "tail"]);
    assert_eq!(ran.exit, Exit::Error);
    assert!(ran.err.contains("there is no log in"), "{}", ran.err);
    assert!(!missing.exists());
}

#[test]
fn damaged_data_is_exit_code_65() {
    let mut log = small();
    let dir = log.close();
    let raw = Raw::open(dir);
    let meta = raw.access.reader.space(META_SPACE).unwrap();
    let key = b"projection/rooms".to_vec();
    let row = RowOp {
        space: meta,
        key,
        value: Some(b"{".to_vec()),
    };
    raw.access.maintenance.append_rows(vec![row]).unwrap();
    drop(raw);
    let ran = minutebook(dir, &["projections", "status"]);
    assert_eq!(ran.exit, Exit::Damaged, "{}", ran.err);
}

#[test]
fn a_wrong_command_line_is_exit_code_64() {
    for (args, message) in [
        (&["nonsense"][..], "unrecognized subcommand"),
        (&["log", "show", "0"], "0 is not in"),
        (&["log", "show"], "SEQ"),
        (
            &["log", "tail", "--type", "room.exploded"],
            "the types are: log.opened,",
        ),
        (
            &["log", "tail", "--room", "LOBBY"],
            "a room is named by its UUID",
        ),
        (
            &["projections", "rebuild", "cats"],
            "the projections are: rooms, history",
        ),
        (
            &["keys", "issue", "--label", "x", "--scope", "god"],
            "the scopes are:",
        ),
        (&["agents", "enrol", "ann", "12"], "64 hex digits"),
        (&["replay"], "--until"),
        (
            &["replay", "--step", "--from", "5", "--until", "4"],
            "nothing between",
        ),
        (&["replay", "--until", "5", "--from", "4"], "--step"),
        (
            &["bisect", "--room", ROOM_0, "--where", "cats = 3"],
            "at \"cats\": expected room.open",
        ),
        (&["serve", "--http", "example.org:1"], "it takes IP:PORT"),
        (
            &["serve", "--http", "192.0.2.1:1", "--open"],
            "cannot listen on 192.0.2.1:1",
        ),
        (
            &["serve", "--origin", "a b"],
            "a log's origin is the name of its key",
        ),
        (&["serve", "--open", "--require-key"], "contradict"),
    ] {
        refused(args, Exit::Usage, message);
    }
}

#[test]
fn what_is_not_there_is_exit_code_1() {
    let other = "a0000000-0000-4000-8000-00000000ffff";
    for (args, message) in [
        (
            &["log", "show", "11"][..],
            "there is no seq 11: the log ends at 10",
        ),
        (
            &["replay", "--until", "11"],
            "there is no seq 11: the log ends at 10",
        ),
        (
            &["replay", "--step", "--until", "11"],
            "there is no seq 11: the log ends at 10",
        ),
        (
            &["bisect", "--room", other, "--where", "room.open"],
            "there is no room",
        ),
        (
            &["bisect", "--room", ROOM_0, "--where", "room.closed"],
            "it holds after none of the room's 4 records up to seq 10",
        ),
        (&["replay", "--step", "--room", other], "there is no room"),
        (&["log", "export", "-o", "/"], "/ is a directory"),
        (&["log", "tail", "--room", other], "there is no room"),
        (&["log", "export", "--room", other], "there is no room"),
        (
            &["projections", "use", "rooms", "7"],
            "rooms has no generation 7",
        ),
    ] {
        refused(args, Exit::Error, message);
    }
}

#[test]
fn an_empty_text_or_label_is_refused() {
    let mut log = small();
    let dir = log.close().to_owned();
    let ran = minutebook(
        &dir,
        &["keys", "issue", "--label", "", "--scope", "auditor"],
    );
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
    assert!(ran.err.contains("--label is empty"), "{}", ran.err);
    let key = dir.join("bob.key");
    let key = key.to_str().unwrap();
    let sign = [
        "sign",
        "--key-file",
        key,
        "--agent",
        "bob",
        "--room",
        ROOM_0,
        "",
    ];
    let ran = run(&sign);
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
    assert!(ran.err.contains("the text is empty"), "{}", ran.err);
}

#[test]
fn a_directory_in_the_place_of_a_key_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = minutebook::engine::keyfile::read(dir.path()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("is a directory"), "{text}");
    assert!(text.contains(&dir.path().display().to_string()), "{text}");
}

#[test]
fn completions_are_printed() {
    let ran = run(&["completions", "bash"]);
    assert!(ran.out.contains("_minutebook()"), "{}", ran.err);
}
