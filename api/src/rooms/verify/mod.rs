//! Verifying a room: the same checks as `minutebook-verify`, on the room's bundle as it is now, and
//! the room's rows against its log.

mod acts;
mod bundle;
mod check;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_verifier::{Code, Finding, NotProven, Report, Verdict};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use utoipa::ToSchema;

use self::acts::Act;
use self::check::Checked;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared, room_id, stopped};
use crate::http::places::Place;
use crate::http::reply::{self, Reply};

/// Seconds after which one that got no turn may ask again.
const RETRY_SECONDS: u64 = 5;

const STOPPING: &str = "the server is stopping";

/// Answer of `POST /api/rooms/{id}/verify`.
#[derive(Serialize, ToSchema)]
struct VerdictJson<'a> {
    verdict: &'static str,
    explanation: &'a str,
    details: DetailsJson<'a>,
    #[schema(value_type = Vec<Object>)]
    findings: &'a [Finding],
    #[schema(value_type = Vec<Object>)]
    not_proven: &'a [NotProven],
    log: LogJson<'a>,
}

/// The peer's summary, and which bytes agents signed.
#[derive(Serialize, ToSchema)]
struct DetailsJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handshake_id: Option<u64>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    messages_checked: u64,
    messages_signed: u64,
    revisions_checked: u64,
    revisions_pre_pcis: u64,
    handshakes_checked: u64,
    handshakes_signed: u64,
    arbiter_pubkey: String,
    /// Revisions that agents signed.
    revisions_signed: u64,
    /// How many signatures, of all acts, cover which bytes.
    surfaces: SurfacesJson,
}

/// Agents' signatures by what they cover.
#[derive(Serialize, ToSchema)]
struct SurfacesJson {
    /// The seed's bytes, which name no room and no agent.
    #[serde(rename = "roomcomm-v1")]
    roomcomm_v1: u64,
    /// Bytes that name all of it.
    #[serde(rename = "minutebook-v2")]
    minutebook_v2: u64,
}

/// The log the room was checked against.
#[derive(Serialize, ToSchema)]
struct LogJson<'a> {
    origin: Option<&'a str>,
    size: u64,
    root: Option<&'a str>,
    first_bad_seq: Option<u64>,
    events_checked: u64,
}

