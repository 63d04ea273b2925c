//! `minutebook demo`: the whole story once, against a real server on a free port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use ed25519_dalek::{Signer, SigningKey};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use minutebook_domain::ids::RoomId;
use minutebook_domain::signature::surface_roomcomm_v1;
use minutebook_verifier::tamper::{Means, tamper};
use minutebook_verifier::{Options as VerifyOptions, Policy, Report, Verdict, render, verify};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::{Exit, Failure, Global, Terminal};
use crate::engine::{self, Clock, Entropy, SystemClock};
use crate::http::{HttpConfig, Server};

/// What the demonstration changes in its copy of the log.
const TAMPERING: &str = "edit-payload";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
It starts a server in a temporary directory, opens a room, lets two agents talk (one signs), follows
the room, exports the log, verifies it, changes one message in a copy and verifies that.

Examples:
  minutebook demo
  minutebook demo --keep ./demo
  minutebook demo --json")]
pub(crate) struct DemoArgs {
    /// Keep the data, the export and the tampered copy in this new or empty directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(
    args: &DemoArgs,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let temporary = tempfile::tempdir().map_err(Failure::error)?;
    let folder = args
        .keep
        .clone()
        .unwrap_or_else(|| temporary.path().to_owned());
    take(&folder)?;
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::error)?;
    let mut story = Story {
        terminal,
        json: global.json,
        facts: Map::new(),
    };
    let told = runtime.block_on(tell(&folder, &mut story));
    told.map_err(|error| Failure::error(format!("{error:#}")))?;
    if story.json {
        let facts = Value::Object(std::mem::take(&mut story.facts));
        terminal.json(&facts)?;
        terminal.flush()?;
    }
    Ok(Exit::Ok)
}

