//! The front page, and opening a room from it without any script.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use minutebook_domain::Command;
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::keys::Scope;
use minutebook_domain::room::{self, CONFIRMATIONS_NEEDED, Dialect, Opened, ProtocolMode};
use minutebook_domain::text::{AgentName, Description};
use uuid::Uuid;

use super::assets;
use super::page::{self, Indexed};
use crate::auth::Caller;
use crate::engine::Submission;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared};
use crate::http::python;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::policies::arbiter::Arbiter;

/// The actor of a room that a page opened without a key.
const NOBODY: &str = "anonymous";
const NO_ARBITER: &str = "This server runs without an arbiter, so nobody would read along. Create \
                          the room without Premium, or ask who runs the server for an arbiter.";

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    assets: &'static str,
    here: &'static str,
    require_key: bool,
    problem: Option<String>,
    description: String,
    is_public: bool,
    confirmations_needed: u8,
    choices: [Choice; 4],
    is_premium: bool,
    /// Who reads premium rooms here, in words.
    arbiter: Option<&'static str>,
}

/// A number of confirmations.
#[derive(Clone, Copy)]
struct Choice {
    number: u8,
    words: &'static str,
}

const CHOICES: [Choice; 4] = [
    Choice {
        number: 2,
        words: "two others confirm its value",
    },
    Choice {
        number: 1,
        words: "one other confirms its value: for two parties",
    },
    Choice {
        number: 3,
        words: "three others confirm its value",
    },
    Choice {
        number: 4,
        words: "four others confirm its value",
    },
];

impl HomePage {
    fn new(app: &App) -> Self {
        Self {
            assets: assets::base(),
            here: "/",
            require_key: app.config.require_key,
            problem: None,
            description: String::new(),
            is_public: false,
            confirmations_needed: CONFIRMATIONS_NEEDED,
            choices: CHOICES,
            is_premium: false,
            arbiter: app.arbiter.as_deref().map(who_reads),
        }
    }
}

/// Who reads, and whether what is said leaves this server for it.
fn who_reads(arbiter: &Arbiter) -> &'static str {
    if arbiter.sends_messages_away() {
        "Here a language model reads, and its server is sent what is said in the room."
    } else {
        "Here it knows a few patterns of English, and nothing leaves this server."
    }
}

/// The front page.
pub(super) async fn home(State(app): State<Shared>) -> Reply {
    page::html(StatusCode::OK, Indexed::Yes, &HomePage::new(&app))
}

/// What the form says.
struct Filled {
    description: String,
    is_public: bool,
    /// None is the rules' own number.
    confirmations_needed: Option<u8>,
    mode: ProtocolMode,
    key: String,
}

impl Filled {
    fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let form = Query::of_form(&text);
        let field = |name| form.get(name).unwrap_or_default();
        Self {
            // A form sends every line break as two characters.
            description: field("description").replace("\r\n", "\n"),
            is_public: field("is_public") == "true",
            // What is none of the choices was not sent by this form.
            confirmations_needed: CHOICES
                .iter()
                .map(|choice| choice.number)
                .find(|number| field("confirmations_needed") == number.to_string())
                .filter(|number| *number != CONFIRMATIONS_NEEDED),
            mode: match field("protocol_mode").as_ref() {
                "premium" => ProtocolMode::Premium,
                _ => ProtocolMode::Standard,
            },
            key: field("api_key").trim().to_owned(),
        }
    }
}

/// Opens a room from the form of the front page.
pub(super) async fn open_room(State(app): State<Shared>, request: Request) -> Reply {
    let (mut parts, body) = request.into_parts();
    let filled = Filled::read(&app.body(body).await?);
    match open(Arc::clone(&app), &mut parts, &filled).await {
        Ok(id) => Ok(see(id)),
        Err(error) => refused(&app, filled, &error),
    }
}

