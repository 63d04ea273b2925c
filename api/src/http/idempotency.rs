//! `Idempotency-Key` in, `Minutebook-Seq` out.

use axum::http::{HeaderMap, HeaderName, Method};

use super::fields::Invalid;
use crate::engine::Idempotency;

/// Names a retry as the same request.
pub const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// The log seq of what a write did.
pub const SEQ_HEADER: HeaderName = HeaderName::from_static("minutebook-seq");
/// Longest key.
const KEY_BYTES_MAX: usize = 200;

/// Shortest key that is a secret: 16 characters, as a UUID without its hyphens has twice.
pub const SECRET_KEY_BYTES_MIN: usize = 16;

const BAD_KEY: &str = "must be one value of 1 to 200 visible ASCII characters";

/// The client's key with the request's fingerprint: method, path and body.
pub fn read(
    headers: &HeaderMap,
    method: &Method,
    path: &str,
    body: &[u8],
) -> Result<Option<Idempotency>, Invalid> {
    let mut values = headers.get_all(KEY_HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let bytes = value.as_bytes();
    let visible = bytes.iter().all(|b| (0x21..=0x7e).contains(b));
    let bounded = (1..=KEY_BYTES_MAX).contains(&bytes.len());
    let key = value
        .to_str()
        .ok()
        .filter(|_| visible && bounded && values.next().is_none());
    let Some(key) = key else {
        return Err(Invalid::field("header.Idempotency-Key", BAD_KEY));
    };
    Ok(Some(Idempotency {
        key: key.to_owned(),
        asker: String::new(),
        request: fingerprint(method, path, body),
    }))
}

/// The error about a key that a stranger might guess, where the answer to a repeat is a secret.
pub fn guessable() -> Invalid {
    let problem = format!(
        "must be {SECRET_KEY_BYTES_MIN} characters or more without an API key, and nobody's to \
         guess: whoever repeats it is shown the room. A UUID will do"
    );
    Invalid::field("header.Idempotency-Key", problem)
}

fn fingerprint(method: &Method, path: &str, body: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(method.as_str().as_bytes()).update(b" ");
    hasher.update(path.as_bytes()).update(b"\n").update(body);
    let mut half = [0; 16];
    hasher.finalize_xof().fill(&mut half);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(values: &[&'static str]) -> Result<Option<String>, String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(KEY_HEADER, (*value).parse().unwrap());
        }
        let read = read(&headers, &Method::POST, "/p", b"");
        read.map(|found| found.map(|found| found.key))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_one_bounded_visible_value() {
        assert_eq!(key(&[]), Ok(None));
        assert_eq!(key(&["a-1"]), Ok(Some("a-1".to_owned())));
        let long: &'static str = Box::leak("x".repeat(201).into_boxed_str());
        for bad in [&["a b"][..], &[""], &["é"], &[long], &["a", "a"]] {
            let text = format!("header.Idempotency-Key: {BAD_KEY}");
            assert_eq!(key(bad), Err(text), "{bad:?}");
        }
    }

    #[test]
    fn the_fingerprint_tells_method_path_and_body_apart() {
        let base = fingerprint(&Method::POST, "/a", b"{}");
        assert_eq!(base, fingerprint(&Method::POST, "/a", b"{}"));
        assert_ne!(base, fingerprint(&Method::PUT, "/a", b"{}"));
        assert_ne!(base, fingerprint(&Method::POST, "/b", b"{}"));
        assert_ne!(base, fingerprint(&Method::POST, "/a", b"{ }"));
    }
}
