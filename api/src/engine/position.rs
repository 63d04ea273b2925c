//! From a place in the log to a place in a stream.

use minutebook_eventlog::store::{LogReader, StoreError};

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
