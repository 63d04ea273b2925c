//! One sender, many followers of one room, and one that stops reading.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::post::{self, Load};
use super::{probe, process, report};
use crate::server::{Options, Server};

/// Starts a server, lets everybody follow, sends, and prints the cost of a delivery.
pub fn run(options: &Options, folder: &Path, followers: usize, messages: u64) -> Result<()> {
    println!("fsync: {}", report::times(&probe::fsync(folder, 300)?));
    let server = Server::start(options, &folder.join("data"))?;
    let room = server.open_room("followed by many")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (cpu, seconds) = runtime.block_on(follow_all(&server, &room, followers, messages))?;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let deliveries = (followers as u64 * messages) as f64;
    println!("{followers} followers, {messages} messages: nothing lost, doubled or out of order");
    println!("{:.0} deliveries/s", deliveries / seconds);
    println!("server CPU: {:.1} µs per delivery", cpu / deliveries * 1e6);
    let (rss, peak) = process::memory_mib(server.pid())?;
    println!("server memory: {rss:.0} MiB now, {peak:.0} MiB at most");
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    Ok(())
}

async fn follow_all(
    server: &Server,
    room: &str,
    followers: usize,
    messages: u64,
) -> Result<(f64, f64)> {
    let address = server.http;
    let mut streams = Vec::new();
    for _ in 0..followers {
        streams.push(subscribe(address, room).await?);
    }
    // Subscribed, and never read again.
    let stalled = subscribe(address, room).await?;
    let (cpu, started) = (process::cpu_seconds(server.pid())?, Instant::now());
    let tasks: Vec<_> = streams
        .into_iter()
        .map(|stream| tokio::spawn(receive(stream, messages)))
        .collect();
    let rooms = vec![room.to_owned()];
    // The sender has a thread of its own, as it would be another process.
    let sender = std::thread::spawn(move || {
        let load = Load {
            connections: 1,
            rooms: 1,
            seconds: 600,
            bytes: 200,
            messages: Some(messages),
        };
        post::drive(address, &rooms, &load)
    });
    for task in tasks {
        task.await??;
    }
    let seconds = started.elapsed().as_secs_f64();
    let outcome = sender
        .join()
        .map_err(|_| anyhow::anyhow!("the sender panicked"))??;
    println!("the sender's acks: {}", report::times(&outcome.latency));
    drop(stalled);
    Ok((process::cpu_seconds(server.pid())? - cpu, seconds))
}

/// Opens a stream and waits for its first event.
async fn subscribe(address: SocketAddr, room: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /api/events?room_id={room} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !(seen.ends_with(b"\n\n") && contains(&seen, b"event: ready")) {
        ensure!(
            stream.read(&mut byte).await? == 1,
            "the stream ended at once"
        );
        seen.extend(byte);
    }
    Ok(stream)
}

/// Reads until all messages came, each once and in order.
async fn receive(mut stream: TcpStream, messages: u64) -> Result<()> {
    let (mut next, mut rest, mut buffer) = (1, Vec::new(), vec![0; 64 * 1024]);
    while next <= messages {
        let read = stream.read(&mut buffer).await?;
        ensure!(read > 0, "the stream ended at message {next}");
        rest.extend_from_slice(buffer.get(..read).context("read")?);
        let end = rest
            .windows(2)
            .rposition(|pair| pair == b"\n\n")
            .map_or(0, |at| at + 2);
        for frame in rest
            .drain(..end)
            .collect::<Vec<_>>()
            .split(|byte| *byte == b'\n')
        {
            if !frame.starts_with(b"data: ") || !contains(frame, b"room.message_posted") {
                continue;
            }
            let expected = format!("\"n\":{next},");
            ensure!(
                contains(frame, expected.as_bytes()),
                "expected message {next}"
            );
            next += 1;
        }
    }
    Ok(())
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}
