//! `minutebook log export`

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use minutebook_domain::ids::RoomId;

use super::super::{Failure, Global, Terminal, progress::Meter};
use crate::offline::{OpenLog, export::Export};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file is for you alone (mode 600): it holds what was said in \
    private.\n\nExamples:\n  minutebook log export -o log.ndjson\n  \
    minutebook log export --room ece65b81-b46c-4fd0-af0e-8621a7151968 -o room.ndjson\n  \
    minutebook log export | gzip > log.ndjson.gz\n  \
    minutebook-verify log.ndjson --key VKEY"
)]
pub(crate) struct ExportArgs {
    /// Only this room, with the receipts that tie it to the log
    #[arg(long, value_name = "UUID", value_parser = super::room_id)]
    pub(super) room: Option<RoomId>,
    /// Write to this file, which must not exist; stdout by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "output")]
    force: bool,
}

pub(super) fn run(
    args: &ExportArgs,
    log: &OpenLog,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let reader = Arc::clone(&log.access.reader);
    let export = match args.room {
        Some(room) => Export::room(reader, room)?,
        None => Export::log(reader)?,
    };
    let manifest = export.manifest().clone();
    match &args.output {
        Some(path) => to_file(export, path, args.force, terminal)?,
        None if terminal.is_screen => {
            return Err(Failure::usage(
                "a bundle is not for a screen: say -o FILE, or use a pipe",
            ));
        }
        None => to_stdout(export, terminal)?,
    }
    if global.json && args.output.is_some() {
        terminal.json_line(&serde_json::json!({
            "origin": manifest.origin,
            "first": manifest.first,
            "last": manifest.last,
            "records": manifest.records,
            "checkpoints": manifest.checkpoints,
        }))?;
    }
    Ok(())
}

fn to_stdout(export: Export, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    each_chunk(export, terminal, Terminal::bytes)
}

/// Writes beside the file and renames, so that the name never stands for half a bundle.
fn to_file(
    export: Export,
    path: &Path,
    force: bool,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let named = |error: io::Error| Failure::error(format!("{}: {error}", path.display()));
    if path.is_dir() {
        let text = format!("{} is a directory; -o names a file", path.display());
        return Err(Failure::error(text));
    }
    if !force && path.exists() {
        let path = path.display();
        return Err(Failure::error(format!(
            "{path} exists; --force overwrites it"
        )));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let mut file = File::create(&partial).map_err(named)?;
    let written = each_chunk(export, terminal, |_, chunk| {
        file.write_all(chunk).map_err(named)
    })
    .and_then(|()| file.sync_all().map_err(named))
    .and_then(|()| fs::rename(&partial, path).map_err(named));
    if written.is_err() {
        // The error at hand says more than one about the remains would.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn each_chunk<'t>(
    mut export: Export,
    terminal: &mut Terminal<'t>,
    mut take: impl FnMut(&mut Terminal<'t>, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let until = export.manifest().records;
    let mut meter = Meter::new(terminal, "export", 0, until);
    while let Some(chunk) = export.next_chunk()? {
        take(terminal, &chunk)?;
        meter.at(terminal, export.written(), until);
    }
    meter.finish(terminal, export.written());
    Ok(())
}
