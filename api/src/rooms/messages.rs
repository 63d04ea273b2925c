//! Reading and posting messages.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::keys::Scope;
use minutebook_domain::limits::SIGNATURE_WINDOW_SECONDS_MAX;
use minutebook_domain::room::{self, MessageKind, PostMessage};
use minutebook_domain::signature::MessageSignature;
use minutebook_domain::text::MessageText;
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Command, Event};
use minutebook_projections::rooms::RoomRow;

use super::wire::{self, NewMessage, PageJson};
use super::write::{Write, Written, bad_field};
use crate::engine::Target;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared, room_id};
use crate::http::message::{MessageJson, Place};
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// Most messages in one answer.
const PAGE_MAX: usize = 500;
/// Most messages that are read at once without another thread.
const SHORT_PAGE_MAX: usize = 100;

/// Reads messages, the oldest first.
#[utoipa::path(get, path = "/api/rooms/{id}/messages", tag = "rooms",
    params(
        ("id" = String, Path, description = "The room's UUID"),
        ("since" = Option<u64>, Query, description = "Only those after this id"),
        ("limit" = Option<u64>, Query, description = "From 1, default 100, capped at 500"),
    ),
    responses(
        (status = 200, body = PageJson<'_>, description = "A page of them"),
        (status = 304, description = "Nothing happened in the room (If-None-Match)"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
    ))]
pub(super) async fn list_messages(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let query = Query::of(&parts.uri);
    let since = query
        .integer("query.since", 0, i64::MAX)?
        .unwrap_or(0)
        .unsigned_abs();
    let limit = query.up_to("query.limit", 100, PAGE_MAX)?;
    let id = room_id(&parts.uri, 2)?;
    let etag = reply::etag(app.room(id)?.last_seq);
    if reply::is_known(&parts.headers, &etag) {
        return Ok(reply::not_modified(&etag));
    }
    let read = move |app: &App| app.history(|history| history.after(id, since, limit));
    let (page, _turn) = if limit > SHORT_PAGE_MAX {
        let turn = app.long_read().await?;
        (app.blocking(read).await?, Some(turn))
    } else {
        (read(&app)?, None)
    };
    let messages = page.messages.into_iter().map(MessageJson::of_row).collect();
    let answer = PageJson {
        messages,
        has_more: page.has_more,
    };
    let mut response = reply::json(StatusCode::OK, &answer)?;
    reply::tag(&mut response, &etag);
    Ok(response)
}

/// Posts a message, signed or not.
#[utoipa::path(post, path = "/api/rooms/{id}/messages", tag = "rooms",
    params(("id" = String, Path, description = "The room's UUID")),
    request_body = wire::NewMessageBody,
    responses(
        (status = 201, body = MessageJson<'_>, description = "Posted, and durable"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 409, body = crate::error::Problem<'_>, description = "Used before"),
        (status = 429, body = crate::error::Problem<'_>, description = "Full, for good"),
        (status = 503, body = crate::error::Problem<'_>, description = "Try again"),
    ))]
pub(super) async fn post_message(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Agent)?;
    let new = write.fields(NewMessage::read)?;
    let id = room_id(&write.parts.uri, 2)?;
    let (write, posted) = post_and_tell(write, new, id).await?;
    match posted {
        Ok(written) => answer(&write.app, id, &written).await,
        // The engine looks at the message before the room; the dialect the other way round. Only
        // a message that fails pays for telling them apart.
        Err(error) => Err(first_error(&write.app, id, error)),
    }
}

/// Posts, and tells the arbiter where it listens: then in a task of its own, since a caller that
/// hangs up ends this one while the message is on its way.
async fn post_and_tell(
    write: Write,
    new: NewMessage,
    id: RoomId,
) -> Result<(Write, Result<Written, ApiError>), ApiError> {
    let arbiter = write.app.arbiter.clone();
    let Some(arbiter) = arbiter.filter(|arbiter| arbiter.is_followed(id)) else {
        let posted = post(&write, &new, id).await;
        // Right after a start the arbiter may have begun to follow the room while the message was
        // on its way, and have looked at the room before it was there.
        if let Some(arbiter) = &write.app.arbiter {
            arbiter.posted(id);
        }
        return Ok((write, posted));
    };
    let told = tokio::spawn(async move {
        let posted = post(&write, &new, id).await;
        arbiter.posted(id);
        (write, posted)
    });
    told.await.map_err(|error| ApiError::internal(&error))
}

async fn post(write: &Write, new: &NewMessage, id: RoomId) -> Result<Written, ApiError> {
    let agent = wire::agent_name("agent_id", &new.agent_id)?;
    let actor = write.caller.acting_as(&agent)?;
    if let Some(written) = write.repeated(&actor, Target::Stream(StreamId::Room(id)))? {
        return Ok(written);
    }
    let text = MessageText::parse(&new.text).map_err(|rejection| bad_field("text", &rejection))?;
    let signature = match new.signing.complete()? {
        None => None,
        Some(signed) => {
            check_time(signed.ts_iso)?;
            let wire::Signed {
                pubkey_hex,
                signature_hex,
                ts_iso,
            } = signed;
            let signature = MessageSignature::from_client(pubkey_hex, signature_hex, ts_iso);
            Some(match new.signing.surface {
                Some(surface) => signature.with_surface(surface),
                None => signature,
            })
        }
    };
    let memory_root = new.memory_root.clone();
    let post = PostMessage {
        agent,
        kind: MessageKind::Chat,
        memory_root,
        signature,
        text,
    };
    write
        .submit(Command::Room(id, room::Command::PostMessage(post)), actor)
        .await
}

/// The signed time is looked at before the signature. Whether it is near enough counts again, and
/// for good, against the record's own time.
fn check_time(ts_iso: &str) -> Result<(), ApiError> {
    let Some(signed_at) = Timestamp::parse_rfc3339(ts_iso) else {
        return Err(ApiError::new(
            ErrorCode::SignatureTimeUnreadable,
            wire::TS_UNREADABLE,
        ));
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX);
    let apart = signed_at.as_micros().abs_diff(now);
    if apart > SIGNATURE_WINDOW_SECONDS_MAX.unsigned_abs() * 1_000_000 {
        return Err(ApiError::new(
            ErrorCode::SignatureOutsideWindow,
            wire::TS_OUTSIDE,
        ));
    }
    Ok(())
}

/// What the dialect reports first: no room, then a full room, then what is wrong with the message.
fn first_error(app: &App, id: RoomId, error: ApiError) -> ApiError {
    match (error.code.status(), app.room(id)) {
        (400, Err(no_room)) => no_room,
        (
            400,
            Ok(RoomRow {
                message_limit: Some(limit),
                message_count,
                ..
            }),
        ) if message_count >= limit => ApiError::new(ErrorCode::RoomFull, wire::room_full(limit)),
        _ => error,
    }
}

async fn answer(app: &Shared, id: RoomId, written: &Written) -> Reply {
    let event = &written.event;
    let place = Place {
        seq: event.seq,
        at: event.at,
    };
    let message = match &event.event {
        Some(Event::Room(room::Event::MessagePosted(message))) => {
            MessageJson::of_event(message, place)
        }
        // A repeat of a message that was erased since: it still has its position.
        None => {
            let sseq = event.sseq;
            let n = app
                .blocking(move |app| app.first_message(id, |row| row.sseq < sseq))
                .await?;
            MessageJson::erased(n, place)
        }
        Some(Event::Room(_) | Event::Keys(_) | Event::Skills(_)) => {
            return Err(ApiError::internal(&"a message was posted by another event"));
        }
    };
    reply::written(StatusCode::CREATED, event.seq, &message)
}
