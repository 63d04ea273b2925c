//! One signal per followed scope, and the newest records of it.
//!
//! Invariants
//! * A channel exists only while somebody follows its scope, so an unfollowed log pays nothing.
//! * `recent` holds the newest records of the scope without a gap between them. What a follower
//!   does not find there it reads from the log, so the ring's size is a cost, not a promise.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use minutebook_domain::EventKind;
use minutebook_domain::ids::StreamId;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, watch};

use super::follow::{News, Published, Scope};

/// Newest records a channel keeps at hand.
const RECENT_MAX: usize = 64;
/// And their bytes, at most.
const RECENT_BYTES_MAX: usize = 512 * 1024;

/// Pages of the log read for followers at once.
const READS_MAX: usize = 8;

/// The signal and the newest records of one scope.
#[derive(Debug)]
pub(super) struct Channel {
    /// A count of wake-ups; a change wakes the followers.
    pub(super) signal: watch::Sender<u64>,
    /// The newest records.
    pub(super) recent: Mutex<VecDeque<Arc<Published>>>,
}

impl Channel {
    fn wake(&self) {
        self.signal
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// All channels.
#[derive(Debug)]
pub(super) struct Channels {
    map: RwLock<HashMap<Scope, Weak<Channel>>>,
    followers: AtomicUsize,
    closed: std::sync::atomic::AtomicBool,
    reads: Arc<Semaphore>,
}

impl Default for Channels {
    fn default() -> Self {
        Self {
            map: RwLock::default(),
            followers: AtomicUsize::new(0),
            closed: false.into(),
            reads: Arc::new(Semaphore::new(READS_MAX)),
        }
    }
}

impl Channels {
    /// The channel of a scope, made when it is the first.
    pub(super) fn subscribe(&self, scope: Scope) -> Arc<Channel> {
        let mut map = self.map.write();
        if let Some(channel) = map.get(&scope).and_then(Weak::upgrade) {
            return channel;
        }
        map.retain(|_, channel| channel.strong_count() > 0);
        let channel = Arc::new(Channel {
            signal: watch::Sender::new(0),
            recent: Mutex::new(VecDeque::new()),
        });
        map.insert(scope, Arc::downgrade(&channel));
        channel
    }

    /// The turns of those who read the log.
    pub(super) fn reads(&self) -> Arc<Semaphore> {
        Arc::clone(&self.reads)
    }

    /// Whether anybody follows this stream, alone or with all others.
    pub(super) fn has(&self, stream: StreamId) -> bool {
        let map = self.map.read();
        let has = |scope| map.get(&scope).is_some_and(|one| one.strong_count() > 0);
        has(Scope::All) || room_scope(stream).is_some_and(has)
    }

    /// How many follow.
    pub(super) fn followers(&self) -> usize {
        self.followers.load(SeqCst)
    }

    /// Counts a follower in.
    pub(super) fn enter(&self) {
        self.followers.fetch_add(1, SeqCst);
    }

    /// Counts a follower out.
    pub(super) fn leave(&self) {
        self.followers.fetch_sub(1, SeqCst);
    }

    /// Hands durable records to the channels they belong to, then wakes each once. A record that
    /// nobody followed when it was written belongs to channels made since: they read it in the log.
    pub(super) fn publish(&self, news: &News) {
        let map = self.map.read();
        let mut touched: Vec<Arc<Channel>> = Vec::new();
        for (stream, record) in news {
            let scopes = [Some(Scope::All), room_scope(*stream)];
            for scope in scopes.into_iter().flatten() {
                if let Some(channel) = map.get(&scope).and_then(Weak::upgrade) {
                    match record {
                        Some(record) => push(&channel, scope, record),
                        None => channel.recent.lock().clear(),
                    }
                    if !touched.iter().any(|seen| Arc::ptr_eq(seen, &channel)) {
                        touched.push(channel);
                    }
                }
            }
        }
        for channel in touched {
            channel.wake();
        }
    }

    /// Ends every follower.
    pub(super) fn close(&self) {
        self.closed.store(true, SeqCst);
        for channel in self.map.read().values().filter_map(Weak::upgrade) {
            channel.wake();
        }
    }

    /// Whether [`Self::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }
}

fn room_scope(stream: StreamId) -> Option<Scope> {
    match stream {
        StreamId::Room(id) => Some(Scope::Room(id)),
        StreamId::Log | StreamId::Keys | StreamId::Skills => None,
    }
}

/// Adds a record to what is at hand. What is there already goes when a record between was not
/// handed on, or when it may hold a body that this record erases.
fn push(channel: &Channel, scope: Scope, record: &Arc<Published>) {
    let mut recent = channel.recent.lock();
    let follows = |last: &Arc<Published>| scope.position(last) + 1 == scope.position(record);
    let erases = matches!(record.kind, EventKind::BodiesErased | EventKind::RoomErased);
    if erases || !recent.back().is_none_or(follows) {
        recent.clear();
    }
    recent.push_back(Arc::clone(record));
    let mut bytes: usize = recent.iter().map(|record| record.bytes()).sum();
    while recent.len() > RECENT_MAX || bytes > RECENT_BYTES_MAX {
        let Some(oldest) = recent.pop_front() else {
            break;
        };
        bytes -= oldest.bytes();
    }
}