/// Verifies a room as it is now.
///
/// The server checks itself here; `GET /api/log/bundle?room=` and `minutebook-verify` let you do
/// it without trusting the server. `not_proven` says what neither can show without an anchor.
#[utoipa::path(post, path = "/api/rooms/{id}/verify", tag = "rooms",
    params(("id" = String, Path, description = "The room's UUID")),
    responses(
        (status = 200, body = VerdictJson<'_>, description = "CLEAN, REFUTED or INCONCLUSIVE"),
        (status = 400, body = crate::error::Problem<'_>, description = "Invalid UUID"),
        (status = 404, body = crate::error::Problem<'_>, description = "Room not found"),
        (status = 503, body = crate::error::Problem<'_>, description = "Too many at once"),
    ))]
pub(super) async fn verify_room(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, _) = request.into_parts();
    app.caller(&parts)?;
    let id = room_id(&parts.uri, 2)?;
    if app.room(id).is_err() {
        // Its row may be what was tampered with. The log says whether there is such a room.
        check::is_open(&app, id)?;
    }
    let turn = turn(&app, app.client(&parts).addr).await?;
    let checked = app.blocking(move |app| {
        // Kept until the work is done, also when nobody waits for it any more.
        let _turn = turn;
        check::check(app, id)
    });
    answer(&app, &checked.await?)
}

/// A verification costs as much as the room is long, and anybody may ask for one: one runs, a few
/// wait a little, the others come again.
async fn turn(app: &Shared, addr: IpAddr) -> Result<(Place, OwnedSemaphorePermit), ApiError> {
    let busy = "other rooms, or too many for your address, are being verified: try again in a \
                moment";
    let busy = || ApiError::new(ErrorCode::Busy, busy).retry_after(RETRY_SECONDS);
    let place = app.verification_places.take(addr).ok_or_else(busy)?;
    let turn = Arc::clone(&app.verification_turns).acquire_owned();
    let mut stopping = app.stopping.clone();
    let within = app.config.bounds.verification_turn_within;
    tokio::select! {
        turn = timeout(within, turn) => match turn {
            Ok(Ok(turn)) => Ok((place, turn)),
            Ok(Err(_)) | Err(_) => Err(busy()),
        },
        () = stopped(&mut stopping) => Err(ApiError::new(ErrorCode::Unavailable, STOPPING)),
    }
}

/// The first finding that refutes.
fn refuted(report: &Report) -> Option<&Finding> {
    let mut findings = report.findings.iter();
    findings.find(|finding| finding.name.verdict() == Verdict::Refuted)
}

fn answer(app: &App, checked: &Checked) -> Reply {
    let Checked { report, act } = checked;
    let (act, counts) = (*act, &report.counts);
    let id = |of: fn(Act) -> Option<u64>| act.and_then(of);
    let details = DetailsJson {
        message_id: id(Act::message),
        revision_id: id(Act::revision),
        handshake_id: id(Act::handshake),
        kind: refuted(report).map(|finding| type_of(finding, act)),
        messages_checked: counts.messages,
        messages_signed: counts.agent_signatures,
        revisions_checked: counts.revisions,
        // Every entry of this server has been sealed from the first on.
        revisions_pre_pcis: 0,
        handshakes_checked: counts.handshakes,
        handshakes_signed: counts.handshakes_signed,
        revisions_signed: counts.revisions_signed,
        surfaces: SurfacesJson {
            roomcomm_v1: counts.surface_roomcomm_v1,
            minutebook_v2: counts.surface_minutebook_v2,
        },
        arbiter_pubkey: hex::encode(app.engine.vkey().public_key()),
    };
    let log = LogJson {
        origin: report.origin.as_deref(),
        size: report.size,
        root: report.root.as_deref(),
        first_bad_seq: report.first_bad_seq,
        events_checked: report.counts.events,
    };
    let answer = VerdictJson {
        verdict: report.verdict.name(),
        explanation: &report.explanation,
        details,
        findings: &report.findings,
        not_proven: &report.not_proven,
        log,
    };
    reply::json(StatusCode::OK, &answer)
}

/// A finding's name, in the peer's words where it has any.
fn type_of(finding: &Finding, act: Option<Act>) -> &'static str {
    match (finding.rule, act) {
        (Some("ledger_chain_broken" | "ledger_out_of_order"), _) => "broken_chain",
        // A hash, key or seal that is not even spelled like one was never written by the arbiter.
        (Some("ledger_hash_wrong" | "ledger_entry_malformed"), _) => "tampered_revision_payload",
        (Some("ledger_arbiter_invalid" | "ledger_key_wrong"), _) => "invalid_arbiter_signature",
        (_, Some(Act::Revision(_))) if finding.name == Code::AgentSignatureInvalid => {
            "invalid_agent_revision_signature"
        }
        (_, Some(Act::Revision(_))) if is_of_body(finding.name) => "tampered_revision_payload",
        (_, Some(Act::Revision(_))) if is_of_chain(finding.name) => "broken_chain",
        (_, Some(Act::Handshake(_))) if finding.name == Code::AgentSignatureInvalid => {
            "invalid_handshake_signature"
        }
        _ if finding.name == Code::AgentSignatureInvalid => "invalid_message_signature",
        _ => finding.name.name(),
    }
}

fn is_of_body(code: Code) -> bool {
    matches!(
        code,
        Code::BodyMismatch | Code::BodyMissing | Code::BodyUndecodable
    )
}

fn is_of_chain(code: Code) -> bool {
    matches!(
        code,
        Code::PrevMismatch | Code::StreamPrevMismatch | Code::StreamSeqWrong | Code::SeqGap
    )
}
