//! All that is negotiated in a room.

use axum::extract::{Request, State};
use axum::http::StatusCode;

use super::heard::Heard;
use super::wire::ContextJson;
use super::{heard, read};
use crate::http::app::{Shared, room_id};
use crate::http::reply::{self, Reply};

/// Reads the context: all threads, unresolved discrepancies, and the hash handshakes are about.
#[utoipa::path(get, path = "/api/rooms/{id}/context", tag = "claims",
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = ContextJson<'_>, description = "The context"),
        (status = 304, description = "Nothing changed in it (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
    ))]
pub(super) async fn read_context(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let room = app.room(room_id(&parts.uri, 2)?)?;
    let ledger = app.threads(|threads| threads.ledger(room.id))?;
    let etag = reply::etag(ledger.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let answer = read(&app, u64::from(ledger.threads), move |app| {
        let context = app.threads(|threads| threads.context(room.id))?;
        let heard = Heard {
            is_active: app.reads(&room),
            error: heard::error(app, room.id, &context.ledger)?,
            suggestions: heard::suggestions(app, room.id, &context.threads)?,
        };
        reply::json(StatusCode::OK, &ContextJson::new(&room, &context, heard))
    });
    let mut response = answer.await?;
    reply::tag(&mut response, &etag);
    Ok(response)
}
