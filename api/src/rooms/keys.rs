//! API keys and agents' keys.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::Command;
use minutebook_domain::ids::KeyId;
use minutebook_domain::keys::{
    self, AgentKeyEnrolled, AgentKeyRevoked, ApiKey, ApiKeyIssued, ApiKeyRevoked, Scope,
};
use minutebook_domain::limits::AGENT_NAME_CHARS_MAX;
use minutebook_domain::text::AgentName;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{self, DoneJson};
use super::write::{Write, done};
use crate::auth::{self, Caller};
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{Shared, segment};
use crate::http::fields::Invalid;
use crate::http::reply::{self, Reply};

/// Longest label of a key, in code points.
const LABEL_CHARS_MAX: usize = 100;

/// Body of `POST /api/keys`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(super) struct NewKeyBody {
    /// What it is for.
    #[schema(example = "for alice")]
    label: String,
    /// Some of `agent`, `auditor`, `operator`, `owner`.
    #[schema(example = json!(["agent"]))]
    scopes: Vec<String>,
    /// The only agent it may speak as.
    #[schema(example = "alice")]
    agent: Option<String>,
}

/// An API key. Its secret is shown once, in the answer to the request that made it.
#[derive(Serialize, ToSchema)]
struct KeyJson<'a> {
    key: &'a str,
    label: &'a str,
    scopes: Vec<String>,
    agent: Option<&'a str>,
    revoked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_seq: Option<u64>,
}

/// All API keys.
#[derive(Serialize, ToSchema)]
struct KeysJson<'a> {
    keys: Vec<KeyJson<'a>>,
}

/// An agent's public keys.
#[derive(Serialize, ToSchema)]
struct AgentKeysJson<'a> {
    agent_id: &'a str,
    pubkeys: Vec<&'a str>,
}

/// Body that names a public key.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a body")]
pub(super) struct PubkeyBody {
    /// 64 hex digits.
    #[schema(example = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737")]
    pubkey_hex: String,
    /// Why, when it is revoked.
    #[schema(example = "lost")]
    reason: Option<String>,
}

/// Issues an API key.
#[utoipa::path(post, path = "/api/keys", tag = "operator", request_body = NewKeyBody,
    responses(
        (status = 201, body = KeyJson<'_>, description = "Issued; the secret is shown this once"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
    ))]
pub(super) async fn issue_key(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let (label, scopes, agent) = write.fields(|fields| {
        let label = fields.text("label", 1, LABEL_CHARS_MAX)?.to_owned();
        let scopes = scopes(&fields.words("scopes")?)?;
        let agent = fields
            .optional_text("agent", AGENT_NAME_CHARS_MAX)?
            .map(str::to_owned);
        Ok((label, scopes, agent))
    })?;
    let agent = agent
        .map(|agent| wire::agent_name("agent", &agent))
        .transpose()?;
    let (secret, hash) = auth::new_secret();
    let key = KeyId::parse(&auth::new_key_id())
        .ok_or_else(|| ApiError::internal(&"a key id of our own does not parse"))?;
    let issued = ApiKeyIssued {
        agent,
        hash,
        key,
        label,
        scopes,
    };
    let command = Command::Keys(keys::Command::IssueApiKey(issued));
    let written = write.submit(command, write.caller.managing()).await?;
    let Some(minutebook_domain::Event::Keys(keys::Event::ApiKeyIssued(issued))) =
        &written.event.event
    else {
        return Err(ApiError::internal(&"a key was issued by another event"));
    };
    let answer = KeyJson {
        key: issued.key.as_str(),
        label: &issued.label,
        scopes: issued.scopes.iter().map(Scope::to_string).collect(),
        agent: issued.agent.as_ref().map(AgentName::as_str),
        revoked: false,
        // A repeat finds the key that was made first, whose secret is not kept anywhere.
        secret: (!written.replayed).then_some(secret.as_str()),
        log_seq: Some(written.event.seq),
    };
    reply::written(StatusCode::CREATED, written.event.seq, &answer)
}

fn scopes(words: &[&str]) -> Result<Vec<Scope>, Invalid> {
    let problem = "Input should be some of agent, auditor, operator, owner";
    let bad = || Invalid::field("scopes", problem);
    let mut scopes: Vec<Scope> = words
        .iter()
        .map(|word| auth::parse_scope(word).ok_or_else(bad))
        .collect::<Result<_, _>>()?;
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.is_empty() {
        Err(bad())
    } else {
        Ok(scopes)
    }
}

