//! Many keep-alive connections posting messages over many rooms, or one sender alone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Acknowledged messages.
    pub acks: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Latency in microseconds.
    pub latency: Histogram<u64>,
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

/// Posts until time or messages run out. One thread, so that the server keeps a core.
pub fn drive(http: SocketAddr, rooms: &[String], load: &Load) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stop = Arc::new(AtomicBool::new(false));
        let start = Instant::now();
        let share = load
            .messages
            .map(|all| all.div_ceil(load.connections as u64));
        let tasks: Vec<_> = (0..load.connections)
            .map(|n| {
                let requests = requests(http, rooms, n, load.bytes);
                tokio::spawn(connection(http, requests, Arc::clone(&stop), share))
            })
            .collect();
        let deadline = tokio::time::sleep(Duration::from_secs(load.seconds));
        let all = async {
            let mut latency = Histogram::new(3)?;
            for task in tasks {
                latency.add(task.await??)?;
            }
            anyhow::Ok(latency)
        };
        tokio::pin!(all);
        let latency = tokio::select! {
            done = &mut all => done?,
            () = deadline => {
                stop.store(true, Ordering::Relaxed);
                all.await?
            }
        };
        Ok(Outcome {
            acks: latency.len(),
            seconds: start.elapsed().as_secs_f64(),
            latency,
        })
    })
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

async fn connection(
    http: SocketAddr,
    requests: Vec<Vec<u8>>,
    stop: Arc<AtomicBool>,
    share: Option<u64>,
) -> Result<Histogram<u64>> {
    let mut stream = TcpStream::connect(http).await?;
    stream.set_nodelay(true)?;
    let mut latency = Histogram::new(3)?;
    let mut buffer = vec![0; 16 * 1024];
    for request in requests.iter().cycle() {
        if stop.load(Ordering::Relaxed) || share.is_some_and(|share| latency.len() >= share) {
            break;
        }
        let start = Instant::now();
        stream.write_all(request).await?;
        read_created(&mut stream, &mut buffer).await?;
        latency.record(u64::try_from(start.elapsed().as_micros())?)?;
    }
    Ok(latency)
}

/// Reads one answer to its last byte; anything but 201 is an error.
async fn read_created(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    loop {
        let room = buffer.get_mut(filled..).context("answer too long")?;
        let read = stream.read(room).await?;
        ensure!(read > 0, "connection closed in mid-answer");
        filled += read;
        let seen = buffer.get(..filled).context("answer")?;
        let Some(head) = find(seen, b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(seen.get(..head).context("head")?)?;
        ensure!(
            text.starts_with("HTTP/1.1 201"),
            "{}",
            String::from_utf8_lossy(seen)
        );
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .context("content-length")?;
        if filled >= head + 4 + length.parse::<usize>()? {
            return Ok(());
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
