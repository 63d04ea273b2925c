//! `minutebook log show | tail | export`

mod export;
mod show;
mod tail;

use minutebook_domain::ids::RoomId;

use super::{Exit, Failure, Global, Terminal};
use crate::offline::OpenLog;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LogCommand {
    /// Show one record in full
    Show(show::ShowArgs),
    /// Show the newest records, oldest first
    Tail(tail::TailArgs),
    /// Write the log, or one room of it, as a bundle that can be verified offline
    Export(export::ExportArgs),
}

impl LogCommand {
    /// See [`super::route`].
    pub(super) fn route(&self) -> String {
        let room = |room: &Option<RoomId>, name| {
            room.map_or_else(String::new, |room| format!("?{name}={room}"))
        };
        match self {
            Self::Show(args) => {
                let before = args.seq.saturating_sub(1);
                format!("GET /api/events?since={before} begins with the same event")
            }
            Self::Tail(args) => {
                let query = room(&args.room, "room_id");
                format!("GET /api/events{query} follows the same events")
            }
            Self::Export(args) => {
                let query = room(&args.room, "room");
                format!("GET /api/log/bundle{query} gives the same")
            }
        }
    }
}

pub(crate) fn run(
    command: &LogCommand,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    OpenLog::with(&global.data()?, |log| {
        match command {
            LogCommand::Show(args) => show::run(args, log, global, terminal),
            LogCommand::Tail(args) => tail::run(args, log, global, terminal),
            LogCommand::Export(args) => export::run(args, log, global, terminal),
        }?;
        terminal.flush()?;
        Ok(Exit::Ok)
    })
}

/// A room's UUID on the command line.
pub(super) fn room_id(text: &str) -> Result<RoomId, String> {
    RoomId::parse_canonical(text)
        .ok_or_else(|| "a room is named by its UUID, lower-case with hyphens".to_owned())
}
