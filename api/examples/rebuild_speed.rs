//! How fast projections are rebuilt, pages are read and bundles are written.
//!
//! `cargo run --release -p minutebook --example rebuild_speed [MESSAGES] [ROOMS] [DIR]` makes a log
//! in a temporary directory (1,000,000 messages of 200 bytes in 100 rooms by default) and prints
//! one line per figure. With DIR the log is kept there, and one that is there is used again.

use std::{
    io::Write as _,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use minutebook::{
    engine::{Options, Submission, SystemClock, open},
    generations::{
        Access, Catalog, RebuildOptions, SpaceRows, check, compare, each_fact, rebuild, space_name,
    },
    offline::export::Export,
};
use minutebook_domain::{
    Command,
    actor::Actor,
    ids::RoomId,
    room::{self, Dialect, MessageKind, Opened, PostMessage, ProtocolMode},
    text::{AgentName, Description, MessageText},
    time::Timestamp,
};
use minutebook_eventlog::store::{
    LogReader, LogWriter,
    fjall::{FjallStore, Options as StoreOptions},
};
use minutebook_projections::{HistoryView, Kind, MemoryRows, RoomsView, rooms::Sort};
use uuid::Uuid;

/// As in the server's own `main`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MESSAGE_BYTES: usize = 200;
const BATCH: u64 = 1000;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let messages: u64 = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let rooms: u64 = args.next().map_or(Ok(100), |text| text.parse())?;
    let temporary = tempfile::tempdir()?;
    let dir = args.next().map(PathBuf::from);
    let dir = dir.unwrap_or_else(|| temporary.path().join("data"));
    if !dir.exists() {
        generate(&dir, messages, rooms)?;
    }
    let (mut writer, reader) = FjallStore::open(&dir, &StoreOptions::default())?;
    let reader: Arc<dyn LogReader> = reader;
    let access = Access {
        reader,
        maintenance: writer.maintenance(),
    };
    let events = access.reader.head()?.seq;
    let mut go_on = |_| ControlFlow::Continue(());
    for run in 1..=2 {
        let begun = Begun::now();
        let outcomes = rebuild(&access, &Kind::ALL, RebuildOptions::default(), &mut go_on)?;
        begun.say(&format!("rebuild, compare, switch ({run})"), events);
        anyhow::ensure!(outcomes.len() == 2, "{outcomes:?}");
    }
    let begun = Begun::now();
    each_fact(&*access.reader, 1, events, |_| Ok(()))?;
    begun.say("  read and decode", events);
    fold_alone(&access, events)?;
    let begun = Begun::now();
    let live = Catalog::load(&*access.reader, Kind::History)?.live();
    let live = live.context("nothing is live")?;
    let space = access
        .reader
        .space(&space_name(Kind::History, live.number))?;
    compare(&*access.reader, Kind::History, space, space)?;
    begun.say("  compare messages", events);
    let begun = Begun::now();
    check(&access, &Kind::ALL, &mut go_on)?;
    begun.say("check", events);
    views(&access, rooms)?;
    export(&access, events)?;
    writer.stop()?;
    Ok(())
}

