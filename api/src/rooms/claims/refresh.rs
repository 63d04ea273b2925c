//! Having the arbiter read a room.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::Rejection;
use minutebook_domain::keys::Scope;
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::SubmitError;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{Shared, room_id};
use crate::http::query::Query;
use crate::http::reply::{self, Reply};
use crate::policies::arbiter::{Run, RunError};

/// What stands for a model when nothing was to be read.
const NOOP: &str = "noop";
const OFF: &str = "LLM arbiter not configured on this server";

/// Answer of `POST /api/rooms/{id}/context/refresh`.
#[derive(Serialize, ToSchema)]
struct RefreshedJson {
    /// Threads opened and revised.
    extracted: u64,
    /// Discrepancies noted.
    discrepancies_found: u64,
    /// `adapter:model`, or `noop` when there was nothing to read.
    model_used: String,
    elapsed_ms: u64,
    /// The newest message the arbiter is done with. Ours.
    last_extracted_msg_id: u64,
    /// Messages that were passed over because they could not be read. Ours.
    skipped: u64,
    /// Messages left for the next refresh. Ours.
    remaining: u64,
    /// The first of them: `from` of the next refresh that reads again. Ours.
    next_msg_id: Option<u64>,
    /// Why it ended early: the model could not be reached. Ours.
    error: Option<String>,
}

/// Has the arbiter read what is new in a room, or with `full` all of it again.
///
/// It reads at most 200 messages or for two minutes; `remaining` says how many are left. Reading
/// again changes nothing that was made of a message before. A closed room is not read any more.
#[utoipa::path(post, path = "/api/rooms/{id}/context/refresh", tag = "claims",
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("full" = Option<bool>, Query, description = "Begin with the first message again"),
        ("from" = Option<u64>, Query, description = "Begin with this one, at most the next. Ours"),
    ),
    responses(
        (status = 200, body = RefreshedJson, description = "Read; error is set if not to the end"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "Closed"),
        (status = 429, body = crate::error::Problem<'_>, description = "Too many this hour"),
        (status = 503, body = crate::error::Problem<'_>, description = "There is no arbiter here"),
    ))]
pub(super) async fn refresh(State(app): State<Shared>, request: Request) -> Reply {
    let started = Instant::now();
    let (parts, _) = request.into_parts();
    let caller = app.caller(&parts)?;
    caller.needs(Scope::Agent)?;
    let full = Query::of(&parts.uri).truth("query.full")?.unwrap_or(false);
    let from = Query::of(&parts.uri).integer("query.from", 1, i64::MAX)?;
    let from = from.map(i64::unsigned_abs);
    let from = from.or(full.then_some(1));
    let room = app.room(room_id(&parts.uri, 2)?)?;
    let Some(arbiter) = app.arbiter.clone() else {
        return Err(ApiError::new(ErrorCode::ArbiterOff, OFF));
    };
    if room.is_closed {
        return Err(super::super::wire::refused(&Rejection::RoomClosed));
    }
    let client = app.client(&parts);
    let limit = &app.refreshes_limit;
    limit.take(client.addr, Instant::now()).map_err(too_many)?;
    // Of its own, so that who hangs up does not leave a reading half done.
    let run = tokio::spawn(async move { Arc::clone(&arbiter).run(room.id, from).await });
    let run = run.await.map_err(|error| ApiError::internal(&error))?;
    if cost_nothing(run.as_ref()) {
        limit.give_back(client.addr);
    }
    let run = run.map_err(failed)?;
    let ledger = app.threads(|threads| threads.ledger(room.id))?;
    let read = ledger.last_extracted_msg_id;
    reply::json(StatusCode::OK, &RefreshedJson::new(run, read, started))
}

impl RefreshedJson {
    fn new(run: Run, last_extracted_msg_id: u64, started: Instant) -> Self {
        let elapsed = started.elapsed().as_millis();
        Self {
            extracted: run.extracted,
            discrepancies_found: run.discrepancies,
            model_used: run.model.unwrap_or_else(|| NOOP.to_owned()),
            elapsed_ms: u64::try_from(elapsed).unwrap_or(u64::MAX),
            last_extracted_msg_id,
            skipped: run.skipped,
            remaining: run.remaining,
            next_msg_id: run.next,
            error: run.outage,
        }
    }
}

/// Whether no model was asked: there was nothing to read, or the room was closed meanwhile.
fn cost_nothing(run: Result<&Run, &RunError>) -> bool {
    match run {
        Ok(run) => run.model.is_none(),
        Err(error) => error.is_refusal(),
    }
}

fn too_many(seconds: u64) -> ApiError {
    let detail = format!("Too many refreshes from this IP. Try again in {seconds}s.");
    ApiError::new(ErrorCode::RateLimited, detail).retry_after(seconds)
}

fn failed(error: RunError) -> ApiError {
    match error {
        RunError::Rows(error) => error.into(),
        RunError::Submit(SubmitError::Rejected(rejection)) => {
            super::super::wire::refused(&rejection)
        }
        RunError::Submit(error) => error.into(),
    }
}
