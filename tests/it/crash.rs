//! The crash matrix: every durable step fails in both ways, on the real store; and what a damaged,
//! full, foreign or busy directory does to a start.

use std::path::Path;
use std::process::{Command, Stdio};

use minutebook::engine::{
    Clock, Committed, Committer, Entropy, Idempotency, Parts, Submission, SystemClock,
};
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::text::{AgentName, Description, MessageText};
use minutebook_domain::{Command as Act, room};
use minutebook_eventlog::store::fault::{Fault, FaultWriter, Step};
use minutebook_eventlog::store::fjall::FjallWriter;
use minutebook_tests::server::Server;
use uuid::Uuid;

use crate::support;

pub(crate) const ROOM: RoomId =
    RoomId::new(Uuid::from_u128(0x7002_cc19_fc28_4472_a4ca_8282_0612_8894));
const MESSAGES: u64 = 4;

pub(crate) type Engine = Committer<FaultWriter<FjallWriter>>;

pub(crate) fn open(data: &Path, script: impl FnMut(Step) -> Fault + Send + 'static) -> Engine {
    let (writer, reader) = support::open_store(data);
    let writer = FaultWriter::new(writer, script);
    let origin = Some("crash.example/log".to_owned());
    let entropy = Entropy::from_os().unwrap();
    Committer::recover(Parts {
        writer,
        reader,
        seed: [5; 32],
        origin,
        entropy,
    })
    .unwrap()
}

pub(crate) fn submission(key: &str, command: room::Command) -> Submission {
    let mut request = [0; 16];
    request[..key.len()].copy_from_slice(key.as_bytes());
    Submission {
        command: Act::Room(ROOM, command).check().unwrap(),
        actor: Actor::Agent(AgentName::parse("alice").unwrap()),
        idempotency: Some(Idempotency {
            key: key.to_owned(),
            asker: String::new(),
            request,
        }),
        cause: None,
    }
}

fn opening() -> room::Command {
    opening_as(room::ProtocolMode::Standard)
}

pub(crate) fn opening_as(protocol_mode: room::ProtocolMode) -> room::Command {
    room::Command::Open(room::Opened {
        description: Description::parse("crashing").unwrap(),
        dialect: room::Dialect::Rooms,
        is_public: false,
        confirmations_needed: None,
        message_limit: None,
        name: None,
        protocol_mode,
    })
}

fn message(n: u64) -> room::Command {
    message_of(&format!("message {n}"))
}

pub(crate) fn message_of(text: &str) -> room::Command {
    room::Command::PostMessage(room::PostMessage {
        agent: AgentName::parse("alice").unwrap(),
        kind: room::MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(text).unwrap(),
    })
}

/// Everything this test does, in order: founding, opening, messages. Returns the seqs answered,
/// up to the first failure.
pub(crate) fn work(engine: &mut Engine) -> Vec<u64> {
    if engine.found(&SystemClock).is_err() {
        return Vec::new();
    }
    let mut batches = vec![submission("open", opening())];
    batches.extend((1..=MESSAGES).map(|n| submission(&format!("m{n}"), message(n))));
    let mut answered = Vec::new();
    for one in batches {
        let Ok(written) = engine.commit(vec![one], SystemClock.now(), false) else {
            break;
        };
        let outcome: Committed = written.outcomes.into_iter().next().unwrap().unwrap();
        answered.push(outcome.events[0].seq);
    }
    answered
}

pub(crate) fn everything(engine: &Engine) -> Vec<Vec<u8>> {
    let page = engine.reader().read(1, usize::MAX).unwrap();
    page.into_iter()
        .map(|(_, record)| record.envelope)
        .collect()
}

#[test]
fn every_durable_step_may_fail_in_both_ways() {
    // Founding, opening and four messages: six commits and six head files.
    for fault in [Fault::FailNotPersisted, Fault::FailButPersisted] {
        for failing in 1..=2 * (MESSAGES + 2) {
            let folder = tempfile::tempdir().unwrap();
            let mut step = 0;
            let mut engine = open(folder.path(), move |_| {
                step += 1;
                if step == failing { fault } else { Fault::None }
            });
            let answered = work(&mut engine);
            assert!(answered.len() < 5, "step {failing} did not fail");
            drop(engine);

            let mut engine = open(folder.path(), |_| Fault::None);
            let kept = everything(&engine).len() as u64;
            let last = answered.last().copied().unwrap_or(0);
            assert!(
                kept >= last,
                "{fault:?} at step {failing}: an answer was lost"
            );
            assert!(
                kept <= last.max(1) + 1,
                "{fault:?} at step {failing}: more than was asked"
            );
            // The same requests again: what was done is answered again, the rest is done once.
            let again = work(&mut engine);
            assert_eq!(
                again,
                (2..=MESSAGES + 2).collect::<Vec<_>>(),
                "{fault:?} at {failing}"
            );
            assert_eq!(again[..answered.len()], answered, "{fault:?} at {failing}");
            assert_eq!(everything(&engine).len() as u64, MESSAGES + 2);
            engine.close().unwrap();
        }
    }
}

/// Starts the server and expects it not to; its exit code and what it says.
fn refused(data: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mb-server"))
        .args(["serve", "--http", "127.0.0.1:0", "--data"])
        .arg(data)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "no ready line");
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn a_flipped_bit_in_the_journal_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    let room = server.open_room("to be damaged").unwrap();
    for n in 0..50 {
        assert_eq!(
            server
                .post(&room, "alice", &format!("message {n}"))
                .unwrap()
                .status,
            201
        );
    }
    server.kill().unwrap();
    let journal = journals(&data).pop().unwrap();
    let honest = std::fs::read(&journal).unwrap();
    // The text of a message is a value; what stands before it are lengths and tags.
    let at = find(&honest, b"message 25").unwrap();
    for (offset, flipped) in [(at, "a value"), (at - 300, "somewhere before it")] {
        let mut damaged = honest.clone();
        damaged[offset] ^= 1;
        std::fs::write(&journal, &damaged).unwrap();
        let (code, told) = refused(&data);
        assert_eq!(code, 65, "{flipped}: {told}");
        let named = ["are missing", "damaged", "storage failed"];
        assert!(
            named.iter().any(|word| told.contains(word)),
            "{flipped}: {told}"
        );
    }
}

