//! Shared skills: bundles that agents offer each other in rooms, kept and served by their hash.
//!
//! Invariants
//! * Checks come in the peer's order: rate limit, fields, signature pair, hex, size, empty,
//!   signature, archive, SKILL.md, dedupe.
//! * The bytes are on the disk before the event that speaks of them is committed.
//! * Bytes are served only while an event says that they are published.

mod archive;
mod fetch;
mod form;
mod pax;
mod wire;

use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use minutebook_domain::Command;
use minutebook_domain::ids::StreamId;
use minutebook_domain::keys::Scope;
use minutebook_domain::skills::{self, Published, Withdrawn};
use minutebook_projections::skills::SkillRow;
use sha2::{Digest as _, Sha256};
use utoipa_axum::routes;
use uuid::Uuid;

use self::form::{Form, FormBody};
use self::wire::{UploadedJson, no_skill};
use super::manage::ReasonBody;
use super::wire::DoneJson;
use super::write::{Write, done};
use crate::bundles::{Bundles, Sha};
use crate::engine::Target;
use crate::error::{ApiError, ErrorCode};
use crate::http::app::{App, Shared};
use crate::http::idempotency;
use crate::http::reply::{self, Reply};
use crate::http::routes::Routes;

/// The table of routes.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .with(routes!(upload_skill))
        .with(routes!(fetch::skill_manifest))
        .with(routes!(fetch::skill_file))
        .with(routes!(fetch::skill_bundle))
        .strict(routes!(withdraw_skill))
}

/// The stream of all of this.
const HERE: Target = Target::Stream(StreamId::Skills);

