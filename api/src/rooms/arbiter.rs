//! The arbiter's key.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::keys::KeyEpoch;
use minutebook_eventlog::format::key::VerifyingKey;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::http::app::Shared;
use crate::http::reply::{self, Reply};

/// The key that signs checkpoints now, and those before it.
#[derive(Serialize, ToSchema)]
struct ArbiterJson<'a> {
    pubkey_hex: String,
    alg: &'static str,
    origin: &'a str,
    vkey: String,
    epoch: u64,
    history: Vec<EpochJson>,
}

/// A key of the log.
#[derive(Serialize, ToSchema)]
struct EpochJson {
    epoch: u64,
    /// Checkpoints of this size and more were signed by it.
    since_log_seq: u64,
    vkey: String,
    pubkey_hex: String,
}

/// The arbiter's public key. Needs no API key: it is what everybody checks against.
#[utoipa::path(get, path = "/api/arbiter/pubkey", tag = "log",
    responses((status = 200, body = ArbiterJson<'_>, description = "The key and its history")))]
pub(super) async fn arbiter_pubkey(State(app): State<Shared>, _request: Request) -> Reply {
    let keys = app.engine.keys();
    let history: Vec<_> = keys.epochs().iter().map(epoch).collect::<Result<_, _>>()?;
    let vkey = app.engine.vkey();
    let answer = ArbiterJson {
        pubkey_hex: hex::encode(vkey.public_key()),
        alg: "ed25519",
        origin: app.engine.origin(),
        vkey: vkey.vkey(),
        epoch: keys.current_epoch().map_or(0, |epoch| epoch.epoch),
        history,
    };
    reply::json(StatusCode::OK, &answer)
}

fn epoch(epoch: &KeyEpoch) -> Result<EpochJson, ApiError> {
    let key = VerifyingKey::parse(&epoch.vkey).map_err(|error| ApiError::internal(&error))?;
    Ok(EpochJson {
        epoch: epoch.epoch,
        since_log_seq: epoch.since,
        vkey: epoch.vkey.clone(),
        pubkey_hex: hex::encode(key.public_key()),
    })
}
