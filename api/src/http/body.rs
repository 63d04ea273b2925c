//! Request bodies: bounded, each and all together, timed, and JSON only when their content type
//! says so.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use bytes::BytesMut;
use http_body::Body as _;
use http_body_util::BodyExt;

use super::fields::{Invalid, NO_BODY, NOT_AN_OBJECT};
use super::held::{Budget, FREE_BYTES, Share, with_share};
use super::json::{self, Document};
use crate::error::{ApiError, ErrorCode};

/// Reads a whole body of at most `bytes_max`, within `within`. It counts until it is dropped.
pub async fn read(
    mut body: Body,
    budget: &Arc<Budget>,
    bytes_max: usize,
    within: Duration,
) -> Result<Bytes, ApiError> {
    let too_large = || {
        let detail = format!("Request body is larger than {bytes_max} bytes");
        ApiError::new(ErrorCode::ContentTooLarge, detail)
    };
    // What the client announces is refused before any of it is read.
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large());
    }
    let reading = collect(&mut body, budget, bytes_max);
    match tokio::time::timeout(within, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(Unread::TooLarge)) => Err(too_large()),
        Ok(Err(Unread::Broken)) => Err(Invalid::Json(json::JsonError::NotUtf8).into()),
        Ok(Err(Unread::NoPlace)) => {
            let detail = "too many request bodies are on their way, try again later";
            Err(ApiError::new(ErrorCode::Busy, detail))
        }
        Err(_) => {
            let detail = format!("Request body did not arrive within {} s", within.as_secs());
            Err(ApiError::new(ErrorCode::RequestTimeout, detail))
        }
    }
}

/// Why a body was not read.
#[derive(Debug)]
enum Unread {
    TooLarge,
    NoPlace,
    Broken,
}

/// The whole body.
async fn collect(body: &mut Body, budget: &Arc<Budget>, bytes_max: usize) -> Result<Bytes, Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(bytes_max);
    let mut share = None;
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        let size = first.len() + rest.len() + data.len();
        if size > bytes_max {
            return Err(Unread::TooLarge);
        }
        hold(&mut share, budget, size.max(rest.capacity()))?;
        // Nearly every body is one frame and is handed on without a copy.
        if first.is_empty() && rest.is_empty() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            // Once, as large as it was announced: growing would hold it twice.
            hold(&mut share, budget, size.max(announced))?;
            rest.reserve(size.max(announced));
        }
        rest.extend_from_slice(&std::mem::take(&mut first));
        rest.extend_from_slice(&data);
        hold(&mut share, budget, rest.capacity())?;
    }
    let whole = if rest.is_empty() {
        first
    } else {
        rest.freeze()
    };
    Ok(match share {
        Some(share) => with_share(whole, Arc::new(share)),
        None => whole,
    })
}

/// Counts a body that has become so large.
fn hold(share: &mut Option<Share>, budget: &Arc<Budget>, bytes: usize) -> Result<(), Unread> {
    let fits = match share {
        Some(share) => share.grow_to(bytes),
        None if bytes <= FREE_BYTES => true,
        None => {
            *share = budget.take(bytes);
            share.is_some()
        }
    };
    fits.then_some(()).ok_or(Unread::NoPlace)
}

/// A body as JSON, by the peer's rules: none at all is a missing field, and one that is not called
/// JSON is not looked at.
pub fn document<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<Document<'a>, Invalid> {
    if body.is_empty() {
        return Err(Invalid::Body(NO_BODY));
    }
    if !is_json(headers) {
        return Err(Invalid::Body(NOT_AN_OBJECT));
    }
    Ok(json::parse(body)?)
}

/// `application/json` or `application/…+json`, in any case, with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return true;
    }
    let essence = essence.to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype.ends_with("+json") && !subtype.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(content_type: Option<&str>, body: &[u8]) -> String {
        let mut headers = HeaderMap::new();
        if let Some(value) = content_type {
            headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
        }
        document(&headers, body).map_or_else(|invalid| invalid.to_string(), |_| "ok".to_owned())
    }

    #[test]
    fn only_json_content_types_are_parsed() {
        for good in [
            "application/json",
            "APPLICATION/JSON",
            "application/json; charset=latin1",
            "application/json;",
            "application/vnd.x+json",
            "application/+json",
            "application/x+JSON",
        ] {
            assert_eq!(seen(Some(good), b"{}"), "ok", "{good}");
            assert_eq!(
                seen(Some(good), b"\xff"),
                "There was an error parsing the body"
            );
        }
        let bad = [
            "text/plain",
            "text/json",
            "application/jsonx",
            "application/json, x",
            "",
            "json",
        ];
        for bad in
            bad.into_iter()
                .chain(["application/json/x", "image/json", "multipart/form-data"])
        {
            assert_eq!(seen(Some(bad), b"{}"), NOT_AN_OBJECT, "{bad}");
            assert_eq!(seen(Some(bad), b"\xff"), NOT_AN_OBJECT, "{bad}");
        }
        assert_eq!(seen(None, b"{}"), NOT_AN_OBJECT);
    }

    #[test]
    fn no_body_is_a_missing_field() {
        for content_type in [None, Some("application/json"), Some("text/plain")] {
            assert_eq!(seen(content_type, b""), "Field required");
        }
        assert_eq!(
            seen(Some("application/json"), b"  "),
            "2: JSON decode error"
        );
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_however_it_comes() {
        let second = Duration::from_secs(1);
        let budget = Budget::new(1 << 20);
        let whole = read(Body::from("12345"), &budget, 5, second).await.unwrap();
        assert_eq!(&whole[..], b"12345");
        let announced = read(Body::from("123456"), &budget, 5, second)
            .await
            .unwrap_err();
        assert_eq!(announced.code, ErrorCode::ContentTooLarge);
        let parts = |n: usize| {
            let parts = (0..n).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(b"ab")));
            Body::from_stream(futures_util::stream::iter(parts))
        };
        assert_eq!(
            &read(parts(2), &budget, 5, second).await.unwrap()[..],
            b"abab"
        );
        let chunked = read(parts(3), &budget, 5, second).await.unwrap_err();
        assert_eq!(chunked.code, ErrorCode::ContentTooLarge);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_times_out() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let late = read(
            Body::from_stream(never),
            &Budget::new(5),
            5,
            Duration::from_secs(30),
        )
        .await
        .unwrap_err();
        assert_eq!(late.code, ErrorCode::RequestTimeout);
    }
}
