//! A repeated command's answer, rendered from the events it made the first time.

use minutebook_domain::Event;
use minutebook_eventlog::store::LogReader;

use super::commit::Outcome;
use super::types::{Committed, CommittedEvent, SubmitError};
use crate::generations::OwnedFact;

/// The answer to a command that was done before.
pub(super) fn committed(reader: &dyn LogReader, first: u64, count: u32) -> Outcome {
    let page = reader
        .read(first, count as usize)
        .map_err(|_| SubmitError::Stopped)?;
    let events = page
        .into_iter()
        .map(|(_, record)| OwnedFact::decode(&record).map(CommittedEvent::from))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| SubmitError::Stopped)?;
    Ok(Committed {
        events,
        replayed: true,
    })
}

/// The event at a place in the log; none beyond its end, or when its body was erased.
pub fn event_at(reader: &dyn LogReader, seq: u64) -> Result<Option<Event>, SubmitError> {
    let mut events = committed(reader, seq, 1)?.events;
    Ok(events.pop().and_then(|event| event.event))
}

impl From<OwnedFact> for CommittedEvent {
    fn from(fact: OwnedFact) -> Self {
        let OwnedFact {
            seq,
            stream,
            sseq,
            at,
            event,
            ..
        } = fact;
        Self {
            seq,
            stream,
            sseq,
            at,
            event,
        }
    }
}
