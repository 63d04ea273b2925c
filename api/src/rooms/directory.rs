//! Opening, listing and looking at rooms.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::room::{self, Dialect, Opened, ProtocolMode};
use minutebook_domain::text::Description;
use minutebook_domain::{Command, Event};
use minutebook_projections::rooms::Sort;
use uuid::Uuid;

use super::claims::extraction_error;
use super::listing::{ListedJson, ListingJson};
use super::wire::{self, NewRoom, OpenedJson, RoomJson};
use super::write::{Write, Written, bad_field};
use crate::auth::Caller;
use crate::engine::{CommittedEvent, Target};
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{Shared, room_id};
use crate::http::message::Place;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// The actor of a room opened by somebody who gave no name.
const NOBODY: &str = "anonymous";

/// Opens a room.
#[utoipa::path(post, path = "/api/rooms", tag = "rooms", request_body = wire::NewRoomBody,
    responses(
        (status = 201, body = OpenedJson<'_>, description = "Opened"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 429, body = crate::error::Problem<'_>, description = "Too many rooms this hour"),
        (status = 503, body = crate::error::Problem<'_>, description = "Try again"),
    ))]
pub(super) async fn open_room(State(app): State<Shared>, request: Request) -> Reply {
    let mut write = Write::read(app, request).await?;
    write.caller.needs(Scope::Agent)?;
    write.keep_repeats_private()?;
    let new = write.fields(NewRoom::read)?;
    let actor = opener(&write.caller, new.agent.as_deref());
    if let Ok(actor) = &actor
        && let Some(written) = write.repeated(actor, Target::NewRoom)?
    {
        return opened(&write, &written.event);
    }
    let client = write.app.client(&write.parts).addr;
    let app = Arc::clone(&write.app);
    let limit = &app.rooms_limit;
    limit.take(client, Instant::now()).map_err(too_many)?;
    let done = open(write, &new, actor).await;
    // Refused; or two equal requests at once, and the first was on its way when this one looked.
    if done.as_ref().map_or(true, |(_, written)| written.replayed) {
        limit.give_back(client);
    }
    let (write, written) = done?;
    opened(&write, &written.event)
}

async fn open(
    write: Write,
    new: &NewRoom,
    actor: Result<Actor, ApiError>,
) -> Result<(Write, Written), ApiError> {
    let actor = actor?;
    if new.mode == ProtocolMode::Premium && write.app.arbiter.is_none() {
        return Err(ApiError::new(ErrorCode::ArbiterOff, wire::NO_PREMIUM));
    }
    let description = Description::parse(&new.description)
        .map_err(|rejection| bad_field("description", &rejection))?;
    let room = Opened {
        description,
        dialect: Dialect::Rooms,
        is_public: new.is_public,
        confirmations_needed: new.confirmations_needed,
        message_limit: Some(write.app.config.messages_per_room).filter(|limit| *limit > 0),
        name: None,
        protocol_mode: new.mode,
    };
    let command = Command::Room(RoomId::new(Uuid::new_v4()), room::Command::Open(room));
    let (write, written) = submit_and_follow(write, command, actor, new.mode).await?;
    Ok((write, written?))
}

/// Opens, and has the arbiter follow a premium room: then in a task of its own, since a caller that
/// hangs up ends this one while the room is on its way.
async fn submit_and_follow(
    write: Write,
    command: Command,
    actor: Actor,
    mode: ProtocolMode,
) -> Result<(Write, Result<Written, ApiError>), ApiError> {
    let arbiter = write.app.arbiter.clone();
    let Some(arbiter) = arbiter.filter(|_| mode == ProtocolMode::Premium) else {
        let written = write.submit(command, actor).await;
        return Ok((write, written));
    };
    let followed = tokio::spawn(async move {
        let written = write.submit(command, actor).await;
        if let Ok(Written { event, .. }) = &written
            && let StreamId::Room(id) = event.stream
        {
            arbiter.follow(id);
        }
        (write, written)
    });
    followed.await.map_err(|error| ApiError::internal(&error))
}

fn opened(write: &Write, event: &CommittedEvent) -> Reply {
    let place = Place {
        seq: event.seq,
        at: event.at,
    };
    let base = write.app.base_url(&write.parts);
    match (event.stream, &event.event) {
        (StreamId::Room(id), Some(Event::Room(room::Event::Opened(opened)))) => {
            let answer = OpenedJson::new(id.to_string(), &base, opened, place);
            reply::written(StatusCode::CREATED, event.seq, &answer)
        }
        // A repeat of a request whose room is gone.
        (StreamId::Room(_), None) => Err(crate::http::views::no_room()),
        (StreamId::Room(_) | StreamId::Keys | StreamId::Log | StreamId::Skills, _) => {
            Err(ApiError::internal(&"a room was opened by another event"))
        }
    }
}

fn opener(caller: &Caller, agent: Option<&str>) -> Result<Actor, ApiError> {
    match (caller, agent) {
        (Caller::Key(_), None) => Ok(caller.managing()),
        (Caller::Key(_) | Caller::Local | Caller::Anonymous, agent) => {
            let name = wire::agent_name("agent_id", agent.unwrap_or(NOBODY))?;
            caller.acting_as(&name)
        }
    }
}

fn too_many(seconds: u64) -> ApiError {
    let detail = format!("Too many rooms created from this IP. Try again in {seconds}s.");
    ApiError::new(ErrorCode::RateLimited, detail).retry_after(seconds)
}

/// Lists public rooms.
#[utoipa::path(get, path = "/api/rooms", tag = "rooms",
    params(
        ("sort" = Option<String>, Query, description = "active (default) or new"),
        ("limit" = Option<u64>, Query, description = "1 to 200, default 50"),
        ("offset" = Option<u64>, Query, description = "Rooms to skip"),
    ),
    responses(
        (status = 200, body = ListingJson<'_>, description = "A page of them"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
    ))]
pub(super) async fn list_rooms(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let query = Query::of(&parts.uri);
    let sort = match query.choice("query.sort", ["active", "new"])? {
        0 => Sort::Active,
        _ => Sort::New,
    };
    let limit = query.integer("query.limit", 1, 200)?.unwrap_or(50);
    let offset = query.integer("query.offset", 0, i64::MAX)?.unwrap_or(0);
    let limit = usize::try_from(limit).unwrap_or(200);
    let offset = offset.unsigned_abs();
    let read = app.blocking(move |app| app.rooms(|rooms| rooms.public(sort, limit, offset)));
    let page = read.await?;
    let base = app.base_url(&parts);
    let rooms = page
        .rooms
        .iter()
        .map(|row| ListedJson::new(row, &base))
        .collect();
    reply::json(
        StatusCode::OK,
        &ListingJson {
            rooms,
            total: page.total,
        },
    )
}

/// A room.
#[utoipa::path(get, path = "/api/rooms/{id}", tag = "rooms",
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = RoomJson<'_>, description = "The room"),
        (status = 304, description = "Not changed (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
    ))]
pub(super) async fn room_info(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let row = app.room(room_id(&parts.uri, 2)?)?;
    let etag = reply::etag(row.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let ledger = app.threads(|threads| threads.ledger(row.id))?;
    let error = extraction_error(&app, row.id, &ledger)?;
    let answer = RoomJson::new(&row, app.reads(&row), error);
    let mut response = reply::json(StatusCode::OK, &answer)?;
    reply::tag(&mut response, &etag);
    Ok(response)
}
