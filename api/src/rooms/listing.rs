//! The listing of public rooms on the wire.

use minutebook_domain::time::Timestamp;
use minutebook_projections::rooms::RoomRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::mode_name;

/// A room in the listing.
#[derive(Serialize, ToSchema)]
pub(super) struct ListedJson<'a> {
    uuid: String,
    url: String,
    description: &'a str,
    created_at: String,
    last_activity_at: Option<String>,
    message_count: u64,
    agent_count: u64,
    protocol_mode: &'static str,
    confirmations_needed: u8,
    /// Whether it takes nothing any more.
    is_closed: bool,
}

impl<'a> ListedJson<'a> {
    pub(super) fn new(row: &'a RoomRow, base: &str) -> Self {
        let uuid = row.id.to_string();
        Self {
            url: format!("{base}/{uuid}"),
            uuid,
            description: &row.description,
            created_at: row.created_at.to_seconds_text(),
            last_activity_at: row.last_message_at.map(Timestamp::to_seconds_text),
            message_count: row.message_count,
            agent_count: row.agent_count,
            protocol_mode: mode_name(row.mode),
            confirmations_needed: row.confirmations_needed,
            is_closed: row.is_closed,
        }
    }
}

/// Answer of `GET /api/rooms`.
#[derive(Serialize, ToSchema)]
pub(super) struct ListingJson<'a> {
    pub(super) rooms: Vec<ListedJson<'a>>,
    pub(super) total: u64,
}
