//! Coming, going, renaming, closing and erasing.

use super::here::{Here, JSON, detail};

const REASON: &str = r#"{"reason":"a court said so"}"#;

#[test]
fn agents_come_and_go_once() {
    let here = Here::start();
    let room = here.room();
    let ask = |verb: &str| {
        let body = r#"{"agent_id":"alice"}"#;
        let answer = here.json("POST", &format!("/api/rooms/{room}/{verb}"), body);
        (
            answer.status,
            answer.json()["code"].as_str().unwrap_or("").to_owned(),
        )
    };
    assert_eq!(ask("leave"), (409, "not_member".to_owned()));
    assert_eq!(ask("join").0, 200);
    assert_eq!(ask("join"), (409, "already_member".to_owned()));
    let members = |n| {
        let count = here.get(&format!("/api/rooms/{room}")).json()["member_count"].as_u64();
        assert_eq!(count, Some(n));
    };
    members(1);
    assert_eq!(ask("leave").0, 200);
    members(0);
}

#[test]
fn a_closed_room_can_be_read_and_takes_nothing() {
    let here = Here::start();
    let room = here.room();
    here.post(&room, "alice", "hi");
    let missing = here.json("POST", &format!("/api/rooms/{room}/close"), "");
    assert_eq!(
        (missing.status, detail(&missing).as_str()),
        (400, "Field required")
    );
    assert_eq!(
        here.json("POST", &format!("/api/rooms/{room}/close"), REASON)
            .status,
        200
    );
    let body = r#"{"agent_id":"alice","text":"more"}"#;
    let refused = here.json("POST", &format!("/api/rooms/{room}/messages"), body);
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (409, Some("room_closed"))
    );
    let shown = here.get(&format!("/api/rooms/{room}")).json();
    assert_eq!(shown["is_closed"].as_bool(), Some(true));
    assert_eq!(shown["message_count"].as_u64(), Some(1));
}

#[test]
fn an_erased_message_keeps_its_place_and_loses_its_words() {
    let here = Here::start();
    let room = here.room();
    let messages = format!("/api/rooms/{room}/messages");
    let keyed = [JSON, ("idempotency-key", "k")];
    let secret = r#"{"agent_id":"alice","text":"a secret"}"#;
    assert_eq!(here.ask("POST", &messages, &keyed, secret).status, 201);
    here.post(&room, "bob", "hello");
    for missing in ["9", "0", "x", "-1", "99999999999999999999"] {
        let answer = here.json("DELETE", &format!("{messages}/{missing}"), REASON);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (404, "Message not found")
        );
    }
    let erased = here.json("DELETE", &format!("{messages}/1"), REASON);
    assert_eq!(erased.status, 200, "{}", erased.text());
    assert!(erased.header("minutebook-seq").is_some());
    let listed = here.get(&messages).json();
    let first = &listed["messages"][0];
    assert_eq!(
        (first["id"].as_u64(), first["erased"].as_bool()),
        (Some(1), Some(true))
    );
    assert_eq!(
        (first["text"].as_str(), first["agent_id"].as_str()),
        (Some(""), Some(""))
    );
    assert_eq!(listed["messages"][1]["text"].as_str(), Some("hello"));
    assert_eq!(
        here.json("DELETE", &format!("{messages}/1"), REASON).status,
        410
    );
    // The repeat of the request that posted it is answered with what is left.
    let repeat = here.ask("POST", &messages, &keyed, secret);
    assert_eq!((repeat.status, &repeat.json()), (201, first));
}

#[test]
fn an_erased_room_is_as_if_it_had_never_been() {
    let here = Here::start();
    let body = r#"{"is_public":true,"description":"gone soon"}"#;
    let keyed = [JSON, ("idempotency-key", "k")];
    let opened = here.ask("POST", "/api/rooms", &keyed, body).json();
    let room = opened["uuid"].as_str().unwrap();
    here.post(room, "alice", "hi");
    assert_eq!(
        here.json("DELETE", &format!("/api/rooms/{room}"), REASON)
            .status,
        200
    );
    let path = format!("/api/rooms/{room}");
    let message = r#"{"agent_id":"alice","text":"more"}"#;
    for answer in [
        here.get(&path),
        here.get(&format!("{path}/messages")),
        here.json("POST", &format!("{path}/messages"), message),
        here.json("DELETE", &path, REASON),
        here.json("POST", &format!("{path}/close"), REASON),
        here.json("POST", &format!("{path}/join"), r#"{"agent_id":"alice"}"#),
        here.json("POST", &format!("{path}/verify"), ""),
        here.get(&format!("/api/events?room_id={room}")),
        here.ask("POST", "/api/rooms", &keyed, body),
    ] {
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (404, "Room not found")
        );
    }
    assert_eq!(here.get("/api/rooms").json()["total"].as_u64(), Some(0));
}

#[test]
fn a_room_name_is_unique_and_can_be_dropped() {
    let here = Here::start();
    let (one, two) = (here.room(), here.room());
    let rename = |room: &str, body: &str| {
        let answer = here.json("POST", &format!("/api/rooms/{room}/rename"), body);
        (
            answer.status,
            answer.json()["code"].as_str().unwrap_or("").to_owned(),
        )
    };
    assert_eq!(rename(&one, r#"{"name":"lobby"}"#).0, 200);
    assert_eq!(
        rename(&two, r#"{"name":"Lobby"}"#),
        (409, "room_name_taken".to_owned())
    );
    assert_eq!(
        rename(&one, r#"{"name":"lobby"}"#),
        (409, "room_name_unchanged".to_owned())
    );
    assert_eq!(
        here.get(&format!("/api/rooms/{one}")).json()["name"].as_str(),
        Some("lobby")
    );
    assert_eq!(rename(&one, r#"{"name":null}"#).0, 200);
    assert_eq!(rename(&two, r#"{"name":"lobby"}"#).0, 200);
}