fn journals(data: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(data.join("db"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jnl"))
        .collect();
    found.sort();
    found
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[test]
fn a_second_server_is_refused_with_the_holders_pid() {
    let folder = tempfile::tempdir().unwrap();
    let server = support::start(folder.path());
    let (code, told) = refused(folder.path());
    assert_eq!(code, 69, "{told}");
    assert!(told.contains(&server.pid().to_string()), "{told}");
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a directory").unwrap();
    for data in [file.as_path(), Path::new("/proc/minutebook")] {
        let (code, told) = refused(data);
        assert_ne!(code, 0);
        assert!(told.contains(data.to_str().unwrap()), "{told}");
    }
}

#[test]
fn a_full_disk_is_told_with_503_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let room = {
        let server = support::start(&data);
        let room = server.open_room("until the disk is full").unwrap();
        assert!(server.terminate().unwrap().success());
        room
    };
    // No file may grow beyond 67 MiB: a journal begins with 64 MiB, so some messages still fit.
    let limited = "ulimit -f 68608; trap '' XFSZ; exec \"$0\" \"$@\"";
    let mut options = support::options(&support::UNLIMITED);
    options.leading = vec![
        "-c".to_owned(),
        limited.to_owned(),
        options.program.to_str().unwrap().to_owned(),
    ];
    options.program = "bash".into();
    let server = Server::start(&options, &data).unwrap();
    let mut connection = server.connect().unwrap();
    let path = format!("/api/rooms/{room}/messages");
    let text = "x".repeat(9000);
    let body = format!(r#"{{"agent_id":"alice","text":"{text}"}}"#);
    let mut acks = 0;
    let full = loop {
        let headers = [("content-type", "application/json")];
        let answer = connection
            .send("POST", &path, &headers, Some(body.as_bytes()))
            .unwrap();
        if answer.status != 201 {
            break answer;
        }
        acks += 1;
        assert!(acks < 20_000, "the disk never filled");
    };
    assert_eq!(full.status, 503, "{}", full.text());
    assert!(full.header("retry-after").is_some(), "{:?}", full.headers);
    drop(server);
    let server = support::start(&data);
    let count = server
        .json("GET", &format!("/api/rooms/{room}"), None)
        .unwrap()
        .json();
    let count = count["message_count"].as_u64().unwrap();
    assert!(
        count == acks || count == acks + 1,
        "{acks} acknowledged, {count} kept"
    );
}

#[test]
fn sigterm_ends_streams_with_a_closing_event_and_exits_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let server = support::start(folder.path());
    let room = server.open_room("closing").unwrap();
    let mut stream = server.connect().unwrap();
    let request = format!("GET /api/events?room_id={room} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.send_raw(request.as_bytes()).unwrap();
    assert_eq!(stream.read_head().unwrap().0, 200);
    stream.read_chunk().unwrap().unwrap();
    let started = std::time::Instant::now();
    assert!(server.terminate().unwrap().success());
    assert!(
        started.elapsed().as_secs() < 5,
        "stopping took {:?}",
        started.elapsed()
    );
    let mut rest = Vec::new();
    while let Some(chunk) = stream.read_chunk().unwrap() {
        rest.extend(chunk);
    }
    assert!(String::from_utf8(rest).unwrap().contains("event: closing"));
}

#[test]
fn sigterm_during_a_verification_and_a_download_exits_cleanly_and_soon() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    minutebook::engine::keyfile::create(&data.join("arbiter.key"), &[5; 32]).unwrap();
    let mut engine = open(data, |_| Fault::None);
    engine.found(&SystemClock).unwrap();
    let long = "x".repeat(4000);
    let mut batch = vec![submission("open", opening())];
    batch
        .extend((0..4000).map(|n| submission(&format!("m{n}"), message_of(&format!("{n}{long}")))));
    for batch in batches(batch) {
        let written = engine.commit(batch, SystemClock.now(), false).unwrap();
        assert!(written.outcomes.iter().all(Result::is_ok));
    }
    engine.close().unwrap();

    let server = support::start(data);
    let ask = |head: String| {
        let mut connection = server.connect().unwrap();
        connection.send_raw(head.as_bytes()).unwrap();
        connection
    };
    let verify = |()| {
        ask(format!(
            "POST /api/rooms/{ROOM}/verify HTTP/1.1\r\nhost: x\r\n\r\n"
        ))
    };
    let _verifying = [(); 3].map(verify);
    let mut bundle = ask(format!(
        "GET /api/log/bundle?room={ROOM} HTTP/1.1\r\nhost: x\r\n\r\n"
    ));
    assert_eq!(bundle.read_head().unwrap().0, 200);
    let started = std::time::Instant::now();
    assert!(server.terminate().unwrap().success());
    let took = started.elapsed();
    assert!(took.as_secs() < 5, "stopping took {took:?}");
    support::start(data);
}

fn batches(mut rest: Vec<Submission>) -> Vec<Vec<Submission>> {
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let later = rest.split_off(rest.len().min(minutebook::engine::BATCH_MAX));
        batches.push(std::mem::replace(&mut rest, later));
    }
    batches
}