/// An agent's own key looks after its public keys, an operator after everybody's: as the rules say
/// it of keys. Who has none is not known to be the agent.
fn may_look_after(caller: &Caller, agent: &AgentName) -> Result<(), ApiError> {
    match caller {
        Caller::Key(key) => caller.needs(key.scope_over(agent)),
        Caller::Local | Caller::Anonymous => caller.needs(Scope::Operator),
    }
}

/// Lists API keys, revoked ones too. Never their secrets: the server does not have them.
#[utoipa::path(get, path = "/api/keys", tag = "operator",
    responses(
        (status = 200, body = KeysJson<'_>, description = "All keys"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
    ))]
pub(super) async fn list_keys(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?.needs(Scope::Operator)?;
    let state = app.engine.keys();
    let keys = state.api_keys().map(key_json).collect();
    reply::json(StatusCode::OK, &KeysJson { keys })
}

fn key_json(key: &ApiKey) -> KeyJson<'_> {
    KeyJson {
        key: key.id.as_str(),
        label: &key.label,
        scopes: key.scopes.iter().map(Scope::to_string).collect(),
        agent: key.agent.as_ref().map(AgentName::as_str),
        revoked: key.revoked,
        secret: None,
        log_seq: None,
    }
}

/// Revokes an API key.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "operator",
    request_body = super::manage::ReasonBody,
    params(("id" = String, Path, description = "The key's public name, k_…")),
    responses(
        (status = 200, body = DoneJson, description = "Revoked"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "No such key"),
    ))]
pub(super) async fn revoke_key(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let reason = write.reason()?;
    let missing = || ApiError::new(ErrorCode::KeyNotFound, "API key not found");
    let key = KeyId::parse(&segment(&write.parts.uri, 2)).ok_or_else(missing)?;
    let revoked = ApiKeyRevoked { key, reason };
    submit(&write, keys::Command::RevokeApiKey(revoked)).await
}

/// Enrols a public key for an agent, so that its signed messages count as its own.
#[utoipa::path(post, path = "/api/agents/{name}/keys", tag = "operator",
    request_body = PubkeyBody,
    params(("name" = String, Path, description = "The agent's name")),
    responses(
        (status = 200, body = DoneJson, description = "Enrolled"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 403, body = crate::error::Problem<'_>, description = "Operators, or its own key"),
        (status = 409, body = crate::error::Problem<'_>, description = "Enrolled before"),
    ))]
pub(super) async fn enrol_agent_key(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    let agent = path_agent(&write.parts.uri)?;
    may_look_after(&write.caller, &agent)?;
    let pubkey = write.fields(pubkey)?;
    let enrolled = AgentKeyEnrolled { agent, pubkey };
    submit(&write, keys::Command::EnrolAgentKey(enrolled)).await
}

/// Lists an agent's public keys in force.
#[utoipa::path(get, path = "/api/agents/{name}/keys", tag = "rooms",
    params(("name" = String, Path, description = "The agent's name")),
    responses((status = 200, body = AgentKeysJson<'_>, description = "Its keys")))]
pub(super) async fn list_agent_keys(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let agent = path_agent(&parts.uri)?;
    let state = app.engine.keys();
    let pubkeys = state.agent_keys(&agent).collect();
    reply::json(
        StatusCode::OK,
        &AgentKeysJson {
            agent_id: agent.as_str(),
            pubkeys,
        },
    )
}

/// Revokes an agent's public key for good.
#[utoipa::path(delete, path = "/api/agents/{name}/keys", tag = "operator",
    request_body = PubkeyBody,
    params(("name" = String, Path, description = "The agent's name")),
    responses(
        (status = 200, body = DoneJson, description = "Revoked"),
        (status = 403, body = crate::error::Problem<'_>, description = "Operators, or its own key"),
        (status = 404, body = crate::error::Problem<'_>, description = "Not enrolled"),
    ))]
pub(super) async fn revoke_agent_key(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    let agent = path_agent(&write.parts.uri)?;
    may_look_after(&write.caller, &agent)?;
    let pubkey = write.fields(pubkey)?;
    let reason = write.reason()?;
    let revoked = AgentKeyRevoked {
        agent,
        pubkey,
        reason,
    };
    submit(&write, keys::Command::RevokeAgentKey(revoked)).await
}

fn pubkey(fields: &crate::http::fields::Fields<'_, '_>) -> Result<String, Invalid> {
    Ok(fields.text("pubkey_hex", 1, 64)?.to_ascii_lowercase())
}

fn path_agent(uri: &axum::http::Uri) -> Result<AgentName, ApiError> {
    wire::agent_name("name", &segment(uri, 2))
}

async fn submit(write: &Write, command: keys::Command) -> Reply {
    let written = write
        .submit(Command::Keys(command), write.caller.managing())
        .await?;
    done(written.event.seq)
}
