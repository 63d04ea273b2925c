//! A long thread: revising it, and reading it whole, in pages and not at all.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::{probe, process, report};
use crate::http::{Answer, Connection};
use crate::server::{Options, Server};

/// Entries of a page.
const PAGE: usize = 100;
/// Requests of each kind, but for short ones, of which there are ten times as many.
const REQUESTS: u64 = 100;

const JSON: (&str, &str) = ("content-type", "application/json");
const MINIMAL: (&str, &str) = ("prefer", "return=minimal");

struct Thread<'s> {
    server: &'s Server,
    connection: Connection,
    path: String,
}

/// Starts a server, makes a thread so long, then reads and revises it.
pub fn run(options: &Options, folder: &Path, revisions: u64) -> Result<()> {
    let before = probe::fsync(folder, 300)?;
    let server = Server::start(options, &folder.join("data"))?;
    let mut thread = Thread::open(&server)?;
    for number in 1..revisions {
        thread.revise(number, &[JSON, MINIMAL])?;
    }
    println!(
        "a thread of {revisions} revisions; fsync {}",
        report::times(&before)
    );
    thread.measure("GET the thread", REQUESTS, |thread, _| thread.get("", &[]))?;
    let whole = thread.get("/revisions", &[])?;
    let etag = whole.header("etag").context("etag")?.to_owned();
    thread.measure("GET its revisions", REQUESTS, |thread, _| {
        thread.get("/revisions", &[])
    })?;
    let rows: Vec<Value> = serde_json::from_slice(&whole.body)?;
    let middle = rows.get(rows.len() / 2).context("an entry")?;
    let page = format!("/revisions?since={}&limit={PAGE}", middle["id"]);
    thread.measure("GET a page of 100", REQUESTS * 10, |thread, _| {
        thread.get(&page, &[])
    })?;
    thread.measure("GET, 304", REQUESTS * 10, |thread, _| {
        thread.get("/revisions", &[("if-none-match", &etag)])
    })?;
    thread.measure("append, whole answer", REQUESTS, |thread, number| {
        thread.revise(number, &[JSON])
    })?;
    thread.measure("append, return=minimal", REQUESTS * 10, |thread, number| {
        thread.revise(number, &[JSON, MINIMAL])
    })?;
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    Ok(())
}

impl<'s> Thread<'s> {
    fn open(server: &'s Server) -> Result<Self> {
        let room = server.open_room("a long thread")?;
        let claims = format!("/api/rooms/{room}/claims");
        let body = json!({ "subject": "price", "value": "$8", "opened_by": "alice" });
        let opened = server.json("POST", &claims, Some(&body))?;
        ensure!(opened.status == 201, "open: {}", opened.text());
        let id = opened.json();
        let id = id["id"].as_str().context("id")?;
        Ok(Self {
            server,
            connection: server.connect()?,
            path: format!("{claims}/{id}"),
        })
    }

    fn revise(&mut self, number: u64, headers: &[(&str, &str)]) -> Result<Answer> {
        let value = format!("a value of a usual length, number {number}");
        let body = json!({ "agent_id": "alice", "value": value, "kind": "update" }).to_string();
        let path = format!("{}/revisions", self.path);
        let body = Some(body.as_bytes());
        let answer = self.connection.send("POST", &path, headers, body)?;
        ensure!(answer.status == 201, "revise: {}", answer.text());
        Ok(answer)
    }

    fn get(&mut self, rest: &str, headers: &[(&str, &str)]) -> Result<Answer> {
        let path = format!("{}{rest}", self.path);
        let answer = self.connection.send("GET", &path, headers, None)?;
        ensure!(
            [200, 304].contains(&answer.status),
            "get: {}",
            answer.text()
        );
        Ok(answer)
    }

    fn measure(
        &mut self,
        what: &str,
        times: u64,
        mut request: impl FnMut(&mut Self, u64) -> Result<Answer>,
    ) -> Result<()> {
        let cpu = process::cpu_seconds(self.server.pid())?;
        let mut latency = Histogram::<u64>::new(3)?;
        let mut bytes = 0;
        for number in 0..times {
            let start = Instant::now();
            bytes = request(self, number)?.body.len();
            latency.record(u64::try_from(start.elapsed().as_micros())?)?;
        }
        let cpu = process::cpu_seconds(self.server.pid())? - cpu;
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let each = cpu / times as f64 * 1e6;
        println!(
            "{what}: {bytes} bytes, server CPU {each:.0} µs each, {}",
            report::times(&latency)
        );
        Ok(())
    }
}
