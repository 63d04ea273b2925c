//! Bundles, streamed: memory is bounded by one page of records, whatever the log's size.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use futures_util::stream;
use minutebook_domain::keys::Scope;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;

use super::may_read;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::Shared;
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
    let permit = app.stream_permit()?;
    let reader = Arc::clone(app.engine.reader());
    let export = spawn_blocking(move || match room {
        Some(id) => Export::room(reader, id),
        None => Export::log(reader),
    });
    let export = export.await.map_err(|error| ApiError::internal(&error))??;
    let body = Body::from_stream(stream::try_unfold((export, permit), next));
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

type Exporting = (Export, OwnedSemaphorePermit);

/// The next chunk, read where it may block. The client's pace is the export's pace.
async fn next((mut export, permit): Exporting) -> Result<Option<(Bytes, Exporting)>, ExportError> {
    let read = spawn_blocking(move || {
        let chunk = export.next_chunk();
        (chunk, export)
    });
    let (chunk, export) = read.await?;
    let chunk = chunk.inspect_err(|error| tracing::warn!(%error, "an export was cut off"))?;
    Ok(chunk.map(|chunk| (chunk.into(), (export, permit))))
}

/// Why an export was cut off.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error(transparent)]
    Export(#[from] OfflineError),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
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
