//! Reading a bundle line by line with a bound on memory.

use std::io::{self, BufRead};

use super::{
    line::{Line, LineError, parse_line},
    manifest::Manifest,
};
use crate::format::limits::LINE_BYTES_MAX;

/// Splits a stream into lines. Only LF ends a line; a last line without one is an error.
#[derive(Debug)]
pub struct LineReader<R> {
    inner: R,
    number: u64,
}

/// Why the next line could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed.
    #[error("reading failed: {0}")]
    Io(#[from] io::Error),
    /// The line is too long. It was skipped; the next one can be read.
    #[error("line {line} is longer than {LINE_BYTES_MAX} bytes")]
    TooLong {
        /// Which, from 1.
        line: u64,
    },
    /// The stream ends in the middle of a line.
    #[error("line {line} has no end: the file was cut")]
    Unterminated {
        /// Which, from 1.
        line: u64,
    },
}

impl<R: BufRead> LineReader<R> {
    /// Reads lines from here.
    pub const fn new(inner: R) -> Self {
        Self { inner, number: 0 }
    }

    /// Appends the next line, without its LF, to `buffer`. Gives the line's number, from 1, or
    /// none at the end. After an error `buffer` is as it was before.
    pub fn read_into(&mut self, buffer: &mut Vec<u8>) -> Result<Option<u64>, ReadError> {
        let start = buffer.len();
        let result = self.append_line(buffer, start);
        if result.is_err() {
            buffer.truncate(start);
        }
        result
    }

    fn append_line(
        &mut self,
        buffer: &mut Vec<u8>,
        start: usize,
    ) -> Result<Option<u64>, ReadError> {
        let mut too_long = false;
        let mut empty = true;
        loop {
            let available = match self.inner.fill_buf() {
                Ok(available) => available,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            };
            if available.is_empty() {
                return if empty {
                    Ok(None)
                } else {
                    Err(self.unterminated(too_long))
                };
            }
            if empty {
                self.number += 1;
                empty = false;
            }
            let end = memchr::memchr(b'\n', available);
            let part = available
                .get(..end.unwrap_or(available.len()))
                .unwrap_or(available);
            too_long |= buffer.len() - start + part.len() > LINE_BYTES_MAX;
            if !too_long {
                buffer.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.inner.consume(used);
            if end.is_some() {
                let line = self.number;
                return if too_long {
                    Err(ReadError::TooLong { line })
                } else {
                    Ok(Some(line))
                };
            }
        }
    }

    fn unterminated(&self, too_long: bool) -> ReadError {
        let line = self.number;
        if too_long {
            ReadError::TooLong { line }
        } else {
            ReadError::Unterminated { line }
        }
    }
}

/// Why a bundle, or one of its lines, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Reading failed.
    #[error("reading failed: {0}")]
    Io(#[from] io::Error),
    /// The file is no bundle: its first line is not a manifest.
    #[error("not a bundle: {0}")]
    NotABundle(String),
    /// A line is bad. The next one can be read.
    #[error("line {line}: {error}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// What is wrong with it.
        error: LineError,
    },
    /// A second manifest.
    #[error("line {line}: a second manifest")]
    SecondManifest {
        /// Which, from 1.
        line: u64,
    },
    /// The file ends in the middle of a line.
    #[error("line {line} has no end: the file was cut")]
    Unterminated {
        /// Which, from 1.
        line: u64,
    },
}

impl BundleError {
    /// Whether there is nothing to judge: no bundle, or no way to read it. Everything else is
    /// damage to a bundle.
    pub const fn is_unreadable(&self) -> bool {
        match self {
            Self::Io(_) | Self::NotABundle(_) => true,
            Self::Line { .. } | Self::SecondManifest { .. } | Self::Unterminated { .. } => false,
        }
    }
}

impl From<ReadError> for BundleError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(e) => Self::Io(e),
            ReadError::TooLong { line } => Self::Line {
                line,
                error: LineError::TooLong,
            },
            ReadError::Unterminated { line } => Self::Unterminated { line },
        }
    }
}

/// Reads a bundle: the manifest at opening, then line after line.
#[derive(Debug)]
pub struct BundleReader<R> {
    lines: LineReader<R>,
    manifest: Manifest,
    buffer: Vec<u8>,
}

impl<R: BufRead> BundleReader<R> {
    /// Reads the manifest. Whatever is wrong with the first line, it is not a bundle.
    pub fn open(inner: R) -> Result<Self, BundleError> {
        let mut lines = LineReader::new(inner);
        let mut buffer = Vec::new();
        match lines.read_into(&mut buffer) {
            Ok(Some(_)) => {}
            Ok(None) => return Err(BundleError::NotABundle("the file is empty".to_owned())),
            Err(ReadError::Io(e)) => return Err(BundleError::Io(e)),
            Err(other) => return Err(BundleError::NotABundle(other.to_string())),
        }
        match parse_line(&buffer) {
            Ok(Line::Manifest(manifest)) => Ok(Self {
                lines,
                manifest,
                buffer,
            }),
            Ok(Line::Record(_) | Line::Checkpoint(_) | Line::Receipt(_)) => Err(
                BundleError::NotABundle("the first line is not a manifest".to_owned()),
            ),
            Err(error) => Err(BundleError::NotABundle(format!("line 1: {error}"))),
        }
    }

    /// What the first line says.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The next line with its number (the manifest is 1), or none at the end. After a bad line
    /// the next one can be read; after `Io` and `Unterminated` there is none.
    pub fn next_line(&mut self) -> Option<Result<(u64, Line<'_>), BundleError>> {
        self.buffer.clear();
        let line = match self.lines.read_into(&mut self.buffer) {
            Ok(Some(line)) => line,
            Ok(None) => return None,
            Err(error) => return Some(Err(error.into())),
        };
        Some(match parse_line(&self.buffer) {
            Ok(Line::Manifest(_)) => Err(BundleError::SecondManifest { line }),
            Ok(parsed) => Ok((line, parsed)),
            Err(error) => Err(BundleError::Line { line, error }),
        })
    }

    /// The lines behind the manifest, unparsed: for readers that parse on several threads.
    pub fn into_lines(self) -> (Manifest, LineReader<R>) {
        (self.manifest, self.lines)
    }
}
