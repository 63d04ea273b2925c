//! Many keep-alive connections, one request in flight on each, driven from one thread, so that the
//! server keeps a core.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Answers, all of the status asked for.
    pub acks: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Latency in microseconds.
    pub latency: Histogram<u64>,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// After this time.
    pub within: Duration,
    /// After so many requests of each connection.
    pub share: Option<u64>,
}

/// Sends each connection's requests in turn, over and over, until the limit. Any other status is
/// an error.
pub fn drive(
    http: SocketAddr,
    connections: Vec<Vec<Vec<u8>>>,
    status: u16,
    limit: Limit,
) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stop = Arc::new(AtomicBool::new(false));
        let start = Instant::now();
        let tasks: Vec<_> = connections
            .into_iter()
            .map(|requests| {
                let stop = Arc::clone(&stop);
                tokio::spawn(connection(http, requests, status, stop, limit.share))
            })
            .collect();
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
            () = tokio::time::sleep(limit.within) => {
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

async fn connection(
    http: SocketAddr,
    requests: Vec<Vec<u8>>,
    status: u16,
    stop: Arc<AtomicBool>,
    share: Option<u64>,
) -> Result<Histogram<u64>> {
    let mut stream = TcpStream::connect(http).await?;
    stream.set_nodelay(true)?;
    let mut latency = Histogram::new(3)?;
    let mut buffer = vec![0; 256 * 1024];
    for request in requests.iter().cycle() {
        if stop.load(Ordering::Relaxed) || share.is_some_and(|share| latency.len() >= share) {
            break;
        }
        let start = Instant::now();
        stream.write_all(request).await?;
        read_answer(&mut stream, &mut buffer, status).await?;
        latency.record(u64::try_from(start.elapsed().as_micros())?)?;
    }
    Ok(latency)
}

/// Reads one answer to its last byte.
async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8], status: u16) -> Result<()> {
    let mut filled = 0;
    let expected = format!("HTTP/1.1 {status}");
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
            text.starts_with(&expected),
            "{}",
            String::from_utf8_lossy(seen)
        );
        // A 304 has none and no body.
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap_or("0");
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