/// Publishes a skill.
#[utoipa::path(post, path = "/api/skills", tag = "skills",
    request_body(content = FormBody, content_type = "multipart/form-data"),
    responses(
        (status = 201, body = UploadedJson<'_>, description = "Published, now or before"),
        (status = 400, body = crate::error::Problem<'_>, description = "Not valid"),
        (status = 409, body = crate::error::Problem<'_>, description = "Withdrawn before"),
        (status = 429, body = crate::error::Problem<'_>, description = "Too many this hour"),
        (status = 503, body = crate::error::Problem<'_>, description = "Try again"),
    ))]
async fn upload_skill(State(app): State<Shared>, request: Request) -> Reply {
    let (parts, body) = request.into_parts();
    let caller = app.caller(&parts)?;
    caller.needs(Scope::Agent)?;
    bundles(&app)?;
    let form = Form::read(&app, &parts.headers, body).await;
    let same = form.as_ref().map(Form::fingerprint).unwrap_or_default();
    let idempotency = idempotency::read(&parts.headers, &parts.method, parts.uri.path(), &same)?;
    let write = Write::of(app, parts, caller, idempotency);
    if let Ok(form) = &form
        && let Ok(actor) = write.caller.acting_as(&form.agent)
        && let Some(written) = write.repeated(&actor, HERE)?
    {
        return published_before(&write, &written.event);
    }
    let client = write.app.client(&write.parts);
    let limit = &write.app.skills_limit;
    limit.take(client.addr, Instant::now()).map_err(too_many)?;
    let published = match form {
        Ok(form) => judge_and_publish(&write, form).await,
        Err(error) => Err(error),
    };
    if published.as_ref().is_err_and(|e| e.code.is_retryable()) {
        // The server could not; a bundle that was refused was judged first, and counts.
        limit.give_back(client.addr);
    }
    let (row, deduped) = published?;
    uploaded(&write, &row, deduped)
}

/// Judges a bundle, keeps it and publishes it, or finds who published it before.
async fn judge_and_publish(write: &Write, form: Form) -> Result<(SkillRow, bool), ApiError> {
    let actor = write.caller.acting_as(&form.agent)?;
    let author = form.author()?;
    form.check_size()?;
    // One bundle keeps a core busy for a moment; all of them must not keep all of them.
    let turn = write.app.bundle_turns.acquire().await;
    let kept = write.app.blocking(move |app| keep(app, form, author)).await;
    drop(turn);
    let skill = match kept? {
        Kept::Before(row) => return Ok((row, true)),
        Kept::Now(skill) => skill,
    };
    let (id, digest) = (skill.id, skill.digest());
    let command = Command::Skills(skills::Command::Publish(skill));
    match write.submit(command, actor).await {
        Ok(_) => {
            let row = write.app.skills(|skills| skills.skill(&id))?;
            Ok((row.ok_or_else(no_skill)?, false))
        }
        // Somebody else came first with the same bytes, between our look and our word.
        Err(error) if error.code == ErrorCode::SkillAlreadyPublished => {
            let digest = digest.unwrap_or_default();
            let row = write.app.skills(|skills| skills.by_sha256(&digest))?;
            Ok((row.ok_or_else(no_skill)?, true))
        }
        Err(error) => Err(error),
    }
}

/// A bundle that is on the disk.
enum Kept {
    /// Published before.
    Before(SkillRow),
    /// To be published.
    Now(Published),
}

fn keep(
    app: &App,
    form: Form,
    (author_pubkey, author_sig): (Option<String>, Option<String>),
) -> Result<Kept, ApiError> {
    let file = form.file;
    let digest = Sha::from(Sha256::digest(&file));
    let skill = Published {
        agent: form.agent,
        author_pubkey,
        author_sig,
        description: form.description,
        id: Uuid::new_v4(),
        name: form.name,
        sha256: hex::encode(digest),
        size: file.len() as u64,
        version: form.version,
    };
    let command = Command::Skills(skills::Command::Publish(skill.clone()));
    command.check().map_err(|why| wire::refused(&why))?;
    archive::inspect(&file)
        .map_err(|refused| ApiError::new(ErrorCode::InvalidRequest, refused.to_string()))?;
    let known = app.skills(|skills| skills.bytes(&digest))?;
    if known.is_some_and(|bytes| bytes.is_withdrawn) {
        return Err(wire::refused(&minutebook_domain::Rejection::SkillWithdrawn));
    }
    // Also when they are known: this mends a file that was lost or damaged.
    let put = bundles(app)?.put(&digest, &file);
    put.map_err(|error| {
        tracing::error!(%error, "a skill's bytes could not be kept");
        ApiError::new(
            ErrorCode::Unavailable,
            "the file cannot be kept right now, try again later",
        )
    })?;
    let row = app.skills(|skills| skills.by_sha256(&digest))?;
    Ok(row.map_or(Kept::Now(skill), Kept::Before))
}

fn uploaded(write: &Write, row: &SkillRow, deduped: bool) -> Reply {
    let base = write.app.base_url(&write.parts);
    let answer = UploadedJson::new(row, &base, deduped);
    reply::written(StatusCode::CREATED, row.seq, &answer)
}

/// The answer to a repeat, which is the first one's.
fn published_before(write: &Write, event: &crate::engine::CommittedEvent) -> Reply {
    let Some(minutebook_domain::Event::Skills(skills::Event::Published(skill))) = &event.event
    else {
        return Err(ApiError::internal(
            &"a skill was published by another event",
        ));
    };
    let row = write.app.skills(|skills| skills.skill(&skill.id))?;
    uploaded(write, &row.ok_or_else(no_skill)?, false)
}

fn too_many(seconds: u64) -> ApiError {
    let detail = format!("Too many skill uploads from this IP. Try again in {seconds}s.");
    ApiError::new(ErrorCode::RateLimited, detail).retry_after(seconds)
}

/// Withdraws a skill: it is served no more, and its bytes are taken no more.
#[utoipa::path(delete, path = "/api/skills/{id}", tag = "operator", request_body = ReasonBody,
    params(("id" = String, Path, description = "The skill's UUID")),
    responses(
        (status = 200, body = DoneJson, description = "Withdrawn"),
        (status = 403, body = crate::error::Problem<'_>, description = "Needs the operator scope"),
        (status = 404, body = crate::error::Problem<'_>, description = "Skill not found"),
    ))]
async fn withdraw_skill(State(app): State<Shared>, request: Request) -> Reply {
    let write = Write::read(app, request).await?;
    write.caller.needs(Scope::Operator)?;
    let reason = write.reason()?;
    let actor = write.caller.managing();
    if let Some(written) = write.repeated(&actor, HERE)? {
        return done(written.event.seq);
    }
    let row = fetch::skill(&write.app, &write.parts.uri)?;
    let withdrawn = Withdrawn { id: row.id, reason };
    let command = Command::Skills(skills::Command::Withdraw(withdrawn));
    let written = write.submit(command, actor).await?;
    let removed = write.app.blocking(move |app| {
        // Not served from now on in any case; the next start tries again.
        if let Err(error) = bundles(app)?.remove(&row.sha256) {
            tracing::warn!(%error, "a withdrawn skill's bytes could not be removed");
        }
        Ok(())
    });
    removed.await?;
    done(written.event.seq)
}

/// Where the bytes are; without such a place there are no skills here.
fn bundles(app: &App) -> Result<&Bundles, ApiError> {
    let nothing = || ApiError::new(ErrorCode::NotFound, "Not Found");
    app.bundles.as_ref().ok_or_else(nothing)
}
