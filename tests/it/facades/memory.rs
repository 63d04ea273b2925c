//! What clients can make the server hold: bounded for all of them together, and the others go on.

use std::time::{Duration, Instant};

use minutebook_tests::http::Connection;

use super::here::{Here, detail};

/// Bytes the server holds: of request bodies, and of answers nobody has taken.
fn held(here: &Here) -> (u64, u64) {
    let text = here.get("/metrics").text();
    let gauge = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    (
        gauge("minutebook_body_bytes "),
        gauge("minutebook_answer_bytes "),
    )
}

/// Asks until it is so, or fails after 30 s.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
    }
}

fn request(here: &Here, line: &str, more: &str) -> Connection {
    let host = here.addr();
    let mut connection = here.connect();
    let head = format!("{line} HTTP/1.1\r\nhost: {host}\r\n{more}\r\n");
    connection.send_raw(head.as_bytes()).unwrap();
    connection
}

/// A room with more text than sockets hold.
fn long_room(here: &Here) -> String {
    let room = here.room();
    let text = "\u{1f600}".repeat(9_990);
    for _ in 0..200 {
        here.post(&room, "alice", &text);
    }
    room
}

#[test]
fn bodies_that_do_not_end_are_bounded_together_and_short_ones_pass() {
    const MOST: usize = 4 << 20;
    let here = Here::with(|config| config.bounds.bodies_bytes_max = MOST);
    let room = here.room();
    let line = format!("POST /api/rooms/{room}/messages");
    let more = "content-type: application/json\r\ncontent-length: 1048576\r\n";
    let part = vec![b' '; 1_000_000];
    let begin = || {
        let mut connection = request(&here, &line, more);
        connection.send_raw(&part).unwrap();
        connection
    };
    // One after the other: together, pieces of more than three could keep one another from
    // becoming whole, and how many are refused would be chance.
    let mut all = Vec::new();
    for bodies in 1..=3 {
        all.push(begin());
        until("a body of a mebibyte is held", || {
            held(&here).0 == bodies << 20
        });
    }
    all.extend((0..9).map(|_| begin()));
    here.post(&room, "bob", &"short".repeat(1_000));
    // Whoever goes on to the end is told, on a connection that still works; so is who does not.
    let rest = vec![b' '; (1 << 20) - part.len()];
    let mut refused = 0;
    for connection in all.iter_mut().rev() {
        connection.send_raw(&rest).ok();
        let answer = connection.read_answer(false).unwrap();
        if answer.status == 503 {
            assert!(detail(&answer).contains("try again"));
            assert!(answer.header("retry-after").is_some());
            refused += 1;
        } else {
            assert_eq!((answer.status, detail(&answer).is_empty()), (400, false));
        }
    }
    assert_eq!(refused, 9);
    until("all is given back", || held(&here).0 == 0);
}

#[test]
fn pages_that_nobody_reads_are_bounded_together_and_short_ones_pass() {
    const MOST: u64 = 32 << 20;
    let here = Here::with(|config| {
        config.bounds.answers_bytes_max = usize::try_from(MOST).unwrap();
    });
    let room = long_room(&here);
    let line = format!("GET /api/rooms/{room}/messages?limit=500");
    // A page of 8 MB is more than a socket takes, so three stay, and a fourth does not fit.
    let mut stuck: Vec<_> = (0..3).map(|_| request(&here, &line, "")).collect();
    for connection in &mut stuck {
        assert_eq!(connection.read_head().unwrap().0, 200);
    }
    for _ in 0..5 {
        let answer = request(&here, &line, "").read_answer(false).unwrap();
        assert_eq!(answer.status, 503);
        assert!(detail(&answer).contains("do not read"));
        assert!(answer.header("retry-after").is_some());
    }
    assert!((16 << 20..=MOST).contains(&held(&here).1));
    here.post(&room, "bob", "others go on");
    let short = here.get(&format!("/api/rooms/{room}/messages?limit=1"));
    assert_eq!(short.status, 200);
    drop(stuck);
    until("all is given back", || held(&here).1 == 0);
    assert_eq!(
        request(&here, &line, "").read_answer(false).unwrap().status,
        200
    );
}

#[test]
fn bundles_that_nobody_reads_are_bounded_together_and_one_that_is_read_is_whole() {
    // Four bundles of 192 KiB fit into three quarters of it and five do not, with room for an
    // answer of /metrics whose last bytes are just being taken.
    const MOST: usize = (1 << 20) + (64 << 10);
    let here = Here::with(|config| config.bounds.answers_bytes_max = MOST);
    let room = long_room(&here);
    let line = format!("GET /api/log/bundle?room_id={room}");
    let mut stuck: Vec<_> = (0..4).map(|_| request(&here, &line, "")).collect();
    for connection in &mut stuck {
        assert_eq!(connection.read_head().unwrap().0, 200);
    }
    let refused = request(&here, &line, "").read_answer(false).unwrap();
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    here.post(&room, "bob", "others go on");
    drop(stuck.pop());
    until("a bundle's share is given back", || {
        held(&here).1 == 3 * 3 * 64 * 1024
    });
    let whole = request(&here, &line, "").read_answer(false).unwrap();
    assert_eq!(whole.status, 200);
    assert!(whole.text().lines().count() > 200);
    let largest = stuck.iter_mut().take(1).flat_map(|connection| {
        std::iter::from_fn(|| connection.read_chunk().unwrap().map(|chunk| chunk.len()))
    });
    let largest = largest.max().unwrap();
    assert!(largest <= 128 * 1024, "a chunk of {largest} bytes");
}

#[test]
fn an_answer_that_nobody_reads_is_given_up() {
    let here = Here::with(|config| config.bounds.write_within = Duration::from_millis(100));
    let room = long_room(&here);
    let lines = [
        format!("GET /api/rooms/{room}/messages?limit=500"),
        format!("GET /api/log/bundle?room_id={room}"),
    ];
    let mut stuck = lines.map(|line| request(&here, &line, ""));
    for connection in &mut stuck {
        assert_eq!(connection.read_head().unwrap().0, 200);
    }
    until("both are given back", || held(&here).1 == 0);
    drop(stuck);
}
