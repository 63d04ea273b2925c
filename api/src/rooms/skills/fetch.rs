//! Looking at a skill and getting its bytes.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, StatusCode, Uri, header};
use minutebook_projections::skills::SkillRow;

use super::bundles as files;
use super::wire::{ManifestJson, no_skill};
use crate::bundles;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared, segment};
use crate::http::python;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// A skill.
#[utoipa::path(get, path = "/api/skills/{id}", tag = "skills",
    params(
        ("id" = String, Path, description = "The skill's UUID"),
        ("include" = Option<String>, Query, description = "sig: with the author's signature"),
    ),
    responses(
        (status = 200, body = ManifestJson<'_>, description = "The skill"),
        (status = 404, body = crate::error::Problem<'_>, description = "Skill not found"),
    ))]
pub(super) async fn skill_manifest(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let row = skill(&app, &parts.uri)?;
    let include = Query::of(&parts.uri).get("include");
    let base = app.base_url(&parts);
    let answer = ManifestJson::new(&row, &base, include.as_deref() == Some("sig"));
    reply::json(StatusCode::OK, &answer)
}

/// Where a skill's bundle is.
#[utoipa::path(get, path = "/api/skills/{id}/{file}", tag = "skills",
    params(
        ("id" = String, Path, description = "The skill's UUID"),
        ("file" = String, Path, description = "Any name: it is for people"),
    ),
    responses(
        (status = 307, description = "At the address named after its SHA-256"),
        (status = 404, body = crate::error::Problem<'_>, description = "Skill not found"),
    ))]
pub(super) async fn skill_file(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let row = skill(&app, &parts.uri)?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    put(
        &mut response,
        header::LOCATION,
        &format!("/skills-cdn/{}", bundles::name(&row.sha256)),
    );
    Ok(response)
}

/// A bundle's bytes.
#[utoipa::path(get, path = "/skills-cdn/{file}", tag = "skills",
    params(("file" = String, Path, description = "The SHA-256 in hex, and .tar.gz")),
    responses(
        (status = 200, body = Vec<u8>, content_type = "application/gzip",
            description = "The bundle, just as it was published"),
        (status = 304, description = "Not changed (If-None-Match)"),
        (status = 404, body = crate::error::Problem<'_>, description = "Skill not found"),
        (status = 500, body = crate::error::Problem<'_>, description = "Lost or damaged here"),
    ))]
pub(super) async fn skill_bundle(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    files(&app)?;
    let sha256 = bundles::parse(&segment(&parts.uri, 1)).ok_or_else(no_skill)?;
    app.skills(|skills| skills.by_sha256(&sha256))?
        .ok_or_else(no_skill)?;
    let etag = format!("\"{}\"", hex::encode(sha256));
    let mut response = if reply::is_known(&parts.headers, &etag) {
        reply::not_modified(&etag)
    } else {
        let bytes = app.blocking(move |app| bundle(app, &sha256)).await?;
        reply::bytes(StatusCode::OK, "application/gzip", bytes)
    };
    // What needs a key must not be handed on by a cache to somebody without one.
    let cached = if app.config.require_key {
        "private, max-age=86400, immutable"
    } else {
        "public, max-age=86400, immutable"
    };
    put(&mut response, header::ETAG, &etag);
    put(&mut response, header::CACHE_CONTROL, cached);
    put(&mut response, header::CONTENT_DISPOSITION, "attachment");
    put(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    Ok(response)
}

fn bundle(app: &App, sha256: &bundles::Sha) -> Result<Vec<u8>, ApiError> {
    files(app)?.get(sha256).map_err(|error| {
        tracing::error!(%error, sha256 = hex::encode(sha256), "a skill's bytes are lost");
        let detail = "this skill's file is lost or damaged on this server: ask its operator, or \
                      upload the same file again";
        ApiError::new(ErrorCode::SkillBytesLost, detail)
    })
}

/// The skill a path names.
pub(super) fn skill(app: &App, uri: &Uri) -> Result<SkillRow, ApiError> {
    files(app)?;
    let id = python::parse_uuid(&segment(uri, 2)).ok_or_else(no_skill)?;
    app.skills(|skills| skills.skill(&id))?.ok_or_else(no_skill)
}

fn put(response: &mut Response<Body>, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
