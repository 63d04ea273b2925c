//! C2SP tlog-tiles: hash tiles and entry bundles, full and partial.
//!
//! An entry is an envelope and its length is two bytes on the wire. Every part of an envelope is
//! bounded (a name of 100 code points, an idempotency key of 200 bytes, fixed-size hashes), so none
//! comes near 65,535 bytes; one that did would end the bundle with an error and never be cut.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use minutebook_domain::keys::Scope;
use minutebook_eventlog::format::tree::{
    ProveError, TILE_WIDTH, TileLevel, TilePath, TileSource, subtree_root,
};
use minutebook_eventlog::store::{LogReader, StoreError};

use crate::engine::StoreTiles;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::Shared;
use crate::http::reply::{self, Reply};

/// Serves a tile: `0/001`, `1/000.p/7`, `entries/x001/000` …
#[utoipa::path(get, path = "/api/log/tile/{*path}", tag = "log",
    params(("path" = String, Path, description = "As C2SP tlog-tiles, after `tile/`")),
    responses(
        (status = 200, content_type = "application/octet-stream", body = Vec<u8>,
            description = "The tile"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the auditor scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "No such tile, or not yet"),
    ))]
pub(super) async fn tile(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?.needs(Scope::Auditor)?;
    let missing = || ApiError::new(ErrorCode::NotFound, "no such tile, or not yet");
    let path = parts
        .uri
        .path()
        .strip_prefix("/api/log/")
        .unwrap_or_default();
    let path = TilePath::parse(path).ok_or_else(missing)?;
    let read = app.blocking(move |app| {
        let reader = &**app.engine.reader();
        match path.level {
            TileLevel::Hashes(level) => hashes(reader, level, path.index, path.width),
            TileLevel::Entries => entries(reader, path.index, path.width),
        }
    });
    Ok(immutable(read.await?.ok_or_else(missing)?))
}

/// A tile never changes, a partial one neither: a longer one has another name.
fn immutable(tile: Vec<u8>) -> Response<Body> {
    let mut response = reply::bytes(StatusCode::OK, "application/octet-stream", tile);
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, forever);
    response
}

fn hashes(
    reader: &dyn LogReader,
    level: u8,
    index: u64,
    width: u16,
) -> Result<Option<Vec<u8>>, ApiError> {
    if width == TILE_WIDTH {
        return Ok(reader.tile(level, index)?);
    }
    let Some((first, span)) = range(reader, level, index, width)? else {
        return Ok(None);
    };
    let tiles = StoreTiles(reader);
    let mut out = Vec::with_capacity(usize::from(width) * 32);
    if level == 0 {
        for hash in tiles.leaves(first, width)? {
            out.extend_from_slice(hash.as_bytes());
        }
        return Ok(Some(out));
    }
    for place in 0..u64::from(width) {
        let low = first + place * span;
        let root = subtree_root(&tiles, low, low + span).map_err(proof_error)?;
        out.extend_from_slice(root.as_bytes());
    }
    Ok(Some(out))
}

/// First leaf of a tile and leaves per hash, if the log reaches that far.
fn range(
    reader: &dyn LogReader,
    level: u8,
    index: u64,
    width: u16,
) -> Result<Option<(u64, u64)>, StoreError> {
    let size = reader.head()?.seq;
    let last_hash = index.checked_mul(u64::from(TILE_WIDTH)).and_then(|first| {
        first
            .checked_add(u64::from(width))
            .map(|last| (first, last))
    });
    let span = 1_u64.checked_shl(u32::from(level) * 8);
    let (Some((first, last)), Some(span)) = (last_hash, span.filter(|span| *span > 0)) else {
        return Ok(None);
    };
    let is_there = last.checked_mul(span).is_some_and(|leaves| leaves <= size);
    Ok(is_there.then(|| (first * span, span)))
}

fn entries(reader: &dyn LogReader, index: u64, width: u16) -> Result<Option<Vec<u8>>, ApiError> {
    let Some((first, _)) = range(reader, 0, index, width)? else {
        return Ok(None);
    };
    let page = reader.read(first + 1, usize::from(width))?;
    let mut out = Vec::with_capacity(usize::from(width) * 640);
    for (_, record) in page {
        let length = u16::try_from(record.envelope.len())
            .map_err(|_| ApiError::internal(&"an envelope is longer than an entry can be"))?;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&record.envelope);
    }
    Ok(Some(out))
}

/// What went wrong with the stored tree: ours to repair, not the caller's.
pub(super) fn proof_error(error: ProveError<StoreError>) -> ApiError {
    match error {
        ProveError::Source(error) => error.into(),
        ProveError::Outside | ProveError::Damaged { .. } => ApiError::internal(&error),
    }
}
