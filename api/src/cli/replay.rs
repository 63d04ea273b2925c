//! `minutebook replay --until SEQ [--diff SEQ] [--room UUID]`, and `--step`

use minutebook_domain::ids::{RoomId, StreamId};
use serde_json::{Value, json};

use super::{Exit, Failure, Global, Terminal, log::room_id, progress::Meter};
use crate::offline::{
    OfflineError, OpenLog,
    display::{counted, printable, shortened},
    moment::{Difference, Replay, differences},
    records,
    step::{Step, steps},
};

/// Messages shown of a room; `--json` has all.
const MESSAGES_SHOWN: usize = 20;
/// Characters of a value shown in a difference.
const VALUE_CHARS: usize = 200;

/// Bodies that were erased since are erased at every moment: a replay shows what the log can
/// still tell. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  minutebook replay --until 1000\n  \
    minutebook replay --until 1000 --room ece65b81-b46c-4fd0-af0e-8621a7151968\n  \
    minutebook replay --until 900 --diff 1000 --json\n  \
    minutebook replay --step --from 900 --until 1000\n  \
    minutebook replay --step --room ece65b81-b46c-4fd0-af0e-8621a7151968 --json")]
pub(crate) struct ReplayArgs {
    /// Show the moment right after this seq; 0 is before everything [with --step: the log's end]
    #[arg(long, value_name = "SEQ", required_unless_present = "step")]
    until: Option<u64>,
    /// Show what changed between the two moments instead
    #[arg(long, value_name = "SEQ", conflicts_with = "step")]
    diff: Option<u64>,
    /// Show every event and what it changed in the views, one after the other
    #[arg(long)]
    step: bool,
    /// The first event to show [default: 1]
    #[arg(long, value_name = "SEQ", requires = "step")]
    from: Option<u64>,
    /// Only this room, with its agents and messages
    #[arg(long, value_name = "UUID", value_parser = room_id)]
    room: Option<RoomId>,
}

pub(crate) fn run(
    args: &ReplayArgs,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    OpenLog::with(&global.data()?, |log| {
        let until = args.until.unwrap_or(log.head.seq);
        if args.step {
            show_steps(args, until, log, global, terminal)?;
            terminal.flush()?;
            return Ok(Exit::Ok);
        }
        let mut replay = Replay::new(args.room);
        let from = until.min(args.diff.unwrap_or(until));
        let to = until.max(args.diff.unwrap_or(until));
        let mut meter = Meter::new(terminal, "replay", 0, to);
        replay.advance(log.reader(), from, |seq| meter.at(terminal, seq, to))?;
        let before = replay.moment()?;
        if args.diff.is_some() {
            replay.advance(log.reader(), to, |seq| meter.at(terminal, seq, to))?;
        }
        meter.finish(terminal, to);
        match args.diff {
            None if global.json => terminal.json(&before)?,
            None => show(&before, log.head.seq, terminal)?,
            Some(_) => show_diff(&before, &replay.moment()?, (from, to), global, terminal)?,
        }
        terminal.flush()?;
        Ok(Exit::Ok)
    })
}

/// Prints every step as it is made.
fn show_steps(
    args: &ReplayArgs,
    until: u64,
    log: &OpenLog,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let from = args.from.unwrap_or(1);
    if from > until {
        let text = format!("--from {from} is after --until {until}: there is nothing between");
        return Err(Failure::usage(text));
    }
    let mut shown = 0_u64;
    steps(log.reader(), args.room, (from, until), |step| {
        shown += 1;
        show_step(step, global, terminal)
    })?;
    if let (0, Some(room)) = (shown, args.room) {
        let stream = StreamId::Room(room).to_string();
        if log
            .reader()
            .read_stream_envelopes(&stream, 1, 1)?
            .is_empty()
        {
            return Err(OfflineError::NoRoom(room.to_string()).into());
        }
        terminal.note(&format!("Room {room} has no event in {from}..={until}."));
    }
    Ok(())
}

fn show_step(step: &Step<'_>, global: &Global, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let cells = records::to_cells(step.record)?;
    if global.json {
        let [_, at, kind, stream, actor, _] = &cells;
        return terminal.json_line(&json!({
            "seq": step.fact.seq, "at": at, "type": kind, "stream": stream, "actor": actor,
            "changes": changes_json(&step.changes),
        }));
    }
    terminal.line(printable(cells.join("  ").trim_end()).as_ref())?;
    step.changes
        .iter()
        .try_for_each(|one| terminal.line(&format!("    {}", difference_line(one))))
}

