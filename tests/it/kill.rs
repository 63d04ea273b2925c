//! SIGKILL under load: what was acknowledged is there, once, in order, and the log verifies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use minutebook_tests::http::Connection;
use minutebook_tests::server::Server;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::support;

const ROUNDS: usize = 20;
const SENDERS: usize = 8;

/// What each sender was promised: the last counter value acknowledged.
type Promised = BTreeMap<String, u64>;

#[test]
fn sigkill_under_load_loses_and_doubles_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let (room, vkey) = {
        let server = support::start(&data);
        let room = server.open_room("killed again and again").unwrap();
        let vkey = support::vkey(&server);
        server.kill().unwrap();
        (room, vkey)
    };
    let mut promised = Promised::new();
    for round in 0..ROUNDS {
        let server = support::start(&data);
        let messages = read_all(&server, &room);
        check(&messages, &promised, round);
        verify_live(&server, folder.path(), &vkey, round);
        // An unanswered message may have been stored; the next round counts on from what is there.
        promised = counters(&messages);
        let enough = rng.random_range(1..200);
        load_then_kill(server, &room, &mut promised, enough);
    }
    let server = support::start(&data);
    check(&read_all(&server, &room), &promised, ROUNDS);
    assert!(server.terminate().unwrap().success());
    verify_clean(&data, folder.path(), &vkey);
}

/// Posts from all senders until so many acks came, then kills the server in mid-flight.
fn load_then_kill(server: Server, room: &str, promised: &mut Promised, enough: usize) {
    let (acks, pid) = (AtomicUsize::new(0), server.pid());
    let address = server.http;
    let results: Vec<(String, u64)> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|n| {
                let name = format!("sender-{n}");
                let from = promised.get(&name).copied().unwrap_or(0);
                let acks = &acks;
                scope.spawn(move || {
                    let count = send_until_dead(address, room, &name, from, || {
                        if acks.fetch_add(1, Ordering::SeqCst) + 1 == enough {
                            minutebook_tests::server::signal(pid, "KILL").unwrap();
                        }
                    });
                    (name, count)
                })
            })
            .collect();
        senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .collect()
    });
    server.kill().unwrap();
    promised.extend(results);
}

/// Returns the last counter acknowledged before the connection died.
fn send_until_dead(
    address: std::net::SocketAddr,
    room: &str,
    name: &str,
    mut counter: u64,
    on_ack: impl Fn(),
) -> u64 {
    let Ok(mut connection) = Connection::open(address) else {
        return counter;
    };
    let path = format!("/api/rooms/{room}/messages");
    loop {
        let body = format!(r#"{{"agent_id":"{name}","text":"{}"}}"#, counter + 1);
        let headers = [("content-type", "application/json")];
        match connection.send("POST", &path, &headers, Some(body.as_bytes())) {
            Ok(answer) if answer.status == 201 => {
                counter += 1;
                on_ack();
            }
            Ok(answer) => panic!("{} {}", answer.status, answer.text()),
            Err(_) => return counter,
        }
    }
}

/// `(position, sender, counter)` of every message.
fn read_all(server: &Server, room: &str) -> Vec<(u64, String, u64)> {
    let mut connection = server.connect().unwrap();
    let mut messages = Vec::new();
    loop {
        let since = messages.last().map_or(0, |(id, _, _)| *id);
        let path = format!("/api/rooms/{room}/messages?since={since}&limit=500");
        let page = connection.send("GET", &path, &[], None).unwrap().json();
        for message in page["messages"].as_array().unwrap() {
            let text = message["text"].as_str().unwrap();
            let agent = message["agent_id"].as_str().unwrap().to_owned();
            messages.push((
                message["id"].as_u64().unwrap(),
                agent,
                text.parse().unwrap(),
            ));
        }
        if !page["has_more"].as_bool().unwrap() {
            return messages;
        }
    }
}

fn check(messages: &[(u64, String, u64)], promised: &Promised, round: usize) {
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    for (index, (id, sender, counter)) in messages.iter().enumerate() {
        assert_eq!(*id, index as u64 + 1, "round {round}: positions have a gap");
        let expected = next.entry(sender).or_insert(0);
        *expected += 1;
        assert_eq!(
            counter, expected,
            "round {round}: {sender} doubled or out of order"
        );
    }
    for (sender, promise) in promised {
        let stored = next.get(sender.as_str()).copied().unwrap_or(0);
        assert!(
            stored >= *promise,
            "round {round}: {sender} lost {promise}, has {stored}"
        );
        assert!(
            stored <= promise + 1,
            "round {round}: {sender} has more than it sent"
        );
    }
}

fn counters(messages: &[(u64, String, u64)]) -> Promised {
    messages
        .iter()
        .map(|(_, sender, counter)| (sender.clone(), *counter))
        .collect()
}

/// What a server that was just killed and started serves as the log is CLEAN.
fn verify_live(server: &Server, folder: &Path, vkey: &str, round: usize) {
    let mut connection = server.connect().unwrap();
    let answer = connection
        .send("GET", "/api/log/bundle", &[], None)
        .unwrap();
    assert_eq!(answer.status, 200, "round {round}");
    let bundle = folder.join("round.ndjson");
    std::fs::write(&bundle, &answer.body).unwrap();
    let report = support::verify(&[bundle.to_str().unwrap(), "--key", vkey, "--json"]);
    let told = String::from_utf8_lossy(&report.stdout);
    assert_eq!(report.status.code(), Some(0), "round {round}: {told}");
}

fn verify_clean(data: &Path, folder: &Path, vkey: &str) {
    let bundle = folder.join("log.ndjson");
    let (data, bundle) = (data.to_str().unwrap(), bundle.to_str().unwrap());
    let export = support::minutebook(&["log", "export", "--data", data, "-o", bundle]);
    assert!(
        export.status.success(),
        "{}",
        String::from_utf8_lossy(&export.stderr)
    );
    let report = support::verify(&[bundle, "--key", vkey, "--json"]);
    assert_eq!(
        report.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&report.stdout)
    );
}
