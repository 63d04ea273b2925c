//! Shaking hands on a context.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::room::{
    self,
    claims::{self, ShakeHands},
};
use minutebook_domain::{Command, Event, Rejection};
use minutebook_projections::threads::HandshakeRow;

use super::super::wire::refused;
use super::super::write::{Write, Written};
use super::wire::{self, NewHandshake};
use super::{Writer, read, writer};
use crate::engine::Target;
use crate::error::ApiError;
use crate::http::app::{Shared, room_id};
use crate::http::ledger::HandshakeJson;
use crate::http::reply::{self, Reply};
use crate::http::views::no_room;

/// Shakes hands on the context as it is: on its hash.
#[utoipa::path(post, path = "/api/rooms/{id}/handshake", tag = "claims",
    params(("id" = String, Path, description = "The room's UUID")),
    request_body = wire::NewHandshakeBody,
    responses(
        (status = 201, body = HandshakeJson<'_>, description = "Recorded, and durable"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "The context has changed"),
        (status = 429, body = crate::error::Problem<'_>, description = "Full, for good"),
    ))]
pub(super) async fn shake_hands(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Agent)?;
    let new = write.fields(NewHandshake::read)?;
    let id = room_id(&write.parts.uri, 2)?;
    let writer = writer(&write, "agent_id", &new.agent_id);
    if let Ok(writer) = &writer
        && let Some(written) = write.repeated(&writer.actor, Target::Stream(StreamId::Room(id)))?
    {
        return answer(&written);
    }
    write.app.room(id)?;
    match shake(&write, &new, id, writer).await {
        Ok(written) => answer(&written),
        // The rules look at the signature before the hash; the dialect the other way round. Only
        // a handshake that fails pays for telling them apart.
        Err(error) if error.code.status() == 400 => {
            Err(first_error(&write.app, &new, id, error).await)
        }
        Err(error) => Err(error),
    }
}

async fn shake(
    write: &Write,
    new: &NewHandshake,
    id: RoomId,
    writer: Result<Writer, ApiError>,
) -> Result<Written, ApiError> {
    let writer = writer?;
    let shake = ShakeHands {
        agent: writer.agent,
        context_hash: new.context_hash.clone(),
        signature: new.signing.complete()?,
    };
    let command = room::Command::Claim(claims::Command::ShakeHands(shake));
    write.submit(Command::Room(id, command), writer.actor).await
}

/// What the dialect reports first: that the context has changed.
async fn first_error(app: &Shared, new: &NewHandshake, id: RoomId, error: ApiError) -> ApiError {
    let hash = app.blocking(move |app| app.threads(|threads| threads.context_hash(id)));
    match hash.await {
        Ok(current) if current != new.context_hash => refused(&Rejection::ContextStale { current }),
        Ok(_) | Err(_) => error,
    }
}

fn answer(written: &Written) -> Reply {
    let event = &written.event;
    match &event.event {
        Some(Event::Room(room::Event::Claim(claims::Event::HandshakeMade(made)))) => {
            let row = HandshakeRow::of_event(made, event.seq, event.at);
            let answer = HandshakeJson::new(made.id, &row).checked();
            reply::written(StatusCode::CREATED, event.seq, &answer)
        }
        // A repeat of a request whose room is gone.
        None => Err(no_room()),
        Some(Event::Room(_) | Event::Keys(_) | Event::Skills(_)) => {
            Err(ApiError::internal(&"hands were shaken by another event"))
        }
    }
}

/// All handshakes of a room, the oldest first, also those on contexts of before.
#[utoipa::path(get, path = "/api/rooms/{id}/handshakes", tag = "claims",
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = Vec<HandshakeJson<'_>>, description = "The handshakes"),
        (status = 304, description = "Nothing changed in the context (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
    ))]
pub(super) async fn list_handshakes(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let id = app.room(room_id(&parts.uri, 2)?)?.id;
    let ledger = app.threads(|threads| threads.ledger(id))?;
    let etag = reply::etag(ledger.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let count = usize::try_from(ledger.handshakes).unwrap_or(usize::MAX);
    let answer = read(&app, ledger.handshakes, move |app| {
        let made = app.threads(|threads| threads.handshakes(id, 0, count))?;
        let made = made.iter().map(|one| HandshakeJson::new(one.id, &one.row));
        reply::json(StatusCode::OK, &made.collect::<Vec<_>>())
    });
    let mut response = answer.await?;
    reply::tag(&mut response, &etag);
    Ok(response)
}
