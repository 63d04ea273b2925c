//! Followers: cursors over the log with a "head moved" signal; none has a queue of its own, so a
//! slow reader costs nothing and loses nothing.
//!
//! The order that leaves no gap: subscribe to the signal, then read the backlog, then wait. A
//! record that becomes durable in between is either in the backlog or wakes the follower.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use minutebook_domain::EventKind;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_eventlog::format::{envelope::Envelope, record::Record};
use minutebook_eventlog::store::{LogReader, NewRecord, Page, StoreError};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::channels::{Channel, Channels};
use super::position::last_position;

/// Most records handed out at a time.
const PAGE_MAX: usize = 256;
/// After so many bytes a page ends, so that thousands of slow readers cannot fill the memory.
const PAGE_BYTES_MAX: usize = 256 * 1024;
/// Records read from the log at a time.
const PART: usize = 16;

/// What to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every event of the log.
    All,
    /// One room's events.
    Room(RoomId),
}

impl Scope {
    /// A record's position in this scope: its seq, or its place in the room.
    pub(super) fn position(self, record: &Published) -> u64 {
        match self {
            Self::All => record.seq,
            Self::Room(_) => record.sseq,
        }
    }

    fn read(self, reader: &dyn LogReader, from: u64, limit: usize) -> Result<Page, StoreError> {
        match self {
            Self::All => reader.read(from, limit),
            Self::Room(id) => reader.read_stream(&StreamId::Room(id).to_string(), from, limit),
        }
    }
}

/// A durable record on its way to followers, shared by all of them.
#[derive(Debug)]
pub struct Published {
    /// Position in the log.
    pub seq: u64,
    /// Its stream.
    pub stream: StreamId,
    /// Position in its stream.
    pub sseq: u64,
    /// What happened.
    pub kind: EventKind,
    /// Canonical envelope bytes (JSON).
    pub envelope: Vec<u8>,
    /// Body bytes (JSON), none when erased.
    pub body: Option<Vec<u8>>,
    /// The SSE frame, rendered by the first follower that needs it.
    pub frame: OnceLock<Bytes>,
}

impl Published {
    /// How much memory it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.envelope.len() + self.body.as_ref().map_or(0, Vec::len)
    }

    /// A record of a commit, as followers see it.
    pub(super) fn from_new(new: &NewRecord, stream: StreamId, kind: EventKind) -> Self {
        let body = new.record.body.as_ref().map(|body| body.bytes.clone());
        Self {
            seq: new.seq,
            stream,
            sseq: new.sseq,
            kind,
            envelope: new.record.envelope.clone(),
            body,
            frame: OnceLock::new(),
        }
    }

    /// A stored record, as followers see it.
    pub fn from_record(record: Record) -> Result<Self, StoreError> {
        let envelope = Envelope::parse(&record.envelope)
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        let stream = StreamId::parse(&envelope.stream);
        let kind = EventKind::parse(&envelope.kind, envelope.v);
        let (Some(stream), Some(kind)) = (stream, kind) else {
            return Err(StoreError::Damaged(format!(
                "seq {}: unknown event",
                envelope.seq
            )));
        };
        let (seq, sseq) = (envelope.seq, envelope.sseq);
        let body = record.body.map(|body| body.bytes);
        let envelope = record.envelope;
        Ok(Self {
            seq,
            stream,
            sseq,
            kind,
            envelope,
            body,
            frame: OnceLock::new(),
        })
    }
}

/// What a commit has for followers, record by record: the stream, and the record itself when
/// somebody followed it.
pub type News = Vec<(StreamId, Option<Arc<Published>>)>;

/// Of which records a commit keeps a copy for followers.
#[derive(Clone, Copy)]
pub enum Keep<'a> {
    /// Of all.
    All,
    /// Of none: nobody follows.
    None,
    /// Of what is followed in this feed.
    Followed(&'a Feed),
}

impl From<bool> for Keep<'_> {
    fn from(all: bool) -> Self {
        if all { Self::All } else { Self::None }
    }
}

impl<'a> From<&'a Feed> for Keep<'a> {
    fn from(feed: &'a Feed) -> Self {
        Self::Followed(feed)
    }
}

impl Keep<'_> {
    /// The news of a commit. `kinds` are the records' streams and kinds, in order.
    pub(super) fn news(self, records: &[NewRecord], kinds: &[(StreamId, EventKind)]) -> News {
        let is_kept = |stream| match self {
            Self::All => true,
            Self::None => false,
            Self::Followed(feed) => feed.channels.has(stream),
        };
        if let Self::None = self {
            return News::new();
        }
        let news = records.iter().zip(kinds).map(|(new, (stream, kind))| {
            let kept = is_kept(*stream).then(|| Published::from_new(new, *stream, *kind));
            (*stream, kept.map(Arc::new))
        });
        news.collect()
    }
}

/// Where followers attach and the writer publishes.
#[derive(Clone)]
pub struct Feed {
    channels: Arc<Channels>,
    reader: Arc<dyn LogReader>,
}

impl Feed {
    /// A feed of this log.
    pub fn new(reader: Arc<dyn LogReader>) -> Self {
        Self {
            channels: Arc::default(),
            reader,
        }
    }

