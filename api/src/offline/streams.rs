//! Streams read as a whole, and where they end.

use minutebook_eventlog::{
    format::record::Record,
    store::{LogReader, StoreError},
};

use super::OfflineError;
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

/// The last position of a stream whose seq is not beyond `until`; 0 if there is none.
pub fn last_position(reader: &dyn LogReader, stream: &str, until: u64) -> Result<u64, StoreError> {
    let is_there = |sseq: u64| -> Result<bool, StoreError> {
        let page = reader.read_stream(stream, sseq, 1)?;
        Ok(page.first().is_some_and(|(seq, _)| *seq <= until))
    };
    if !is_there(1)? {
        return Ok(0);
    }
    let (mut low, mut high) = (1, 2);
    while is_there(high)? {
        low = high;
        high = high.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_there(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
