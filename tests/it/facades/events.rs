//! The event stream.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::here::{Here, detail};

/// One block of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Block {
    id: Option<String>,
    event: String,
    data: String,
    comment: bool,
}

impl Block {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.data).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// An open stream, read line by line.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(here: &Here, query: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = TcpStream::connect(here.addr()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut request = format!(
            "GET /api/events{query} HTTP/1.1\r\nhost: {}\r\n",
            here.addr()
        );
        for (name, value) in headers {
            request.extend([
                name, ": ", value, "
",
            ]);
        }
        stream.write_all((request + "\r\n").as_bytes()).unwrap();
        let mut stream = Self(BufReader::new(stream));
        let head: Vec<String> = std::iter::from_fn(|| {
            let line = stream.line()?;
            (!line.is_empty()).then_some(line)
        })
        .collect();
        let has = |line: &str| head.iter().any(|found| found.eq_ignore_ascii_case(line));
        assert!(head[0].starts_with("HTTP/1.1 200"), "{head:?}");
        assert!(has("content-type: text/event-stream"), "{head:?}");
        assert!(has("cache-control: no-cache, no-transform"), "{head:?}");
        assert!(has("x-accel-buffering: no"), "{head:?}");
        assert!(
            !head
                .iter()
                .any(|line| line.to_ascii_lowercase().starts_with("content-encoding"))
        );
        stream
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// The next block; chunk sizes, which look like hex numbers, are passed over.
    fn next(&mut self) -> Option<Block> {
        let mut block = Block::default();
        let mut any = false;
        loop {
            let line = self.line()?;
            if line.starts_with(':') {
                block.comment = true;
                any = true;
            } else if let Some((field, value)) = line.split_once(": ") {
                any = true;
                match field {
                    "id" => block.id = Some(value.to_owned()),
                    "event" => value.clone_into(&mut block.event),
                    "data" => block.data += value,
                    "retry" => {}
                    other => panic!("unknown field {other:?}"),
                }
            } else if any && line.is_empty() {
                return Some(block);
            } else if line == "0" {
                return None;
            }
        }
    }

    /// The next block that is no comment.
    fn event(&mut self) -> Block {
        loop {
            let block = self.next().expect("the stream ended");
            if !block.comment {
                return block;
            }
        }
    }
}

#[test]
fn a_room_is_followed_live_and_only_it() {
    let here = Here::start();
    let (room, other) = (here.room(), here.room());
    let mut stream = Stream::open(&here, &format!("?room_id={room}"), &[]);
    let ready = stream.event();
    assert_eq!(
        (ready.event.as_str(), ready.id.as_deref()),
        ("ready", Some("3"))
    );
    here.post(&other, "alice", "elsewhere");
    let text = "line\nbreak\r and \u{2028}";
    let seq = here.post(&room, "alice", text);
    let block = stream.event();
    assert_eq!(block.event, "room.message_posted");
    assert_eq!(block.id, Some(seq.to_string()));
    let json = block.json();
    assert_eq!(json["seq"].as_u64(), Some(seq));
    assert_eq!(json["room_id"].as_str(), Some(room.as_str()));
    assert_eq!(json["actor"].as_str(), Some("agent:alice"));
    assert_eq!(json["sseq"].as_u64(), Some(2));
    assert_eq!(json["body"]["text"].as_str(), Some(text));
    let listed = here.get(&format!("/api/rooms/{room}/messages")).json();
    assert_eq!(json["message"], listed["messages"][0]);
}

#[test]
fn a_room_is_followed_by_either_name_and_a_misspelt_filter_is_refused() {
    let here = Here::start();
    let (room, other) = (here.room(), here.room());
    let mut stream = Stream::open(&here, &format!("?room={room}&since=0"), &[]);
    assert_eq!(stream.event().event, "ready");
    here.post(&other, "alice", "elsewhere");
    let seq = here.post(&room, "alice", "here");
    assert_eq!(
        stream.event().json()["room_id"].as_str(),
        Some(room.as_str())
    );
    assert_eq!(stream.event().id, Some(seq.to_string()));
    for (query, problem) in [
        (
            format!("?rooom_id={room}"),
            "query.rooom_id: Unknown parameter; this route takes \
             room_id, room, since, last_event_id",
        ),
        (
            format!("?room_id={room}&room={other}"),
            "query.room: Give room_id or room, not both",
        ),
        (
            format!("?room_id={room}&room_id={other}"),
            "query.room_id: Given more than once",
        ),
    ] {
        let answer = here.get(&format!("/api/events{query}"));
        assert_eq!((answer.status, detail(&answer).as_str()), (400, problem));
    }
}

