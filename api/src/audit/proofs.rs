//! Checkpoints, consistency proofs and receipts.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minutebook_domain::ids::StreamId;
use minutebook_domain::keys::Scope;
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::format::record::Record;
use minutebook_eventlog::format::tree::consistency_proof;
use serde::Serialize;
use utoipa::ToSchema;

use super::may_read;
use super::tiles::proof_error;
use crate::engine::StoreTiles;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared, segment};
use crate::http::fields::Invalid;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};
use crate::offline;

const TEXT: &str = "text/plain; charset=utf-8";

/// The newest signed checkpoint, a C2SP note.
#[utoipa::path(get, path = "/api/log/checkpoint", tag = "log",
    responses((status = 200, content_type = "text/plain", body = String, description = "Note")))]
pub(super) async fn checkpoint(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let note = app.engine.reader().head()?.checkpoint;
    let mut response = reply::bytes(StatusCode::OK, TEXT, note);
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
    Ok(response)
}

/// A consistency proof.
#[derive(Serialize, ToSchema)]
struct ConsistencyJson {
    from: u64,
    to: u64,
    /// RFC 6962 order, each the base64 of 32 bytes.
    hashes: Vec<String>,
}

/// Proves that the log of one size is a prefix of the log of another.
#[utoipa::path(get, path = "/api/log/proof/consistency", tag = "log",
    params(
        ("from" = u64, Query, description = "The smaller size"),
        ("to" = Option<u64>, Query, description = "The larger one; the log's size by default"),
    ),
    responses(
        (status = 200, body = ConsistencyJson, description = "The proof"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 404, body = crate::error::Problem<'_>, description = "The log is shorter"),
    ))]
pub(super) async fn consistency(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let query = Query::of(&parts.uri);
    let size = app.engine.reader().head()?.seq;
    let from = query.integer("query.from", 0, i64::MAX)?;
    let from = from
        .ok_or_else(|| Invalid::field("query.from", "Field required"))?
        .unsigned_abs();
    let to = query
        .integer("query.to", 0, i64::MAX)?
        .map_or(size, i64::unsigned_abs);
    if to > size {
        return Err(beyond(size));
    }
    if from > to {
        let problem = format!("Input should be less than or equal to {to}");
        return Err(Invalid::field("query.from", problem).into());
    }
    let prove = app.blocking(move |app| {
        let tiles = StoreTiles(&**app.engine.reader());
        consistency_proof(&tiles, from, to).map_err(proof_error)
    });
    let proof = prove.await?;
    let hashes = proof
        .iter()
        .map(|hash| STANDARD.encode(hash.as_bytes()))
        .collect();
    reply::json(StatusCode::OK, &ConsistencyJson { from, to, hashes })
}

/// A receipt for one record: a C2SP tlog-proof that carries the record's envelope.
#[utoipa::path(get, path = "/api/log/receipt/{seq}", tag = "log",
    params(
        ("seq" = u64, Path, description = "The record's log seq"),
        ("room_id" = Option<String>, Query,
            description = "The room the record belongs to; needed without the auditor scope"),
        ("room" = Option<String>, Query, description = "The same"),
    ),
    responses(
        (status = 200, content_type = "text/plain", body = String, description = "The receipt"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 403, body = crate::error::Problem<'_>, description = "Name the room"),
        (status = 404, body = crate::error::Problem<'_>, description = "Not there, or another's"),
    ))]
pub(super) async fn receipt(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let text = segment(&parts.uri, 3);
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let caller = app.caller(&parts)?;
    let room = Query::of(&parts.uri).room()?;
    if let Some(id) = room {
        may_read(&app, &caller, id)?;
    }
    if !digits {
        let problem = "Input should be a valid integer, unable to parse string as an integer";
        return Err(Invalid::field("seq", problem).into());
    }
    let head = app.engine.reader().head()?;
    let missing = || ApiError::new(ErrorCode::SeqNotFound, "no such record, or not this room's");
    let seq = text.parse().ok().filter(|seq| (1..=head.seq).contains(seq));
    let record = seq.map(|seq| read(&app, seq)).transpose()?.flatten();
    match (room, &record) {
        (Some(room), Some((stream, _))) if *stream != StreamId::Room(room) => return Err(missing()),
        // What the log says about itself everybody may have.
        (Some(_), _) | (None, Some((StreamId::Log, _))) => {}
        (None, _) => caller.needs(Scope::Auditor).map_err(|error| ApiError {
            detail: format!("{}; for a record of a room, add ?room_id=", error.detail).into(),
            ..error
        })?,
    }
    let (Some(seq), Some((_, record))) = (seq, record) else {
        return Err(missing());
    };
    let prove = app.blocking(move |app| {
        let envelope = Some(record.envelope);
        Ok(offline::receipt::receipt(
            &**app.engine.reader(),
            seq,
            envelope,
            &head,
        )?)
    });
    Ok(reply::bytes(StatusCode::OK, TEXT, prove.await?.to_text()))
}

fn read(app: &App, seq: u64) -> Result<Option<(StreamId, Record)>, ApiError> {
    let page = app.engine.reader().read(seq, 1)?;
    let Some((_, record)) = page.into_iter().find(|(found, _)| *found == seq) else {
        return Ok(None);
    };
    let envelope = Envelope::parse(&record.envelope).map_err(|e| ApiError::internal(&e))?;
    let stream = StreamId::parse(&envelope.stream)
        .ok_or_else(|| ApiError::internal(&"a record of an unknown stream"))?;
    Ok(Some((stream, record)))
}

fn beyond(size: u64) -> ApiError {
    let detail = format!("the log's size is {size}");
    ApiError::new(ErrorCode::SeqNotFound, detail)
}
