//! Where the programs under test are, and one-line ways to start them.

use std::path::Path;
use std::process::{Command, Output};

use minutebook_tests::server::{Options, Server};

/// Limits lifted, as most tests want it.
pub(crate) const UNLIMITED: [&str; 4] = ["--rooms-per-hour", "0", "--messages-per-room", "0"];

/// The server program with these arguments.
pub(crate) fn options(args: &[&str]) -> Options {
    Options {
        program: env!("CARGO_BIN_EXE_mb-server").into(),
        leading: Vec::new(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
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
