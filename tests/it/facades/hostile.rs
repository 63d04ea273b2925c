//! Requests no honest client sends, byte by byte: each has an answer, and none means more than it
//! says.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use minutebook_tests::http::Answer;

use super::here::{Here, detail};

const MESSAGE: &str = r#"{"agent_id":"a","text":"t"}"#;

/// The answer to these bytes.
fn raw(here: &Here, bytes: &str) -> Answer {
    let mut connection = here.connect();
    connection.send_raw(bytes.as_bytes()).unwrap();
    connection.read_answer(false).unwrap()
}

/// The head of a JSON request with more header lines.
fn head(here: &Here, method: &str, target: &str, more: &str) -> String {
    let host = here.addr();
    format!(
        "{method} {target} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n{more}\r\n"
    )
}

#[test]
fn a_path_is_what_it_says_and_nothing_is_resolved_in_it() {
    let here = Here::start();
    for target in [
        "//api/rooms",
        "/api/./rooms",
        "/api/x/../rooms",
        "/api/%72ooms",
        "/api/rooms%00",
        "//evil.example/api/rooms/",
        "/api/rooms;x=1",
        "/API/rooms",
        "*",
    ] {
        let answer = raw(&here, &head(&here, "GET", target, ""));
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (404, "Not Found"),
            "{target}"
        );
    }
    // One part, however it is spelt, is where a room's page would be.
    let answer = raw(&here, &head(&here, "GET", "/api%2Frooms", ""));
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("No such room"));
    for target in [
        "/api/rooms/..%2f..%2fkeys",
        "/api/rooms/%00",
        "/api/rooms/%",
    ] {
        let answer = raw(&here, &head(&here, "GET", target, ""));
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, "Invalid UUID"),
            "{target}"
        );
    }
}

#[test]
fn any_other_method_is_refused_with_those_there_are() {
    let here = Here::start();
    for method in ["OPTIONS", "TRACE", "PUT", "FOO", "get"] {
        let answer = raw(&here, &head(&here, method, "/api/log/checkpoint", ""));
        let refusal = (answer.status, detail(&answer));
        assert_eq!(refusal, (405, "Method Not Allowed".to_owned()), "{method}");
        assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{method}");
    }
    let connect = raw(&here, &head(&here, "CONNECT", "localhost:1", ""));
    assert_eq!(
        (connect.status, detail(&connect).as_str()),
        (404, "Not Found")
    );
}

#[test]
fn a_body_is_waited_for_only_when_it_may_come() {
    let here = Here::start();
    let expecting = |length: usize| {
        let more = format!("expect: 100-continue\r\ncontent-length: {length}\r\n");
        let mut connection = here.connect();
        let head = head(&here, "POST", "/api/rooms", &more);
        connection.send_raw(head.as_bytes()).unwrap();
        let answer = connection.read_answer(true).unwrap();
        (connection, answer.status)
    };
    let (mut connection, status) = expecting(2);
    assert_eq!(status, 100);
    connection.send_raw(b"{}").unwrap();
    assert_eq!(connection.read_answer(false).unwrap().status, 201);
    assert_eq!(
        expecting(2 << 20).1,
        413,
        "not asked to send what will be refused"
    );
}

#[test]
fn what_follows_a_chunked_body_changes_nothing_and_is_bounded() {
    let here = Here::start();
    let room = here.room();
    let path = format!("/api/rooms/{room}/messages");
    let start = head(&here, "POST", &path, "transfer-encoding: chunked\r\n");
    let size = MESSAGE.len();
    let chunk = format!("{size:x};ext=1\r\n{MESSAGE}\r\n");
    let trailer = "authorization: Bearer mb_x\r\nidempotency-key: \u{1}\r\n".replace('\u{1}', "k");
    let good = raw(&here, &format!("{start}{chunk}0\r\n{trailer}\r\n"));
    assert_eq!(good.status, 201, "a trailer is no header: {}", good.text());
    let many = "x: y\r\n".repeat(20_000);
    for bad in [
        format!("{start}{chunk}0\r\n{many}\r\n"),
        format!("{start}zz\r\n"),
        format!("{start}-1\r\n"),
        format!("{start}fffffffffffffffff\r\n"),
        format!("{start}{size:x}\r\n{MESSAGE}xx0\r\n\r\n"),
    ] {
        let answer = raw(&here, &bad);
        assert_eq!(answer.status, 400);
        detail(&answer);
    }
    let listed = here.get(&path).json();
    assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn no_request_hides_in_the_body_of_another() {
    let here = Here::start();
    let hidden = "DELETE /api/rooms HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let length = format!("content-length: {}\r\n", hidden.len());
    let mut connection = here.connect();
    let first = head(&here, "GET", "/healthz", &length) + hidden;
    let second = head(&here, "GET", "/api/rooms", "connection: close\r\n");
    connection.send_raw((first + &second).as_bytes()).unwrap();
    assert_eq!(connection.read_answer(false).unwrap().status, 200);
    assert_eq!(
        connection.read_answer(false).unwrap().json()["total"].as_u64(),
        Some(0)
    );
    for framing in [
        "content-length: 2\r\ncontent-length: 3\r\n",
        "content-length: 2, 3\r\n",
        "content-length: +2\r\n",
        "transfer-encoding: gzip\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding : chunked\r\n",
        "x: 1\r\n folded: 2\r\n",
    ] {
        let answer = raw(&here, &(head(&here, "POST", "/api/rooms", framing) + "{}"));
        assert_eq!(answer.status, 400, "{framing:?}");
        assert!(detail(&answer).starts_with("this is no HTTP/1.1 request"));
    }
}

#[test]
fn a_connection_that_says_nothing_or_nothing_more_is_closed() {
    let here = Here::with(|config| config.bounds.request_within = Duration::from_millis(100));
    for said in ["", "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n", "\r\n\r\n"] {
        let mut stream = TcpStream::connect(here.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(said.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(
            answer.starts_with("HTTP/1.1 200"),
            said.starts_with("GET"),
            "{answer}"
        );
    }
}

#[test]
fn another_protocol_is_answered_in_words() {
    let here = Here::start();
    for hello in [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HELO localhost\r\n",
        "{\"op\":\"hello\"}\n",
    ] {
        let answer = raw(&here, hello);
        assert_eq!(answer.status, 400, "{hello:?}");
        assert!(detail(&answer).contains("plain HTTP/1.1"));
    }
}

#[test]
fn what_follows_a_good_request_is_refused_in_words_too() {
    let here = Here::start();
    let mut connection = here.connect();
    let good = head(&here, "GET", "/healthz", "");
    connection
        .send_raw((good + "GET / HTTP/9.9\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(connection.read_answer(false).unwrap().status, 200);
    let refused = connection.read_answer(false).unwrap();
    assert_eq!((refused.status, detail(&refused).is_empty()), (400, false));
}
