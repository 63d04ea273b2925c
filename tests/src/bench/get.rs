//! Reading messages: pages of a hundred, and polls that find nothing.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::load::{self, Limit};
use super::{process, report};
use crate::server::{Options, Server};

/// Messages in the room, and in a page.
const MESSAGES: usize = 100;

/// Starts a server with one room, reads it in three ways and prints what the server spent.
pub fn run(options: &Options, folder: &Path, connections: usize, seconds: u64) -> Result<()> {
    let server = Server::start(options, &folder.join("data"))?;
    let room = server.open_room("read")?;
    let text = "x".repeat(200);
    for n in 0..MESSAGES {
        let answer = server.post(&room, &format!("agent-{}", n % 8), &text)?;
        ensure!(answer.status == 201, "post: {}", answer.text());
    }
    let path = format!("/api/rooms/{room}/messages");
    let page = server.json("GET", &format!("{path}?limit={MESSAGES}"), None)?;
    let etag = page.header("etag").context("etag")?.to_owned();
    println!("a page of {MESSAGES} messages: {} bytes", page.body.len());
    let known = format!("if-none-match: {etag}\r\n");
    let reads = [
        ("a page of 100", format!("{path}?limit={MESSAGES}"), "", 200),
        ("an empty poll", format!("{path}?since={MESSAGES}"), "", 200),
        (
            "an empty poll, 304",
            format!("{path}?since={MESSAGES}"),
            known.as_str(),
            304,
        ),
    ];
    for (what, path, headers, status) in reads {
        let one = request(server.http, &path, headers);
        let before = process::cpu_seconds(server.pid())?;
        let limit = Limit {
            within: Duration::from_secs(seconds),
            share: None,
        };
        let outcome = load::drive(server.http, vec![vec![one]; connections], status, limit)?;
        let cpu = process::cpu_seconds(server.pid())? - before;
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let answers = outcome.acks as f64;
        println!(
            "{what}: {:.0} answers a CPU second, {:.1} µs each; {:.0}/s, latency {}",
            answers / cpu,
            cpu / answers * 1e6,
            answers / outcome.seconds,
            report::times(&outcome.latency)
        );
    }
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    Ok(())
}

fn request(http: SocketAddr, path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {http}\r\n{headers}\r\n").into_bytes()
}
