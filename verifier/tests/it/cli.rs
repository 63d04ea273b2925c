//! The program: exit codes, files and output.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::support::{Log, eventful};

/// A directory with an eventful log's files in it.
struct Desk {
    dir: TempDir,
    key: String,
    log: Log,
}

impl Desk {
    fn new() -> Self {
        let (log, room, _) = eventful();
        let desk = Self {
            dir: TempDir::new().unwrap(),
            key: log.vkey(),
            log,
        };
        desk.put("log", &desk.log.bundle());
        desk.put("room", &desk.log.room_bundle(room));
        desk.put("checkpoint", desk.log.checkpoint().as_bytes());
        desk.put("receipt", desk.log.receipt(3).as_bytes());
        desk.put("key", &[2; 32]);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_minutebook-verify"));
        command.args(args).current_dir(self.dir.path());
        command
    }

    #[track_caller]
    fn exits(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}\n{text}\n{errors}"
        );
        text + &errors
    }
}

#[test]
fn exit_codes_tell_clean_refuted_inconclusive_usage_and_unreadable_apart() {
    let desk = Desk::new();
    let key = &*desk.key;
    desk.put("empty", b"");
    desk.put("garbage", b"\xff\xfe\x00");
    desk.put("policy", b"log nonsense\n");
    desk.put("vkey", format!("{key}\n").as_bytes());
    for (code, args) in [
        (0, &["log", "--key", key][..]),
        (0, &["room", "--key", key, "--quiet", "--threads", "1"]),
        (
            0,
            &[
                "log",
                "--key",
                key,
                "--anchor",
                "checkpoint",
                "--receipt",
                "receipt",
            ],
        ),
        (0, &["--selftest"]),
        (0, &["--help"]),
        (0, &["tamper", "--list"]),
        (2, &["empty", "--key", key]),
        (65, &["garbage", "--key", key]),
        (65, &["checkpoint", "--key", key]),
        (65, &["absent", "--key", key]),
        (65, &[".", "--key", key]),
        (65, &["log", "--policy", "policy"]),
        (65, &["log", "--policy", "absent"]),
        (65, &["log", "--key", key, "--anchor", "log"]),
        (65, &["log", "--key", key, "--receipt", "checkpoint"]),
        (65, &["log", "--key", key, "--state", "log"]),
        (64, &[]),
        (64, &["log"]),
        (64, &["log", "--key", "nonsense"]),
        (0, &["log", "--key", "vkey"]),
        (64, &["log", "--key", "key"]),
        (65, &["log", "--key", "garbage"]),
        (65, &["log", "--key", "policy"]),
        (64, &["log", "--key", key, "--policy", "policy"]),
        (64, &["log", "--key", key, "--threads", "0"]),
        (64, &["tamper", "nonsense", "log", "bad"]),
        (64, &["tamper", "edit-payload", "log", "./log"]),
        (64, &["tamper", "rewrite", "log", "bad"]),
    ] {
        desk.exits(code, args);
    }
}

#[test]
fn a_tampered_copy_is_refuted_and_json_says_where() {
    let desk = Desk::new();
    desk.exits(0, &["tamper", "edit-payload", "log", "bad", "--seq", "12"]);
    let json = desk.exits(1, &["bad", "--key", &desk.key, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["verdict"], "REFUTED");
    assert_eq!(report["exit"], 1);
    assert_eq!(report["first_bad_seq"], 12);
    assert_eq!(report["findings"][0]["name"], "body_mismatch");
    assert_eq!(report["findings"][0]["seq"], 12);
    assert_eq!(report["tool"]["name"], "minutebook-verify");
    let hash = report["tool"]["binary_hash"].as_str().unwrap();
    assert!(hash.starts_with("sha256:"), "{hash}");
    desk.exits(0, &["tamper", "rewrite", "log", "bad", "--key-file", "key"]);
    desk.exits(0, &["bad", "--key", &desk.key]);
    let text = desk.exits(1, &["bad", "--key", &desk.key, "--anchor", "checkpoint"]);
    assert!(text.starts_with("REFUTED"), "{text}");
    assert!(text.contains("fork"), "{text}");
}

#[test]
fn standard_input_is_read_and_forks_are_proven_in_a_file() {
    let desk = Desk::new();
    let mut child = desk
        .command(&["-", "--key", &desk.key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&desk.log.bundle())
        .unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    let key = &*desk.key;
    desk.exits(0, &["compare", "log", "receipt", "--key", key]);
    desk.exits(0, &["tamper", "fork", "log", "other", "--key-file", "key"]);
    desk.exits(
        1,
        &["compare", "log", "other", "--key", key, "--out", "proof"],
    );
    let text = desk.exits(1, &["compare", "--check", "proof", "--key", key]);
    assert!(text.starts_with("FORK PROVEN"), "{text}");
    desk.exits(65, &["compare", "--check", "log", "--key", key]);
    desk.exits(64, &["compare", "log", "--key", key]);
}

/// A report's lines by their label.
fn line<'a>(report: &'a str, label: &str) -> &'a str {
    report
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(label))
        .unwrap_or_else(|| panic!("no {label} in {report}"))
        .trim()
}

