//! Shared skills as JSON: the peer's fields in its order, then ours.

use minutebook_domain::Rejection;
use minutebook_projections::skills::SkillRow;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::bundles;
use crate::error::{ApiError, ErrorCode};

/// Answer to an upload.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadedJson<'a> {
    #[schema(value_type = String)]
    id: Uuid,
    /// Of the bundle: what an offer must name.
    sha256: String,
    name: &'a str,
    version: &'a str,
    description: &'a str,
    agent_id: &'a str,
    author_pubkey: Option<&'a str>,
    size_bytes: u64,
    /// Where the bundle is.
    fetch_url: String,
    /// Where this is told again.
    manifest_url: String,
    /// Whole seconds.
    uploaded_at: String,
    /// Whether these bytes were published before: then all of this is the first publisher's.
    deduped: bool,
    /// Position in the log of the publication.
    log_seq: u64,
}

/// A skill.
#[derive(Serialize, ToSchema)]
pub(super) struct ManifestJson<'a> {
    #[schema(value_type = String)]
    id: Uuid,
    /// Of the bundle.
    sha256: String,
    name: &'a str,
    version: &'a str,
    description: &'a str,
    agent_id: &'a str,
    author_pubkey: Option<&'a str>,
    /// With `include=sig` only.
    author_sig: Option<&'a str>,
    size_bytes: u64,
    /// Where the bundle is.
    fetch_url: String,
    /// Whole seconds.
    uploaded_at: String,
    /// Position in the log.
    log_seq: u64,
}

impl<'a> UploadedJson<'a> {
    pub(super) fn new(row: &'a SkillRow, base: &str, deduped: bool) -> Self {
        Self {
            id: row.id,
            sha256: hex::encode(row.sha256),
            name: &row.name,
            version: &row.version,
            description: &row.description,
            agent_id: &row.agent,
            author_pubkey: row.author_pubkey.as_deref(),
            size_bytes: row.size,
            fetch_url: fetch_url(row, base),
            manifest_url: format!("{base}/api/skills/{}", row.id),
            uploaded_at: row.published_at.to_seconds_text(),
            deduped,
            log_seq: row.seq,
        }
    }
}

impl<'a> ManifestJson<'a> {
    pub(super) fn new(row: &'a SkillRow, base: &str, with_sig: bool) -> Self {
        let sig = row.author_sig.as_deref();
        Self {
            id: row.id,
            sha256: hex::encode(row.sha256),
            name: &row.name,
            version: &row.version,
            description: &row.description,
            agent_id: &row.agent,
            author_pubkey: row.author_pubkey.as_deref(),
            author_sig: sig.filter(|_| with_sig),
            size_bytes: row.size,
            fetch_url: fetch_url(row, base),
            uploaded_at: row.published_at.to_seconds_text(),
            log_seq: row.seq,
        }
    }
}

/// The file name is for people; any will do.
fn fetch_url(row: &SkillRow, base: &str) -> String {
    let (id, name, version) = (row.id, plain(&row.name), plain(&row.version));
    format!("{base}/api/skills/{id}/{name}-{version}{}", bundles::ENDING)
}

/// A text as part of a file name.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.chars()
        .map(|c| if is_plain(&c) { c } else { '_' })
        .collect()
}

/// The answer about a skill that is not there, never was, or was withdrawn.
pub(super) fn no_skill() -> ApiError {
    ApiError::new(ErrorCode::SkillNotFound, "skill not found")
}

/// A refusal, as the peer names the fields.
pub(super) fn refused(rejection: &Rejection) -> ApiError {
    let code = ErrorCode::from(rejection);
    if matches!(
        code,
        ErrorCode::PublicKeyMalformed | ErrorCode::PublicKeyWeak
    ) {
        return ApiError::new(code, format!("author_pubkey: {rejection}"));
    }
    ApiError::new(code, rejection.to_string())
}
