//! Opening and reading threads.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::room::{
    self,
    claims::{self, Author, OpenClaim},
};
use minutebook_domain::text::{ClaimValue, Subject};
use minutebook_domain::{Command, Event};
use minutebook_projections::threads::RevisionRow;

use super::super::write::{Write, Written, bad_field};
use super::wire::{self, NewThread, ThreadJson};
use super::{Found, find, find_claim, read, writer};
use crate::engine::Target;
use crate::error::ApiError;
use crate::http::app::{App, Shared, room_id};
use crate::http::reply::{self, Reply};
use crate::http::views::no_room;

/// Opens a thread.
#[utoipa::path(post, path = "/api/rooms/{id}/claims", tag = "claims",
    params(("id" = String, Path, description = "The room's UUID")),
    request_body = wire::NewThreadBody,
    responses(
        (status = 201, body = ThreadJson<'_>, description = "Opened, and durable"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "Closed, or used before"),
        (status = 429, body = crate::error::Problem<'_>, description = "Full, for good"),
    ))]
pub(super) async fn open_thread(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Agent)?;
    let new = write.fields(NewThread::read)?;
    let id = room_id(&write.parts.uri, 2)?;
    let written = open(&write, new, id).await?;
    opened(&write.app, id, &written)
}

async fn open(write: &Write, new: NewThread, id: RoomId) -> Result<Written, ApiError> {
    let writer = writer(write, "opened_by", &new.opened_by);
    if let Ok(writer) = &writer
        && let Some(written) = write.repeated(&writer.actor, Target::Stream(StreamId::Room(id)))?
    {
        return Ok(written);
    }
    write.app.room(id)?;
    let writer = writer?;
    let subject = Subject::parse(&new.subject).map_err(|no| bad_field("subject", &no))?;
    let value = ClaimValue::parse(&new.value).map_err(|no| bad_field("value", &no))?;
    let open = OpenClaim {
        agent: Author::Agent(writer.agent),
        quote: new.source.quote,
        signature: new.signing.complete()?,
        source_msg_id: new.source.message,
        subject,
        subject_key: new.subject_key,
        value,
    };
    let command = room::Command::Claim(claims::Command::Open(open));
    write.submit(Command::Room(id, command), writer.actor).await
}

fn opened(app: &App, id: RoomId, written: &Written) -> Reply {
    let event = &written.event;
    let claim = match &event.event {
        Some(Event::Room(room::Event::Claim(claims::Event::Opened(opened)))) => opened.claim,
        // A repeat of a request whose room is gone.
        None => return Err(no_room()),
        Some(Event::Room(_) | Event::Keys(_) | Event::Skills(_)) => {
            return Err(ApiError::internal(&"a thread was opened by another event"));
        }
    };
    let found = find_claim(app, app.room(id)?, claim)?;
    brief(app, &found, event.seq)
}

/// A thread without its ledger, as the answer to the write that this seq is of.
pub(super) fn brief(app: &App, found: &Found, seq: u64) -> Reply {
    let last = app.threads(|threads| threads.last(found.room.id, found.place, &found.thread))?;
    let needed = found.room.confirmations_needed;
    let answer = ThreadJson::new(&found.thread, &last, needed);
    reply::written(StatusCode::CREATED, seq, &answer)
}

/// A thread with its whole ledger.
#[utoipa::path(get, path = "/api/rooms/{id}/claims/{cid}", tag = "claims",
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("cid" = String, Path, description = "The thread's id, exactly as it was given"),
    ),
    responses(
        (status = 200, body = ThreadJson<'_>, description = "The thread"),
        (status = 304, description = "Not revised since (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 404, body = crate::error::Problem<'_>, description = "No such room or thread"),
    ))]
pub(super) async fn read_thread(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let found = find(&app, room_id(&parts.uri, 2)?, &parts.uri)?;
    let etag = reply::etag(found.thread.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let entries = found.thread.thread.revisions();
    let answer = read(&app, entries, move |app| whole(app, &found, StatusCode::OK));
    let mut response = answer.await?;
    reply::tag(&mut response, &etag);
    Ok(response)
}

/// A thread with its whole ledger, as an answer.
pub(super) fn whole(app: &App, found: &Found, status: StatusCode) -> Reply {
    let rows = ledger(app, found, Part::default())?;
    let Some(last) = rows.last() else {
        // The room was erased since its thread was found.
        app.room(found.room.id)?;
        return Err(ApiError::internal(&"a thread has no revision"));
    };
    let needed = found.room.confirmations_needed;
    let thread = ThreadJson::new(&found.thread, last, needed).with_ledger(&rows, &found.thread);
    reply::json(status, &thread)
}

/// Part of a ledger.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    /// Without the entries up to this one, by their number in the room.
    pub(super) since: u64,
    /// At most so many; all when none is named.
    pub(super) limit: Option<usize>,
}

/// Part of a thread's ledger, which ends as it stood when the thread was read.
pub(super) fn ledger(app: &App, found: &Found, part: Part) -> Result<Vec<RevisionRow>, ApiError> {
    let count = found.thread.thread.revisions();
    let first = match part.since {
        0 => 0,
        since => first_after(app, found, since)?,
    };
    let left = usize::try_from(count.saturating_sub(u64::from(first))).unwrap_or(usize::MAX);
    let limit = part.limit.map_or(left, |limit| limit.min(left));
    app.threads(|threads| threads.revisions(found.room.id, found.place, first, limit))
}

/// The place in a thread of its first entry with a greater number, by bisection: numbers grow.
fn first_after(app: &App, found: &Found, since: u64) -> Result<u32, ApiError> {
    let count = u32::try_from(found.thread.thread.revisions()).unwrap_or(u32::MAX);
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let entry =
            app.threads(|threads| threads.revisions(found.room.id, found.place, middle, 1))?;
        if entry.first().is_some_and(|entry| entry.id <= since) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