async fn open(app: Shared, parts: &mut Parts, filled: &Filled) -> Result<RoomId, ApiError> {
    if from_another_site(&parts.headers) {
        let words = "This form was sent by a page of another site. Send it from here.";
        return Err(ApiError::new(ErrorCode::ActorNotAllowed, words));
    }
    if let Ok(key) = HeaderValue::from_str(&format!("Bearer {}", filled.key))
        && !filled.key.is_empty()
    {
        parts.headers.insert(header::AUTHORIZATION, key);
    }
    let caller = app.caller(parts)?;
    caller.needs(Scope::Agent)?;
    let description = python::strip(&filled.description);
    let description = Description::parse(description).map_err(|rejection| {
        let code = ErrorCode::from(&rejection);
        ApiError::new(code, format!("What it is for: {rejection}"))
    })?;
    let actor = opener(&caller)?;
    if filled.mode == ProtocolMode::Premium && app.arbiter.is_none() {
        return Err(ApiError::new(ErrorCode::ArbiterOff, NO_ARBITER));
    }
    let client = app.client(parts).addr;
    app.rooms_limit
        .take(client, Instant::now())
        .map_err(too_many)?;
    let opened = submit(Arc::clone(&app), actor, description, filled).await;
    if opened.is_err() {
        app.rooms_limit.give_back(client);
    }
    opened
}

async fn submit(
    app: Shared,
    actor: Actor,
    description: Description,
    filled: &Filled,
) -> Result<RoomId, ApiError> {
    let id = RoomId::new(Uuid::new_v4());
    let opened = Opened {
        confirmations_needed: filled.confirmations_needed,
        description,
        dialect: Dialect::Rooms,
        is_public: filled.is_public,
        message_limit: Some(app.config.messages_per_room).filter(|limit| *limit > 0),
        name: None,
        protocol_mode: filled.mode,
    };
    let command = Command::Room(id, room::Command::Open(opened)).check()?;
    let submission = Submission {
        command,
        actor,
        idempotency: None,
        cause: None,
    };
    submit_and_follow(app, id, submission, filled.mode).await?;
    Ok(id)
}

/// Opens the room, and has the arbiter follow a premium one: in a task of its own, since a browser
/// that hangs up ends this one while the room is on its way.
async fn submit_and_follow(
    app: Shared,
    id: RoomId,
    submission: Submission,
    mode: ProtocolMode,
) -> Result<(), ApiError> {
    let opened = tokio::spawn(async move {
        app.engine.submit(submission).await?;
        if let Some(arbiter) = &app.arbiter
            && mode == ProtocolMode::Premium
        {
            arbiter.follow(id);
        }
        Ok(())
    });
    opened.await.map_err(|error| ApiError::internal(&error))?
}

/// A browser says where a form was sent from; one that does not say is believed.
fn from_another_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    let site = site.and_then(|site| site.to_str().ok());
    !matches!(site, None | Some("same-origin" | "none"))
}

fn opener(caller: &Caller) -> Result<Actor, ApiError> {
    match caller {
        Caller::Key(_) => Ok(caller.managing()),
        Caller::Local | Caller::Anonymous => caller.acting_as(&AgentName::parse(NOBODY)?),
    }
}

fn too_many(seconds: u64) -> ApiError {
    let minutes = seconds.div_ceil(60);
    let words = format!(
        "Too many rooms were created from this address lately. Try again in {minutes} min."
    );
    ApiError::new(ErrorCode::RateLimited, words).retry_after(seconds)
}

fn see(id: RoomId) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(to) = HeaderValue::from_str(&format!("/{id}")) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    page::guard(response.headers_mut());
    response
}

/// The form again, as it was filled in, with what is wrong.
fn refused(app: &App, filled: Filled, error: &ApiError) -> Reply {
    let page = HomePage {
        problem: Some(error.detail.clone().into_owned()),
        description: filled.description,
        is_public: filled.is_public,
        confirmations_needed: filled.confirmations_needed.unwrap_or(CONFIRMATIONS_NEEDED),
        is_premium: filled.mode == ProtocolMode::Premium,
        ..HomePage::new(app)
    };
    let status = StatusCode::from_u16(error.code.status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page::html(status, Indexed::No, &page)?;
    if let Some(seconds) = error.retry_after {
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    Ok(response)
}
