//! The log as facts: reading and decoding on a thread of their own, folding on the caller's.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use minutebook_domain::{
    Event, EventKind, Fact, What, actor::Actor, ids::StreamId, time::Timestamp,
};
use minutebook_eventlog::{
    format::{envelope::Envelope, record::Record},
    store::LogReader,
};

use super::GenerationError;

/// Records read at a time; also the rows' batch, and so the distance of progress marks.
pub(super) const PAGE_RECORDS: usize = 4096;

/// Pages read ahead of the fold.
const PAGES_AHEAD: usize = 2;

/// A fact that owns its parts.
#[derive(Clone, Debug)]
pub struct OwnedFact {
    /// Position in the log.
    pub seq: u64,
    /// Its stream.
    pub stream: StreamId,
    /// Position in its stream.
    pub sseq: u64,
    /// Who acted.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// What kind of event.
    pub kind: EventKind,
    /// The event, unless its body is gone.
    pub event: Option<Event>,
    /// Length of its body.
    pub body_bytes: usize,
}

impl OwnedFact {
    /// Decodes a record; the error says what does not.
    pub fn decode(record: &Record) -> Result<Self, String> {
        let envelope = Envelope::parse(&record.envelope).map_err(|error| error.to_string())?;
        let kind = EventKind::parse(&envelope.kind, envelope.v).ok_or_else(|| {
            format!(
                "this program does not know {} v{}",
                envelope.kind, envelope.v
            )
        })?;
        let event = record
            .body
            .as_ref()
            .map(|body| Event::decode(kind, &body.bytes));
        let unreadable = |what: &str| format!("its {what} cannot be read");
        Ok(Self {
            seq: envelope.seq,
            stream: StreamId::parse(&envelope.stream).ok_or_else(|| unreadable("stream"))?,
            sseq: envelope.sseq,
            actor: Actor::parse(&envelope.actor).ok_or_else(|| unreadable("actor"))?,
            at: Timestamp::parse(&envelope.at).ok_or_else(|| unreadable("time"))?,
            kind,
            event: event.transpose().map_err(|error| error.to_string())?,
            body_bytes: record.body.as_ref().map_or(0, |body| body.bytes.len()),
        })
    }

    /// As rules and folds see it.
    pub fn fact(&self) -> Fact<'_> {
        Fact {
            seq: self.seq,
            stream: self.stream,
            sseq: self.sseq,
            actor: &self.actor,
            at: self.at,
            what: self
                .event
                .as_ref()
                .map_or(What::Erased(self.kind), What::Present),
        }
    }
}

type Page = Result<Vec<OwnedFact>, GenerationError>;

/// Hands the facts of `first..=last` to `visit`, a page at a time, in order and without a gap.
/// An error from `visit` ends the reading.
pub fn each_fact(
    reader: &dyn LogReader,
    first: u64,
    last: u64,
    mut visit: impl FnMut(&[OwnedFact]) -> Result<(), GenerationError>,
) -> Result<(), GenerationError> {
    std::thread::scope(|scope| {
        let (pages, read) = sync_channel(PAGES_AHEAD);
        let (used, spent) = channel();
        scope.spawn(move || read_pages(reader, first, last, &pages, &spent));
        // Leaving early drops the receiver, and with it the reading thread's loop.
        take_pages(&read, &used, &mut visit)
    })
}

/// Pages go back to the thread that made them: it has time to spare, and memory is cheaper to
/// free where it was allocated.
fn take_pages(
    pages: &Receiver<Page>,
    used: &Sender<Vec<OwnedFact>>,
    visit: &mut impl FnMut(&[OwnedFact]) -> Result<(), GenerationError>,
) -> Result<(), GenerationError> {
    for page in pages {
        let page = page?;
        visit(&page)?;
        // At the end nobody takes it: then it is dropped here.
        drop(used.send(page));
    }
    Ok(())
}

fn read_pages(
    reader: &dyn LogReader,
    first: u64,
    last: u64,
    pages: &SyncSender<Page>,
    spent: &Receiver<Vec<OwnedFact>>,
) {
    let mut next = first;
    while next <= last {
        spent.try_iter().for_each(drop);
        let left = usize::try_from(last - next + 1).unwrap_or(usize::MAX);
        let page = read_page(reader, next, left.min(PAGE_RECORDS));
        let is_error = page.is_err();
        next += page.as_ref().map_or(0, |page| page.len() as u64);
        if pages.send(page).is_err() || is_error {
            return;
        }
    }
}

fn read_page(reader: &dyn LogReader, first: u64, limit: usize) -> Page {
    let damaged = |seq, reason| GenerationError::Damaged { seq, reason };
    let records = reader.read(first, limit)?;
    if records.is_empty() {
        return Err(damaged(first, "the record is missing".to_owned()));
    }
    let mut facts = Vec::with_capacity(records.len());
    for (expected, (seq, record)) in (first..).zip(&records) {
        let fact = OwnedFact::decode(record).map_err(|reason| damaged(expected, reason))?;
        if *seq != expected || fact.seq != expected {
            return Err(damaged(expected, "the record is missing".to_owned()));
        }
        facts.push(fact);
    }
    Ok(facts)
}
