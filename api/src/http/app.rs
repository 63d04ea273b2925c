//! What every handler can reach.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::http::Uri;
use axum::http::request::Parts;
use minutebook_domain::ids::RoomId;
use minutebook_domain::room::ProtocolMode;
use minutebook_projections::rooms::RoomRow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::spawn_blocking;

use super::client::{Client, base_url};
use super::config::HttpConfig;
use super::held::{Budget, answers_full};
use super::limit::HourlyLimit;
use super::metrics::HttpMetrics;
use super::places::{Place, Places};
use super::python;
use super::query::decode;
use crate::auth::Caller;
use crate::bundles::Bundles;
use crate::engine::Handle;
use crate::error::{ApiError, ErrorCode};
use crate::policies::arbiter::Arbiter;

/// Verifications at a time: one uses every core there is.
const VERIFICATIONS_MAX: usize = 1;
/// Verifications that wait for their turn, at most.
const VERIFICATIONS_WAITING_MAX: usize = 4;
/// Bundles of skills looked over at a time.
const BUNDLES_AT_A_TIME_MAX: usize = 2;

/// Long reads at a time whose results are kept until they are answers.
const LONG_READS_MAX: usize = 8;

/// The server's shared parts.
pub struct App {
    /// The only writer's front.
    pub engine: Handle,
    /// Settings.
    pub config: HttpConfig,
    /// Where we listen.
    pub bound: SocketAddr,
    /// Rooms opened per address and hour.
    pub rooms_limit: HourlyLimit,
    /// Skills uploaded per address and hour.
    pub skills_limit: HourlyLimit,
    /// Refreshes of contexts per address and hour.
    pub refreshes_limit: HourlyLimit,
    /// Who reads rooms; none: nobody does.
    pub arbiter: Option<Arc<Arbiter>>,
    /// The bytes of shared skills; none: there are no skills here.
    pub bundles: Option<Bundles>,
    /// Turns to look a skill's bundle over.
    pub bundle_turns: Semaphore,
    /// Counters.
    pub metrics: HttpMetrics,
    /// Turns true once, when the server begins to stop.
    pub stopping: watch::Receiver<bool>,
    /// Bytes of request bodies.
    pub bodies: Arc<Budget>,
    /// Bytes of answers that nobody has taken yet.
    pub answers: Arc<Budget>,
    /// Turns for reads that take much memory until they are an answer.
    long_reads: Arc<Semaphore>,
    /// Places for event streams and exports.
    streams: Arc<Places>,
    /// Places for verifications, running and waiting.
    pub verification_places: Arc<Places>,
    /// The turn to run one.
    pub verification_turns: Arc<Semaphore>,
    /// The description of the API, made with the routes.
    pub documents: OnceLock<super::docs::Documents>,
}

/// The shared parts, as handlers get them.
pub type Shared = Arc<App>;