#[test]
fn a_second_run_says_what_was_verified_earlier_and_what_now() {
    let mut desk = Desk::new();
    let key = desk.key.clone();
    let run = |desk: &Desk, bundle| desk.exits(0, &[bundle, "--key", &key, "--state", "state"]);
    let size = desk.log.size();
    let first = run(&desk, "log");
    assert!(
        line(&first, "checked").starts_with(&format!("{size} records, ")),
        "{first}"
    );
    let same = run(&desk, "log");
    let earlier = format!("{size} records verified by an earlier run (--state)");
    assert!(line(&same, "earlier").starts_with(&earlier), "{same}");
    assert!(
        line(&same, "earlier").ends_with(&format!("{size} records found unchanged here by hash"))
    );
    assert!(
        line(&same, "now").starts_with("0 records verified"),
        "{same}"
    );

    let room = desk.log.open_room("later");
    desk.log.post(room, "ann", "later");
    desk.put("log", &desk.log.bundle());
    desk.put("rest", &desk.log.bundle_from(size + 1));
    fs::copy(desk.path("state"), desk.path("kept")).unwrap();
    let more = run(&desk, "log");
    assert_eq!(
        line(&more, "now"),
        "2 records verified: 1 message, 1 agent, 0 agent signatures"
    );
    let together = line(&more, "together");
    assert!(
        together.starts_with(&format!("{} records, 3 rooms, ", size + 2)),
        "{more}"
    );
    assert!(together.ends_with(": the verdict is on both"), "{more}");
    fs::copy(desk.path("kept"), desk.path("state")).unwrap();
    let rest = run(&desk, "rest");
    assert!(
        line(&rest, "earlier").ends_with("they are not in this bundle"),
        "{rest}"
    );
    assert!(
        line(&rest, "together").starts_with(&format!("{} records, ", size + 2)),
        "{rest}"
    );
}

#[test]
fn findings_come_before_what_is_not_proven_and_point_at_nothing_that_is_not_there() {
    let desk = Desk::new();
    desk.exits(0, &["tamper", "edit-payload", "log", "bad"]);
    let text = desk.exits(1, &["bad", "--key", &desk.key]);
    let place = |heading: &str| text.find(&format!("\n{heading}\n")).unwrap();
    assert!(place("Findings") < place("Not proven"), "{text}");
    assert!(!text.contains("below"), "{text}");
}

#[test]
fn a_state_file_is_written_when_clean_and_used_the_next_time() {
    let mut desk = Desk::new();
    let trusted = |desk: &Desk, code, bundle: &str| {
        let args = [bundle, "--key", &desk.key, "--state", "state", "--json"];
        let json = desk.exits(code, &args);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        report["counts"]["events_trusted"].as_u64().unwrap()
    };
    assert_eq!(trusted(&desk, 0, "log"), 0);
    let size = desk.log.size();
    let room = desk.log.open_room("later");
    desk.log.post(room, "ann", "later");
    desk.put("log", &desk.log.bundle());
    desk.put("rest", &desk.log.bundle_from(size + 1));
    let before = fs::read(desk.path("state")).unwrap();
    desk.exits(0, &["tamper", "edit-payload", "log", "bad", "--seq", "5"]);
    assert_eq!(
        trusted(&desk, 1, "bad"),
        size,
        "an old body is matched again"
    );
    assert!(
        fs::read(desk.path("state")).unwrap() == before,
        "not saved unless clean"
    );
    assert_eq!(trusted(&desk, 0, "rest"), 0);
    assert_eq!(trusted(&desk, 0, "log"), size + 2);
    assert!(!Path::exists(&desk.path("state.new")));
}

#[test]
fn a_key_that_is_neither_a_vkey_nor_a_file_is_named() {
    let desk = Desk::new();
    let output = desk.run(&["log", "--key", "nofile"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no such file either: nofile"), "{text}");
}
