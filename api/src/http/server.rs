//! The accept loop.
//!
//! Invariants
//! * Connections are bounded in number, all together and of one address, in header and body size,
//!   in the time a request may take to arrive and in the time a write may wait.
//! * What is held for clients, coming in or waiting to be read, is bounded for all together.
//! * Stopping ends event streams with a closing event, lets requests finish, and gives up on the
//!   rest after the drain limit.

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::Service;

use super::app::{App, Peer, Shared, stopped};
use super::config::{ConfigError, HttpConfig};
use super::places::{Place, Places};
use super::refusal::{self, Refusal};
use super::unread::{self, Lender};
use super::{cors, descriptors, held, stall::Stall};
use crate::bundles::{Bundles, Sha};
use crate::engine::Handle;
use crate::error::{ApiError, ErrorCode};
use crate::policies::arbiter::{self, Arbiter};

/// Largest head of a request, in bytes, and most that is buffered per direction.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long to wait when the system has no more file descriptors.
const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    app: Shared,
    router: Router,
}

/// The bytes of shared skills, without those that no event speaks of.
fn open_bundles(config: &HttpConfig, engine: &Handle) -> Result<Option<Bundles>, ConfigError> {
    let Some(dir) = &config.skills else {
        return Ok(None);
    };
    let is_kept = |sha256: &Sha| {
        let row = engine.skills(|skills| skills.by_sha256(sha256));
        let row = row.map_err(io::Error::other)?;
        Ok::<_, io::Error>(row.is_some())
    };
    let opened = Bundles::open(dir, is_kept).map_err(|error| ConfigError::Skills {
        dir: dir.clone(),
        reason: error.to_string(),
    })?;
    Ok(Some(opened))
}

impl Server {
    /// Listens. Nothing is accepted before [`Server::run`].
    pub async fn bind(
        config: HttpConfig,
        engine: Handle,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let listen = config.listen;
        let failed = |source| ConfigError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let bundles = open_bundles(&config, &engine)?;
        let arbiter = Arbiter::new(engine.clone(), &config.arbiter)?.map(Arc::new);
        let app = App::new(engine, config, bound, stopping, bundles, arbiter);
        let app = Arc::new(app);
        let router = super::router(&app);
        Ok(Self {
            listener,
            app,
            router,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.app.bound
    }

    /// Serves until told to stop, then drains.
    pub async fn run(self) {
        let Self {
            listener,
            app,
            router,
        } = self;
        let mut stopping = app.stopping.clone();
        let most = descriptors::connections(app.config.bounds.connections_max);
        let places = Arc::new(Semaphore::new(most));
        let fair = Places::new(most);
        let mut connections = JoinSet::new();
        if let Some(arbiter) = &app.arbiter {
            let reading = arbiter::run_worker(Arc::clone(arbiter), app.stopping.clone());
            tokio::spawn(reading);
        }
        loop {
            let accepted = tokio::select! {
                biased;
                () = stopped(&mut stopping) => break,
                accepted = accept(&listener, &places) => accepted,
            };
            let Some((stream, peer, place)) = accepted else {
                continue;
            };
            while connections.try_join_next().is_some() {}
            let Ok(own) = share(&app, &fair, peer) else {
                app.metrics.refused.fetch_add(1, Relaxed);
                refuse(stream);
                continue;
            };
            connections.spawn(connection(
                Arc::clone(&app),
                router.clone(),
                stream,
                peer,
                (place, own),
            ));
        }
        drop(listener);
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(app.config.bounds.drain_within, drained)
            .await
            .is_err()
        {
            tracing::warn!(
                left = connections.len(),
                "gave up on connections that did not end"
            );
            connections.shutdown().await;
        }
    }
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// A connection's place among those of its address. A trusted proxy stands for many.
fn share(app: &App, fair: &Arc<Places>, peer: SocketAddr) -> Result<Option<Place>, TooMany> {
    let peer = peer.ip().to_canonical();
    let is_trusted = |net: &IpNet| net.contains(&peer);
    if app.config.trusted_proxies.iter().any(is_trusted) {
        return Ok(None);
    }
    fair.take(peer).map(Some).ok_or(TooMany)
}

/// An address has more connections than it may.
struct TooMany;

/// Says so, if the client takes it at once: who has too many connections is not waited for.
fn refuse(stream: TcpStream) {
    let many = "too many connections of your address: close some, or try again later";
    let answer = refusal::written(&ApiError::new(ErrorCode::Busy, many));
    // Past the runtime, which does not know yet that the new socket takes bytes.
    let write = |mut stream: std::net::TcpStream| stream.write_all(&answer);
    if let Err(error) = stream.into_std().and_then(write) {
        tracing::debug!(%error, "a refusal was not taken");
    }
}

async fn connection(
    app: Shared,
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
    _places: (OwnedSemaphorePermit, Option<Place>),
) {
    // An ack is one small segment and must not wait for the next.
    stream.set_nodelay(true).ok();
    let io = TokioIo::new(Refusal::new(Stall::new(
        stream,
        app.config.bounds.write_within,
    )));
    let mut stopping = app.stopping.clone();
    let service_app = Arc::clone(&app);
    let service =
        service_fn(move |request| respond(Arc::clone(&service_app), router.clone(), peer, request));
    app.metrics.connections.fetch_add(1, Relaxed);
    let mut serving = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(app.config.bounds.request_within)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(io, service)
    );
    let ended = tokio::select! {
        biased;
        ended = serving.as_mut() => ended,
        () = stopped(&mut stopping) => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    app.metrics.connections.fetch_sub(1, Relaxed);
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Everything around the router, which is little, because every request pays for it.
async fn respond(
    app: Shared,
    mut router: Router,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let started = Instant::now();
    let (mut request, lender) = lend_body(request);
    if let Some(response) = cors::preflight(request.method(), request.headers()) {
        return Ok(response);
    }
    let method = request.method().clone();
    let has_origin = request.headers().contains_key(header::ORIGIN);
    request.extensions_mut().insert(Peer(peer));
    let response = router.call(request).await?;
    let mut response = held::counted(&app.answers, &method, response);
    cors::mark(has_origin, &mut response);
    app.metrics.took(started.elapsed());
    if let Some(lender) = lender {
        lender.drain().await;
    }
    Ok(response)
}

/// A request whose body, if there is one, comes back.
fn lend_body(request: Request<Incoming>) -> (Request<Body>, Option<Lender<Incoming>>) {
    if request.body().is_end_stream() {
        return (request.map(Body::new), None);
    }
    let (parts, body) = request.into_parts();
    let (lent, lender) = unread::lend(body, &parts.headers);
    (Request::from_parts(parts, Body::new(lent)), Some(lender))
}
