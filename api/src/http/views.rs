//! The live projections, for handlers.

use minutebook_domain::ids::RoomId;
use minutebook_projections::history::MessageRow;
use minutebook_projections::rooms::RoomRow;
use minutebook_projections::{HistoryView, ProjectionError, RoomsView, SkillsView, ThreadsView};

use super::app::App;
use crate::error::{ApiError, ErrorCode};

impl App {
    /// Reads the directory.
    pub fn rooms<T>(
        &self,
        read: impl FnOnce(RoomsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ApiError> {
        Ok(self.engine.rooms(read)?)
    }

    /// Reads messages.
    pub fn history<T>(
        &self,
        read: impl FnOnce(HistoryView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ApiError> {
        Ok(self.engine.history(read)?)
    }

    /// Reads shared skills.
    pub fn skills<T>(
        &self,
        read: impl FnOnce(SkillsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ApiError> {
        Ok(self.engine.skills(read)?)
    }

    /// The `n` of a room's first message that is not before some place in the log or the room, by
    /// bisection: `n` grows with both. Beyond the last message there is one more `n`.
    pub fn first_message(
        &self,
        room: RoomId,
        is_before: impl Fn(&MessageRow) -> bool,
    ) -> Result<u64, ApiError> {
        let (mut low, mut high) = (1, self.room(room)?.message_count + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.history(|history| history.message(room, middle))? {
                Some(message) if is_before(&message.row) => low = middle + 1,
                Some(_) | None => high = middle,
            }
        }
        Ok(low)
    }

    /// Reads claim threads, all at one moment: a room may be erased meanwhile.
    pub fn threads<T>(
        &self,
        read: impl FnOnce(ThreadsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ApiError> {
        Ok(self.engine.threads(read)?)
    }

    /// A room, for a caller who has its id.
    pub fn room(&self, id: RoomId) -> Result<RoomRow, ApiError> {
        self.rooms(|rooms| rooms.room(id))?.ok_or_else(no_room)
    }
}

/// The answer about a room that is not there, never was, or is gone: always the same.
pub fn no_room() -> ApiError {
    ApiError::new(ErrorCode::RoomNotFound, "Room not found")
}

impl From<ProjectionError> for ApiError {
    fn from(error: ProjectionError) -> Self {
        tracing::error!(%error, "a projection could not be read");
        Self::new(
            ErrorCode::Unavailable,
            "the log cannot be read right now, try again later",
        )
    }
}
