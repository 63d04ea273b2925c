//! Which stored bodies an erasure takes with it. They go in the erasure's own commit.

use minutebook_domain::{Event, EventKind, Fact, What, room};
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::store::{Commit, LogReader, StoreError};

/// Records looked at per read.
const PAGE: usize = 1024;

/// Adds the seqs whose bodies this event erases, both stored ones and ones of this very commit.
pub(super) fn collect(
    reader: &dyn LogReader,
    fact: &Fact<'_>,
    commit: &mut Commit,
) -> Result<(), StoreError> {
    let What::Present(Event::Room(event)) = fact.what else {
        return Ok(());
    };
    let (first, last, all) = match event {
        room::Event::BodiesErased(range) => (range.first, range.last, false),
        room::Event::Erased(_) => (1, fact.sseq.saturating_sub(1), true),
        room::Event::Opened(_)
        | room::Event::Renamed(_)
        | room::Event::Joined(_)
        | room::Event::Left(_)
        | room::Event::MessagePosted(_)
        | room::Event::Closed(_)
        | room::Event::Claim(_) => return Ok(()),
    };
    let stream = fact.stream.to_string();
    stored(reader, &stream, first..=last, all, &mut commit.erase)?;
    for new in commit.records.iter_mut().filter(|new| new.stream == stream) {
        if (first..=last).contains(&new.sseq) && (all || is_message(&new.record.envelope)) {
            new.record.body = None;
        }
    }
    Ok(())
}

fn stored(
    reader: &dyn LogReader,
    stream: &str,
    range: std::ops::RangeInclusive<u64>,
    all: bool,
    erase: &mut Vec<u64>,
) -> Result<(), StoreError> {
    let mut next = *range.start();
    while next <= *range.end() {
        let left = usize::try_from(range.end() - next + 1).unwrap_or(PAGE);
        // Without the bodies: they may be large, and are not looked at.
        let page = reader.read_stream_envelopes(stream, next, left.min(PAGE))?;
        if page.is_empty() {
            break;
        }
        next += page.len() as u64;
        let gone = page
            .iter()
            .filter(|(_, envelope)| all || is_message(envelope));
        erase.extend(gone.map(|(seq, _)| *seq));
    }
    Ok(())
}

fn is_message(envelope: &[u8]) -> bool {
    Envelope::parse(envelope)
        .ok()
        .and_then(|envelope| EventKind::parse(&envelope.kind, envelope.v))
        == Some(EventKind::MessagePosted)
}
