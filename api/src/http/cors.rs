//! Cross-origin answers as the peer gives them: any origin may read.
//!
//! Any origin may read because nothing here is guarded by cookies: what a page of another site can
//! reach, it can reach with a key it holds or not at all (see [`super::client::Client::local`]).

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use super::reply;

const METHODS: &str = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
const EXPOSED: &str = "ETag, Minutebook-Seq, Preference-Applied, Retry-After";

/// The answer to a preflight; none when the request is none.
pub fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response<Body>> {
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    if method != Method::OPTIONS || !headers.contains_key(header::ORIGIN) {
        return None;
    }
    let known = asked
        .to_str()
        .is_ok_and(|asked| METHODS.split(", ").any(|one| one == asked));
    let (status, text) = if known {
        (StatusCode::OK, "OK")
    } else {
        (StatusCode::BAD_REQUEST, "Disallowed CORS method")
    };
    let mut response = reply::bytes(status, "text/plain; charset=utf-8", text);
    let out = response.headers_mut();
    out.insert(
        header::VARY,
        HeaderValue::from_static(
            "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
        ),
    );
    out.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    out.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(METHODS),
    );
    out.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
    if let Some(asked) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    Some(response)
}

/// Marks any other answer.
pub fn mark(has_origin: bool, response: &mut Response<Body>) {
    let out = response.headers_mut();
    out.append(header::VARY, HeaderValue::from_static("Origin"));
    if has_origin {
        out.insert(
            header::ACCESS_CONTROL_ALLOW_ORIGIN,
            HeaderValue::from_static("*"),
        );
        out.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(EXPOSED),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(pairs: &[(&'static str, &'static str)]) -> Option<Response<Body>> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        preflight(&Method::OPTIONS, &headers)
    }

    #[test]
    fn a_preflight_is_answered_for_any_origin() {
        let origin = ("origin", "http://a");
        let method = ("access-control-request-method", "POST");
        let wanted = ("access-control-request-headers", "X-A, content-type");
        let response = ask(&[origin, method, wanted]).unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        assert_eq!(
            response.headers()["access-control-allow-headers"],
            "X-A, content-type"
        );
        assert_eq!(response.headers()["access-control-max-age"], "600");
        let odd = ask(&[origin, ("access-control-request-method", "FOO")]).unwrap();
        assert_eq!(odd.status(), 400);
        assert!(ask(&[origin]).is_none());
        assert!(ask(&[method]).is_none());
    }
}
