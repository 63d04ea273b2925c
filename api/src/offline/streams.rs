//! Streams read as a whole, and where they end.

use minutebook_eventlog::{
    format::record::Record,
    store::{LogReader, StoreError},
};

use super::OfflineError;
pub use crate::engine::last_position;
use crate::generations::OwnedFact;

/// Records read at a time.
const PAGE: usize = 256;

/// The records of the stream `log` up to this seq: the opening and every key rotation.
pub fn epoch_records(reader: &dyn LogReader, until: u64) -> Result<Vec<(u64, Record)>, StoreError> {
    stream_records(reader, "log", until)
}

/// A short stream's facts up to this seq.
pub fn stream_facts(
    reader: &dyn LogReader,
    stream: &str,
    until: u64,
) -> Result<Vec<OwnedFact>, OfflineError> {
    stream_records(reader, stream, until)?
        .iter()
        .map(|(seq, record)| {
            OwnedFact::decode(record)
                .map_err(|reason| OfflineError::Damaged(format!("seq {seq}: {reason}")))
        })
        .collect()
}

fn stream_records(
    reader: &dyn LogReader,
    stream: &str,
    until: u64,
) -> Result<Vec<(u64, Record)>, StoreError> {
    let mut records = Vec::new();
    let mut next = 1;
    loop {
        let page = reader.read_stream(stream, next, PAGE)?;
        let is_last = page.len() < PAGE || page.iter().any(|(seq, _)| *seq > until);
        next += page.len() as u64;
        records.extend(page.into_iter().filter(|(seq, _)| *seq <= until));
        if is_last {
            return Ok(records);
        }
    }
}
