//! A room's bundle as something to check, made while it is checked: its lines are never written
//! as text, which the verifier would have to read again.
//!
//! Invariant: a log that is damaged ends the bundle early and is remembered, so that there is a
//! report all the same. Only what says nothing about the log is an error.

use std::io;
use std::sync::Arc;

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::{format::bundle::Line, store::LogReader};
use minutebook_verifier::Lines;
use tokio::sync::watch;

use super::STOPPING;
use crate::error::ApiError;
use crate::http::app::App;
use crate::offline::OfflineError;
use crate::offline::export::Export;

/// A bundle to be read once.
pub(super) struct Bundle {
    stopping: watch::Receiver<bool>,
    /// None: the log has nothing of this room, or nothing that could be read.
    export: Option<Export>,
    /// What is wrong with the log's store.
    pub(super) damage: Option<String>,
}

/// Why a bundle could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Export(#[from] OfflineError),
    #[error("{STOPPING}")]
    Stopping,
}

impl Bundle {
    pub(super) fn new(app: &App, log: Arc<dyn LogReader>, room: RoomId) -> Result<Self, ApiError> {
        let (export, damage) = match Export::room(log, room) {
            Ok(export) => (Some(export), None),
            Err(OfflineError::NoRoom(_)) => (None, None),
            Err(error) if error.is_damage() => (None, Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            stopping: app.stopping.clone(),
            export,
            damage,
        })
    }
}

impl Lines for Bundle {
    fn next_lines(&mut self) -> io::Result<Option<Vec<Line<'static>>>> {
        if *self.stopping.borrow() {
            return Err(io::Error::other(ReadError::Stopping));
        }
        let Some(export) = &mut self.export else {
            return Ok(None);
        };
        match export.next_lines() {
            Ok(lines) => Ok(lines.map(|lines| lines.list)),
            Err(error) if error.is_damage() => {
                self.damage = Some(error.to_string());
                self.export = None;
                Ok(None)
            }
            Err(error) => Err(io::Error::other(ReadError::Export(error))),
        }
    }
}