fn changes_json(changes: &[Difference]) -> Vec<Value> {
    let change =
        |one: &Difference| json!({"path": one.path, "before": one.before, "after": one.after});
    changes.iter().map(change).collect()
}

fn show(moment: &Value, head: u64, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let (seq, at) = (&moment["seq"], text(&moment["at"]));
    terminal.line(&format!("seq {seq} of {head}, {at}"))?;
    terminal.line(&format!("state digest {}", text(&moment["state_digest"])))?;
    let count = |value: &Value| value.as_object().map_or(0, |map| map.len() as u64);
    let keys = &moment["keys"];
    let (epochs, api) = (count(&keys["epochs"]), count(&keys["api"]));
    let epochs = counted(epochs, "key epoch", "key epochs");
    let api = counted(api, "API key", "API keys");
    terminal.line(&format!("{epochs}, {api}"))?;
    match moment.get("rooms").and_then(Value::as_object) {
        Some(rooms) => {
            terminal.line(&counted(rooms.len() as u64, "room", "rooms"))?;
            rooms
                .iter()
                .try_for_each(|(id, room)| terminal.line(&room_line(id, room)))
        }
        None => show_room(&moment["room"], terminal),
    }
}

fn room_line(id: &str, room: &Value) -> String {
    let is = |field: &str| room[field] == Value::Bool(true);
    let number =
        |field: &str, one, many| counted(room[field].as_u64().unwrap_or_default(), one, many);
    if is("is_erased") {
        return format!(
            "{id}  erased, {}",
            number("messages", "message", "messages")
        );
    }
    let name = room["name"].as_str().unwrap_or_default();
    let about = format!(
        "{name} {}",
        room["description"].as_str().unwrap_or_default()
    );
    let listed = match (is("is_blank"), is("is_public")) {
        (true, _) => "opening erased",
        (false, true) => "public",
        (false, false) => "private",
    };
    let closed = if is("is_closed") { ", closed" } else { "" };
    let messages = number("messages", "message", "messages");
    let agents = number("agents", "agent", "agents");
    format!(
        "{id}  {listed}{closed}, {messages} of {agents}  {}",
        printable(&shortened(about.trim(), VALUE_CHARS))
    )
}

fn show_room(room: &Value, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let Some(fields) = room.as_object() else {
        return terminal.line("the room was not there yet");
    };
    let is_detail = |key: &str| key == "agents_by_name" || key == "messages_by_n";
    for (key, value) in fields.iter().filter(|(key, _)| !is_detail(key)) {
        terminal.line(&format!("{key:<16} {}", printable(&value.to_string())))?;
    }
    for (name, agent) in room["agents_by_name"].as_object().into_iter().flatten() {
        let member = if agent["member_since"].is_string() {
            "member"
        } else {
            "not a member"
        };
        terminal.line(&format!("agent            {} ({member})", printable(name)))?;
    }
    let mut messages: Vec<(u64, &Value)> = room["messages_by_n"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(n, message)| Some((n.parse().ok()?, message)))
        .collect();
    messages.sort_unstable_by_key(|(n, _)| *n);
    for (n, message) in messages
        .iter()
        .skip(messages.len().saturating_sub(MESSAGES_SHOWN))
    {
        let line = match message["text"].as_str() {
            Some(text) => {
                let agent = message["agent"].as_str().unwrap_or_default();
                format!("#{n} {agent}: {}", shortened(text, VALUE_CHARS))
            }
            None => format!("#{n} (erased)"),
        };
        terminal.line(&printable(&line))?;
    }
    Ok(())
}

fn show_diff(
    before: &Value,
    after: &Value,
    (from, to): (u64, u64),
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let found = differences(before, after);
    if global.json {
        let found = changes_json(&found);
        return terminal.json(&json!({"from": from, "to": to, "differences": found}));
    }
    terminal.line(&format!(
        "from seq {from} to seq {to}: {}",
        counted(found.len() as u64, "difference", "differences")
    ))?;
    found
        .iter()
        .try_for_each(|one| terminal.line(&difference_line(one)))
}

fn difference_line(one: &Difference) -> String {
    let value = |value: &Value| shortened(&value.to_string(), VALUE_CHARS);
    let line = match (&one.before, &one.after) {
        (None, Some(after)) => format!("+ {} = {}", one.path, value(after)),
        (Some(before), None) => format!("- {} = {}", one.path, value(before)),
        (before, after) => {
            let [before, after] =
                [before, after].map(|side| side.as_ref().map_or_else(String::new, value));
            format!("~ {}: {before} -> {after}", one.path)
        }
    };
    printable(&line).into_owned()
}
