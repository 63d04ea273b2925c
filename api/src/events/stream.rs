//! One client's stream.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use bytes::BytesMut;
use futures_util::stream;
use minutebook_domain::ids::{KeyId, RoomId};
use minutebook_domain::keys::{KeysState, Scope as KeyScope};
use minutebook_eventlog::store::StoreError;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::frame;
use super::position::{self, Asked};
use crate::auth::Caller;
use crate::engine::{Follower, Published, Scope};
use crate::error::ApiError;
use crate::http::app::{App, Shared, stopped};
use crate::http::places::Place;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// Events are sent together up to about this many bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Follows a room, or with the auditor scope the whole log.
///
/// Each event has the log seq as its id; `Last-Event-ID` (or `since`) resumes after it. Without a
/// position the stream starts now; `since=0` starts at the beginning.
#[utoipa::path(get, path = "/api/events", tag = "rooms",
    params(
        ("room_id" = Option<String>, Query, description = "The room's UUID; none is the whole log"),
        ("room" = Option<String>, Query, description = "The same"),
        ("since" = Option<u64>, Query, description = "Start after this log seq"),
        ("last_event_id" = Option<u64>, Query, description = "The same, for reconnecting clients"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The same; counts before the others"),
    ),
    responses(
        (status = 200, content_type = "text/event-stream", body = String,
            description = "ready, then reset, the events, checkpoint and closing"),
        (status = 400, body = crate::error::Problem<'_>, description = "No position or UUID"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the auditor scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 503, body = crate::error::Problem<'_>, description = "Too many open streams"),
    ))]