#[test]
fn a_client_resumes_after_the_last_id_it_saw_and_misses_nothing() {
    let here = Here::start();
    let room = here.room();
    let seqs: Vec<u64> = (0..300)
        .map(|n| here.post(&room, "alice", &n.to_string()))
        .collect();
    let after = seqs[99].to_string();
    for (query, headers) in [
        (
            format!("?room_id={room}"),
            vec![("last-event-id", after.as_str())],
        ),
        (format!("?room_id={room}&since={after}"), vec![]),
        (
            format!("?room_id={room}&since=1"),
            vec![("last-event-id", after.as_str())],
        ),
        (format!("?since={after}"), vec![]),
    ] {
        let mut stream = Stream::open(&here, &query, &headers);
        assert_eq!(stream.event().id.as_deref(), Some(after.as_str()));
        for seq in &seqs[100..] {
            assert_eq!(stream.event().id, Some(seq.to_string()));
        }
    }
    let mut whole = Stream::open(&here, "?since=0", &[]);
    assert_eq!(whole.event().event, "ready");
    assert_eq!(whole.event().event, "log.opened");
    assert_eq!(whole.event().event, "room.opened");
}

#[test]
fn a_position_the_log_has_not_reached_is_reset_and_no_position_is_refused() {
    let here = Here::start();
    let room = here.room();
    for ahead in ["3", "999999999999999999999999999999"] {
        let query = format!("?room_id={room}");
        let mut stream = Stream::open(&here, &query, &[("last-event-id", ahead)]);
        assert_eq!(stream.event().event, "ready");
        let reset = stream.event();
        assert_eq!(
            (reset.event.as_str(), reset.id.as_deref()),
            ("reset", Some("2"))
        );
        assert_eq!(reset.json()["earliest"].as_u64(), Some(1));
        assert_eq!(reset.json()["latest"].as_u64(), Some(2));
    }
    for bad in ["abc", "-1", "007", "1.5"] {
        let path = format!("/api/events?room_id={room}");
        let answer = here.ask("GET", &path, &[("last-event-id", bad)], "");
        assert_eq!(answer.status, 400, "{bad}");
        assert!(detail(&answer).starts_with("header.Last-Event-ID: "));
    }
    let two = [("last-event-id", "1"), ("last-event-id", "2")];
    assert_eq!(here.ask("GET", "/api/events", &two, "").status, 400);
    let bad = here.get("/api/events?room_id=nope");
    assert_eq!((bad.status, detail(&bad).as_str()), (400, "Invalid UUID"));
}

#[test]
fn a_quiet_room_keeps_its_connection_and_moves_its_position() {
    let here = Here::with(|config| {
        config.bounds.heartbeat_every = Duration::from_millis(20);
        config.bounds.checkpoint_every = Duration::from_millis(50);
    });
    let (room, other) = (here.room(), here.room());
    let mut stream = Stream::open(&here, &format!("?room_id={room}"), &[]);
    assert_eq!(stream.event().event, "ready");
    let seq = here.post(&other, "alice", "elsewhere");
    let mut heartbeats = 0;
    let checkpoint = loop {
        let block = stream.next().unwrap();
        if block.comment {
            heartbeats += 1;
        } else if block.id == Some(seq.to_string()) {
            break block;
        }
    };
    assert!(heartbeats > 0);
    assert_eq!(checkpoint.event, "checkpoint");
    let note = here.get("/api/log/checkpoint").text();
    assert_eq!(checkpoint.json()["note"].as_str(), Some(note.as_str()));
    assert_eq!(checkpoint.json()["size"].as_u64(), Some(seq));
}

