//! Where the programs under test are, and one-line ways to start them.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use minutebook_eventlog::store::fjall::{
    FjallReader, FjallStore, FjallWriter, Options as StoreOptions,
};
use minutebook_tests::server::{Options, Server};

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
