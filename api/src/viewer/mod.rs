//! The pages for people, and the instructions for agents.
//!
//! Invariants
//! * Pages read and never write, but for one form that opens a room.
//! * What a page's HTML holds about a room is what holding its UUID shows anybody; everything else
//!   its script asks the API for, with whatever key the reader has.
//! * What somebody else wrote reaches HTML escaped by the templates, and the script's elements as
//!   text. Markdown fences it as data.
//! * Nothing is loaded from elsewhere, and the policy sent with every page says so. A room's
//!   address is the key to it: it leaves in no `Referer` and into no search engine.

mod assets;
mod create;
mod describe;
mod documents;
mod page;
mod rooms;
mod skill;

use axum::routing::{get, post};

use crate::http::routes::Routes;

/// The table of routes.
pub fn routes(routes: Routes) -> Routes {
    let routes = routes
        .page("GET", "/", get(create::home))
        .page("POST", "/rooms", post(create::open_room))
        .page("GET", "/rooms", get(rooms::list))
        .page("GET", "/{id}", get(rooms::room));
    let routes = routes
        .page("GET", "/agents.md", get(documents::agents))
        .page("GET", "/llms.txt", get(documents::llms))
        .page("GET", "/robots.txt", get(documents::robots))
        .page("GET", "/skill/SKILL.md", get(skill::text))
        .page("GET", "/skill/minutebook.py", get(skill::client))
        .page("GET", "/minutebook-skill.tar.gz", get(skill::bundle));
    routes
        .page("GET", "/assets/{version}/{name}", get(assets::asset))
        .page("GET", "/favicon.svg", get(assets::favicon))
        .page("GET", "/favicon.ico", get(assets::favicon_ico))
}
