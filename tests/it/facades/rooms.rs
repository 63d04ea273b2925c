//! Opening, listing and looking at rooms, byte for byte.

use minutebook::policies::arbiter::ArbiterConfig;

use super::here::{Here, JSON, detail, redact};

#[test]
fn a_room_is_opened_listed_and_shown_as_the_peer_does() {
    let here = Here::start();
    let addr = here.addr();
    let body = r#"{"description":"  Négociation 🧱  ","is_public":true}"#;
    let opened = here.json("POST", "/api/rooms", body);
    assert_eq!(opened.status, 201);
    assert_eq!(opened.header("minutebook-seq"), Some("2"));
    assert_eq!(
        redact(&opened.text()),
        format!(
            r#"{{"uuid":"<uuid>","url":"http://{addr}/<uuid>","description":"Négociation 🧱","#
        ) + r#""created_at":"<seconds>","is_public":true,"protocol_mode":"standard","#
            + r#""message_limit":1000,"confirmations_needed":2,"log_seq":2}"#
    );
    let room = opened.json()["uuid"].as_str().unwrap().to_owned();
    let shown = here.get(&format!("/api/rooms/{room}"));
    assert_eq!(
        redact(&shown.text()),
        concat!(
            r#"{"uuid":"<uuid>","description":"Négociation 🧱","created_at":"<seconds>","#,
            r#""message_count":0,"is_public":true,"protocol_mode":"standard","name":null,"#,
            r#""is_closed":false,"message_limit":1000,"last_activity_at":null,"#,
            r#""agent_count":0,"member_count":0,"confirmations_needed":2,"#,
            r#""arbiter_active":false,"last_extraction_error":null,"log_seq":2}"#
        )
    );
    here.post(&room, "alice", "hi");
    let listed = here.get("/api/rooms");
    assert_eq!(
        redact(&listed.text()),
        format!(r#"{{"rooms":[{{"uuid":"<uuid>","url":"http://{addr}/<uuid>","#)
            + r#""description":"Négociation 🧱","created_at":"<seconds>","#
            + r#""last_activity_at":"<seconds>","message_count":1,"agent_count":1,"#
            + r#""protocol_mode":"standard","confirmations_needed":2,"is_closed":false}],"#
            + r#""total":1}"#
    );
}

#[test]
fn a_body_is_judged_with_the_peers_texts() {
    let here = Here::start();
    let long = "é".repeat(501);
    let not_dict = "Input should be a valid dictionary or object to extract fields from";
    let unclear = "is_public: Input should be a valid boolean, unable to interpret input";
    let mode = "protocol_mode: String should match pattern '^(standard|premium)$'";
    let cases: &[(&str, &str)] = &[
        ("", "Field required"),
        ("{bad", "1: JSON decode error"),
        ("null", not_dict),
        ("[]", not_dict),
        (
            r#"{"is_public":null}"#,
            "is_public: Input should be a valid boolean",
        ),
        (r#"{"is_public":2}"#, unclear),
        (r#"{"is_public":"maybe","protocol_mode":"x"}"#, unclear),
        (
            r#"{"description":1}"#,
            "description: Input should be a valid string",
        ),
        (
            &format!(r#"{{"description":"{long}","is_public":"maybe"}}"#),
            "description: String should have at most 500 characters",
        ),
        (r#"{"protocol_mode":"Premium"}"#, mode),
        (
            r#"{"protocol_mode":null}"#,
            "protocol_mode: Input should be a valid string",
        ),
        (
            r#"{"description":"a","description":"b"}"#,
            "19: Duplicate object key",
        ),
        (r#"{"x":NaN}"#, "5: Number is not finite"),
        (r#"{"x":"\ud800"}"#, "5: Lone surrogate in a string"),
    ];
    for (body, text) in cases {
        let answer = here.json("POST", "/api/rooms", body);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, *text),
            "{body}"
        );
    }
    let plain = here.ask(
        "POST",
        "/api/rooms",
        &[("content-type", "text/plain")],
        "{}",
    );
    assert_eq!((plain.status, detail(&plain).as_str()), (400, not_dict));
    for body in [
        r#"{"is_public":"on"}"#,
        r#"{"is_public":1.0}"#,
        r#"{"protocol_mode":"premium"}"#,
    ] {
        assert_eq!(here.json("POST", "/api/rooms", body).status, 201, "{body}");
    }
}

#[test]
fn the_listing_pages_in_both_orders_and_hides_private_rooms() {
    let here = Here::start();
    let names: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|name| {
            let body = format!(r#"{{"description":"{name}","is_public":true}}"#);
            here.json("POST", "/api/rooms", &body).json()["uuid"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    here.post(&here.room(), "alice", "private");
    here.post(&names[0], "alice", "hi");
    let order = |path: &str| {
        let json = here.get(path).json();
        let rooms = json["rooms"].as_array().unwrap().clone();
        let names: Vec<_> = rooms
            .iter()
            .map(|room| room["description"].as_str().unwrap().to_owned())
            .collect();
        (names.join(""), json["total"].as_u64().unwrap())
    };
    assert_eq!(order("/api/rooms"), ("acb".to_owned(), 3));
    assert_eq!(order("/api/rooms?sort=new"), ("cba".to_owned(), 3));
    assert_eq!(order("/api/rooms?limit=1&offset=1"), ("c".to_owned(), 3));
    assert_eq!(
        order("/api/rooms?offset=9223372036854775807"),
        (String::new(), 3)
    );
    let integer = "Input should be a valid integer, unable to parse string as an integer";
    for (query, text) in [
        (
            "sort=bogus&limit=0",
            "query.sort: String should match pattern '^(active|new)$'",
        ),
        (
            "limit=0",
            "query.limit: Input should be greater than or equal to 1",
        ),
        (
            "limit=201",
            "query.limit: Input should be less than or equal to 200",
        ),
        ("limit=", &format!("query.limit: {integer}")),
        (
            "offset=-1",
            "query.offset: Input should be greater than or equal to 0",
        ),
        ("offset=x", &format!("query.offset: {integer}")),
    ] {
        let answer = here.get(&format!("/api/rooms?{query}"));
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, text),
            "{query}"
        );
    }
}

#[test]
fn an_address_opens_ten_rooms_an_hour() {
    let here = Here::with(|config| config.rooms_per_hour = 10);
    for _ in 0..10 {
        here.room();
    }
    // What is not valid is refused before it counts.
    assert_eq!(here.json("POST", "/api/rooms", "[]").status, 400);
    let refused = here.json("POST", "/api/rooms", "{}");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((3590..3600).contains(&wait), "{wait}");
    let text = format!("Too many rooms created from this IP. Try again in {wait}s.");
    assert_eq!((refused.status, detail(&refused)), (429, text));
    // A forwarded address is hearsay: nobody said to trust this peer.
    let forged = here.ask(
        "POST",
        "/api/rooms",
        &[JSON, ("x-forwarded-for", "9.9.9.9")],
        "{}",
    );
    assert_eq!(forged.status, 429);
}

#[test]
fn a_refused_opening_does_not_count() {
    let here = Here::with(|config| {
        config.rooms_per_hour = 1;
        config.arbiter = ArbiterConfig::Off;
    });
    for (body, status) in [
        (r#"{"protocol_mode":"premium"}"#, 503),
        (r#"{"agent_id":"arbiter"}"#, 400),
        ("[]", 400),
    ] {
        for _ in 0..3 {
            let refused = here.json("POST", "/api/rooms", body);
            assert_eq!(refused.status, status, "{}", refused.text());
        }
    }
    here.room();
    assert_eq!(here.json("POST", "/api/rooms", "{}").status, 429);
}

#[test]
fn a_trusted_proxy_speaks_for_its_clients() {
    let here = Here::with(|config| {
        config.rooms_per_hour = 1;
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let open = |forwarded: &str| {
        here.ask(
            "POST",
            "/api/rooms",
            &[JSON, ("x-forwarded-for", forwarded)],
            "{}",
        )
        .status
    };
    assert_eq!(open("1.1.1.1"), 201);
    assert_eq!(open("6.6.6.6, 1.1.1.1"), 429);
    assert_eq!(open("1.1.1.1, 2.2.2.2"), 201);
}

#[test]
fn a_room_is_named_in_any_spelling_of_its_uuid() {
    let here = Here::start();
    let room = here.room();
    let bare = room.replace('-', "");
    for spelling in [
        room.to_uppercase(),
        bare.clone(),
        format!("%7B{bare}%7D"),
        format!("urn:uuid:{room}"),
    ] {
        let answer = here.get(&format!("/api/rooms/{spelling}"));
        assert_eq!(
            answer.json()["uuid"].as_str(),
            Some(room.as_str()),
            "{spelling}"
        );
    }
    let bad = here.get("/api/rooms/nope");
    assert_eq!((bad.status, detail(&bad).as_str()), (400, "Invalid UUID"));
    let none = here.get("/api/rooms/00000000-0000-0000-0000-000000000000");
    assert_eq!(
        (none.status, detail(&none).as_str()),
        (404, "Room not found")
    );
}

#[test]
fn an_unchanged_room_is_not_sent_again() {
    let here = Here::start();
    let room = here.room();
    for path in [
        format!("/api/rooms/{room}"),
        format!("/api/rooms/{room}/messages?since=0"),
    ] {
        let etag = here.get(&path).header("etag").unwrap().to_owned();
        let again = here.ask("GET", &path, &[("if-none-match", &etag)], "");
        assert_eq!((again.status, again.body.len()), (304, 0));
        here.post(&room, "alice", "hi");
        let changed = here.ask("GET", &path, &[("if-none-match", &etag)], "");
        assert_eq!(changed.status, 200);
        assert_ne!(changed.header("etag"), Some(etag.as_str()));
    }
}

#[test]
fn addresses_in_answers_do_not_come_from_a_forged_host() {
    let here = Here::start();
    let url = |host: &str| {
        let request = format!(
            "POST /api/rooms HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: 2\r\n\r\n{{}}"
        );
        let mut connection = here.connect();
        connection.send_raw(request.as_bytes()).unwrap();
        let json = connection.read_answer(false).unwrap().json();
        let url = json["url"].as_str().unwrap().to_owned();
        url.rsplit_once('/').unwrap().0.to_owned()
    };
    assert_eq!(url("rooms.example:81"), "http://rooms.example:81");
    assert_eq!(url("a\"><script>"), format!("http://{}", here.addr()));
    assert_eq!(url("user@evil.example"), format!("http://{}", here.addr()));
}

#[test]
fn addresses_in_answers_begin_as_the_operator_said() {
    let here = Here::with(|config| {
        config.public_url = Some("https://rooms.example.org".parse().unwrap());
    });
    let opened = here.ask("POST", "/api/rooms", &[JSON], r#"{"is_public":true}"#);
    let opened = opened.json();
    let base = "https://rooms.example.org";
    let url = format!("{base}/{}", opened["uuid"].as_str().unwrap());
    assert_eq!(opened["url"], *url);
    let listed = here.ask("GET", "/api/rooms", &[], "").json();
    assert_eq!(listed["rooms"][0]["url"], *url);
    let path = url.strip_prefix(base).unwrap();
    for path in [
        "/agents.md",
        "/skill/SKILL.md",
        &format!("{path}?format=md"),
    ] {
        let document = here.ask("GET", path, &[], "").text();
        assert!(document.contains(base), "{path}: {document}");
        assert!(!document.contains("http://"), "{path}: {document}");
    }
    let moved = here.ask("GET", "/api/rooms/", &[], "");
    let location = moved.header("location");
    assert_eq!(location, Some("/api/rooms"), "from wherever it was asked");
}

#[test]
fn a_repeat_with_its_key_opens_no_second_room() {
    let here = Here::with(|config| config.rooms_per_hour = 2);
    let open = |key: &str, body: &str| {
        here.ask(
            "POST",
            "/api/rooms",
            &[JSON, ("idempotency-key", key)],
            body,
        )
    };
    let first = open("k1", r#"{"is_public":true}"#);
    let again = open("k1", r#"{"is_public":true}"#);
    assert_eq!((again.status, again.text()), (201, first.text()));
    assert_eq!(
        again.header("minutebook-seq"),
        first.header("minutebook-seq")
    );
    let other = open("k1", r#"{"is_public":false}"#);
    assert_eq!(other.status, 409);
    assert!(detail(&other).contains("log seq 2"), "{}", other.text());
    assert_eq!(other.json()["log_seq"].as_u64(), Some(2));
    assert_eq!(here.get("/api/rooms").json()["total"].as_u64(), Some(1));
    let bad = open("a b", "{}");
    assert_eq!(bad.status, 400);
    assert!(detail(&bad).starts_with("header.Idempotency-Key: "));
}