    /// Follows the log or one room from after this log seq. Subscribes first, then reads the
    /// backlog, so that nothing falls in between.
    pub fn follow(&self, scope: Scope, after: u64) -> Result<Follower, StoreError> {
        Follower::new(
            Arc::clone(&self.channels),
            Arc::clone(&self.reader),
            scope,
            after,
        )
    }

    /// How many follow.
    pub fn followers(&self) -> usize {
        self.channels.followers()
    }

    /// Hands durable records to whoever follows them. Who entered too late for a record to be kept
    /// is woken to look at the log itself.
    pub fn publish(&self, news: &News) {
        self.channels.publish(news);
    }

    /// Ends every follower once it has seen everything.
    pub fn close(&self) {
        self.channels.close();
    }
}

/// A cursor over one scope.
pub struct Follower {
    scope: Scope,
    /// Position of the last record handed out.
    cursor: u64,
    channel: Arc<Channel>,
    signal: watch::Receiver<u64>,
    channels: Arc<Channels>,
    reader: Arc<dyn LogReader>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.channels.leave();
    }
}

impl Follower {
    fn new(
        channels: Arc<Channels>,
        reader: Arc<dyn LogReader>,
        scope: Scope,
        after_seq: u64,
    ) -> Result<Self, StoreError> {
        let cursor = match scope {
            Scope::All => after_seq,
            Scope::Room(id) => last_position(&*reader, &StreamId::Room(id).to_string(), after_seq)?,
        };
        channels.enter();
        let channel = channels.subscribe(scope);
        let signal = channel.signal.subscribe();
        Ok(Self {
            scope,
            cursor,
            channel,
            signal,
            channels,
            reader,
        })
    }

    /// Waits for what comes next: at least one record, in order, none left out, at most a few
    /// hundred at a time. `None` when the engine stops.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Published>>>, StoreError> {
        loop {
            // Mark the signal as seen before looking, or what comes in between is slept through.
            self.signal.borrow_and_update();
            let page = match self.take_recent() {
                Some(page) => page,
                None => self.read_aside().await?,
            };
            // Whoever drops this future loses nothing: the cursor moves only here, with the page.
            if self.pass(&page) {
                return Ok(Some(page));
            }
            if self.channels.is_closed() || self.signal.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// What has come since, without waiting; empty when nothing has.
    pub fn poll(&mut self) -> Result<Vec<Arc<Published>>, StoreError> {
        self.signal.borrow_and_update();
        let page = match self.take_recent() {
            Some(page) => page,
            None => backlog(&*self.reader, self.scope, self.cursor + 1)?,
        };
        self.pass(&page);
        Ok(page)
    }

    /// Moves behind a page; whether there was anything in it.
    fn pass(&mut self, page: &[Arc<Published>]) -> bool {
        if let Some(last) = page.last() {
            self.cursor = self.scope.position(last);
        }
        !page.is_empty()
    }

    /// A page of the log, read on a thread of its own: it may have to come from the disk. Only the
    /// question whether there is anything is asked here, since most often there is not.
    async fn read_aside(&self) -> Result<Vec<Arc<Published>>, StoreError> {
        let (scope, from) = (self.scope, self.cursor + 1);
        if scope.read(&*self.reader, from, 1)?.is_empty() {
            return Ok(Vec::new());
        }
        // Only a few at once, or a thousand who catch up would hold a thousand pages.
        let turn = self.channels.reads().acquire_owned().await;
        let reader = Arc::clone(&self.reader);
        let read = spawn_blocking(move || {
            let _turn = turn;
            backlog(&*reader, scope, from)
        });
        let ended = |e| StoreError::Io(format!("a reading thread ended early: {e}"));
        read.await.map_err(ended)?
    }

    /// What the channel has at hand after the cursor; `None` when the log must be asked.
    fn take_recent(&self) -> Option<Vec<Arc<Published>>> {
        let recent = self.channel.recent.lock();
        let first = self.scope.position(recent.front()?);
        let skip = usize::try_from((self.cursor + 1).checked_sub(first)?).ok()?;
        let mut left = PAGE_BYTES_MAX;
        let fits = |record: &&Arc<Published>| {
            let has_room = left > 0;
            left = left.saturating_sub(record.bytes());
            has_room
        };
        let page = recent.iter().skip(skip).take(PAGE_MAX).take_while(fits);
        Some(page.cloned().collect())
    }
}

/// A page of the log from this position of the scope on.
fn backlog(
    reader: &dyn LogReader,
    scope: Scope,
    from: u64,
) -> Result<Vec<Arc<Published>>, StoreError> {
    let mut page = Vec::new();
    let mut bytes = 0;
    // A few at a time, because the log is read by count and a record may be large.
    while page.len() < PAGE_MAX && bytes < PAGE_BYTES_MAX {
        let part = scope.read(reader, from + page.len() as u64, PART)?;
        if part.is_empty() {
            break;
        }
        for (_, record) in part {
            let record = Published::from_record(record)?;
            bytes += record.bytes();
            page.push(Arc::new(record));
        }
    }
    Ok(page)
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
