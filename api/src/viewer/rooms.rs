//! The list of public rooms, and the page of one room.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use minutebook_domain::ids::RoomId;
use minutebook_domain::room::ProtocolMode;
use minutebook_projections::rooms::{PublicPage, RoomRow, Sort};

use super::assets::{self, ROOM_MODULES};
use super::describe::{Facts, When, heading, some};
use super::page::{self, Indexed};
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared, room_id};
use crate::http::query::Query;
use crate::http::reply::Reply;

/// Rooms on a page.
const PAGE: u64 = 50;

#[derive(Template)]
#[template(path = "rooms.html")]
struct ListPage {
    assets: &'static str,
    here: &'static str,
    locked: bool,
    by_age: bool,
    rooms: Vec<Listed>,
    first: u64,
    last: u64,
    total: u64,
    before: Option<String>,
    after: Option<String>,
}

/// A room in the list.
struct Listed {
    uuid: String,
    title: String,
    rest: Option<String>,
    messages: String,
    agents: String,
    active: Option<When>,
    opened: When,
    is_closed: bool,
    is_premium: bool,
}

impl Listed {
    fn of(row: &RoomRow) -> Self {
        let (title, rest) = heading(&row.description);
        Self {
            uuid: row.id.to_string(),
            title,
            rest,
            messages: some(row.message_count, "message"),
            agents: some(row.agent_count, "agent"),
            active: row.last_message_at.map(When::of),
            opened: When::of(row.created_at),
            is_closed: row.is_closed,
            is_premium: row.mode == ProtocolMode::Premium,
        }
    }
}

impl ListPage {
    fn new(page: Option<&PublicPage>, sort: Sort, offset: u64) -> Self {
        let rooms = page.map_or(&[][..], |page| &page.rooms);
        let shown = rooms.len() as u64;
        let total = page.map_or(0, |page| page.total);
        let by_age = matches!(sort, Sort::New);
        let order = if by_age { "sort=new&" } else { "" };
        let link = |offset: u64| format!("/rooms?{order}offset={offset}");
        Self {
            assets: assets::base(),
            here: "/rooms",
            locked: page.is_none(),
            by_age,
            rooms: rooms.iter().map(Listed::of).collect(),
            first: offset.saturating_add(1),
            last: offset.saturating_add(shown),
            total,
            before: (offset > 0).then(|| link(offset.saturating_sub(PAGE))),
            after: (offset.saturating_add(shown) < total && shown > 0)
                .then(|| link(offset.saturating_add(PAGE))),
        }
    }
}

/// The public rooms, as a page.
pub(super) async fn list(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let query = Query::of(&parts.uri);
    // A page takes any address: what it does not understand, it leaves out.
    let sort = match query.get("sort").as_deref() {
        Some("new") => Sort::New,
        Some(_) | None => Sort::Active,
    };
    let offset = query.integer("query.offset", 0, i64::MAX);
    let offset = offset.ok().flatten().unwrap_or(0).unsigned_abs();
    if !may_read(&app, &parts)? {
        let page = ListPage::new(None, sort, offset);
        return page::html(StatusCode::OK, Indexed::No, &page);
    }
    let limit = usize::try_from(PAGE).unwrap_or(usize::MAX);
    let read = app.blocking(move |app| app.rooms(|rooms| rooms.public(sort, limit, offset)));
    let page = ListPage::new(Some(&read.await?), sort, offset);
    page::html(StatusCode::OK, Indexed::No, &page)
}

/// Whether the caller may read at all. A browser sends no key: a server that wants one is asked
/// for everything by the page's own script.
fn may_read(app: &App, parts: &Parts) -> Result<bool, ApiError> {
    match app.caller(parts) {
        Ok(_) => Ok(true),
        Err(error) if error.code == ErrorCode::KeyRequired => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is at a room's address, for this caller.
enum Found {
    Room(RoomRow),
    /// The server shows nothing without a key, not even whether the room exists.
    Locked(RoomId),
    Nothing,
}

fn find(app: &App, parts: &Parts) -> Result<Found, ApiError> {
    let Ok(id) = room_id(&parts.uri, 0) else {
        return Ok(Found::Nothing);
    };
    if !may_read(app, parts)? {
        return Ok(Found::Locked(id));
    }
    match app.room(id) {
        Ok(row) => Ok(Found::Room(row)),
        Err(error) if error.code == ErrorCode::RoomNotFound => Ok(Found::Nothing),
        Err(error) => Err(error),
    }
}

#[derive(Template)]
#[template(path = "room.html")]
struct RoomPage {
    assets: &'static str,
    modules: &'static [&'static str],
    uuid: String,
    url: String,
    curl: String,
    title: String,
    brief: Option<String>,
    facts: Option<Facts>,
}

impl RoomPage {
    fn is_premium(&self) -> bool {
        self.facts
            .as_ref()
            .is_some_and(|facts| facts.reading.is_some())
    }
}

#[derive(Template)]
#[template(path = "room.md")]
struct RoomDocument {
    base: String,
    uuid: String,
    facts: Option<Facts>,
}

#[derive(Template)]
#[template(path = "missing.html")]
struct MissingPage {
    assets: &'static str,
    here: &'static str,
    heading: &'static str,
    words: &'static str,
}

#[derive(Template)]
#[template(path = "missing.md")]
struct MissingDocument {
    base: String,
}

/// A room: a page for people, instructions for agents.
pub(super) async fn room(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    let base = app.base_url(&parts);
    let found = find(&app, &parts)?;
    let has_arbiter = app.arbiter.is_some();
    let answer = if page::wants_markdown(&parts) {
        document(base, found, has_arbiter)
    } else {
        live(&base, found, has_arbiter)
    };
    answer.map(page::by_accept)
}

fn document(base: String, found: Found, has_arbiter: bool) -> Reply {
    let (uuid, facts) = match found {
        Found::Room(row) => (row.id.to_string(), Some(Facts::of(&row, has_arbiter))),
        Found::Locked(id) => (id.to_string(), None),
        Found::Nothing => {
            let page = MissingDocument { base };
            return page::markdown(StatusCode::NOT_FOUND, Indexed::No, &page);
        }
    };
    let page = RoomDocument { base, uuid, facts };
    page::markdown(StatusCode::OK, Indexed::No, &page)
}

fn live(base: &str, found: Found, has_arbiter: bool) -> Reply {
    let (uuid, (title, brief), facts) = match found {
        Found::Room(row) => {
            let words = heading(&row.description);
            (
                row.id.to_string(),
                words,
                Some(Facts::of(&row, has_arbiter)),
            )
        }
        Found::Locked(id) => (id.to_string(), ("A room".to_owned(), None), None),
        Found::Nothing => {
            let page = MissingPage {
                assets: assets::base(),
                here: "",
                heading: "No such room",
                words: "There is no room at this address. It may be mistyped, or the room was \
                        erased.",
            };
            return page::html(StatusCode::NOT_FOUND, Indexed::No, &page);
        }
    };
    let url = format!("{base}/{uuid}");
    let curl = format!(
        "curl --json '{{\"agent_id\":\"alice\",\"text\":\"Hello.\"}}' \\\n  \
         {base}/api/rooms/{uuid}/messages"
    );
    let page = RoomPage {
        assets: assets::base(),
        modules: &ROOM_MODULES,
        uuid,
        url,
        curl,
        title,
        brief,
        facts,
    };
    page::html(StatusCode::OK, Indexed::No, &page)
}
