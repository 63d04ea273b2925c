//! The Python client's own tests, run against the real server.

use std::path::{Path, PathBuf};
use std::process::Command;

use minutebook_tests::http::Connection;
use minutebook_tests::server::Server;

use crate::support::{UNLIMITED, minutebook, options, patiently, start};

const NO_PYTHON: &str = "the client's tests need python3, version 3.9 or newer \
                         (on Debian: apt-get install python3 python3-cryptography)";

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python/tests")
}

/// Python without what the machine's environment would tell the client.
fn python(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .args(arguments)
        .current_dir(tests_folder());
    for name in ["MINUTEBOOK_KEY", "http_proxy", "HTTP_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command
}

/// Runs these test files; all of their tests must run, and pass.
fn passes(files: &[&str], server: &Server, key: Option<&str>) {
    let mut command = python(&["-m", "unittest"]);
    let url = format!("http://{}", server.http);
    command.args(files).env("MINUTEBOOK_URL", url);
    if let Some(key) = key {
        command.env("MINUTEBOOK_KEY", key);
    }
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{NO_PYTHON}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr);
    let ran = told.contains("\nRan ") && !told.contains("\nRan 0 tests");
    // A skipped test is named behind the OK.
    let whole = output.status.success() && ran && told.ends_with("\nOK\n");
    assert!(whole, "{NO_PYTHON}\n{told}");
}

#[test]
fn the_python_client_works_against_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    passes(
        &["test_offline", "test_transport", "test_rooms"],
        &server,
        None,
    );
}

#[test]
fn the_python_client_signs_and_checks_signatures() {
    let found = python(&["-c", "import cryptography"]).status();
    let is_there = found.is_ok_and(|status| status.success());
    assert!(is_there, "{NO_PYTHON}, and its package cryptography");
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    passes(&["test_signing"], &server, None);
}

#[test]
fn the_python_client_negotiates_and_shares_skills() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    passes(&["test_ledger", "test_skills"], &server, None);
}

#[test]
fn the_python_client_shows_its_key_to_its_own_server_only() {
    let folder = tempfile::tempdir().unwrap();
    start(folder.path()).terminate().unwrap();
    let data = folder.path().to_str().unwrap();
    let issue = [
        "keys", "issue", "--label", "client", "--scope", "agent", "--json", "--data", data,
    ];
    let output = patiently(|| {
        let output = minutebook(&issue);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(output).ok_or(told)
    });
    let issued: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let mut keyed = options(&UNLIMITED);
    keyed.args.push("--require-key".to_owned());
    let server = Server::start(&keyed, folder.path()).unwrap();
    passes(&["test_keys"], &server, issued["secret"].as_str());
}

#[test]
fn the_python_client_asks_once_where_waiting_does_not_help() {
    let folder = tempfile::tempdir().unwrap();
    let alone = options(&["--arbiter", "off", "--rooms-per-hour", "1"]);
    let server = Server::start(&alone, folder.path()).unwrap();
    let create = |more: &[&str]| {
        let mut command = python(&["../minutebook.py", "create", "x"]);
        let url = format!("http://{}", server.http);
        let output = command.args(more).env("MINUTEBOOK_URL", url).output();
        output.unwrap_or_else(|error| panic!("{NO_PYTHON}: {error}"))
    };
    let refused = create(&["--premium"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("not configured on this server"), "{told}");
    let mut connection = Connection::open(server.http).unwrap();
    let metrics = connection.send("GET", "/metrics", &[], None).unwrap();
    let metrics = metrics.text();
    let asked = metrics
        .lines()
        .find(|line| line.contains("/api/rooms\"") && line.contains("503"));
    assert!(asked.is_some_and(|line| line.ends_with(" 1")), "{metrics}");
    // And the address may still open its room.
    let opened = create(&[]);
    assert!(opened.status.success(), "{opened:?}");
}