/// The other end of a request's connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl App {
    /// The parts for a server that listens here.
    pub fn new(
        engine: Handle,
        config: HttpConfig,
        bound: SocketAddr,
        stopping: watch::Receiver<bool>,
        bundles: Option<Bundles>,
        arbiter: Option<Arc<Arbiter>>,
    ) -> Self {
        Self {
            engine,
            bound,
            rooms_limit: HourlyLimit::new(config.rooms_per_hour),
            skills_limit: HourlyLimit::new(config.skills_per_hour),
            refreshes_limit: HourlyLimit::new(config.refreshes_per_hour),
            arbiter,
            bundles,
            bundle_turns: Semaphore::new(BUNDLES_AT_A_TIME_MAX),
            metrics: HttpMetrics::default(),
            bodies: Budget::new(config.bounds.bodies_bytes_max),
            answers: Budget::new(config.bounds.answers_bytes_max),
            long_reads: Arc::new(Semaphore::new(LONG_READS_MAX)),
            stopping,
            streams: Places::new(config.bounds.streams_max),
            verification_places: Places::new(VERIFICATIONS_MAX + VERIFICATIONS_WAITING_MAX),
            verification_turns: Arc::new(Semaphore::new(VERIFICATIONS_MAX)),
            documents: OnceLock::new(),
            config,
        }
    }

    /// Where a request comes from.
    pub fn client(&self, parts: &Parts) -> Client {
        // Without a peer, as in a test that calls the router itself, nobody is trusted.
        let peer = parts
            .extensions
            .get::<Peer>()
            .map_or(([0, 0, 0, 0], 0).into(), |peer| peer.0);
        Client::of(peer, parts, &self.config.trusted_proxies)
    }

    /// Reads more than a point or a short page: on a thread that may wait for the disk, so that
    /// nobody else waits for it.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = Arc::clone(self);
        let read = spawn_blocking(move || read(&app)).await;
        read.map_err(|error| ApiError::internal(&error))?
    }

    /// Who sent a request.
    pub fn caller(&self, parts: &Parts) -> Result<Caller, ApiError> {
        let keys = self.engine.keys();
        Caller::of(
            &parts.headers,
            self.client(parts),
            &*keys,
            self.config.require_key,
        )
    }

    /// The whole body of a request.
    pub async fn body(&self, body: axum::body::Body) -> Result<Bytes, ApiError> {
        // A write is always answered, so it is not begun when its answer would not fit.
        if !self.answers.is_open() {
            return Err(answers_full());
        }
        let bounds = &self.config.bounds;
        let (bytes_max, within) = (bounds.body_bytes_max, bounds.request_within);
        super::body::read(body, &self.bodies, bytes_max, within).await
    }

    /// The turn to read much, to be kept until that is an answer.
    pub async fn long_read(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let turn = Arc::clone(&self.long_reads).acquire_owned().await;
        turn.map_err(|error| ApiError::internal(&error))
    }

    /// What addresses in answers begin with: as the operator said, else as the caller asked.
    pub fn base_url(&self, parts: &Parts) -> String {
        match &self.config.public_url {
            Some(url) => url.to_string(),
            None => base_url(parts, self.bound),
        }
    }

    /// Whether the arbiter reads a room by itself.
    pub fn reads(&self, room: &RoomRow) -> bool {
        self.arbiter.is_some() && room.mode == ProtocolMode::Premium && !room.is_closed
    }

    /// A place for a long answer, or an error when all are taken.
    pub fn stream_place(&self, parts: &Parts) -> Result<Place, ApiError> {
        let place = self.streams.take(self.client(parts).addr);
        let many = "too many open streams, or too many of your address: close some, or try again \
                    later";
        place.ok_or_else(|| ApiError::new(ErrorCode::TooManyStreams, many))
    }
}

/// Returns once the server begins to stop, or is gone.
pub async fn stopped(stopping: &mut watch::Receiver<bool>) {
    stopping.wait_for(|stop| *stop).await.ok();
}

/// Part of a path, decoded; `/api/rooms/x` has `x` at 2.
pub fn segment(uri: &Uri, place: usize) -> Cow<'_, str> {
    let raw = uri.path().split('/').skip(1).nth(place).unwrap_or_default();
    // In a path a plus is a plus.
    if raw.contains('%') {
        decode(&raw.replace('+', "%2B")).into_owned().into()
    } else {
        raw.into()
    }
}

/// The room a path names, in any spelling the peer takes.
pub fn room_id(uri: &Uri, place: usize) -> Result<RoomId, ApiError> {
    parse_room_id(&segment(uri, place))
}

/// A room's id, in any spelling the peer takes.
pub fn parse_room_id(text: &str) -> Result<RoomId, ApiError> {
    let invalid = || ApiError::new(ErrorCode::InvalidRequest, "Invalid UUID");
    python::parse_uuid(text)
        .map(RoomId::new)
        .ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_room_in_any_spelling_the_peer_takes() {
        let id = |path: &'static str| room_id(&Uri::from_static(path), 2);
        let canonical = "a9efd68c-8ac8-4893-be5e-5c1905d1ae03";
        for path in [
            "/api/rooms/a9efd68c-8ac8-4893-be5e-5c1905d1ae03",
            "/api/rooms/A9EFD68C8AC84893BE5E5C1905D1AE03/messages?since=1",
            "/api/rooms/%7Ba9efd68c8ac84893be5e5c1905d1ae03%7D",
        ] {
            assert_eq!(id(path).unwrap().to_string(), canonical);
        }
        for path in ["/api/rooms/nope", "/api/rooms/%ff", "/api/rooms/+", "/"] {
            assert_eq!(id(path).unwrap_err().detail, "Invalid UUID");
        }
    }
}
