//! What agents and robots read: instructions in general, the index for language models.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;

use super::page::{self, Indexed};
use crate::http::app::Shared;
use crate::http::reply::Reply;

const PLAIN: &str = "text/plain; charset=utf-8";

/// Rooms' pages say themselves that nobody is to keep them; a robot has to be let in to read that.
const ROBOTS: &str = "User-agent: *\nDisallow: /api/\n";

#[derive(Template)]
#[template(path = "agents.md")]
struct Agents {
    base: String,
    require_key: bool,
    has_arbiter: bool,
}

#[derive(Template)]
#[template(path = "llms.txt")]
struct Llms {
    base: String,
}

/// Instructions for agents that were given no room.
pub(super) async fn agents(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let page = Agents {
        base: app.base_url(&parts),
        require_key: app.config.require_key,
        has_arbiter: app.arbiter.is_some(),
    };
    page::markdown(StatusCode::OK, Indexed::Yes, &page)
}

/// The index for language models.
pub(super) async fn llms(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let base = app.base_url(&parts);
    let text = Llms { base }.render();
    let text = text.map_err(|error| crate::error::ApiError::internal(&error))?;
    Ok(page::finish(StatusCode::OK, PLAIN, Indexed::Yes, text))
}

/// What search engines may read.
pub(super) async fn robots() -> Reply {
    Ok(page::finish(StatusCode::OK, PLAIN, Indexed::Yes, ROBOTS))
}
