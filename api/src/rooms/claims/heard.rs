//! What the arbiter heard and could not do, and what it could not hear.

use minutebook_domain::ids::RoomId;
use minutebook_domain::room::claims::{RevisionKind, Status};
use minutebook_domain::text::AgentName;
use minutebook_projections::threads::{LedgerRow, ReadingRow, Standing, SuggestionRow};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::http::app::App;

/// Suggestions in an answer.
const SUGGESTIONS_MAX: usize = 50;
/// Suggestions looked at for it.
const LOOKED_AT_MAX: usize = 200;

/// What the arbiter adds to a context.
pub(super) struct Heard {
    pub(super) is_active: bool,
    pub(super) error: Option<String>,
    pub(super) suggestions: Vec<SuggestionJson>,
}

/// Something an agent said that only it can put on the ledger.
#[derive(Serialize, ToSchema)]
pub(super) struct SuggestionJson {
    claim_id: String,
    /// `update`, `confirm`, `contradict` or `retract`.
    kind: &'static str,
    /// Who said it.
    agent_id: String,
    value: String,
    quote: Option<String>,
    source_msg_id: u64,
    /// Position of the reading in the log.
    log_seq: u64,
}

/// Which model read last, and what.
#[derive(Serialize, ToSchema)]
pub(super) struct ReadingJson {
    /// `rules`, `openai-chat`, or `none` when nobody was asked.
    adapter: String,
    model: String,
    /// BLAKE3 of what it was given: 64 hex digits.
    prompt_hash: String,
    message_id: u64,
    log_seq: u64,
}

impl ReadingJson {
    pub(super) fn new(row: &ReadingRow) -> Self {
        Self {
            adapter: row.adapter.clone(),
            model: row.model.clone(),
            prompt_hash: row.prompt_hash.clone(),
            message_id: row.message,
            log_seq: row.seq,
        }
    }
}

/// Why not all of a room could be read: an outage now, else the newest message passed over.
pub(in crate::rooms) fn error(
    app: &App,
    room: RoomId,
    ledger: &LedgerRow,
) -> Result<Option<String>, ApiError> {
    if let Some(outage) = &ledger.outage {
        return Ok(Some(outage.clone()));
    }
    if ledger.skipped == 0 {
        return Ok(None);
    }
    let newest = app.threads(|threads| threads.skipped(room, 1))?;
    let newest = newest.first();
    Ok(newest.map(|one| format!("message {} was skipped: {}", one.message, one.row.reason)))
}

/// What agents said and have not done since, the newest first, each once.
pub(super) fn suggestions(
    app: &App,
    room: RoomId,
    threads: &[Standing],
) -> Result<Vec<SuggestionJson>, ApiError> {
    let rows = app.threads(|threads| threads.suggestions(room, LOOKED_AT_MAX))?;
    let mut found: Vec<SuggestionJson> = Vec::new();
    for row in rows {
        let thread = threads.iter().find(|one| one.row.thread.id() == row.claim);
        let said = app.history(|history| history.message(room, row.message))?;
        let said = said.filter(|said| !said.row.is_erased);
        if let (Some(thread), Some(said)) = (thread, said)
            && is_open(thread, &row, &said.row.agent)
        {
            let one = SuggestionJson::new(row, said.row.agent);
            let is_new = found.iter().all(|other| !other.is_like(&one));
            if is_new && found.len() < SUGGESTIONS_MAX {
                found.push(one);
            }
        }
    }
    Ok(found)
}

/// Whether it is still to be done.
fn is_open(standing: &Standing, heard: &SuggestionRow, agent: &str) -> bool {
    let thread = &standing.row.thread;
    let is_opener = thread.opener().as_str() == agent;
    if thread.status() == Status::Cancelled {
        return false;
    }
    match heard.kind {
        RevisionKind::Confirm => {
            let has_confirmed =
                AgentName::parse(agent).is_ok_and(|agent| thread.is_confirmed_by(&agent));
            !is_opener && !has_confirmed && thread.value() == heard.value.trim()
        }
        RevisionKind::Contradict => !is_opener && standing.row.last_seq < heard.seq,
        RevisionKind::Update | RevisionKind::Retract => {
            is_opener && standing.row.last_seq < heard.seq
        }
    }
}

impl SuggestionJson {
    fn new(row: SuggestionRow, agent_id: String) -> Self {
        Self {
            claim_id: row.claim.to_string(),
            kind: row.kind.name(),
            agent_id,
            value: row.value,
            quote: row.quote,
            source_msg_id: row.message,
            log_seq: row.seq,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.claim_id == other.claim_id
            && self.kind == other.kind
            && self.agent_id == other.agent_id
    }
}
