//! Writing a bundle: the same input gives the same bytes.

use std::io::{self, Write};

use super::manifest::Manifest;
use crate::format::{hash::Hash, json, limits::LINE_BYTES_MAX, record::Record};

/// Why a bundle could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Writing failed.
    #[error("writing failed: {0}")]
    Io(#[from] io::Error),
    /// A line holds strings, so what it holds must be UTF-8.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
    /// The line would be longer than readers accept.
    #[error("a bundle line of more than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// Fewer or more lines were written than the manifest promised.
    #[error(
        "the manifest promised {records} records and {checkpoints} checkpoints, \
         {records_written} and {checkpoints_written} were written"
    )]
    Counts {
        /// Promised.
        records: u64,
        /// Promised.
        checkpoints: u64,
        /// Written.
        records_written: u64,
        /// Written.
        checkpoints_written: u64,
    },
}

/// Appends a record line with its LF. On an error `out` is as it was before.
pub fn write_record_line(
    envelope: &[u8],
    body: Option<(&[u8; 32], &[u8])>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    check_utf8(envelope, "the envelope")?;
    let start = out.len();
    // A typical record grows by an eighth when its quotes are escaped.
    out.reserve(256 + (envelope.len() + body.map_or(0, |(_, b)| b.len())) * 9 / 8);
    out.extend_from_slice(b"{\"envelope\":\"");
    json::escape(envelope, out);
    if let Some((salt, body)) = body {
        if let Err(error) = check_utf8(body, "the body") {
            out.truncate(start);
            return Err(error);
        }
        out.extend_from_slice(b"\",\"salt\":\"");
        out.extend_from_slice(&Hash::new(*salt).to_hex());
        out.extend_from_slice(b"\",\"body\":\"");
        json::escape(body, out);
    }
    end_line(start, out)
}

/// Appends a checkpoint line with its LF. On an error `out` is as it was before.
pub fn write_checkpoint_line(note: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    write_text_line(b"{\"checkpoint\":\"", note, out)
}

/// Appends a receipt line with its LF. On an error `out` is as it was before.
pub fn write_receipt_line(proof: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    write_text_line(b"{\"receipt\":\"", proof, out)
}

fn write_text_line(begin: &[u8], text: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let start = out.len();
    out.extend_from_slice(begin);
    json::escape(text.as_bytes(), out);
    end_line(start, out)
}

fn end_line(start: usize, out: &mut Vec<u8>) -> Result<(), WriteError> {
    out.extend_from_slice(b"\"}");
    if out.len() - start > LINE_BYTES_MAX {
        out.truncate(start);
        return Err(WriteError::TooLong);
    }
    out.push(b'\n');
    Ok(())
}

fn check_utf8(bytes: &[u8], what: &'static str) -> Result<(), WriteError> {
    std::str::from_utf8(bytes)
        .map(|_| ())
        .map_err(|_| WriteError::NotUtf8(what))
}

/// Writes a bundle to `W`, which should be buffered or take large writes well: each line is one.
#[derive(Debug)]
pub struct BundleWriter<W> {
    inner: W,
    promised: (u64, u64),
    records: u64,
    checkpoints: u64,
    line: Vec<u8>,
}

impl<W: Write> BundleWriter<W> {
    /// Writes the manifest.
    pub fn new(mut inner: W, manifest: &Manifest) -> Result<Self, WriteError> {
        let mut line = Vec::new();
        manifest.write(&mut line);
        inner.write_all(&line)?;
        let promised = (manifest.records, manifest.checkpoints);
        Ok(Self {
            inner,
            promised,
            records: 0,
            checkpoints: 0,
            line,
        })
    }

    /// Writes a record.
    pub fn record(&mut self, record: &Record) -> Result<(), WriteError> {
        let body = record
            .body
            .as_ref()
            .map(|body| (&body.salt, body.bytes.as_slice()));
        self.record_parts(&record.envelope, body)
    }

    /// Writes a record from its parts.
    pub fn record_parts(
        &mut self,
        envelope: &[u8],
        body: Option<(&[u8; 32], &[u8])>,
    ) -> Result<(), WriteError> {
        self.line.clear();
        write_record_line(envelope, body, &mut self.line)?;
        self.records += 1;
        Ok(self.inner.write_all(&self.line)?)
    }

    /// Writes a checkpoint.
    pub fn checkpoint(&mut self, note: &str) -> Result<(), WriteError> {
        self.line.clear();
        write_checkpoint_line(note, &mut self.line)?;
        self.checkpoints += 1;
        Ok(self.inner.write_all(&self.line)?)
    }

    /// Writes a receipt.
    pub fn receipt(&mut self, proof: &str) -> Result<(), WriteError> {
        self.line.clear();
        write_receipt_line(proof, &mut self.line)?;
        Ok(self.inner.write_all(&self.line)?)
    }

    /// Flushes, after checking that the manifest told the truth.
    pub fn finish(mut self) -> Result<W, WriteError> {
        if (self.records, self.checkpoints) != self.promised {
            let (records, checkpoints) = self.promised;
            return Err(WriteError::Counts {
                records,
                checkpoints,
                records_written: self.records,
                checkpoints_written: self.checkpoints,
            });
        }
        self.inner.flush()?;
        Ok(self.inner)
    }
}
