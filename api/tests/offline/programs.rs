//! `serve`, `demo` and `sign`: what they refuse before they touch anything, and what they print.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use minutebook::cli::{self, Exit};

use crate::commands::ROOM_0;
use crate::harness::minutebook;

#[test]
fn a_message_to_sign_is_read_from_stdin_without_its_last_line_break() {
    let dir = tempfile::tempdir().unwrap();
    let key = dir.path().join("bob.key");
    let key = key.to_str().unwrap();
    let sign = |input: &[u8]| {
        let args = [
            "minutebook",
            "sign",
            "--key-file",
            key,
            "--agent",
            "bob",
            "--room",
            ROOM_0,
            "-",
        ];
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut terminal = cli::Terminal::of_buffers(&mut out, &mut err).with_input(input);
        let exit = cli::run(args, &mut terminal);
        drop(terminal);
        (
            exit,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    };
    let text = |input: &[u8]| -> serde_json::Value {
        let (exit, out, err) = sign(input);
        assert_eq!(exit, Exit::Ok, "{err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["text"].clone()
    };
    assert_eq!(text(b"two\nlines\n"), "two\nlines");
    assert_eq!(text(b"-"), "-");
    assert!(sign(b"\xff").2.contains("not UTF-8"));
    assert!(
        sign(&vec![b'x'; 64 * 1024 + 1])
            .2
            .contains("longer than a message")
    );
}

/// The program itself, where what matters is the process: its mask, its environment, its signals.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_minutebook"));
    command
        .args(args)
        .stderr(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn assert_private(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} {mode:o}", entry.path().display());
        if entry.file_type().unwrap().is_dir() {
            assert_private(&entry.path());
        }
    }
}

#[test]
fn what_a_server_makes_is_private_and_a_readable_directory_is_pointed_out() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let data = dir.path().to_str().unwrap();
    let mut server = program(&["serve", "--data", data, "--http", "127.0.0.1:0"])
        .spawn()
        .unwrap();
    let mut ready = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut ready).unwrap();
    assert!(ready.starts_with("ready "), "{ready}");
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = server.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{err}");
    assert!(
        err.contains("can be read by others (mode 755): chmod go="),
        "{err}"
    );
    assert_private(dir.path());
}

#[test]
fn a_bad_variable_is_named() {
    for (name, value) in [
        ("MINUTEBOOK_HTTP", "nonsense"),
        ("MINUTEBOOK_ORIGIN", "a b"),
        ("MINUTEBOOK_REQUIRE_KEY", "perhaps"),
        ("MINUTEBOOK_ROOMS_PER_HOUR", "-1"),
        ("MINUTEBOOK_TRUSTED_PROXY", "10.0.0.0/8,x"),
        ("MINUTEBOOK_LOG_FORMAT", "xml"),
    ] {
        let ran = program(&["serve", "--data", "/nonexistent/minutebook"])
            .env(name, value)
            .output()
            .unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(64), "{name}: {err}");
        assert!(err.contains(&format!("variable {name}")), "{name}: {err}");
    }
}

#[test]
fn a_refused_serve_leaves_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (args, exit) in [
        (&["serve", "--http", "nonsense"][..], Exit::Usage),
        (&["serve", "--http", "0.0.0.0:0"], Exit::Usage),
        (&["serve", "--http", "192.0.2.1:0", "--open"], Exit::Usage),
        (&["serve", "--origin", ""], Exit::Usage),
        (&["serve", "--origin", "a+b"], Exit::Usage),
        (&["serve", "--http", &taken], Exit::Error),
    ] {
        let ran = minutebook(&data, args);
        assert_eq!(ran.exit, exit, "{args:?}: {}", ran.err);
        assert!(!data.exists(), "{args:?}");
    }
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for mode in [0o770, 0o777, 0o702] {
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
        let ran = minutebook(dir.path(), &["serve", "--http", "127.0.0.1:0"]);
        assert_eq!(ran.exit, Exit::Error, "{mode:o}: {}", ran.err);
        assert!(ran.err.contains("chmod go-w"), "{}", ran.err);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn the_demo_tells_its_story_in_words_or_in_json_and_only_in_an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let keep = [
        "minutebook",
        "demo",
        "--json",
        "--keep",
        kept.to_str().unwrap(),
    ];
    let run = |args: &[&str]| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = cli::run(args, &mut cli::Terminal::of_buffers(&mut out, &mut err));
        (
            exit,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    };
    let (exit, out, err) = run(&keep);
    assert_eq!(exit, Exit::Ok, "{err}");
    let story: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(story["verified"]["verdict"], "CLEAN");
    assert_eq!(story["tampered_verified"]["verdict"], "REFUTED");
    assert_eq!(
        story["tampered_verified"]["first_bad_seq"],
        story["tampering"]["seq"]
    );
    assert_eq!(story["messages"][1]["agent_id"], "bob");
    assert!(kept.join("log.ndjson").exists());
    let (exit, out, err) = run(&keep);
    assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{err}");
    assert!(err.contains("is not empty"), "{err}");
    let (exit, out, err) = run(&["minutebook", "demo"]);
    assert_eq!(exit, Exit::Ok, "{err}");
    assert!(out.starts_with("1. A server listens on"), "{out}");
}
