//! Erased text is gone: from answers, streams, exports and replays at once, and from the disk soon.

use std::path::Path;
use std::time::{Duration, Instant};

use minutebook_tests::http::Connection;
use minutebook_tests::server::Server;
use serde_json::json;

use crate::support;

const SECRET: &str = "an address that must be forgotten 4711";

/// Opens a stream and reads until an event of this text has come; returns all it saw.
fn follow(server: &Server, room: &str, since: u64, until: &str) -> (Connection, String) {
    let mut stream = server.connect().unwrap();
    let path = format!("/api/events?room_id={room}&since={since}");
    stream
        .send_raw(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(stream.read_head().unwrap().0, 200);
    let mut seen = String::new();
    while !seen.contains(until) {
        let chunk = stream.read_chunk().unwrap().expect("the stream goes on");
        seen.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    (stream, seen)
}

fn erase_message(server: &Server, room: &str, n: u64) {
    let reason = json!({ "reason": "an order" });
    let path = format!("/api/rooms/{room}/messages/{n}");
    let answer = server.json("DELETE", &path, Some(&reason)).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn a_later_follower_is_not_handed_what_was_erased_while_another_listened() {
    let folder = tempfile::tempdir().unwrap();
    let server = support::start(folder.path());
    let room = server.open_room("forgetting").unwrap();
    let (_first, _) = follow(&server, &room, 0, "room.opened");
    server.post(&room, "alice", SECRET).unwrap();
    server.post(&room, "alice", "another").unwrap();
    erase_message(&server, &room, 1);
    let (_second, seen) = follow(&server, &room, 0, "room.bodies_erased");
    assert!(seen.contains("another") && !seen.contains(SECRET), "{seen}");
}

#[test]
fn erased_text_is_in_no_answer_and_leaves_the_disk_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    let room = server.open_room("forgetting").unwrap();
    let key = [
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    ];
    let body = json!({ "agent_id": "alice", "text": SECRET }).to_string();
    let path = format!("/api/rooms/{room}/messages");
    let post = |server: &Server| {
        server
            .connect()
            .unwrap()
            .send("POST", &path, &key, Some(body.as_bytes()))
            .unwrap()
    };
    assert_eq!(post(&server).status, 201);
    assert!(server.terminate().unwrap().success());
    // A kept generation of the views holds the text too.
    let rebuilt =
        support::minutebook(&["projections", "rebuild", "--data", data.to_str().unwrap()]);
    assert!(
        rebuilt.status.success(),
        "{}",
        String::from_utf8_lossy(&rebuilt.stderr)
    );
    assert!(is_on_disk(&data), "the test looks for nothing");

    let server = support::start(&data);
    erase_message(&server, &room, 1);
    let answers = [
        server.json("GET", &path, None).unwrap().text(),
        server.json("GET", "/api/log/bundle", None).unwrap().text(),
        server
            .json("GET", &format!("/api/log/bundle?room={room}"), None)
            .unwrap()
            .text(),
        post(&server).text(),
    ];
    assert!(
        answers.iter().all(|answer| !answer.contains(SECRET)),
        "{answers:?}"
    );
    server.kill().unwrap();

    // What was still to do is done at the next start.
    let server = support::start(&data);
    let started = Instant::now();
    while is_on_disk(&data) {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "the text is still on the disk"
        );
        assert_eq!(server.json("GET", "/healthz", None).unwrap().status, 200);
    }
    assert!(server.terminate().unwrap().success());
    assert!(!is_on_disk(&data));
}

fn is_on_disk(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|entry| {
            let path = entry.path();
            if path.is_dir() {
                return is_on_disk(&path);
            }
            // A file may go while we look.
            let bytes = std::fs::read(&path).unwrap_or_default();
            bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes())
        })
    })
}
