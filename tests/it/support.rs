//! Where the programs under test are, and one-line ways to start them.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use minutebook_eventlog::store::fjall::{
    FjallReader, FjallStore, FjallWriter, Options as StoreOptions,
};
use minutebook_tests::server::{Options, Server};
use serde_json::Value;

/// Limits lifted, as most tests want it.
pub(crate) const UNLIMITED: [&str; 6] = [
    "--rooms-per-hour",
    "0",
    "--messages-per-room",
    "0",
    "--skills-per-hour",
    "0",
];

/// The server program with these arguments.
pub(crate) fn options(args: &[&str]) -> Options {
    Options {
        program: env!("CARGO_BIN_EXE_mb-server").into(),
        leading: Vec::new(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        http: None,
    }
}

/// A server with its limits lifted.
pub(crate) fn start(data: &Path) -> Server {
    Server::start(&options(&UNLIMITED), data).unwrap()
}

/// Runs an offline command of the server program.
pub(crate) fn minutebook(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mb-server"))
        .args(args)
        .output()
        .unwrap()
}

/// Runs the offline verifier.
pub(crate) fn verify(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mb-verify"))
        .args(args)
        .output()
        .unwrap()
}

/// Tries again while this very process holds the lock it has let go of: a child that another test
/// is starting has it until the child's program runs.
pub(crate) fn patiently<T, E: std::fmt::Debug>(
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let pid = std::process::id().to_string();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match attempt() {
            Err(error) if format!("{error:?}").contains(&pid) && Instant::now() < until => {
                std::thread::yield_now();
            }
            done => return done,
        }
    }
}

/// Opens a real store, as soon as this process has let go of it everywhere.
pub(crate) fn open_store(data: &Path) -> (FjallWriter, Arc<FjallReader>) {
    patiently(|| FjallStore::open(data, &StoreOptions::default())).unwrap()
}

/// Makes something and returns what is answered.
pub(crate) fn post(server: &Server, path: &str, body: &Value) -> Value {
    let answer = server.json("POST", path, Some(body)).unwrap();
    assert_eq!(answer.status, 201, "{path}: {}", answer.text());
    answer.json()
}

/// The log's newest key.
pub(crate) fn vkey(server: &Server) -> String {
    let answer = server.json("GET", "/api/arbiter/pubkey", None).unwrap();
    answer.json()["vkey"].as_str().unwrap().to_owned()
}

/// Copies a directory.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
