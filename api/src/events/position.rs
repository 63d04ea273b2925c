//! Where a stream starts.

use axum::http::{HeaderMap, HeaderName};

use crate::error::{ApiError, ErrorCode};
use crate::http::query::Query;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a client says about where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing: from now on.
    Now,
    /// After this log seq.
    After(u64),
}

/// The header first, because a browser that reconnects sends it beside the address it first used;
/// then `last_event_id`, then `since`.
pub(super) fn read(headers: &HeaderMap, query: Query<'_>) -> Result<Asked, ApiError> {
    let mut values = headers.get_all(LAST_EVENT_ID).iter();
    if let Some(value) = values.next() {
        if values.next().is_some() {
            return Err(bad("header.Last-Event-ID"));
        }
        // A browser that has seen no id yet sends none, some clients send an empty one.
        if value.is_empty() {
            return Ok(Asked::Now);
        }
        return parse(value.to_str().unwrap_or_default(), "header.Last-Event-ID");
    }
    for (name, field) in [
        ("last_event_id", "query.last_event_id"),
        ("since", "query.since"),
    ] {
        if let Some(value) = query.get(name) {
            return parse(&value, field);
        }
    }
    Ok(Asked::Now)
}

fn parse(text: &str, field: &'static str) -> Result<Asked, ApiError> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let plain = digits && !text.is_empty() && (text == "0" || !text.starts_with('0'));
    // Far beyond any log still reads as a position: it gets a reset, as anything ahead does.
    if !plain {
        return Err(bad(field));
    }
    Ok(Asked::After(text.parse().unwrap_or(u64::MAX)))
}

fn bad(field: &str) -> ApiError {
    let detail = format!("{field}: must be one id of this stream, a decimal number");
    ApiError::new(ErrorCode::InvalidRequest, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;

    use super::*;

    fn asked(ids: &[&'static str], query: &'static str) -> Result<Asked, String> {
        let mut headers = HeaderMap::new();
        for id in ids {
            headers.append(LAST_EVENT_ID, id.parse().unwrap());
        }
        let uri = Uri::from_static(query);
        read(&headers, Query::of(&uri)).map_err(|error| error.detail.into_owned())
    }

    #[test]
    fn a_position_is_a_plain_number() {
        assert_eq!(asked(&[], "/"), Ok(Asked::Now));
        assert_eq!(asked(&[""], "/"), Ok(Asked::Now));
        assert_eq!(asked(&["0"], "/"), Ok(Asked::After(0)));
        assert_eq!(asked(&["42"], "/?since=1"), Ok(Asked::After(42)));
        assert_eq!(asked(&[], "/?last_event_id=7&since=1"), Ok(Asked::After(7)));
        assert_eq!(asked(&[], "/?since=1"), Ok(Asked::After(1)));
        let far = "999999999999999999999999999999";
        assert_eq!(asked(&[far], "/"), Ok(Asked::After(u64::MAX)));
    }

    #[test]
    fn what_is_no_position_is_refused_by_name() {
        for bad in ["abc", "-1", "+1", "007", "1.0", " 1 2", "1e3", "0x1"] {
            let error = asked(&[bad], "/").unwrap_err();
            assert!(error.starts_with("header.Last-Event-ID: "), "{bad}");
        }
        assert!(asked(&["1", "2"], "/").is_err());
        assert!(
            asked(&[], "/?since=")
                .unwrap_err()
                .starts_with("query.since: ")
        );
    }
}
