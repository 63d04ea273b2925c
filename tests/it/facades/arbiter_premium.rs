//! Premium rooms are read by themselves, at nobody's cost.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use minutebook_tests::model::{Model, Reply};
use minutebook_tests::server::Server;
use serde_json::{Value, json};

use super::arbiter::{KEY, claim, started};
use super::here::Here;
use crate::support::{UNLIMITED, options, patiently, verify};

pub(super) fn premium(here: &Here) -> String {
    let answer = here.json("POST", "/api/rooms", r#"{"protocol_mode":"premium"}"#);
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["uuid"].as_str().unwrap().to_owned()
}

/// Follows a room from its beginning until so many events of a type came.
pub(super) fn wait_for(addr: SocketAddr, room: &str, kind: &str, count: usize) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .unwrap();
    let request =
        format!("GET /api/events?room_id={room}&since=0 HTTP/1.1\r\nhost: {addr}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let wanted = format!("event: {kind}");
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let found = lines.filter(|line| *line == wanted).take(count);
    assert_eq!(found.count(), count, "the stream ended");
}

#[test]
fn a_message_is_read_without_being_asked_for() {
    let (model, here) = started();
    let room = premium(&here);
    assert_eq!(
        here.get(&format!("/api/rooms/{room}")).json()["arbiter_active"],
        true
    );
    model.then_says(&claim("Price", "$8"));
    here.post(&room, "alice", "Price is $8");
    wait_for(here.addr(), &room, "room.claim_opened", 1);
    let context = here.get(&format!("/api/rooms/{room}/context")).json();
    assert_eq!(context["threads"][0]["opened_by"], "arbiter");
    assert_eq!(context["arbiter_active"], true);
    let standard = here.room();
    here.post(&standard, "alice", "Price is $8");
    here.post(&room, "alice", "and more");
    wait_for(here.addr(), &room, "room.context_extracted", 2);
    assert_eq!(
        model.asked().len(),
        2,
        "a standard room is read when asked for"
    );
}

#[test]
fn posts_do_not_wait_for_models() {
    let (model, here) = started();
    model.hold(true);
    let rooms: Vec<_> = (0..64).map(|_| premium(&here)).collect();
    let plain = here.room();
    for room in &rooms {
        here.post(room, "alice", "one");
    }
    // As many calls hang as there may be; all of this is answered while they do.
    model.wait_for(8);
    for room in &rooms {
        here.post(room, "alice", "two");
        let context = here.get(&format!("/api/rooms/{room}/context"));
        assert_eq!(context.json()["last_extracted_msg_id"], 0);
    }
    here.post(&plain, "alice", "hello");
    let verdict = here.json("POST", &format!("/api/rooms/{plain}/verify"), "");
    assert_eq!(verdict.json()["verdict"], "CLEAN");
    assert_eq!(model.asked().len(), 8);
    model.hold(false);
    for room in &rooms {
        wait_for(here.addr(), room, "room.context_extracted", 2);
    }
    assert_eq!(model.asked().len(), 128);
}

#[test]
fn a_room_heals_by_itself_after_an_outage() {
    let (model, here) = started();
    model.then(Reply::HangsUp);
    let room = premium(&here);
    here.post(&room, "alice", "one");
    wait_for(here.addr(), &room, "room.context_extracted", 2);
    let context = here.get(&format!("/api/rooms/{room}/context")).json();
    assert_eq!(context["last_extraction_error"], Value::Null);
    assert_eq!(context["last_extracted_msg_id"], 1);
}

/// A kill between a reading and what it proposes, and one before the reading: both are made up for
/// at the next start, and nothing is done twice.
#[test]
fn what_a_kill_interrupted_is_done_once() {
    let model = Model::start().unwrap();
    let data = tempfile::tempdir().unwrap();
    let key_file = data.path().join("key");
    std::fs::write(&key_file, format!("{KEY}\n")).unwrap();
    let url = model.url();
    let mut args = UNLIMITED.to_vec();
    let key = key_file.to_str().unwrap();
    args.extend([
        "--arbiter-url",
        &url,
        "--arbiter-model",
        "model-1",
        "--arbiter-key-file",
        key,
    ]);
    let log = data.path().join("log");
    let start = || patiently(|| Server::start(&options(&args), &log)).unwrap();
    let many: Vec<_> = (0..30)
        .map(|n| json!({"subject": format!("Matter {n}"), "value": "1"}))
        .collect();
    model.otherwise(Reply::Says(json!({ "new_claims": many }).to_string()));
    let mut server = start();
    let body = json!({"protocol_mode": "premium"});
    let room = server
        .json("POST", "/api/rooms", Some(&body))
        .unwrap()
        .json();
    let room = room["uuid"].as_str().unwrap().to_owned();
    for round in 1..=6_usize {
        server
            .post(&room, "alice", &format!("round {round}"))
            .unwrap();
        model.wait_for(round.min(model.asked().len() + 1));
        server.kill().unwrap();
        server = start();
    }
    wait_for(server.http, &room, "room.claim_opened", 6 * 30);
    let context = server.json("GET", &format!("/api/rooms/{room}/context"), None);
    let context = context.unwrap().json();
    assert_eq!(context["threads"].as_array().unwrap().len(), 6 * 30);
    assert_eq!(context["last_extracted_msg_id"], 6);
    assert_eq!(
        model.asked()[0].authorization.as_deref(),
        Some("Bearer sk-hush-hush")
    );
    let vkey = server
        .json("GET", "/api/arbiter/pubkey", None)
        .unwrap()
        .json();
    let bundle = data.path().join("log.ndjson");
    let log = server.json("GET", "/api/log/bundle", None).unwrap();
    std::fs::write(&bundle, &log.body).unwrap();
    assert!(!log.text().contains(KEY), "the key is in the log");
    let calls = model.asked().len();
    let verdict = verify(&[
        bundle.to_str().unwrap(),
        "--key",
        vkey["vkey"].as_str().unwrap(),
    ]);
    let told = String::from_utf8_lossy(&verdict.stdout);
    assert!(verdict.status.success(), "{told}");
    assert_eq!(model.asked().len(), calls, "verifying asks no model");
}
