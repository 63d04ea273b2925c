//! `minutebook bisect --room UUID --where PREDICATE`

use minutebook_domain::ids::RoomId;
use serde_json::json;

use super::{Exit, Failure, Global, Terminal, log::room_id};
use crate::offline::{
    OfflineError, OpenLog,
    bisect::bisect,
    display::{counted, printable},
    predicate::Predicate,
    records,
};

/// Finds the first event of a room after which PREDICATE holds. A predicate may stop holding and
/// hold again later, so the room's records are read one after the other, not by halves. Bodies that
/// were erased since are unknown at every moment.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
A predicate is made of tests, each with `not` before it if you like, joined by `and` and `or`
(`and` binds closer):
  room.open  room.closed  room.erased  room.public
  messages >= 10  members = 3  agents < 2      also !=, <=, >
  name = lobby  name != \"old name\"  description contains \"price\"
  message 5 exists  member ann
  threads >= 1  handshakes >= 2  discrepancies = 0  (those not resolved)
  sealed  (two principals shook hands on the context as it is)
  thread price agreed  thread \"delivery date\" = \"1 May\"
    a thread by subject, short name or id: proposed, agreed, disputed, cancelled; =, !=, contains

The exit code is 1 when it never holds.

Examples:
  minutebook bisect --room UUID --where 'room.closed'
  minutebook bisect --room UUID --where 'members >= 3 and not room.public'
  minutebook bisect --room UUID --where 'thread \"unit price\" disputed or discrepancies >= 1'
  minutebook bisect --room UUID --where 'message 100 exists' --json | jq .record.envelope.at")]
pub(crate) struct BisectArgs {
    /// The room
    #[arg(long, value_name = "UUID", value_parser = room_id)]
    room: RoomId,
    /// What must hold
    #[arg(long = "where", value_name = "PREDICATE")]
    predicate: Predicate,
    /// Look no further than this seq [default: the log's end]
    #[arg(long, value_name = "SEQ")]
    until: Option<u64>,
}

pub(crate) fn run(
    args: &BisectArgs,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    OpenLog::with(&global.data()?, |log| {
        let head = log.head.seq;
        let until = args.until.unwrap_or(head);
        if until > head {
            return Err(OfflineError::NoRecord { seq: until, head }.into());
        }
        let bisected = bisect(log.reader(), args.room, until, &args.predicate)?;
        let record = bisected.found.as_ref();
        if global.json {
            let record = record.map(records::to_json).transpose()?;
            let looked_at = bisected.looked_at;
            terminal.json(&json!({"record": record, "until": until, "looked_at": looked_at}))?;
        } else if let Some(record) = record {
            let [seq, at, kind, _, actor, says] = records::to_cells(record)?;
            let line = format!("seq {seq}  {at}  {kind}  {actor}  {says}");
            terminal.line(printable(line.trim_end()).as_ref())?;
        }
        terminal.flush()?;
        if record.is_some() {
            return Ok(Exit::Ok);
        }
        let records = counted(bisected.looked_at, "record", "records");
        let text = format!("it holds after none of the room's {records} up to seq {until}");
        Err(Failure::error(text))
    })
}
