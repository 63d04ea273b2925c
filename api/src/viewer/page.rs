//! Answers that are pages or documents, and the headers that guard them.

use askama::Template;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use crate::error::ApiError;
use crate::http::query::Query;
use crate::http::reply::{self, Reply};

/// What a page may load and do: its own styles and scripts, and asking this server.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Whether search engines may keep a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexed {
    /// They may.
    Yes,
    /// They may not.
    No,
}

/// Headers of everything here: no guessing of types, no address in a `Referer`.
pub(super) fn guard(out: &mut HeaderMap) {
    out.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    let nosniff = HeaderValue::from_static("nosniff");
    out.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let no_referrer = HeaderValue::from_static("no-referrer");
    out.insert(header::REFERRER_POLICY, no_referrer);
}

/// A page.
pub(super) fn html(status: StatusCode, indexed: Indexed, page: &impl Template) -> Reply {
    Ok(finish(status, HTML, indexed, render(page)?))
}

/// A document for agents.
pub(super) fn markdown(status: StatusCode, indexed: Indexed, page: &impl Template) -> Reply {
    // A template's own last line break is not part of it.
    Ok(finish(status, MARKDOWN, indexed, render(page)? + "\n"))
}

fn render(page: &impl Template) -> Result<String, ApiError> {
    page.render().map_err(|error| ApiError::internal(&error))
}

/// A document of some type that is asked about again before it is used again.
pub(super) fn finish(
    status: StatusCode,
    content_type: &'static str,
    indexed: Indexed,
    text: impl Into<Body>,
) -> Response<Body> {
    let mut response = reply::bytes(status, content_type, text);
    let out = response.headers_mut();
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if indexed == Indexed::No {
        out.insert(ROBOTS, HeaderValue::from_static("noindex, nofollow"));
    }
    guard(out);
    response
}

/// The answer depends on the `Accept` header.
pub(super) fn by_accept(mut response: Response<Body>) -> Response<Body> {
    let accept = HeaderValue::from_static("Accept");
    response.headers_mut().append(header::VARY, accept);
    response
}

/// Whether an agent asks: by `?format=`, or by an `Accept` that names Markdown or JSON and no HTML.
pub(super) fn wants_markdown(parts: &Parts) -> bool {
    if let Some(format) = Query::of(&parts.uri).get("format") {
        let known = ["md", "markdown", "txt"];
        if known.iter().any(|known| format.eq_ignore_ascii_case(known)) {
            return true;
        }
    }
    let mut accept = String::new();
    for value in parts.headers.get_all(header::ACCEPT) {
        accept.push_str(value.to_str().unwrap_or_default());
    }
    accept.make_ascii_lowercase();
    let names = |kind| accept.contains(kind);
    (names("text/markdown") || names("application/json")) && !names("text/html")
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn wants(path: &str, accept: &str) -> bool {
        let mut request = Request::builder().uri(path);
        if !accept.is_empty() {
            request = request.header("accept", accept);
        }
        wants_markdown(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn agents_get_markdown_and_browsers_html() {
        for yes in [
            "text/markdown",
            "application/json",
            "Text/Markdown;q=0.1, */*",
        ] {
            assert!(wants("/x", yes), "{yes}");
        }
        for no in [
            "",
            "*/*",
            "text/plain",
            "text/html,application/json",
            "text/html",
        ] {
            assert!(!wants("/x", no), "{no}");
        }
        for yes in ["?format=md", "?format=MARKDOWN", "?a=1&format=txt"] {
            assert!(wants(&format!("/x{yes}"), "text/html"), "{yes}");
        }
        for no in ["?format=html", "?format=", "?fmt=md"] {
            assert!(!wants(&format!("/x{no}"), "text/html"), "{no}");
        }
    }
}
