//! The command line: arguments, files and exit codes. Nothing here decides what is true.

mod args;
mod compare;
mod tamper;
mod verify;

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser as _;
use minutebook_verifier::render::neutralise;

use args::{Action, Args};

/// `EX_USAGE`: the command line makes no sense.
const EXIT_USAGE: u8 = 64;
/// `EX_DATAERR`: an input cannot be read as what it should be.
const EXIT_UNREADABLE: u8 = 65;

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let usage = error.use_stderr();
            // Nothing is left to do when even this cannot be printed.
            let _ = error.print();
            return ExitCode::from(if usage { EXIT_USAGE } else { 0 });
        }
    };
    let outcome = match args.action {
        Some(Action::Compare(args)) => compare::run(&args),
        Some(Action::Tamper(args)) => tamper::run(&args),
        None => verify::run(&args.verify),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let code = if error.is::<Usage>() {
                EXIT_USAGE
            } else {
                EXIT_UNREADABLE
            };
            let text = neutralise(&format!("{error:#}"));
            let _ = writeln!(io::stderr(), "minutebook-verify: {text}");
            ExitCode::from(code)
        }
    }
}

/// An error of the command line rather than of an input.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Prints to stdout. A reader that went away is no error.
fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Opens a file, or standard input for `-`, and its size when known.
fn open(path: &Path) -> anyhow::Result<(Box<dyn Read>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let meta = file
        .metadata()
        .with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(!meta.is_dir(), "{} is a directory", path.display());
    Ok((Box::new(file), meta.is_file().then_some(meta.len())))
}

/// Reads a small text file whole; a larger one is refused before it fills memory.
fn read_small(path: &Path, bytes_max: usize) -> anyhow::Result<Vec<u8>> {
    let (reader, _) = open(path)?;
    let mut bytes = Vec::new();
    reader
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        bytes.len() <= bytes_max,
        "{} is longer than {bytes_max} bytes",
        path.display()
    );
    Ok(bytes)
}
