//! The live projections, for everybody who reads.

use minutebook_projections::{HistoryView, ProjectionError, RoomsView, SkillsView, ThreadsView};

use super::Handle;
use crate::generations::SpaceRows;

impl Handle {
    /// Reads the directory.
    pub fn rooms<T>(
        &self,
        read: impl FnOnce(RoomsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ProjectionError> {
        let rows = SpaceRows::new(&**self.reader(), self.views().rooms);
        read(RoomsView::new(&rows))
    }

    /// Reads messages.
    pub fn history<T>(
        &self,
        read: impl FnOnce(HistoryView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ProjectionError> {
        let rows = SpaceRows::new(&**self.reader(), self.views().history);
        read(HistoryView::new(&rows))
    }

    /// Reads claim threads, all at one moment: a room may be erased meanwhile.
    pub fn threads<T>(
        &self,
        read: impl FnOnce(ThreadsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ProjectionError> {
        let log = self.reader().pinned();
        let rows = SpaceRows::new(&*log, self.views().threads);
        read(ThreadsView::new(&rows))
    }

    /// Reads shared skills.
    pub fn skills<T>(
        &self,
        read: impl FnOnce(SkillsView<'_>) -> Result<T, ProjectionError>,
    ) -> Result<T, ProjectionError> {
        let rows = SpaceRows::new(&**self.reader(), self.views().skills);
        read(SkillsView::new(&rows))
    }
}
