//! The skill for agents: its text, its client, and both as a bundle.
//!
//! Invariant: the bundle's bytes depend on its files alone, so that its hash can be told.

use std::io;
use std::sync::LazyLock;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use flate2::{Compression, GzBuilder};

use super::page::{self, Indexed};
use crate::error::ApiError;
use crate::http::app::Shared;
use crate::http::reply::{self, Reply};

const SKILL: &str = include_str!("../../../clients/skill/SKILL.md");
const CLIENT: &str = include_str!("../../../clients/python/minutebook.py");

/// The address that stands for the server's in the skill's text.
const DEFAULT_BASE: &str = "http://127.0.0.1:8787";
/// When everything in the bundle was last changed: 2026-01-01, always.
const MTIME: u64 = 1_767_225_600;

static BUNDLE: LazyLock<Option<Bytes>> = LazyLock::new(|| pack().ok().map(Bytes::from));

/// Both files below one folder, as an agent installs them.
fn pack() -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for (path, mode, text) in [
        ("minutebook/SKILL.md", 0o644, SKILL),
        ("minutebook/minutebook.py", 0o755, CLIENT),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(mode);
        header.set_mtime(MTIME);
        tar.append_data(&mut header, path, text.as_bytes())?;
    }
    tar.into_inner()?.finish()
}

/// The skill's text, with this server's address in it.
pub(super) async fn text(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let text = SKILL.replace(DEFAULT_BASE, &app.base_url(&parts));
    let kind = "text/markdown; charset=utf-8";
    Ok(page::finish(StatusCode::OK, kind, Indexed::Yes, text))
}

/// The one-file client.
pub(super) async fn client(request: Request) -> Reply {
    let bytes = Bytes::from_static(CLIENT.as_bytes());
    let kind = "text/x-python; charset=utf-8";
    Ok(file(request.headers(), kind, "minutebook.py", bytes))
}

/// The skill and its client, as an archive.
pub(super) async fn bundle(request: Request) -> Reply {
    let failed = || ApiError::internal(&"the skill bundle could not be packed");
    let bytes = BUNDLE.clone().ok_or_else(failed)?;
    let (kind, name) = ("application/gzip", "minutebook-skill.tar.gz");
    Ok(file(request.headers(), kind, name, bytes))
}

/// A file to keep.
fn file(
    headers: &HeaderMap,
    content_type: &'static str,
    name: &str,
    bytes: Bytes,
) -> axum::http::Response<axum::body::Body> {
    let hash = blake3::hash(&bytes).to_hex();
    let etag = format!("\"{hash}\"");
    if reply::is_known(headers, &etag) {
        return reply::not_modified(&etag);
    }
    let mut response = page::finish(StatusCode::OK, content_type, Indexed::Yes, bytes);
    reply::tag(&mut response, &etag);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_bundle_is_the_same_every_time_and_holds_both_files() {
        let bytes = pack().unwrap();
        assert_eq!(bytes, pack().unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            assert_eq!(entry.header().mtime().unwrap(), MTIME);
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            seen.push((path, text));
        }
        assert_eq!(seen.len(), 2);
        assert_eq!(
            seen[0],
            ("minutebook/SKILL.md".to_owned(), SKILL.to_owned())
        );
        assert_eq!(seen[1].0, "minutebook/minutebook.py");
        assert_eq!(seen[1].1, CLIENT);
    }

    #[test]
    fn the_skill_names_the_address_that_is_replaced() {
        assert!(SKILL.contains(DEFAULT_BASE));
    }
}
