//! Bundles: a log or a room as one NDJSON file.
//!
//! Invariants
//! * Only LF ends a line, every line ends with one, and no line is longer than 1 MiB.
//! * A line has exactly one spelling: what [`parse_line`] accepts, the writer would write again,
//!   byte for byte. So a changed byte is a changed value or an error, never neither.
//! * Reading needs memory for one line.

mod line;
mod manifest;
mod reader;
mod writer;

pub use line::{BodyLine, Line, LineError, RecordLine, parse_line};
pub use manifest::{FORMAT, Kind, Manifest};
pub use reader::{BundleError, BundleReader, LineReader, ReadError};
pub use writer::{
    BundleWriter, WriteError, write_checkpoint_line, write_receipt_line, write_record_line,
};

#[cfg(test)]
mod tests;
