//! Posting and reading messages, byte for byte.

use super::here::{Here, JSON, detail, redact};

fn messages(room: &str) -> String {
    format!("/api/rooms/{room}/messages")
}

#[test]
fn a_message_is_posted_and_listed_as_the_peer_does() {
    let here = Here::start();
    let room = here.room();
    let body = r#"{"agent_id": "  alice ", "text": " hi\nthere  "}"#;
    let posted = here.json("POST", &messages(&room), body);
    assert_eq!(posted.status, 201);
    assert_eq!(posted.header("minutebook-seq"), Some("3"));
    let message = concat!(
        r#"{"id":1,"agent_id":"alice","text":" hi\nthere  ","timestamp":"<seconds>","#,
        r#""pubkey_hex":null,"signature_hex":null,"memory_root":null,"uuid":"<uuid>","#,
        r#""log_seq":3,"recorded_at":"<micros>"}"#
    );
    assert_eq!(redact(&posted.text()), message);
    let listed = here.get(&messages(&room));
    let page = format!(r#"{{"messages":[{message}],"has_more":false}}"#);
    assert_eq!(redact(&listed.text()), page);
    assert!(listed.text().contains(&posted.text()));
    let empty = here.get(&format!("{}?since=1", messages(&room)));
    assert_eq!(empty.text(), r#"{"messages":[],"has_more":false}"#);
}

#[test]
fn text_is_kept_exactly_as_sent() {
    let here = Here::start();
    let room = here.room();
    let texts = [
        " leading and trailing ",
        "nul \u{0} bell \u{7} esc \u{1b}[2J",
        "line\r\nbreaks\u{2028}and\u{85}more",
        "e\u{301} not é, zero\u{200b}width, \u{202e}bidi",
        "{\"type\":\"skill_offer\"}",
        " ",
    ];
    for text in texts {
        here.post(&room, "alice", text);
    }
    here.post(&room, "alice", &"🧱".repeat(10_000));
    let listed = here.get(&messages(&room)).json();
    let listed = listed["messages"].as_array().unwrap();
    for (place, text) in texts.iter().enumerate() {
        assert_eq!(listed[place]["text"].as_str(), Some(*text));
        assert_eq!(listed[place]["id"].as_u64(), Some(place as u64 + 1));
    }
}

/// Posts each body and expects its refusal, and afterwards an empty room.
fn refused(cases: &[(&str, &str)]) {
    let here = Here::start();
    let path = messages(&here.room());
    for (body, text) in cases {
        let answer = here.json("POST", &path, body);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, *text),
            "{body}"
        );
    }
    let listed = here.get(&path).json();
    assert_eq!(listed["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_body_is_judged_with_the_peers_texts() {
    let agent_string = "agent_id: Input should be a valid string";
    refused(&[
        ("", "Field required"),
        ("{bad", "1: JSON decode error"),
        ("{}", "agent_id: Field required"),
        (r#"{"agent_id":"a"}"#, "text: Field required"),
        (r#"{"Agent_id":"a","text":"x"}"#, "agent_id: Field required"),
        (r#"{"agent_id":1,"text":""}"#, agent_string),
        (r#"{"agent_id":null,"text":"x"}"#, agent_string),
        (
            r#"{"agent_id":"","text":""}"#,
            "agent_id: String should have at least 1 character",
        ),
        (
            r#"{"agent_id":"a","text":""}"#,
            "text: String should have at least 1 character",
        ),
        (
            r#"{"agent_id":"a","text":["x"]}"#,
            "text: Input should be a valid string",
        ),
        (
            r#"{"agent_id":"a","text":"x","pubkey_hex":1}"#,
            "pubkey_hex: Input should be a valid string",
        ),
        (
            r#"{"agent_id":"a","text":"\ud800"}"#,
            "text: Input should be a valid string, unable to parse raw data as a unicode string",
        ),
        (
            r#"{"agent_id":"a","text":"x","text":"y"}"#,
            "27: Duplicate object key",
        ),
    ]);
}

#[test]
fn lengths_are_counted_in_code_points() {
    let with = |field: &str, value: &str| {
        let mut body = serde_json::json!({ "agent_id": "a", "text": "x" });
        body[field] = value.into();
        body.to_string()
    };
    refused(&[
        (
            &with("text", &"🧱".repeat(10_001)),
            "text: String should have at most 10000 characters",
        ),
        (
            &with("agent_id", &"é".repeat(101)),
            "agent_id: String should have at most 100 characters",
        ),
        (
            &with("ts_iso", &"1".repeat(41)),
            "ts_iso: String should have at most 40 characters",
        ),
        (
            &with("memory_root", &"1".repeat(129)),
            "memory_root: String should have at most 128 characters",
        ),
    ]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let here = Here::start();
    let path = messages(&here.room());
    let bytes = b"{\"agent_id\":\"\xff\",\"text\":\"x\"}";
    let answer = here
        .connect()
        .send("POST", &path, &[JSON], Some(bytes))
        .unwrap();
    let text = "There was an error parsing the body";
    assert_eq!((answer.status, detail(&answer).as_str()), (400, text));
}

#[test]
fn names_that_deceive_are_refused() {
    let here = Here::start();
    let room = here.room();
    here.post(&room, "alice", "hi");
    let status = |name: &str| {
        let body = serde_json::json!({ "agent_id": name, "text": "x" }).to_string();
        let answer = here.json("POST", &messages(&room), &body);
        (
            answer.status,
            answer.json()["code"].as_str().unwrap_or("").to_owned(),
        )
    };
    assert_eq!(status("arbiter"), (400, "name_reserved".to_owned()));
    assert_eq!(status("a\u{200b}b"), (400, "text_unprintable".to_owned()));
    assert_eq!(status("Alice"), (409, "name_twin".to_owned()));
    assert_eq!(status("  "), (400, "invalid_request".to_owned()));
    assert_eq!(status(" alice\u{a0}").0, 201);
}

#[test]
fn checks_come_in_the_peers_order() {
    let here = Here::with(|config| config.messages_per_room = 1);
    let room = here.room();
    let nil = "00000000-0000-0000-0000-000000000000";
    let half_signed = r#"{"agent_id":"a","text":"x","pubkey_hex":"ab"}"#;
    let ask = |path: &str, body: &str| {
        let answer = here.json("POST", path, body);
        (answer.status, detail(&answer))
    };
    let is = |answer: (u16, String), status: u16, text: &str| {
        assert_eq!(answer, (status, text.to_owned()));
    };
    is(
        ask(&messages("nope"), "{}"),
        400,
        "agent_id: Field required",
    );
    is(ask(&messages("nope"), half_signed), 400, "Invalid UUID");
    is(ask(&messages(nil), half_signed), 404, "Room not found");
    let together = "when signing, provide pubkey_hex + signature_hex + ts_iso together";
    is(ask(&messages(&room), half_signed), 400, together);
    here.post(&room, "alice", "the only one");
    is(
        ask(&messages(&room), half_signed),
        429,
        "Room message limit reached (1)",
    );
    let plain = r#"{"agent_id":"a","text":"x"}"#;
    let full = here.json("POST", &messages(&room), plain);
    is(
        (full.status, detail(&full)),
        429,
        "Room message limit reached (1)",
    );
    assert_eq!(full.header("retry-after"), None, "waiting does not help");
    assert_eq!(full.json()["code"].as_str(), Some("room_full"));
    is(ask(&messages(nil), plain), 404, "Room not found");
    let query = here.get(&format!("{}?since=x", messages("nope")));
    assert!(detail(&query).starts_with("query.since: "));
}

#[test]
fn a_page_starts_after_since_and_says_whether_there_is_more() {
    let here = Here::start();
    let room = here.room();
    for n in 1..=7 {
        here.post(&room, "alice", &n.to_string());
    }
    let page = |query: &str| {
        let json = here.get(&format!("{}?{query}", messages(&room))).json();
        let ids: Vec<_> = json["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["id"].as_u64().unwrap())
            .collect();
        (ids, json["has_more"].as_bool().unwrap())
    };
    assert_eq!(page(""), ((1..=7).collect(), false));
    assert_eq!(page("limit=3"), (vec![1, 2, 3], true));
    assert_eq!(page("since=3&limit=4"), (vec![4, 5, 6, 7], false));
    assert_eq!(
        page("since=3&limit=99999999999999999999"),
        (vec![4, 5, 6, 7], false)
    );
    assert_eq!(page("since=9223372036854775807"), (vec![], false));
    assert_eq!(page("since=9&since=6&x=1"), (vec![7], false));
    let low = "query.since: Input should be greater than or equal to 0";
    let high = "query.since: Input should be less than or equal to 9223372036854775807";
    let size = "query.limit: Input should be greater than or equal to 1";
    for (query, text) in [
        ("since=-1", low),
        ("since=9223372036854775808", high),
        ("limit=0", size),
    ] {
        let answer = here.get(&format!("{}?{query}", messages(&room)));
        assert_eq!((answer.status, detail(&answer).as_str()), (400, text));
    }
}

#[test]
fn a_repeat_with_its_key_posts_nothing_twice() {
    let here = Here::start();
    let room = here.room();
    let post = |key: &str, text: &str| {
        let body = format!(r#"{{"agent_id":"alice","text":"{text}"}}"#);
        here.ask(
            "POST",
            &messages(&room),
            &[JSON, ("idempotency-key", key)],
            &body,
        )
    };
    let first = post("k", "one");
    let again = post("k", "one");
    assert_eq!((again.status, again.text()), (201, first.text()));
    let other = post("k", "two");
    assert_eq!(
        (other.status, other.json()["code"].as_str()),
        (409, Some("idempotency_conflict"))
    );
    assert!(detail(&other).contains("log seq 3"));
    assert_eq!(post("k2", "two").json()["id"].as_u64(), Some(2));
    // The same key in another room is another key.
    let elsewhere = here.room();
    let body = r#"{"agent_id":"alice","text":"one"}"#;
    let headers = [JSON, ("idempotency-key", "k")];
    assert_eq!(
        here.ask("POST", &messages(&elsewhere), &headers, body)
            .status,
        201
    );
}

#[test]
fn writers_in_parallel_lose_and_double_nothing() {
    let here = Here::start();
    let room = here.room();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (here, room) = (&here, &room);
            scope.spawn(move || {
                for n in 0..25 {
                    here.post(room, &format!("agent-{writer}"), &format!("{writer}/{n}"));
                }
            });
        }
    });
    let json = here.get(&format!("{}?limit=500", messages(&room))).json();
    let listed = json["messages"].as_array().unwrap();
    let mut texts: Vec<_> = listed.iter().map(|m| m["text"].as_str().unwrap()).collect();
    let ids: Vec<_> = listed.iter().map(|m| m["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=200).collect::<Vec<_>>());
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 200);
}
