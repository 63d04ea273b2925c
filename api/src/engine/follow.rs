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
use minutebook_eventlog::store::{LogReader, Page, StoreError};
use tokio::sync::watch;

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

    /// Whether anybody follows anything.
    pub fn is_followed(&self) -> bool {
        self.channels.followers() > 0
    }

    /// How many follow.
    pub fn followers(&self) -> usize {
        self.channels.followers()
    }

    /// Hands durable records to whoever follows them. Who entered too late for the records to be
    /// kept, or misses one that could not be read, is woken to look at the log itself.
    pub fn publish(&self, records: Vec<Record>) -> Result<(), StoreError> {
        let result = self.hand_on(records);
        if !matches!(result, Ok(handed) if handed > 0) && self.is_followed() {
            self.channels.wake_all();
        }
        result.map(|_| ())
    }

    fn hand_on(&self, records: Vec<Record>) -> Result<usize, StoreError> {
        let published = records
            .into_iter()
            .map(|record| Published::from_record(record).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        self.channels.publish(&published);
        Ok(published.len())
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
    /// Whether the last page came from the log.
    is_catching_up: bool,
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
            is_catching_up: false,
            channel,
            signal,
            channels,
            reader,
        })
    }

    /// Waits for what comes next: at least one record, in order, none left out, at most a few
    /// hundred at a time. `None` when the engine stops.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Published>>>, StoreError> {
        if std::mem::take(&mut self.is_catching_up) {
            // Many who catch up at once must leave the others their turn. Nothing may be awaited
            // once a page was taken: whoever drops this future would lose it.
            tokio::task::yield_now().await;
        }
        loop {
            let page = self.poll()?;
            if !page.is_empty() {
                return Ok(Some(page));
            }
            if self.channels.is_closed() || self.signal.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// What has come since, without waiting; empty when nothing has.
    pub fn poll(&mut self) -> Result<Vec<Arc<Published>>, StoreError> {
        // Mark the signal as seen before looking, or what comes in between is slept through.
        self.signal.borrow_and_update();
        let page = self.take()?;
        if let Some(last) = page.last() {
            self.cursor = self.scope.position(last);
        }
        Ok(page)
    }

    fn take(&mut self) -> Result<Vec<Arc<Published>>, StoreError> {
        if let Some(page) = self.take_recent() {
            return Ok(page);
        }
        self.is_catching_up = true;
        let mut page = Vec::new();
        let mut bytes = 0;
        // A few at a time, because the log is read by count and a record may be large.
        while page.len() < PAGE_MAX && bytes < PAGE_BYTES_MAX {
            let part = self.read_part(self.cursor + 1 + page.len() as u64)?;
            if part.is_empty() {
                break;
            }
            bytes += part.iter().map(|record| record.bytes()).sum::<usize>();
            page.extend(part);
        }
        Ok(page)
    }

    fn read_part(&self, from: u64) -> Result<Vec<Arc<Published>>, StoreError> {
        let part = self.scope.read(&*self.reader, from, PART)?;
        part.into_iter()
            .map(|(_, record)| Published::from_record(record).map(Arc::new))
            .collect()
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