/// Reads, decodes and folds, and throws the rows away.
fn fold_alone(access: &Access, events: u64) -> Result<()> {
    let begun = Begun::now();
    let rows = MemoryRows::default();
    let mut folds: Vec<_> = Kind::ALL.into_iter().map(Kind::fold).collect();
    let (mut ops, mut count, mut failed) = (Vec::new(), 0, None);
    each_fact(&*access.reader, 1, events, |page| {
        for fold in &mut folds {
            let folded = page
                .iter()
                .try_for_each(|fact| fold.apply(&rows, &fact.fact()));
            failed = failed
                .take()
                .or(folded.and_then(|()| fold.flush(&mut ops)).err());
        }
        count += ops.len();
        ops.clear();
        Ok(())
    })?;
    begun.say("  read, decode and fold", events);
    begun.say("  rows", count as u64);
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// When a task began, on the wall and by the processor.
#[derive(Clone, Copy)]
struct Begun {
    wall: Instant,
    cpu: Duration,
}

impl Begun {
    fn now() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// One line: how many, how long, how fast; and how fast per second of one core, which is
    /// what can be compared when the machine does other things too.
    fn say(self, what: &str, count: u64) {
        let (wall, cpu) = (self.wall.elapsed(), cpu_time().saturating_sub(self.cpu));
        let rate = |took: Duration| {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            count.saturating_mul(1_000_000) / micros.max(1)
        };
        let line = format!(
            "{what:<32} {count:>9} in {:>7.3} s {:>9}/s   {:>7.3} CPU-s {:>9}/CPU-s\n",
            wall.as_secs_f64(),
            rate(wall),
            cpu.as_secs_f64(),
            rate(cpu),
        );
        // A lost line is a lost line.
        let _ = std::io::stdout().write_all(line.as_bytes());
    }
}

/// Processor time of all threads so far, to a hundredth of a second.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: u64 = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

fn room_id(number: u64) -> RoomId {
    RoomId::new(Uuid::from_u128(0xa << 124 | u128::from(number)))
}

fn generate(dir: &Path, messages: u64, rooms: u64) -> Result<()> {
    let options = Options {
        data: dir.to_owned(),
        origin: Some("minutebook.test/speed".to_owned()),
        arbiter_key: None,
        store: StoreOptions::default(),
    };
    let mut committer = open(&options)?;
    committer.found(&SystemClock)?;
    let begun = Begun::now();
    let mut at = 1_796_040_000_000_000;
    let mut commands: Vec<Command> = (0..rooms).map(opened).collect::<Result<_>>()?;
    for number in 0..messages {
        commands.push(posted(number, rooms)?);
        if commands.len() as u64 >= BATCH || number + 1 == messages {
            at += 1000;
            let mut batch = Vec::with_capacity(commands.len());
            for command in commands.drain(..) {
                let command = command.check().context("a command was refused")?;
                let actor = Actor::Owner;
                batch.push(Submission {
                    command,
                    actor,
                    idempotency: None,
                    cause: None,
                });
            }
            committer.commit(batch, Timestamp::from_micros(at), false)?;
        }
    }
    begun.say("commit", messages);
    committer.close()?;
    Ok(())
}

fn opened(number: u64) -> Result<Command> {
    let opened = Opened {
        description: Description::parse(&format!("room {number}"))?,
        dialect: Dialect::Rooms,
        is_public: number.is_multiple_of(2),
        confirmations_needed: None,
        message_limit: None,
        name: None,
        protocol_mode: ProtocolMode::Standard,
    };
    Ok(Command::Room(room_id(number), room::Command::Open(opened)))
}

fn posted(number: u64, rooms: u64) -> Result<Command> {
    let mut text = format!("message {number} ");
    text.extend(std::iter::repeat_n(
        'x',
        MESSAGE_BYTES.saturating_sub(text.len()),
    ));
    let message = PostMessage {
        agent: AgentName::parse(&format!("agent-{}", number % 13))?,
        kind: MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(&text)?,
    };
    Ok(Command::Room(
        room_id(number % rooms),
        room::Command::PostMessage(message),
    ))
}

fn views(access: &Access, rooms: u64) -> Result<()> {
    let reader = &*access.reader;
    let space = |kind| -> Result<_> {
        let live = Catalog::load(reader, kind)?
            .live()
            .context("nothing is live")?;
        Ok(SpaceRows::new(
            reader,
            reader.space(&space_name(kind, live.number))?,
        ))
    };
    let (history, directory) = (space(Kind::History)?, space(Kind::Rooms)?);
    let repeats = 2000;
    let begun = Begun::now();
    for number in 0..repeats {
        let page = HistoryView::new(&history).after(room_id(number % rooms), number, 100)?;
        anyhow::ensure!(!page.messages.is_empty());
    }
    begun.say("pages of 100 messages", repeats);
    let begun = Begun::now();
    for _ in 0..repeats {
        RoomsView::new(&directory).public(Sort::Active, 50, 0)?;
    }
    begun.say("pages of 50 rooms", repeats);
    Ok(())
}

fn export(access: &Access, events: u64) -> Result<()> {
    let begun = Begun::now();
    let mut bytes = 0;
    let mut export = Export::log(Arc::clone(&access.reader))?;
    while let Some(chunk) = export.next_chunk()? {
        bytes += chunk.len();
    }
    begun.say("export", events);
    begun.say("export, bytes", bytes as u64);
    let begun = Begun::now();
    let mut export = Export::room(Arc::clone(&access.reader), room_id(0))?;
    while export.next_chunk()?.is_some() {}
    begun.say("export of a room", export.written());
    Ok(())
}