/// Makes the directory, or takes an empty one: in any other the story would go on from another.
fn take(folder: &Path) -> Result<(), Failure> {
    let named = |error| Failure::error(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(named)?;
    if std::fs::read_dir(folder).map_err(named)?.next().is_some() {
        return Err(Failure::usage(format!(
            "{} is not empty: --keep takes a new or empty directory",
            folder.display()
        )));
    }
    Ok(())
}

/// What is told: line by line, or as one object at the end.
struct Story<'a, 't> {
    terminal: &'a mut Terminal<'t>,
    json: bool,
    facts: Map<String, Value>,
}

impl Story<'_, '_> {
    fn say(&mut self, line: &str) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let said = self
            .terminal
            .line(line)
            .and_then(|()| self.terminal.flush());
        said.map_err(|failure| anyhow::anyhow!(failure.message))
    }

    fn indented(&mut self, text: &str) -> Result<()> {
        text.lines()
            .try_for_each(|line| self.say(&format!("     {line}")))
    }

    fn fact(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

/// The story, and the stopping of the server whatever came of it.
async fn tell(folder: &Path, story: &mut Story<'_, '_>) -> Result<()> {
    let options = engine::Options {
        data: folder.join("data"),
        origin: Some("demo.example/log".to_owned()),
        arbiter_key: None,
        store: minutebook_eventlog::store::fjall::Options::default(),
    };
    let (handle, running) = engine::start(&options)?;
    let (stop, stopping) = watch::channel(false);
    let server = Server::bind(
        HttpConfig::new(([127, 0, 0, 1], 0).into()),
        handle.clone(),
        stopping,
    )
    .await?;
    let address = server.local_addr();
    let serving = tokio::spawn(server.run());
    let bundle = talk(address, story).await;
    stop.send_replace(true);
    serving.await?;
    let vkey = handle.vkey().vkey();
    handle.stop();
    running
        .join()
        .map_err(|_| anyhow::anyhow!("the writer panicked"))??;
    audit(folder, &bundle?, &vkey, story)
}

/// Agents talk in a room; returns the exported log.
async fn talk(address: SocketAddr, story: &mut Story<'_, '_>) -> Result<Bytes> {
    story.say(&format!("1. A server listens on http://{address}"))?;
    let opening = json!({ "description": "Agree on a delivery date", "is_public": true });
    let room = post(address, "/api/rooms", &opening).await?;
    let id = field(&room, "uuid")
        .as_str()
        .context("the room has no uuid")?
        .to_owned();
    story.say(&format!(
        "2. A room is open: {}",
        field(&room, "url").as_str().unwrap_or(&id)
    ))?;
    story.fact("room", json!(id));
    let mut stream = get(address, &format!("/api/events?room_id={id}")).await?;
    let path = format!("/api/rooms/{id}/messages");
    let plain = json!({ "agent_id": "alice", "text": "Can you deliver on May 20?" });
    let first = post(address, &path, &plain).await?;
    story.say(&format!(
        "3. alice wrote message {} (log seq {})",
        field(&first, "id"),
        field(&first, "log_seq")
    ))?;
    let second = post(address, &path, &signed(&id)?).await?;
    story.say(&format!(
        "4. bob wrote message {} and signed it (log seq {})",
        field(&second, "id"),
        field(&second, "log_seq")
    ))?;
    story.fact("messages", json!([first, second]));
    story.say("5. A follower saw both, live:")?;
    let seen = events(&mut stream, 2).await?;
    story.fact("followed", json!(seen));
    for line in seen {
        story.say(&format!("     {line}"))?;
    }
    let bundle = get(address, "/api/log/bundle")
        .await?
        .into_body()
        .collect()
        .await?
        .to_bytes();
    Ok(bundle)
}

/// Verifies the export, then a tampered copy of it.
fn audit(folder: &Path, bundle: &[u8], vkey: &str, story: &mut Story<'_, '_>) -> Result<()> {
    let export = folder.join("log.ndjson");
    std::fs::write(&export, bundle)?;
    story.say(&format!("6. The log was exported: {} bytes", bundle.len()))?;
    let clean = check(bundle, vkey)?;
    story.fact("vkey", json!(vkey));
    story.fact("verified", serde_json::to_value(&clean)?);
    story.say(&format!(
        "7. The offline verifier says {}:",
        clean.verdict.name()
    ))?;
    story.indented(&render::render(&clean))?;
    let copy = tamper(TAMPERING, bundle, &Means::default())?;
    std::fs::write(folder.join("tampered.ndjson"), &copy.bytes)?;
    story.say(&format!(
        "8. In a copy, the body of record {} is changed.",
        copy.seq
    ))?;
    let refuted = check(&copy.bytes, vkey)?;
    let tampering = json!({"kind": TAMPERING, "seq": copy.seq});
    story.fact("tampering", tampering);
    story.fact("tampered_verified", serde_json::to_value(&refuted)?);
    story.say(&format!(
        "9. The offline verifier says {}:",
        refuted.verdict.name()
    ))?;
    story.indented(&render::render(&refuted))?;
    ensure!(
        clean.verdict == Verdict::Clean,
        "the honest log was not found clean"
    );
    ensure!(
        refuted.verdict == Verdict::Refuted,
        "the tampered copy was not refuted"
    );
    Ok(())
}

fn check(bundle: &[u8], vkey: &str) -> Result<Report> {
    Ok(verify(bundle, &Policy::of_key(vkey)?, VerifyOptions::default())?.report)
}

/// bob's signed message: text, time and room, run together as the rooms dialect asks.
fn signed(room: &str) -> Result<Value> {
    let seed = Entropy::from_os()?.salt();
    let key = SigningKey::from_bytes(&seed);
    let text = "Yes: May 20, $5 a unit.";
    let ts_iso = SystemClock.now().to_string();
    let room = RoomId::parse_canonical(room).context("the room's uuid")?;
    let signature = key.sign(&surface_roomcomm_v1(text, &ts_iso, room, None));
    Ok(json!({
        "agent_id": "bob",
        "text": text,
        "ts_iso": ts_iso,
        "pubkey_hex": hex::encode(key.verifying_key().as_bytes()),
        "signature_hex": hex::encode(signature.to_bytes()),
    }))
}

/// The first `count` message events of a stream: their id and type lines.
async fn events(stream: &mut Response<Incoming>, count: usize) -> Result<Vec<String>> {
    let (mut text, mut seen) = (String::new(), Vec::new());
    while seen.len() < count {
        let frame = stream.frame().await.context("the stream ended")??;
        text.push_str(&String::from_utf8_lossy(
            frame.data_ref().map_or(&[], |data| data),
        ));
        while let Some((event, rest)) = text.split_once("\n\n") {
            if event.contains("event: room.message_posted") {
                seen.push(event.lines().take(2).collect::<Vec<_>>().join(", "));
            }
            text = rest.to_owned();
        }
    }
    Ok(seen)
}

/// A field of an answer; null when it is not there.
fn field<'a>(answer: &'a Value, name: &str) -> &'a Value {
    answer.get(name).unwrap_or(&Value::Null)
}

async fn get(address: SocketAddr, path: &str) -> Result<Response<Incoming>> {
    send(address, Request::get(path).body(Full::default())?).await
}

async fn post(address: SocketAddr, path: &str, body: &Value) -> Result<Value> {
    let request = Request::post(path).header("content-type", "application/json");
    let response = send(address, request.body(Full::from(body.to_string()))?).await?;
    let bytes = response.into_body().collect().await?.to_bytes();
    Ok(serde_json::from_slice(&bytes)?)
}

async fn send(
    address: SocketAddr,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>> {
    request
        .headers_mut()
        .insert("host", address.to_string().parse()?);
    let stream = tokio::net::TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let path = request.uri().to_string();
    let response = sender.send_request(request).await?;
    ensure!(
        response.status().is_success(),
        "{path} answered {}",
        response.status()
    );
    Ok(response)
}
