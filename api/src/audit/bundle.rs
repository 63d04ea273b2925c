//! Bundles, streamed: memory is bounded by one page of records, whatever the log's size.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use futures_util::stream;
use minutebook_domain::keys::Scope;
use tokio::task::spawn_blocking;

use super::may_read;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::Shared;
use crate::http::held::{Share, answers_full, with_share};
use crate::http::places::Place;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};
use crate::http::views::no_room;
use crate::offline::OfflineError;
use crate::offline::export::Export;

/// Exports the whole log, or one room with the receipts that tie it to the log, as it is now.
///
/// One JSON object per line; `minutebook-verify` reads it. An export that cannot be completed is
/// cut off, which every reader notices by the manifest's counts.
#[utoipa::path(get, path = "/api/log/bundle", tag = "log",
    params(
        ("room_id" = Option<String>, Query, description = "The room's UUID; none is the whole log"),
        ("room" = Option<String>, Query, description = "The same"),
    ),
    responses(
        (status = 200, content_type = "application/x-ndjson", body = String,
            description = "The bundle"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the auditor scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 503, body = crate::error::Problem<'_>, description = "Too many at once"),
    ))]
pub(super) async fn bundle(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let caller = app.caller(&parts)?;
    let room = Query::of(&parts.uri).room()?;
    match room {
        None => caller.needs(Scope::Auditor)?,
        Some(id) => may_read(&app, &caller, id)?,
    }
    let place = app.stream_place(&parts)?;
    let share = app.answers.take(BUNDLE_BYTES).ok_or_else(answers_full)?;
    let reader = Arc::clone(app.engine.reader());
    let turn = app.long_read().await?;
    let export = spawn_blocking(move || {
        let _turn = turn;
        match room {
            Some(id) => Export::room(reader, id),
            None => Export::log(reader),
        }
    });
    let export = export.await.map_err(|error| ApiError::internal(&error))??;
    let exporting = Exporting {
        export,
        app,
        share: Arc::new(share),
        _place: place,
    };
    let body = Body::from_stream(stream::try_unfold(exporting, next));
    let mut response = reply::bytes(StatusCode::OK, "application/x-ndjson", body);
    let name = room.map_or("log".to_owned(), |id| format!("room-{id}"));
    let disposition = format!("attachment; filename=\"minutebook-{name}.ndjson\"");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// What a bundle that nobody reads holds, at most: a chunk, what the connection buffers, and a
/// longest record.
const BUNDLE_BYTES: usize = 3 * 64 * 1024;

/// An export on its way out, with its place and its share of what may wait.
struct Exporting {
    export: Export,
    app: Shared,
    share: Arc<Share>,
    _place: Place,
}

/// The next chunk, read where it may block. The client's pace is the export's pace.
async fn next(mut exporting: Exporting) -> Result<Option<(Bytes, Exporting)>, ExportError> {
    let turn = exporting.app.long_read().await?;
    let read = spawn_blocking(move || {
        let chunk = exporting.export.next_chunk();
        drop(turn);
        (chunk, exporting)
    });
    let (chunk, exporting) = read.await?;
    let chunk = chunk.inspect_err(|error| tracing::warn!(%error, "an export was cut off"))?;
    Ok(chunk.map(|mut chunk| {
        chunk.shrink_to_fit();
        let chunk = with_share(chunk.into(), Arc::clone(&exporting.share));
        (chunk, exporting)
    }))
}

/// Why an export was cut off.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Export(#[from] OfflineError),
    #[error("the server ends: {}", .0.detail)]
    Turn(ApiError),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}

impl From<ApiError> for ExportError {
    fn from(error: ApiError) -> Self {
        Self::Turn(error)
    }
}

impl From<OfflineError> for ApiError {
    fn from(error: OfflineError) -> Self {
        match error {
            OfflineError::NoRoom(_) => no_room(),
            OfflineError::ErasedMeanwhile => Self::new(ErrorCode::Busy, error.to_string()),
            OfflineError::Store(error) => error.into(),
            OfflineError::InUse { .. }
            | OfflineError::Generation(_)
            | OfflineError::Damaged(_)
            | OfflineError::NoRecord { .. }
            | OfflineError::Empty
            | OfflineError::Bundle(_) => Self::internal(&error),
        }
    }
}
