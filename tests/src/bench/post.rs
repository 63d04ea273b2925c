//! Many keep-alive connections posting messages over many rooms, or one sender alone.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::load::{self, Outcome};
use super::{metrics, probe, process, report};
use crate::server::{Options, Server};

/// What load to make.
#[derive(Clone, Debug)]
pub struct Load {
    /// Keep-alive connections, one request in flight on each.
    pub connections: usize,
    /// Rooms they post to in turn.
    pub rooms: usize,
    /// How long.
    pub seconds: u64,
    /// Bytes of text in a message.
    pub bytes: usize,
    /// Stop after so many messages, if fewer than the time allows.
    pub messages: Option<u64>,
}

/// Starts a server on a fresh directory, loads it and prints the figures.
pub fn run(options: &Options, folder: &std::path::Path, load: &Load) -> Result<()> {
    let before = probe::fsync(folder, 300)?;
    let data = folder.join("data");
    let server = Server::start(options, &data)?;
    let rooms = (0..load.rooms)
        .map(|n| server.open_room(&format!("room {n}")))
        .collect::<Result<Vec<_>>>()?;
    let batches = metrics::commit_sizes(&server)?;
    let cpu = process::cpu_seconds(server.pid())?;
    let outcome = drive(server.http, &rooms, load)?;
    let cpu = process::cpu_seconds(server.pid())? - cpu;
    let batches = metrics::commit_sizes(&server)?.since(&batches);
    let after = probe::fsync(folder, 300)?;
    print(load, &outcome, cpu);
    println!(
        "fsync before: {}; after: {}",
        report::times(&before),
        report::times(&after)
    );
    let (rss, peak) = process::memory_mib(server.pid())?;
    println!("server memory: {rss:.0} MiB now, {peak:.0} MiB at most");
    println!("commits of this run by their size: {batches}");
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    Ok(())
}

fn print(load: &Load, outcome: &Outcome, cpu: f64) {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let acks = outcome.acks as f64;
    println!(
        "{} connections, {} rooms, {} bytes: {:.0} messages/s ({} in {:.1} s)",
        load.connections,
        load.rooms,
        load.bytes,
        acks / outcome.seconds,
        outcome.acks,
        outcome.seconds
    );
    println!("latency: {}", report::times(&outcome.latency));
    println!(
        "server CPU: {:.3} s per 10,000 messages",
        cpu / acks * 10_000.0
    );
}

/// Posts until time or messages run out.
pub fn drive(http: SocketAddr, rooms: &[String], load: &Load) -> Result<Outcome> {
    let connections = (0..load.connections).map(|n| requests(http, rooms, n, load.bytes));
    let share = load
        .messages
        .map(|all| all.div_ceil(load.connections as u64));
    let limit = load::Limit {
        within: Duration::from_secs(load.seconds),
        share,
    };
    load::drive(http, connections.collect(), 201, limit)
}

/// The bytes of this connection's requests, one for each room it visits, starting at its own.
fn requests(http: SocketAddr, rooms: &[String], n: usize, bytes: usize) -> Vec<Vec<u8>> {
    let text = "x".repeat(bytes);
    let body = format!("{{\"agent_id\":\"agent-{n}\",\"text\":\"{text}\"}}");
    let length = body.len();
    let turn = rooms
        .iter()
        .cycle()
        .skip(n % rooms.len().max(1))
        .take(rooms.len());
    turn.map(|room| {
        format!(
            "POST /api/rooms/{room}/messages HTTP/1.1\r\nhost: {http}\r\ncontent-type: \
             application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    })
    .collect()
}
