//! Measures the verifier on a large bundle of plain messages.
//!
//! `million make PATH [EVENTS]` writes a bundle of messages of 200 bytes in 100 rooms;
//! `million check PATH [THREADS]` verifies it and prints events per second, CPU time per event and
//! peak memory. Two runs, so that making the bundle does not count into the memory.
//! `million floor` hashes as many 512-byte envelopes and does nothing else: what a busy or slow
//! machine makes of work that cannot be saved. Compare figures as multiples of it.

#[expect(
    dead_code,
    clippy::indexing_slicing,
    clippy::similar_names,
    clippy::unwrap_used,
    reason = "shared with the tests, which use all of it and may panic"
)]
#[path = "../tests/it/support/mod.rs"]
mod support;

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    time::Instant,
};

use anyhow::{Context as _, bail};
use minutebook_eventlog::format::{
    bundle::{BundleWriter, Kind, Manifest},
    hash::{chain_hash, leaf_hash},
};
use minutebook_verifier::{Options, Policy, verify};

const ROOMS: u64 = 100;
const CADENCE: u64 = 1024;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match *args {
        ["make", path] => make(path, 1_000_000),
        ["make", path, events] => make(path, events.parse()?),
        ["check", path] => check(path, std::thread::available_parallelism()?.get()),
        ["check", path, threads] => check(path, threads.parse()?),
        ["floor"] => floor(),
        _ => bail!("usage: million make PATH [EVENTS] | check PATH [THREADS] | floor"),
    }
}

fn make(path: &str, events: u64) -> anyhow::Result<()> {
    let mut log = support::Log::open(1);
    let manifest = Manifest {
        origin: support::ORIGIN.to_owned(),
        kind: Kind::Log,
        first: 1,
        last: events,
        records: events,
        checkpoints: events.div_ceil(CADENCE),
    };
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut writer = BundleWriter::new(file, &manifest)?;
    let mut rooms = Vec::new();
    let text = "The quick brown fox jumps over the lazy dog, said \"somebody\". ".repeat(3);
    for seq in 1..=events {
        if seq > 1 && seq < 2 + ROOMS {
            rooms.push(log.open_room("a room"));
        } else if let Some(room) = rooms.get(usize::try_from(seq % ROOMS)?) {
            log.post(*room, &format!("agent {}", seq % 7), &text);
        }
        log.streams.clear();
        let record = log.records.pop().context("a record was made")?;
        writer.record(&record)?;
        if seq.is_multiple_of(CADENCE) || seq == events {
            writer.checkpoint(&log.checkpoint())?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn check(path: &str, threads: usize) -> anyhow::Result<()> {
    let log = support::Log::open(1);
    let policy = Policy::of_key(&log.vkey())?;
    let options = Options {
        threads,
        ..Options::default()
    };
    let started = Instant::now();
    let report = verify(File::open(path)?, &policy, options)?.report;
    let seconds = started.elapsed().as_secs_f64();
    let cpu = cpu_seconds()?;
    let events = report.counts.events;
    #[expect(clippy::cast_precision_loss, reason = "a measurement")]
    let count = events as f64;
    writeln!(
        std::io::stdout(),
        "{} {events} events, {threads} threads: {seconds:.2} s, {:.0} events/s; CPU {cpu:.2} s, \
         {:.2} µs per event, {:.0} events/s per core; peak {} MB; {} MB read",
        report.verdict.name(),
        count / seconds,
        cpu * 1e6 / count,
        count / cpu,
        peak_kilobytes()? / 1024,
        fs::metadata(path)?.len() >> 20,
    )?;
    Ok(())
}

fn floor() -> anyhow::Result<()> {
    let mut envelope = [b'x'; 512];
    for _ in 0..1_000_000 {
        let hash = chain_hash(&envelope);
        let leaf = leaf_hash(&envelope);
        for (byte, (a, b)) in envelope
            .iter_mut()
            .zip(hash.as_bytes().iter().zip(leaf.as_bytes()))
        {
            *byte = a ^ b;
        }
    }
    let cpu = cpu_seconds()?;
    writeln!(
        std::io::stdout(),
        "floor: {cpu:.2} µs per chain hash and leaf hash of 512 bytes"
    )?;
    Ok(())
}

/// User and system time of this process.
fn cpu_seconds() -> anyhow::Result<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(')').context("a process name")?;
    let mut ticks = 0.0;
    for field in after_name.split_whitespace().skip(11).take(2) {
        ticks += field.parse::<f64>()?;
    }
    Ok(ticks / TICKS_PER_SECOND)
}

fn peak_kilobytes() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.context("VmHWM")?.trim().trim_end_matches(" kB");
    Ok(kilobytes.parse()?)
}
