//! Long reads stay off the threads that serve everybody.

use std::net::IpAddr;
use std::sync::mpsc;

use minutebook_tests::http::Connection;

use super::gate::Gate;
use super::here::{Here, JSON};

/// Threads of the server that must stay free, see `Here`.
const WORKERS: usize = 2;

/// Has one asker more than there are workers, and expects all of them inside the store at once.
fn all_get_in_at_once(gate: &Gate, what: &str, ask: impl Fn() -> u16 + Sync) {
    gate.shut_for(WORKERS + 1);
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..=WORKERS).map(|_| scope.spawn(&ask)).collect();
        let most = gate.wait_for(WORKERS + 1);
        gate.open();
        for asked in asking {
            assert_eq!(asked.join().unwrap(), 200, "{what}");
        }
        assert_eq!(most, WORKERS + 1, "{what} holds a worker up");
    });
}

#[test]
fn long_reads_hold_no_worker_up() {
    let (here, gate) = Here::gated();
    let opened = here.json("POST", "/api/rooms", r#"{"is_public":true}"#);
    let room = opened.json()["uuid"].as_str().unwrap().to_owned();
    for n in 0..260 {
        here.post(&room, "alice", &n.to_string());
    }
    for path in [
        "/api/log/proof/consistency?from=2",
        "/api/log/receipt/3",
        "/api/log/tile/0/000",
        "/api/log/tile/0/000.p/7",
        "/api/log/tile/entries/000",
        "/api/rooms",
        "/api/rooms/ROOM/messages?limit=101",
    ] {
        let path = path.replace("ROOM", &room);
        all_get_in_at_once(&gate, &path, || here.get(&path).status);
    }
    let head = format!("GET /api/events?room_id={room}&since=9 HTTP/1.1\r\nhost: a\r\n\r\n");
    all_get_in_at_once(&gate, "finding a position", || {
        let mut stream = here.connect();
        stream.send_raw(head.as_bytes()).unwrap();
        stream.read_head().unwrap().0
    });
}

#[test]
fn one_verification_runs_a_few_wait_and_the_others_come_again() {
    let (here, gate) = Here::gated();
    let path = format!("/api/rooms/{}/verify", here.room());
    gate.shut_for(usize::MAX);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        let ask = |from: u8| {
            let (here, path, tell) = (&here, &path, tell.clone());
            scope.spawn(move || {
                let from = IpAddr::from([127, 0, 0, from]);
                let mut connection = Connection::open_from(from, here.addr()).unwrap();
                let answer = connection.send("POST", path, &[JSON], None).unwrap();
                tell.send(answer).unwrap();
            });
        };
        let turned_away = |count| {
            for _ in 0..count {
                let turned_away = told.recv().unwrap();
                assert_eq!(turned_away.status, 503);
                assert_eq!(turned_away.header("retry-after"), Some("5"));
            }
        };
        // One address has three of the five places, the last two are for others.
        (0..5).for_each(|_| ask(1));
        turned_away(2);
        (2..=5).for_each(ask);
        turned_away(2);
        assert_eq!(gate.wait_for(1), 1);
        gate.open();
        for _ in 0..5 {
            let verified = told.recv().unwrap();
            assert_eq!(verified.status, 200, "{}", verified.text());
        }
    });
}

#[test]
fn a_verification_that_erasure_overtakes_is_of_the_room_as_it_was() {
    let (here, gate) = Here::gated();
    let (room, other) = (here.room(), here.room());
    for room in [&room, &other] {
        here.post(room, "alice", "one");
        here.post(room, "alice", "two");
    }
    let erase = |room: &str, n: u32| {
        let path = format!("/api/rooms/{room}/messages/{n}");
        let erased = here.json("DELETE", &path, r#"{"reason":"x"}"#);
        assert_eq!(erased.status, 200, "{}", erased.text());
    };
    // The verification has taken the log's end, and reads on when this was erased.
    let verify_while = |erase: &dyn Fn()| {
        let path = format!("/api/rooms/{room}/verify");
        gate.shut_for(1);
        std::thread::scope(|scope| {
            let verifying = scope.spawn(|| here.json("POST", &path, ""));
            assert_eq!(gate.wait_for(1), 1);
            erase();
            gate.open();
            verifying.join().unwrap()
        })
    };
    for erased in [&room, &other] {
        let size = here.reader().head().unwrap().seq;
        let overtaken = verify_while(&|| erase(erased, 1));
        assert_eq!(overtaken.status, 200, "{}", overtaken.text());
        let verdict = overtaken.json();
        assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
        assert_eq!(verdict["log"]["size"], size, "{verdict}");
        assert!(here.reader().head().unwrap().seq > size);
    }
}