pub async fn events(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    // Taken before the caller is judged: what changes in between is noticed at the first page.
    let keys = app.engine.keys();
    let caller = app.caller(&parts)?;
    let credential = Credential::of(&caller, keys);
    let query = Query::of(&parts.uri);
    let asked = position::read(&parts.headers, query)?;
    let scope = if let Some(id) = query.room()? {
        app.room(id)?;
        Scope::Room(id)
    } else {
        caller.needs(KeyScope::Auditor)?;
        Scope::All
    };
    let place = app.stream_place(&parts)?;
    let feed = Feed::start(app, credential, scope, asked, place).await?;
    let body = Body::from_stream(stream::unfold(feed, |mut feed| async move {
        let bytes = feed.next().await?;
        Some((Ok::<_, Infallible>(bytes), feed))
    }));
    let mut response = reply::bytes(StatusCode::OK, "text/event-stream", body);
    let headers = response.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The API key a stream was opened with, as of the keys it was last looked up in.
struct Credential {
    key: KeyId,
    keys: Arc<KeysState>,
}

impl Credential {
    /// A caller without a key has nothing that could be revoked.
    fn of(caller: &Caller, keys: Arc<KeysState>) -> Option<Self> {
        match caller {
            Caller::Local | Caller::Anonymous => None,
            Caller::Key(key) => {
                let key = key.id.clone();
                Some(Self { key, keys })
            }
        }
    }

    /// Whether it still holds. Scopes never change, so only a revocation can end it; and keys
    /// change so seldom that nearly always this compares two pointers.
    fn holds(&mut self, app: &App) -> bool {
        let keys = app.engine.keys();
        if Arc::ptr_eq(&keys, &self.keys) {
            return true;
        }
        let holds = keys.api_key(&self.key).is_some_and(|key| !key.revoked);
        if holds {
            self.keys = keys;
        }
        holds
    }
}

/// A stream's state.
struct Feed {
    app: Shared,
    credential: Option<Credential>,
    scope: Scope,
    follower: Follower,
    /// The last id sent: all of the scope up to here is sent.
    position: u64,
    /// Frames to send before anything else.
    first: VecDeque<Bytes>,
    /// Records taken from the follower and not yet sent.
    backlog: VecDeque<Arc<Published>>,
    stopping: watch::Receiver<bool>,
    heartbeat: Interval,
    checkpoint: Interval,
    ended: bool,
    _place: Place,
}

/// What a stream waits for.
enum Woken {
    Stop,
    Records(Result<Option<Vec<Arc<Published>>>, StoreError>),
    Checkpoint,
    Heartbeat,
}

impl Feed {
    async fn start(
        app: Shared,
        credential: Option<Credential>,
        scope: Scope,
        asked: Asked,
        place: Place,
    ) -> Result<Self, ApiError> {
        let head = app.engine.reader().head()?.seq;
        let (after, is_ahead) = match asked {
            Asked::Now => (head, None),
            Asked::After(seq) if seq <= head => (seq, None),
            Asked::After(seq) => (head, Some(seq)),
        };
        let mut first = VecDeque::from([frame::ready(after, head)]);
        first.extend(is_ahead.map(|asked| frame::reset(asked, head)));
        let follow = app.blocking(move |app| Ok(app.engine.follow(scope, after)?));
        let follower = follow.await?;
        let bounds = &app.config.bounds;
        let (heartbeat, checkpoint) = (
            every(bounds.heartbeat_every),
            every(bounds.checkpoint_every),
        );
        app.metrics.streams.fetch_add(1, Relaxed);
        Ok(Self {
            stopping: app.stopping.clone(),
            app,
            credential,
            scope,
            follower,
            position: after,
            first,
            backlog: VecDeque::new(),
            heartbeat,
            checkpoint,
            ended: false,
            _place: place,
        })
    }

    /// The next bytes; none when the stream is over.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(frame) = self.first.pop_front() {
            return Some(frame);
        }
        loop {
            if self.ended {
                return None;
            }
            if !self.may_go_on() {
                return Some(self.close("key_revoked"));
            }
            if !self.backlog.is_empty() {
                return Some(self.chunk());
            }
            // Being dropped while it waits costs a follower nothing: it moves on only when it
            // returns.
            let woken = tokio::select! {
                biased;
                () = stopped(&mut self.stopping) => Woken::Stop,
                records = self.follower.next() => Woken::Records(records),
                _ = self.checkpoint.tick() => Woken::Checkpoint,
                _ = self.heartbeat.tick() => Woken::Heartbeat,
            };
            match woken {
                Woken::Records(Ok(Some(records))) => self.backlog.extend(records),
                Woken::Stop | Woken::Records(Ok(None)) => return Some(self.close("shutdown")),
                Woken::Records(Err(error)) => {
                    tracing::error!(%error, "an event stream could not be read");
                    return Some(self.close("unavailable"));
                }
                Woken::Checkpoint => {
                    if let Some(frame) = self.checkpoint_frame() {
                        return Some(frame);
                    }
                }
                Woken::Heartbeat => return Some(frame::HEARTBEAT),
            }
        }
    }

    /// Frames of the backlog, as many as go together. A single one, which is nearly always what
    /// there is, is not copied.
    fn chunk(&mut self) -> Bytes {
        let mut out = BytesMut::new();
        let mut sent = 0;
        while let Some(record) = self.backlog.pop_front() {
            let frame = frame::of_record(&record);
            self.position = record.seq;
            sent += 1;
            let is_last = matches!(self.scope, Scope::Room(_)) && frame::ends_room(&record);
            if out.is_empty() && self.backlog.is_empty() && !is_last {
                self.app.metrics.delivered.fetch_add(1, Relaxed);
                return frame;
            }
            out.extend_from_slice(&frame);
            if is_last {
                out.extend_from_slice(&self.close("room_erased"));
                break;
            }
            if out.len() >= CHUNK_BYTES {
                break;
            }
        }
        self.app.metrics.delivered.fetch_add(sent, Relaxed);
        out.freeze()
    }

    /// Whether the caller would still be let in.
    fn may_go_on(&mut self) -> bool {
        let Self {
            app, credential, ..
        } = self;
        credential
            .as_mut()
            .is_none_or(|credential| credential.holds(app))
    }

    fn close(&mut self, reason: &'static str) -> Bytes {
        self.ended = true;
        frame::closing(self.position, reason)
    }

    /// The newest checkpoint, if everything it covers of this scope has been sent: its id then is
    /// a position to resume from, and a stream of a quiet room does not fall behind for ever.
    fn checkpoint_frame(&mut self) -> Option<Bytes> {
        let head = self.app.engine.reader().head().ok()?;
        // Read after the head, so that it knows everything the head covers.
        let newest = match self.scope {
            Scope::All => head.seq,
            Scope::Room(id) => self.newest_in_room(id)?,
        };
        if newest > self.position || head.seq < self.position {
            return None;
        }
        self.position = head.seq;
        Some(frame::checkpoint(&head))
    }

    fn newest_in_room(&self, id: RoomId) -> Option<u64> {
        self.app.room(id).ok().map(|row| row.last_seq)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.app.metrics.streams.fetch_sub(1, Relaxed);
    }
}

fn every(period: std::time::Duration) -> Interval {
    let mut interval = interval_at(Instant::now() + period, period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
