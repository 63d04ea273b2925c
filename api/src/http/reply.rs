//! Building answers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;

use super::idempotency::SEQ_HEADER;
use crate::error::ApiError;

/// What a client would rather have (RFC 7240).
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Which of it the answer has.
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// An answer, or the error instead.
pub type Reply = Result<Response<Body>, ApiError>;

/// A JSON answer.
pub fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    let mut body = Vec::with_capacity(512);
    serde_json::to_writer(&mut body, value).map_err(|error| ApiError::internal(&error))?;
    // It may be kept for a slow reader: without the room it grew into.
    body.shrink_to_fit();
    Ok(bytes(status, "application/json", body))
}

/// A JSON answer to a write: the event's seq goes into a header too.
pub fn written(status: StatusCode, seq: u64, value: &impl Serialize) -> Reply {
    let mut response = json(status, value)?;
    response
        .headers_mut()
        .insert(SEQ_HEADER, HeaderValue::from(seq));
    Ok(response)
}

/// An answer of some type.
pub fn bytes(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The entity tag of something that changes whenever `version` does.
pub fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// Whether the client has this version already.
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    headers.get_all(header::IF_NONE_MATCH).iter().any(|value| {
        let tags = value.to_str().unwrap_or_default().split(',').map(str::trim);
        tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag))
            .any(|tag| tag == etag || tag == "*")
    })
}

/// The answer to a client that has it already.
pub fn not_modified(etag: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tag(&mut response, etag);
    response
}

/// Puts an entity tag on an answer, which must be asked about again before it is used again.
pub fn tag(response: &mut Response<Body>, etag: &str) {
    if let Ok(value) = HeaderValue::from_str(etag) {
        response.headers_mut().insert(header::ETAG, value);
    }
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
}

/// Whether the client would rather have a short answer: `Prefer: return=minimal`. Of a preference
/// named twice the first counts, in any case, and its parameters do not.
pub fn wants_minimal(headers: &HeaderMap) -> bool {
    let values = headers.get_all(PREFER).iter();
    let texts = values.map(|value| value.to_str().unwrap_or_default());
    let words = texts
        .flat_map(|text| text.split(','))
        .map(|preference| preference.split(';').next().unwrap_or_default());
    let mut pairs = words.map(|word| word.split_once('=').unwrap_or((word, "")));
    let found = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("return"));
    found.is_some_and(|(_, value)| value.trim().trim_matches('"') == "minimal")
}

/// Says that the answer is as short as the client would have it.
pub fn mark_minimal(response: &mut Response<Body>) {
    let applied = HeaderValue::from_static("return=minimal");
    response.headers_mut().insert(PREFERENCE_APPLIED, applied);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_its_tag_in_any_list() {
        let known = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, value.parse().unwrap());
            is_known(&headers, &etag(7))
        };
        for yes in ["\"7\"", "W/\"7\"", "\"1\", \"7\"", "*"] {
            assert!(known(yes), "{yes}");
        }
        for no in ["7", "\"77\"", "\"1\"", ""] {
            assert!(!known(no), "{no}");
        }
    }

    #[test]
    fn of_what_a_client_prefers_the_first_return_counts() {
        let minimal = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(PREFER, value.parse().unwrap());
            }
            wants_minimal(&headers)
        };
        for yes in [
            &["return=minimal"][..],
            &["respond-async, Return = \"minimal\"; x=1"],
            &["wait=10", "return=minimal", "return=representation"],
        ] {
            assert!(minimal(yes), "{yes:?}");
        }
        for no in [
            &[][..],
            &[""],
            &["return"],
            &["minimal"],
            &["return=representation, return=minimal"],
            &["x; return=minimal"],
        ] {
            assert!(!minimal(no), "{no:?}");
        }
    }
}
