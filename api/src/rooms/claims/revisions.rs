//! Revising threads, and reading their ledgers.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use minutebook_domain::Command;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::room::{
    self,
    claims::{self, Author, ReviseClaim},
};
use minutebook_domain::text::ClaimValue;

use super::super::wire::refused;
use super::super::write::{Write, Written, bad_field};
use super::threads::{Part, brief, ledger, whole};
use super::wire::{self, NewRevision, ThreadJson};
use super::{find, read, writer};
use crate::engine::Target;
use crate::error::ApiError;
use crate::http::app::{Shared, room_id};
use crate::http::idempotency::SEQ_HEADER;
use crate::http::ledger::RevisionJson;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// Most entries of a page, where a page is asked for.
const PAGE_MAX: usize = 500;

/// Updates, confirms, contradicts or retracts a thread. Answers the thread with its whole ledger,
/// or without it when the client prefers that.
#[utoipa::path(post, path = "/api/rooms/{id}/claims/{cid}/revisions", tag = "claims",
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("cid" = String, Path, description = "The thread's id, exactly as it was given"),
        ("Prefer" = Option<String>, Header,
            description = "`return=minimal`: answer the thread without `revisions`"),
    ),
    request_body = wire::NewRevisionBody,
    responses(
        (status = 201, body = ThreadJson<'_>, description = "Recorded, and durable"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 403, body = crate::error::Problem<'_>, description = "Not the thread's opener"),
        (status = 404, body = crate::error::Problem<'_>, description = "No such room or thread"),
        (status = 409, body = crate::error::Problem<'_>, description = "Stale, or used before"),
        (status = 429, body = crate::error::Problem<'_>, description = "Full, for good"),
    ))]
pub(super) async fn revise_thread(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Agent)?;
    let new = write.fields(NewRevision::read)?;
    let id = room_id(&write.parts.uri, 2)?;
    let written = revise(&write, new, id).await?;
    let found = find(&write.app, id, &write.parts.uri)?;
    if reply::wants_minimal(&write.parts.headers) {
        let mut response = brief(&write.app, &found, written.event.seq)?;
        reply::mark_minimal(&mut response);
        return Ok(response);
    }
    let entries = found.thread.thread.revisions();
    let answer = read(&write.app, entries, move |app| {
        whole(app, &found, StatusCode::CREATED)
    });
    let mut response = answer.await?;
    let seq = HeaderValue::from(written.event.seq);
    response.headers_mut().insert(SEQ_HEADER, seq);
    Ok(response)
}

async fn revise(write: &Write, new: NewRevision, id: RoomId) -> Result<Written, ApiError> {
    let writer = writer(write, "agent_id", &new.agent_id);
    if let Ok(writer) = &writer
        && let Some(written) = write.repeated(&writer.actor, Target::Stream(StreamId::Room(id)))?
    {
        return Ok(written);
    }
    let thread = find(&write.app, id, &write.parts.uri)?.thread.thread;
    let writer = writer?;
    let agent = Author::Agent(writer.agent);
    thread
        .may_revise(&agent, new.kind)
        .map_err(|rejection| refused(&rejection))?;
    let signature = new.signing.complete()?;
    let value = ClaimValue::parse(&new.value).map_err(|no| bad_field("value", &no))?;
    let revise = ReviseClaim {
        agent,
        claim: thread.id(),
        kind: new.kind,
        quote: new.source.quote,
        signature,
        source_msg_id: new.source.message,
        value,
    };
    let command = room::Command::Claim(claims::Command::Revise(revise));
    write.submit(Command::Room(id, command), writer.actor).await
}

/// A thread's ledger alone, or a page of it, the oldest entry first.
#[utoipa::path(get, path = "/api/rooms/{id}/claims/{cid}/revisions", tag = "claims",
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("cid" = String, Path, description = "The thread's id, exactly as it was given"),
        ("since" = Option<u64>, Query, description = "Only those after this id"),
        ("limit" = Option<u64>, Query, description = "From 1, capped at 500; all when left out"),
    ),
    responses(
        (status = 200, body = Vec<RevisionJson<'_>>, description = "Its revisions"),
        (status = 304, description = "Not revised since (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "No such room or thread"),
    ))]
pub(super) async fn list_revisions(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let part = part(&Query::of(&parts.uri))?;
    let found = find(&app, room_id(&parts.uri, 2)?, &parts.uri)?;
    let etag = reply::etag(found.thread.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let entries = found.thread.thread.revisions();
    let entries = part.limit.map_or(entries, |limit| limit as u64);
    let answer = read(&app, entries, move |app| {
        let rows = ledger(app, &found, part)?;
        let claim = found.thread.thread.id();
        let rows = rows.iter().map(|row| RevisionJson::new(row, claim));
        reply::json(StatusCode::OK, &rows.collect::<Vec<_>>())
    });
    let mut response = answer.await?;
    reply::tag(&mut response, &etag);
    Ok(response)
}

/// Which entries a query asks for.
fn part(query: &Query<'_>) -> Result<Part, ApiError> {
    let since = query.integer("query.since", 0, i64::MAX)?;
    let limit = match query.get("limit") {
        None => None,
        Some(_) => Some(query.up_to("query.limit", PAGE_MAX, PAGE_MAX)?),
    };
    Ok(Part {
        since: since.unwrap_or(0).unsigned_abs(),
        limit,
    })
}
