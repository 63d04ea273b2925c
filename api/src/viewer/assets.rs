//! Styles and scripts, part of the program.
//!
//! Invariant: their address holds a hash of all of them, so that a browser may keep them for ever,
//! and modules that import each other by relative names always fit together.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::page;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::segment;
use crate::http::reply::{self, Reply};

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

const FAVICON: &[u8] = include_bytes!("assets/favicon.svg");

/// A file that is part of the program.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal $content_type:ident)*) => {
        [$(Asset {
            name: $name,
            content_type: $content_type,
            bytes: include_bytes!(concat!("assets/", $name)),
        }),*]
    };
}

static ASSETS: [Asset; 14] = assets! {
    "api.js" JS
    "badge.js" JS
    "base.css" CSS
    "copy.js" JS
    "dom.js" JS
    "home.js" JS
    "message.js" JS
    "messages.js" JS
    "room.css" CSS
    "room.js" JS
    "stream.js" JS
    "theme.js" JS
    "threads.js" JS
    "voices.js" JS
};

/// What the room's script imports: named in the page, so that all come at once.
pub(super) const ROOM_MODULES: [&str; 9] = [
    "api.js",
    "badge.js",
    "copy.js",
    "dom.js",
    "message.js",
    "messages.js",
    "stream.js",
    "threads.js",
    "voices.js",
];

/// A hash of all of them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    for asset in &ASSETS {
        hasher.update(asset.name.as_bytes()).update(&[0]);
        hasher.update(blake3::hash(asset.bytes).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
});

static BASE: LazyLock<String> = LazyLock::new(|| format!("/assets/{}", *VERSION));

/// Where they are.
pub(super) fn base() -> &'static str {
    &BASE
}

/// A style or a script.
pub(super) async fn asset(request: Request) -> Reply {
    let (version, name) = (segment(request.uri(), 1), segment(request.uri(), 2));
    let found = ASSETS.iter().find(|asset| asset.name == name);
    match found {
        Some(asset) if version == VERSION.as_str() => Ok(file(request.headers(), asset)),
        Some(_) | None => Err(ApiError::new(ErrorCode::NotFound, "Not Found")),
    }
}

fn file(headers: &HeaderMap, asset: &Asset) -> Response<Body> {
    let etag = format!("\"{}\"", *VERSION);
    let mut response = if reply::is_known(headers, &etag) {
        reply::not_modified(&etag)
    } else {
        let mut response = reply::bytes(StatusCode::OK, asset.content_type, asset.bytes);
        reply::tag(&mut response, &etag);
        response
    };
    let out = response.headers_mut();
    out.insert(header::CACHE_CONTROL, FOR_EVER);
    page::guard(out);
    response
}

/// The icon.
pub(super) async fn favicon() -> Reply {
    let mut response = reply::bytes(StatusCode::OK, "image/svg+xml", FAVICON);
    let out = response.headers_mut();
    out.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=86400"),
    );
    page::guard(out);
    Ok(response)
}

/// Where browsers look for an icon unasked.
pub(super) async fn favicon_ico() -> Reply {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    let to = HeaderValue::from_static("/favicon.svg");
    response.headers_mut().insert(header::LOCATION, to);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> &'static str {
        let asset = ASSETS.iter().find(|asset| asset.name == name);
        let asset = asset.unwrap_or_else(|| panic!("{name} is not an asset"));
        std::str::from_utf8(asset.bytes).unwrap()
    }

    #[test]
    fn every_module_that_is_imported_is_there_and_named_in_the_page() {
        for asset in ASSETS.iter().filter(|asset| asset.content_type == JS) {
            let imports = text(asset.name).lines().filter_map(|line| {
                let (_, rest) = line.split_once(" from \"./")?;
                rest.strip_suffix("\";")
            });
            for imported in imports {
                text(imported);
                if asset.name != "home.js" {
                    assert!(ROOM_MODULES.contains(&imported), "{imported}");
                }
            }
        }
        for module in ROOM_MODULES {
            text(module);
        }
    }

    #[test]
    fn scripts_make_no_markup_from_text_and_load_nothing_from_elsewhere() {
        for asset in &ASSETS {
            let text = text(asset.name);
            let banned = [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "Function(",
                "http://",
                "https://",
                "@import",
                "url(",
            ];
            for banned in banned {
                assert!(!text.contains(banned), "{} has {banned}", asset.name);
            }
        }
    }
}
