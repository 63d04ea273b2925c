//! Where a command writes: stdout for what was asked, stderr for the rest.

use std::io::{self, IsTerminal, Read, Write};

use serde_json::Value;

use super::{Exit, Failure};
use crate::offline::display::{printable, printable_json};

/// The streams, and what is behind them.
pub struct Terminal<'a> {
    input: Box<dyn Read + 'a>,
    out: Box<dyn Write + 'a>,
    err: Box<dyn Write + 'a>,
    /// Whether a person watches stderr, so that a bar may be drawn there.
    pub(super) has_bar: bool,
    /// Whether stdout is a screen.
    pub(super) is_screen: bool,
}

impl<'a> Terminal<'a> {
    /// The process's own.
    pub fn of_process() -> Self {
        Self {
            input: Box::new(io::stdin()),
            has_bar: io::stderr().is_terminal(),
            is_screen: io::stdout().is_terminal(),
            out: Box::new(io::BufWriter::new(io::stdout())),
            err: Box::new(io::stderr()),
        }
    }

    /// Two buffers, for tests.
    pub fn of_buffers(out: &'a mut Vec<u8>, err: &'a mut Vec<u8>) -> Self {
        Self {
            input: Box::new(io::empty()),
            out: Box::new(out),
            err: Box::new(err),
            has_bar: false,
            is_screen: false,
        }
    }

    /// With this as stdin.
    #[must_use]
    pub fn with_input(self, input: impl Read + 'a) -> Self {
        Self {
            input: Box::new(input),
            ..self
        }
    }

    /// What stdin says, up to a number of bytes and one more.
    pub(super) fn read_input(&mut self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let limit = u64::try_from(bytes_max)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        (&mut self.input).take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Text that is already safe, and an LF.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes)?)
    }

    /// JSON on one line.
    pub(crate) fn json_line(&mut self, value: &Value) -> Result<(), Failure> {
        self.line(&printable_json(&value.to_string()))
    }

    /// JSON for people who like it indented.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(Failure::error)?;
        self.line(&printable_json(&text))
    }

    /// A word about what is going on. Lost words do not stop the work.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Ends with a failure.
    pub(super) fn fail(&mut self, failure: &Failure) -> Exit {
        let _ = self.out.flush();
        if failure.is_closed_pipe {
            return Exit::Ok;
        }
        self.note(&format!("minutebook: {}", printable(&failure.message)));
        failure.exit
    }

    /// Ends with what clap has to say: help and versions are no errors.
    pub(super) fn clap(&mut self, error: &clap::Error) -> Exit {
        let text = error.render();
        if error.use_stderr() {
            let _ = write!(self.err, "{text}");
            return Exit::Usage;
        }
        let _ = write!(self.out, "{text}");
        let _ = self.out.flush();
        Exit::Ok
    }
}