#[test]
fn stopping_ends_streams_with_a_closing_event() {
    let here = Here::start();
    let room = here.room();
    let mut stream = Stream::open(&here, &format!("?room_id={room}"), &[]);
    assert_eq!(stream.event().event, "ready");
    here.stop();
    let closing = stream.event();
    assert_eq!(
        (closing.event.as_str(), closing.id.as_deref()),
        ("closing", Some("2"))
    );
    assert_eq!(closing.json()["reason"].as_str(), Some("shutdown"));
    assert_eq!(stream.next(), None);
}

#[test]
fn erasing_a_room_ends_its_streams() {
    let here = Here::start();
    let room = here.room();
    let mut stream = Stream::open(&here, &format!("?room_id={room}"), &[]);
    assert_eq!(stream.event().event, "ready");
    here.json("DELETE", &format!("/api/rooms/{room}"), r#"{"reason":"x"}"#);
    assert_eq!(stream.event().event, "room.erased");
    let closing = stream.event();
    assert_eq!(closing.json()["reason"].as_str(), Some("room_erased"));
    assert_eq!(stream.next(), None);
}

#[test]
fn a_reader_that_stops_costs_the_others_nothing() {
    let here = Here::start();
    let room = here.room();
    let query = format!("?room_id={room}");
    let stuck: Vec<Stream> = (0..20).map(|_| Stream::open(&here, &query, &[])).collect();
    let mut reading = Stream::open(&here, &query, &[]);
    assert_eq!(reading.event().event, "ready");
    let text = "x".repeat(9_000);
    for _ in 0..600 {
        let seq = here.post(&room, "alice", &text);
        assert_eq!(reading.event().id, Some(seq.to_string()));
    }
    drop(stuck);
}

#[test]
fn a_revoked_key_ends_the_streams_it_opened() {
    let here = Here::start();
    let room = here.room();
    for (scope, query) in [
        ("agent", format!("?room_id={room}")),
        ("auditor", "?".to_owned()),
    ] {
        let body = format!(r#"{{"label":"x","scopes":["{scope}"]}}"#);
        let issued = here.json("POST", "/api/keys", &body).json();
        let bearer = format!("Bearer {}", issued["secret"].as_str().unwrap());
        let mut stream = Stream::open(&here, &query, &[("authorization", &bearer)]);
        assert_eq!(stream.event().event, "ready");
        // Another key's end is nothing to this one.
        let other = here.json("POST", "/api/keys", &body).json();
        let revoke = |key: &serde_json::Value| {
            let path = format!("/api/keys/{}", key["key"].as_str().unwrap());
            assert_eq!(here.json("DELETE", &path, r#"{"reason":"x"}"#).status, 200);
        };
        revoke(&other);
        let seq = here.post(&room, "alice", "before").to_string();
        while stream.event().id.as_ref() != Some(&seq) {}
        revoke(&issued);
        here.post(&room, "alice", "after");
        let closing = stream.event();
        assert_eq!(closing.event, "closing", "{closing:?}");
        assert_eq!(closing.json()["reason"].as_str(), Some("key_revoked"));
        assert_eq!(closing.id, Some(seq));
        assert_eq!(stream.next(), None);
    }
}

#[test]
fn acts_of_the_ledger_come_as_the_objects_of_the_listings() {
    let here = Here::start();
    let deal = super::claims::Deal::new(&here);
    let mut stream = Stream::open(&here, &format!("?room_id={}&since=2", deal.room), &[]);
    stream.event();
    let claim = deal.open("alice", "price", "$8");
    deal.revise(&claim, "bob", "confirm", "$8");
    assert_eq!(deal.shake_hands("bob", &deal.context_hash()).status, 201);
    let revisions = deal.get(&format!("/claims/{claim}/revisions")).json();
    let handshakes = deal.get("/handshakes").json();
    for (kind, field, shown) in [
        ("room.claim_opened", "revision", &revisions[0]),
        ("room.claim_revised", "revision", &revisions[1]),
        ("room.handshake_made", "handshake", &handshakes[0]),
    ] {
        let block = stream.event();
        assert_eq!(block.event, kind);
        assert_eq!(&block.json()[field], shown, "{kind}");
    }
}
