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

/// The newest messages, threads, handshakes and discrepancies shown of a room; `--json` has all.
const SHOWN: usize = 20;
/// Digits of a hash shown.
const HASH_CHARS: usize = 12;
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
    /// Only this room, with its agents, messages, threads and handshakes
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
    let threads = match room["threads"].as_u64() {
        Some(0) | None => String::new(),
        Some(n) => format!(", {}", counted(n, "thread", "threads")),
    };
    format!(
        "{id}  {listed}{closed}, {messages} of {agents}{threads}  {}",
        printable(&shortened(about.trim(), VALUE_CHARS))
    )
}

fn show_room(room: &Value, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let Some(fields) = room.as_object() else {
        return terminal.line("the room was not there yet");
    };
    let is_detail = |key: &str| {
        matches!(key, "agents_by_name" | "arbiter")
            || key.ends_with("_by_n")
            || key.ends_with("_by_id")
    };
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
    show_ledger(room, terminal)?;
    for (n, message) in newest(&room["messages_by_n"]) {
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

/// The last ones of an object keyed by number, in the order of the numbers.
fn newest(by_n: &Value) -> Vec<(u64, &Value)> {
    let all = by_n.as_object().into_iter().flatten();
    let mut all: Vec<(u64, &Value)> = all
        .filter_map(|(n, value)| Some((n.parse().ok()?, value)))
        .collect();
    all.sort_unstable_by_key(|(n, _)| *n);
    all.split_off(all.len().saturating_sub(SHOWN))
}

fn show_ledger(room: &Value, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let mut line = |name: &str, text: &str| {
        let text = shortened(text, VALUE_CHARS);
        terminal.line(&format!("{name:<16} {}", printable(&text)))
    };
    line("arbiter", &arbiter_text(&room["arbiter"]))?;
    let mut threads: Vec<_> = room["threads_by_id"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    threads.sort_unstable_by_key(|(_, thread)| thread["n"].as_u64());
    for (id, thread) in threads.iter().skip(threads.len().saturating_sub(SHOWN)) {
        line("thread", &thread_text(id, thread))?;
    }
    for (n, found) in newest(&room["discrepancies_by_n"]) {
        let [severity, what] = ["severity", "description"].map(|key| text_of(&found[key]));
        line("discrepancy", &format!("#{n} {severity}: {what}"))?;
    }
    for (n, made) in newest(&room["handshakes_by_n"]) {
        let text = handshake_text(made, &room["context_hash"]);
        line("handshake", &format!("#{n} {text}"))?;
    }
    Ok(())
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn arbiter_text(arbiter: &Value) -> String {
    let mut parts = vec![match arbiter["last_extracted_msg_id"].as_u64() {
        Some(0) | None => "has read nothing".to_owned(),
        Some(n) => format!("has read up to message {n}"),
    }];
    if let Some(skipped @ 1..) = arbiter["skipped"].as_u64() {
        parts.push(format!("{skipped} of them unreadable"));
    }
    let reading = &arbiter["last_reading"];
    if reading.is_object() {
        let [adapter, model] = ["adapter", "model"].map(|key| text_of(&reading[key]));
        let message = &reading["message"];
        parts.push(format!("last message {message} by {adapter}:{model}"));
    }
    if let Some(why) = arbiter["outage"].as_str() {
        parts.push(format!("which failed: {why}"));
    }
    parts.join(", ")
}

fn thread_text(id: &str, thread: &Value) -> String {
    let [status, by, subject, value] =
        ["status", "opened_by", "subject", "value"].map(|key| text_of(&thread[key]));
    let (confirmations, needed) = (&thread["confirmations"], &thread["confirmations_needed"]);
    let revisions = thread["revisions"].as_u64().unwrap_or_default();
    let entries = counted(revisions, "revision", "revisions");
    let last = &thread["last_seq"];
    format!(
        "{id}  {status}, {confirmations} of {needed} confirmations, {entries} up to seq {last}  \
         {by}: {subject} = {value}"
    )
}

fn handshake_text(made: &Value, now: &Value) -> String {
    let hash = &made["context_hash"];
    let is_now = if hash == now { "now" } else { "before" };
    let signed = match (made["surface"].as_str(), made["position"].as_u64()) {
        (None, _) => "not signed".to_owned(),
        (Some(surface), None) => format!("signed {surface}"),
        (Some(surface), Some(read)) => format!("signed {surface}, read up to revision {read}"),
    };
    let (agent, hash) = (text_of(&made["agent"]), text_of(hash));
    let hash = shortened(hash, HASH_CHARS);
    format!(
        "{agent} on {hash} (the context {is_now}), {signed}, seq {}",
        made["seq"]
    )
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
