//! Where a command writes: stdout for what was asked, stderr for the rest.

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use super::{Exit, Failure};
use crate::offline::display::{printable, printable_json};

/// The two streams, and what is behind them.
pub struct Terminal<'a> {
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
            has_bar: io::stderr().is_terminal(),
            is_screen: io::stdout().is_terminal(),
            out: Box::new(io::BufWriter::new(io::stdout())),
            err: Box::new(io::stderr()),
        }
    }

    /// Two buffers, for tests.
    pub fn of_buffers(out: &'a mut Vec<u8>, err: &'a mut Vec<u8>) -> Self {
        Self {
            out: Box::new(out),
            err: Box::new(err),
            has_bar: false,
            is_screen: false,
        }
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
