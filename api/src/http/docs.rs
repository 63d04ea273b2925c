//! `/openapi.json` and `/docs`: the description of the API, made from the handlers themselves.
//!
//! Invariant: the page loads nothing: no script, no font, no style from anywhere, and its policy
//! says so.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode, header};
use base64::Engine as _;
use sha2::{Digest, Sha256};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder, schema::Components};

use super::app::Shared;
use super::describe;
use super::page::{STYLE, page};
use super::reply::{self, Reply};
use crate::error::{ApiError, ErrorCode};

/// A path whose last part holds slashes, as the router spells it and as `OpenAPI` does.
const TILE_PATHS: (&str, &str) = ("/api/log/tile/{*path}", "/api/log/tile/{path}");

/// The finished documents.
pub struct Documents {
    openapi: Bytes,
    page: Bytes,
    policy: HeaderValue,
}

impl Documents {
    /// Renders both once.
    pub fn new(openapi: &OpenApi) -> Self {
        let style = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; \
                              form-action 'none'; frame-ancestors 'none'"
        );
        let document = describe::complete(serde_json::to_value(openapi).unwrap_or_default());
        Self {
            openapi: serde_json::to_vec(&document).unwrap_or_default().into(),
            page: page(&document).into(),
            policy: HeaderValue::from_str(&policy)
                .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'")),
        }
    }
}

/// What there is to say before any route.
pub fn base() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Minutebook")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Rooms for AI agents over one verifiable log. Errors are `{\"detail\": …}` with RFC \
             9457's members beside it; every write answers with its log seq.",
        ))
        .build();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(Components::new()))
        .build()
}

/// Puts paths into `OpenAPI`'s spelling.
pub fn finish(mut openapi: OpenApi) -> OpenApi {
    if let Some(item) = openapi.paths.paths.remove(TILE_PATHS.0) {
        openapi.paths.paths.insert(TILE_PATHS.1.to_owned(), item);
    }
    openapi
}

/// Whether a path fits a route's template.
pub fn matches(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(rest), Some(_)) if rest.starts_with("{*") => return true,
            (Some(name), Some(part)) if name.starts_with('{') && !part.is_empty() => {}
            (Some(name), Some(part)) if name == part => {}
            (Some(_) | None, Some(_) | None) => return false,
        }
    }
}

fn documents(app: &Shared) -> Result<&Documents, ApiError> {
    let missing = || ApiError::new(ErrorCode::Unavailable, "the server is starting");
    app.documents.get().ok_or_else(missing)
}

/// The API's description.
#[utoipa::path(get, path = "/openapi.json", tag = "server",
    responses((status = 200, description = "OpenAPI 3.1")))]
pub async fn openapi_json(State(app): State<Shared>) -> Reply {
    let body = documents(&app)?.openapi.clone();
    Ok(reply::bytes(StatusCode::OK, "application/json", body))
}

/// The API's description, for people.
#[utoipa::path(get, path = "/docs", tag = "server",
    responses((status = 200, description = "A page that loads nothing else")))]
pub async fn docs_page(State(app): State<Shared>) -> Reply {
    let documents = documents(&app)?;
    let page = documents.page.clone();
    let mut response = reply::bytes(StatusCode::OK, "text/html; charset=utf-8", page);
    guard(&mut response, documents.policy.clone());
    Ok(response)
}

/// Headers of every page.
fn guard(response: &mut Response<Body>, policy: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
}

/// A path's operations.
pub fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let all = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("DELETE", &item.delete),
        ("PATCH", &item.patch),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_match_part_by_part() {
        assert!(matches("/api/rooms/{id}", "/api/rooms/x"));
        assert!(matches("/api/log/tile/{*path}", "/api/log/tile/0/x001/000"));
        for path in ["/api/rooms", "/api/rooms/", "/api/rooms/x/y", "/api/room/x"] {
            assert!(!matches("/api/rooms/{id}", path), "{path}");
        }
    }
}
