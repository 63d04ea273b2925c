//! The log read one record after the other, all of it or one room's.

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::{format::record::Record, store::LogReader};

use super::OfflineError;
use crate::generations::OwnedFact;

/// Records read at a time.
const PAGE: usize = 1024;

/// Hands the records up to seq `until` to `visit`, in order; an error from it ends the walk.
pub(super) fn each_record<E: From<OfflineError>>(
    reader: &dyn LogReader,
    room: Option<RoomId>,
    until: u64,
    mut visit: impl FnMut(&OwnedFact, &Record) -> Result<(), E>,
) -> Result<(), E> {
    let stream = room.map(|room| format!("room/{room}"));
    let mut next = 1;
    loop {
        let page = match &stream {
            Some(stream) => reader.read_stream(stream, next, PAGE),
            None => reader.read(next, PAGE),
        };
        let page = page.map_err(OfflineError::from)?;
        for (seq, record) in &page {
            if *seq > until {
                return Ok(());
            }
            let fact = OwnedFact::decode(record)
                .map_err(|reason| OfflineError::Damaged(format!("seq {seq}: {reason}")))?;
            visit(&fact, record)?;
        }
        if page.len() < PAGE {
            return Ok(());
        }
        next += page.len() as u64;
    }
}
