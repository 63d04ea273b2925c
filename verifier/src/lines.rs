//! Lines, as text and as what they hold.
//!
//! Invariant: what a bundle could not hold is found out as if it had been written, so a verdict
//! does not depend on which way a record came.

use std::io;

use minutebook_eventlog::format::{
    bundle::{Line, RecordLine, parse_line, write_record_line},
    limits::{ENVELOPE_BYTES_MAX, LINE_BYTES_MAX},
};

use crate::{
    chunks::Shape,
    finding::Code,
    options::Lines,
    prepare::{Item, Preparer, SaltedBody},
};

/// A body up to this, beside the longest envelope, fits a line however much of it is escaped.
const SMALL_BYTES_MAX: usize = 64 * 1024;

/// A source of lines, and how much came out of it.
#[derive(Debug)]
pub(crate) struct Unwritten<L> {
    lines: L,
    bytes_read: u64,
}

impl<L: Lines> Unwritten<L> {
    pub(crate) fn new(lines: L) -> Self {
        let bytes_read = 0;
        Self { lines, bytes_read }
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<Line<'static>>>> {
        let lines = self.lines.next_lines()?;
        let bytes: usize = lines.iter().flatten().map(bytes).sum();
        self.bytes_read += bytes as u64;
        Ok(lines)
    }
}

fn bytes(line: &Line<'_>) -> usize {
    match line {
        Line::Record(record) => {
            let body = record.body.as_ref();
            record.envelope.len() + body.map_or(0, |body| body.bytes.len())
        }
        Line::Checkpoint(text) | Line::Receipt(text) => text.len(),
        Line::Manifest(_) => 0,
    }
}

/// Whether a record, written as a line, would be read as it is. The few of which that is not
/// plain are better written.
fn is_plainly_a_line(record: &RecordLine<'_>) -> bool {
    let body = record.body.as_ref().map_or(&[][..], |body| &body.bytes);
    record.envelope.len() <= ENVELOPE_BYTES_MAX
        && body.len() <= SMALL_BYTES_MAX
        && std::str::from_utf8(&record.envelope).is_ok()
        && std::str::from_utf8(body).is_ok()
}

fn salted<'r>(record: &'r RecordLine<'_>) -> Option<SaltedBody<'r>> {
    let body = record.body.as_ref();
    body.map(|body| (&body.salt, &*body.bytes))
}

impl Preparer {
    /// Prepares a block.
    pub(crate) fn block(&mut self, block: &[u8], shape: Shape, items: &mut Vec<Item>) {
        match shape {
            Shape::TooLong => {
                let text = format!("the line is longer than {LINE_BYTES_MAX} bytes");
                items.push(Item::Bad(Code::LineTooLong, text));
            }
            Shape::Unterminated => {
                let text = "the last line does not end with a line feed: the file was cut";
                items.push(Item::Bad(Code::LineUnreadable, text.to_owned()));
            }
            Shape::Lines => {
                let mut start = 0;
                for end in memchr::memchr_iter(b'\n', block) {
                    items.push(self.line(block.get(start..end).unwrap_or_default()));
                    start = end + 1;
                }
            }
        }
    }

    /// Prepares one line, without its LF.
    fn line(&mut self, line: &[u8]) -> Item {
        if line.len() > LINE_BYTES_MAX {
            let text = format!("the line is longer than {LINE_BYTES_MAX} bytes");
            return Item::Bad(Code::LineTooLong, text);
        }
        match parse_line(line) {
            Ok(Line::Record(record)) => self.record_line(&record),
            Ok(Line::Manifest(manifest)) => self.manifest(manifest),
            Ok(Line::Checkpoint(text)) => Item::Checkpoint(text.into_owned()),
            Ok(Line::Receipt(text)) => Item::Receipt(text.into_owned()),
            Err(error) => Item::Bad(Code::LineUnreadable, error.to_string()),
        }
    }

    /// Prepares a line that was never written.
    pub(crate) fn unwritten(&mut self, line: Line<'_>) -> Item {
        match line {
            Line::Record(record) if is_plainly_a_line(&record) => self.record_line(&record),
            Line::Record(record) => self.written(&record),
            Line::Manifest(manifest) => self.manifest(manifest),
            Line::Checkpoint(text) => Item::Checkpoint(text.into_owned()),
            Line::Receipt(text) => Item::Receipt(text.into_owned()),
        }
    }

    /// Writes a record's line, and reads that.
    fn written(&mut self, record: &RecordLine<'_>) -> Item {
        let mut line = Vec::new();
        match write_record_line(&record.envelope, salted(record), &mut line) {
            Ok(()) => self.line(line.strip_suffix(b"\n").unwrap_or(&line)),
            Err(error) => Item::Bad(Code::LineUnreadable, error.to_string()),
        }
    }

    fn record_line(&mut self, record: &RecordLine<'_>) -> Item {
        self.record(&record.envelope, salted(record))
    }
}
