//! What `POST …/verify` of a long ledger costs the server, in its own CPU seconds.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::process::cpu_seconds;
use crate::http::Connection;
use crate::server::{Options, Server};

/// Verifications measured together: the kernel counts CPU in hundredths of a second.
const RUNS: u32 = 20;
/// Connections that build the room.
const BUILDERS: u64 = 32;

/// Builds a room of so many threads with so many revisions each over HTTP, and verifies it: warm,
/// and as the first thing after a restart.
pub fn run(options: &Options, folder: &Path, threads: u64, revisions: u64) -> Result<()> {
    let data = folder.join("verify-room");
    let server = Server::start(options, &data)?;
    let room = server.open_room("negotiation")?;
    std::thread::scope(|scope| -> Result<()> {
        let builders: Vec<_> = (0..BUILDERS)
            .map(|first| {
                let (server, room) = (&server, &room);
                let mine = (first..threads).step_by(usize::try_from(BUILDERS)?);
                Ok(scope.spawn(move || build(server, room, mine, revisions)))
            })
            .collect::<Result<_>>()?;
        for builder in builders {
            match builder.join() {
                Ok(built) => built?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    verify(&server, &room)?;
    let before = cpu_seconds(server.pid())?;
    for _ in 0..RUNS {
        verify(&server, &room)?;
    }
    let warm = (cpu_seconds(server.pid())? - before) / f64::from(RUNS);
    let checked = verify(&server, &room)?["details"]["revisions_checked"].clone();
    ensure!(server.terminate()?.success(), "the server did not stop");
    let server = Server::start(options, &data)?;
    let before = cpu_seconds(server.pid())?;
    verify(&server, &room)?;
    let cold = cpu_seconds(server.pid())? - before;
    println!("revisions: {checked}, in {threads} threads");
    println!("verify, mean of {RUNS}: {:.1} ms of CPU", warm * 1e3);
    println!(
        "verify, the first after a restart: {:.0} ms of CPU",
        cold * 1e3
    );
    Ok(())
}

fn build(
    server: &Server,
    room: &str,
    mine: impl Iterator<Item = u64>,
    revisions: u64,
) -> Result<()> {
    let mut connection = server.connect()?;
    for thread in mine {
        let subject = format!("position {thread} of the offer");
        let open = json!({ "subject": subject, "value": "12 pieces", "opened_by": "alice" });
        let opened = post(&mut connection, &format!("/api/rooms/{room}/claims"), &open)?;
        let claim = opened["id"].as_str().unwrap_or_default().to_owned();
        let path = format!("/api/rooms/{room}/claims/{claim}/revisions");
        for n in 1..revisions {
            let value = format!("{n} pieces by the end of week {}", n % 52);
            let body = json!({ "agent_id": "alice", "kind": "update", "value": value });
            post(&mut connection, &path, &body)?;
        }
    }
    Ok(())
}

fn post(connection: &mut Connection, path: &str, body: &Value) -> Result<Value> {
    let headers = [("content-type", "application/json")];
    let bytes = serde_json::to_vec(body)?;
    let answer = connection.send("POST", path, &headers, Some(&bytes))?;
    ensure!(answer.status == 201, "{path}: {}", answer.text());
    Ok(answer.json())
}

fn verify(server: &Server, room: &str) -> Result<Value> {
    let path = format!("/api/rooms/{room}/verify");
    let verdict = server.json("POST", &path, None)?.json();
    ensure!(verdict["verdict"] == "CLEAN", "{verdict}");
    Ok(verdict)
}
