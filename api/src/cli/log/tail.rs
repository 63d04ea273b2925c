//! `minutebook log tail`

use std::collections::VecDeque;

use minutebook_domain::{EventKind, ids::RoomId};
use minutebook_eventlog::{
    format::{envelope::Envelope, record::Record},
    store::Page,
};

use super::super::{Failure, Global, Terminal, table::Table};
use crate::offline::{OfflineError, OpenLog, records, streams::last_position};

/// Records read at a time.
const PAGE: u64 = 1024;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  minutebook log tail\n  \
    minutebook log tail -n 100 --type room.message_posted\n  \
    minutebook log tail --room ece65b81-b46c-4fd0-af0e-8621a7151968 --json")]
pub(crate) struct TailArgs {
    /// How many records
    #[arg(short = 'n', value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Only of this room
    #[arg(long, value_name = "UUID", value_parser = super::room_id)]
    pub(super) room: Option<RoomId>,
    /// Only of this type, as `room.message_posted`
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<EventKind>,
}

fn kind(name: &str) -> Result<EventKind, String> {
    EventKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| {
            // Every type has a first version.
            let firsts = EventKind::ALL
                .into_iter()
                .filter(|kind| kind.version() == 1);
            let known: Vec<_> = firsts.map(EventKind::name).collect();
            format!("the types are: {}", known.join(", "))
        })
}

pub(super) fn run(
    args: &TailArgs,
    log: &OpenLog,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let records = newest(args, log)?;
    if global.json {
        return records
            .iter()
            .try_for_each(|record| terminal.json_line(&records::to_json(record)?));
    }
    let mut table = Table::new(records::CELLS);
    for record in &records {
        table.row(records::to_cells(record)?);
    }
    table.print(terminal)
}

/// Reads backwards, page by page, until there are enough.
fn newest(args: &TailArgs, log: &OpenLog) -> Result<VecDeque<Record>, OfflineError> {
    let stream = args.room.map(|room| format!("room/{room}"));
    let mut end = match &stream {
        Some(stream) => last_position(log.reader(), stream, log.head.seq)?,
        None => log.head.seq,
    };
    if let (0, Some(room)) = (end, args.room) {
        return Err(OfflineError::NoRoom(room.to_string()));
    }
    let wanted = args.count as usize;
    let mut found = VecDeque::new();
    while end > 0 && found.len() < wanted {
        let page_size = if args.kind.is_some() {
            PAGE
        } else {
            PAGE.min(u64::from(args.count))
        };
        let first = end.saturating_sub(page_size) + 1;
        let page = read(log, stream.as_deref(), first, end)?;
        for (_, record) in page.into_iter().rev() {
            if found.len() < wanted && is_wanted(&record, args.kind) {
                found.push_front(record);
            }
        }
        end = first - 1;
    }
    Ok(found)
}

fn read(log: &OpenLog, stream: Option<&str>, first: u64, last: u64) -> Result<Page, OfflineError> {
    let count = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
    Ok(match stream {
        Some(stream) => log.reader().read_stream(stream, first, count)?,
        None => log.reader().read(first, count)?,
    })
}

fn is_wanted(record: &Record, kind: Option<EventKind>) -> bool {
    kind.is_none_or(|kind| {
        Envelope::parse(&record.envelope).is_ok_and(|envelope| envelope.kind == kind.name())
    })
}
