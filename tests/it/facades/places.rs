//! Places are bounded in number, and one address leaves the others theirs.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use minutebook_tests::http::{Answer, Connection};
use serde_json::Value;

use super::here::{Here, detail};

/// Another address of this machine.
fn other(here: &Here, n: u8) -> Connection {
    Connection::open_from(IpAddr::from([127, 0, 0, n]), here.addr()).unwrap()
}

fn ask(connection: &mut Connection) -> Answer {
    connection.send("GET", "/api/rooms", &[], None).unwrap()
}

/// Asks for a room's events, and says whether there was a place.
fn stream(mut connection: Connection, here: &Here, room: &str) -> Result<Connection, Answer> {
    let host = here.addr();
    let head = format!("GET /api/events?room_id={room} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    connection.send_raw(head.as_bytes()).unwrap();
    let (status, headers) = connection.read_head().unwrap();
    if status == 200 {
        return Ok(connection);
    }
    Err(connection.read_rest(status, headers).unwrap())
}

#[test]
fn streams_are_bounded_in_number_and_half_are_for_other_addresses() {
    let here = Here::with(|config| config.bounds.streams_max = 3);
    let room = here.room();
    let refused = |connection| {
        let answer = stream(connection, &here, &room).unwrap_err();
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (503, &Value::from("too_many_streams"))
        );
        assert!(answer.header("retry-after").is_some());
    };
    let mut open: Vec<_> = (0..2)
        .map(|_| stream(here.connect(), &here, &room).unwrap())
        .collect();
    refused(here.connect());
    open.push(stream(other(&here, 2), &here, &room).unwrap());
    refused(other(&here, 3));
    // Everything else still answers.
    assert_eq!(ask(&mut here.connect()).status, 200);
    drop(open);
    until(|| stream(other(&here, 3), &here, &room).is_ok());
}

#[test]
fn connections_of_one_address_leave_the_others_theirs() {
    let here = Here::with(|config| config.bounds.connections_max = 8);
    let mut own: Vec<_> = (0..4).map(|_| here.connect()).collect();
    assert!(
        own.iter_mut()
            .all(|connection| ask(connection).status == 200)
    );
    for _ in 0..20 {
        let answer = here.connect().read_answer(false).unwrap();
        assert!(detail(&answer).starts_with("too many connections of your address"));
        assert_eq!(
            (answer.status, answer.header("connection")),
            (503, Some("close"))
        );
        assert!(answer.header("retry-after").is_some());
    }
    let told = own[0].send("GET", "/metrics", &[], None).unwrap().text();
    assert!(
        told.contains("\nminutebook_connections_refused_total 20\n"),
        "{told}"
    );
    let mut others: Vec<_> = (2..=5).map(|n| other(&here, n)).collect();
    assert!(
        others
            .iter_mut()
            .all(|connection| ask(connection).status == 200)
    );
    assert!(
        own.iter_mut()
            .all(|connection| ask(connection).status == 200)
    );
    drop(own);
    drop(others);
    until(|| {
        here.connect()
            .send("GET", "/api/rooms", &[], None)
            .is_ok_and(|answer| answer.status == 200)
    });
}

#[test]
fn a_trusted_proxy_stands_for_many() {
    let here = Here::with(|config| {
        config.bounds.connections_max = 8;
        config.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    });
    let mut all: Vec<_> = (0..8).map(|_| here.connect()).collect();
    assert!(
        all.iter_mut()
            .all(|connection| ask(connection).status == 200)
    );
}

/// Asks until it is so, or fails after 30 s.
fn until(mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "places are not given back");
    }
}
