//! Coming, going, renaming, closing and erasing.

use axum::extract::{Request, State};
use minutebook_domain::Command;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::limits::{AGENT_NAME_CHARS_MAX, ROOM_NAME_CHARS_MAX};
use minutebook_domain::room::{self, BodiesErased, Closed, Erased, Joined, Leaving, Left, Renamed};
use minutebook_domain::text::RoomName;
use utoipa::ToSchema;

use super::wire::{self, DoneJson};
use super::write::{Write, bad_field, done, require_room};
use crate::engine::Target;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{Shared, room_id, segment};
use crate::http::reply::Reply;

/// Body of what an agent does in its own name.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(super) struct AgentBody {
    /// Who.
    #[schema(example = "alice")]
    agent_id: String,
}

/// Body of what needs a reason.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(super) struct ReasonBody {
    /// Why, for the record: 1 to 500 code points.
    #[schema(example = "agreed")]
    reason: String,
}

/// Body of a renaming.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(super) struct NameBody {
    /// The new name, or null to drop it.
    #[schema(example = "lobby")]
    name: Option<String>,
}

/// Joins a room.
#[utoipa::path(post, path = "/api/rooms/{id}/join", tag = "rooms", request_body = AgentBody,
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Joined"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "A member already"),
    ))]
pub(super) async fn join_room(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    come_or_go(&write, |agent| room::Command::Join(Joined { agent })).await
}

/// Leaves a room.
#[utoipa::path(post, path = "/api/rooms/{id}/leave", tag = "rooms", request_body = AgentBody,
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Left"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "Not a member"),
    ))]
pub(super) async fn leave_room(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    let how = Leaving::Asked;
    come_or_go(&write, |agent| room::Command::Leave(Left { agent, how })).await
}

async fn come_or_go(
    write: &Write,
    command: impl FnOnce(minutebook_domain::text::AgentName) -> room::Command,
) -> Reply {
    write.caller.needs(Scope::Agent)?;
    let agent = write.fields(|fields| {
        fields
            .text("agent_id", 1, AGENT_NAME_CHARS_MAX)
            .map(str::to_owned)
    })?;
    let id = room_id(&write.parts.uri, 2)?;
    let named = wire::agent_name("agent_id", &agent);
    if let Ok(agent) = &named
        && let Ok(actor) = write.caller.acting_as(agent)
        && let Some(written) = write.repeated(&actor, in_room(id))?
    {
        return done(written.event.seq);
    }
    require_room(&write.app, id)?;
    let agent = named?;
    let actor = write.caller.acting_as(&agent)?;
    let written = write
        .submit(Command::Room(id, command(agent)), actor)
        .await?;
    done(written.event.seq)
}

/// Gives a room a unique name, or none.
#[utoipa::path(post, path = "/api/rooms/{id}/rename", tag = "operator", request_body = NameBody,
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Renamed"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "The name is taken"),
    ))]
pub(super) async fn rename_room(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let name = write.fields(|fields| {
        Ok(fields
            .optional_text("name", ROOM_NAME_CHARS_MAX)?
            .map(str::to_owned))
    })?;
    let parsed = name.as_deref().map(RoomName::parse).transpose();
    let name = parsed.map_err(|rejection| bad_field("name", &rejection))?;
    manage(&write, room::Command::Rename(Renamed { name })).await
}

/// Closes a room: it stays readable and takes no more messages.
#[utoipa::path(post, path = "/api/rooms/{id}/close", tag = "operator", request_body = ReasonBody,
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Closed"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "Closed before"),
    ))]
pub(super) async fn close_room(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let reason = write.reason()?;
    manage(&write, room::Command::Close(Closed { reason })).await
}

/// Erases a room: its bodies are gone, its envelopes stay, the log stays whole.
#[utoipa::path(delete, path = "/api/rooms/{id}", tag = "operator", request_body = ReasonBody,
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Erased"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
    ))]
pub(super) async fn erase_room(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let reason = write.reason()?;
    manage(&write, room::Command::Erase(Erased { reason })).await
}

/// Erases one message's body.
#[utoipa::path(delete, path = "/api/rooms/{id}/messages/{n}", tag = "operator",
    request_body = ReasonBody,
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("n" = u64, Path, description = "The message's id in the room"),
    ),
    responses(
        (status = 200, body = DoneJson, description = "Erased"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room or message not found"),
        (status = 410, body = crate::error::Problem<'_>, description = "Erased before"),
    ))]
pub(super) async fn erase_message(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let reason = write.reason()?;
    let id = room_id(&write.parts.uri, 2)?;
    if let Some(written) = write.repeated(&write.caller.managing(), in_room(id))? {
        return done(written.event.seq);
    }
    require_room(&write.app, id)?;
    let sseq = message_position(&write, id)?;
    let erased = BodiesErased {
        first: sseq,
        last: sseq,
        reason,
    };
    manage(&write, room::Command::EraseBodies(erased)).await
}

fn message_position(write: &Write, id: RoomId) -> Result<u64, ApiError> {
    let n = segment(&write.parts.uri, 4).parse().ok();
    let message = match n {
        Some(n) => write.app.history(|history| history.message(id, n))?,
        None => None,
    };
    match message {
        None => Err(ApiError::new(
            ErrorCode::MessageNotFound,
            "Message not found",
        )),
        // Perhaps a repeat whose first was on its way when we looked: the engine knows.
        Some(message)
            if message.row.is_erased
                && !write
                    .parts
                    .headers
                    .contains_key(crate::http::idempotency::KEY_HEADER) =>
        {
            Err(ApiError::new(
                ErrorCode::MessageErased,
                "Message was erased before",
            ))
        }
        Some(message) => Ok(message.row.sseq),
    }
}

fn in_room(id: RoomId) -> Target {
    Target::Stream(StreamId::Room(id))
}

async fn manage(write: &Write, command: room::Command) -> Reply {
    let id = room_id(&write.parts.uri, 2)?;
    let written = write
        .submit(Command::Room(id, command), write.caller.managing())
        .await?;
    done(written.event.seq)
}
