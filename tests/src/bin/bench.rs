//! `cargo run --release -p minutebook-tests --bin bench -- post`: the benches of BENCHMARKS.md.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use minutebook_tests::bench::post::{self, Load};
use minutebook_tests::bench::{engine, get, million, sse, thread, verify_room};
use minutebook_tests::server::Options;

/// As in the server's own `main`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    /// Where to put the data directories (default: a temporary folder).
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// POST messages over many keep-alive connections.
    Post {
        /// Keep-alive connections.
        #[arg(long, default_value_t = 64)]
        connections: usize,
        /// Rooms.
        #[arg(long, default_value_t = 100)]
        rooms: usize,
        /// Seconds.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Bytes of text in a message.
        #[arg(long, default_value_t = 200)]
        bytes: usize,
    },
    /// GET messages: pages of a hundred, and polls that find nothing.
    Get {
        /// Keep-alive connections.
        #[arg(long, default_value_t = 16)]
        connections: usize,
        /// Seconds for each of the three.
        #[arg(long, default_value_t = 5)]
        seconds: u64,
    },
    /// A long thread of revisions: appended to, read whole and in pages.
    Thread {
        /// How many revisions.
        #[arg(long, default_value_t = 2000)]
        revisions: u64,
    },
    /// One sender, many followers.
    Sse {
        /// Followers that read.
        #[arg(long, default_value_t = 1000)]
        followers: usize,
        /// Messages sent one after the other.
        #[arg(long, default_value_t = 200)]
        messages: u64,
    },
    /// A million messages: memory, start, export, verify, rebuild.
    Million {
        /// How many messages.
        #[arg(long, default_value_t = 1_000_000)]
        messages: u64,
    },
    /// A process of its own for the verifier's figures.
    #[command(hide = true)]
    VerifyChild {
        /// Threads.
        threads: usize,
        /// The arbiter's key.
        vkey: String,
        /// The bundle.
        bundle: PathBuf,
    },
    /// Verifying a room with a long ledger, in the server's CPU time.
    VerifyRoom {
        /// Threads.
        #[arg(long, default_value_t = 1000)]
        threads: u64,
        /// Revisions of each, the opening included.
        #[arg(long, default_value_t = 10)]
        revisions: u64,
    },
    /// The engine alone, against a bare loop over the same bytes.
    Engine {
        /// Batches of 256 messages.
        #[arg(long, default_value_t = 1000)]
        batches: usize,
        /// Bytes of text in a message.
        #[arg(long, default_value_t = 200)]
        bytes: usize,
    },
}

fn main() -> ExitCode {
    // The benches start the server from this very program.
    let first = std::env::args().nth(1);
    if first.is_some_and(|word| ["serve", "log", "projections"].contains(&word.as_str())) {
        return minutebook::cli::main();
    }
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = arguments
        .folder
        .unwrap_or_else(|| temporary.path().to_owned());
    let options = Options {
        program: std::env::current_exe().context("own path")?,
        leading: Vec::new(),
        args: ["--rooms-per-hour", "0", "--messages-per-room", "0"]
            .map(str::to_owned)
            .to_vec(),
        http: None,
    };
    match arguments.bench {
        Bench::Post {
            connections,
            rooms,
            seconds,
            bytes,
        } => {
            let load = Load {
                connections,
                rooms,
                seconds,
                bytes,
                messages: None,
            };
            post::run(&options, &folder, &load)
        }
        Bench::Get {
            connections,
            seconds,
        } => get::run(&options, &folder, connections, seconds),
        Bench::Thread { revisions } => thread::run(&options, &folder, revisions),
        Bench::Sse {
            followers,
            messages,
        } => sse::run(&options, &folder, followers, messages),
        Bench::Million { messages } => million::run(&options, &folder, messages),
        Bench::VerifyChild {
            threads,
            vkey,
            bundle,
        } => million::verify_child(threads, &vkey, &bundle),
        Bench::VerifyRoom { threads, revisions } => {
            verify_room::run(&options, &folder, threads, revisions)
        }
        Bench::Engine { batches, bytes } => engine::run(&folder, batches, bytes),
    }
}
