//! A repeat with its key is answered again, whatever has changed since.

use minutebook::engine::{Idempotency, Submission};
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::text::{AgentName, MessageText};
use minutebook_domain::{Command, room};

use super::here::{Here, JSON, detail};

const KEYED: [(&str, &str); 2] = [JSON, ("idempotency-key", "k")];

/// A signed message of long ago.
fn old_message() -> String {
    serde_json::json!({
        "agent_id": "alice",
        "text": "hi",
        "ts_iso": "2020-01-01T00:00:00Z",
        "pubkey_hex": "ab".repeat(32),
        "signature_hex": "cd".repeat(64),
    })
    .to_string()
}

/// Has a message recorded as if this body had been posted with the key when its time was right.
fn posted_long_ago(here: &Here, id: &str, path: &str, body: &str) {
    let mut request = [0; 16];
    let fingerprint = blake3::hash(format!("POST {path}\n{body}").as_bytes());
    request.copy_from_slice(&fingerprint.as_bytes()[..16]);
    let agent = AgentName::parse("alice").unwrap();
    let post = room::PostMessage {
        agent: agent.clone(),
        kind: room::MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse("hi").unwrap(),
    };
    let id = RoomId::new(id.parse().unwrap());
    let command = Command::Room(id, room::Command::PostMessage(post));
    let submission = Submission {
        command: command.check().unwrap(),
        actor: Actor::Agent(agent),
        idempotency: Some(Idempotency {
            key: "k".to_owned(),
            asker: String::new(),
            request,
        }),
        cause: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let committed = runtime.unwrap().block_on(here.engine().submit(submission));
    assert!(!committed.unwrap().replayed);
}

#[test]
fn a_signed_message_is_answered_again_after_its_window() {
    let here = Here::start();
    let room = here.room();
    let path = format!("/api/rooms/{room}/messages");
    let body = old_message();
    posted_long_ago(&here, &room, &path, &body);
    let again = here.ask("POST", &path, &KEYED, &body);
    assert_eq!(again.status, 201, "{}", again.text());
    assert_eq!(again.header("minutebook-seq"), Some("3"));
    // Without the key, or as another request, it is judged.
    let judged = here.json("POST", &path, &body);
    assert_eq!(
        (judged.status, judged.json()["code"].as_str()),
        (400, Some("signature_outside_window"))
    );
    let other = here.ask("POST", &path, &KEYED, &body.replace("hi", "ho"));
    assert_eq!(other.status, 409, "{}", other.text());
    assert!(detail(&other).contains("log seq 3"));
    let metrics = here.get("/metrics").text();
    assert!(
        metrics.contains("minutebook_replayed_total 1\n"),
        "{metrics}"
    );
}

#[test]
fn a_room_is_answered_again_when_the_address_may_open_no_more() {
    let here = Here::with(|config| config.rooms_per_hour = 1);
    let open = || here.ask("POST", "/api/rooms", &KEYED, "{}");
    let first = open();
    for _ in 0..3 {
        let again = open();
        assert_eq!((again.status, again.text()), (201, first.text()));
    }
    assert_eq!(here.json("POST", "/api/rooms", "{}").status, 429);
}

#[test]
fn what_was_done_in_a_room_is_answered_again_when_it_is_gone() {
    let here = Here::start();
    let room = here.room();
    here.post(&room, "alice", "hi");
    let path = format!("/api/rooms/{room}");
    let why = r#"{"reason":"x"}"#;
    for (method, below, body) in [
        ("POST", "/join", r#"{"agent_id":"alice"}"#),
        ("DELETE", "/messages/1", why),
        ("DELETE", "", why),
    ] {
        let ask = || {
            let headers = [JSON, ("idempotency-key", below)];
            let headers = if below.is_empty() { KEYED } else { headers };
            here.ask(method, &format!("{path}{below}"), &headers, body)
        };
        let first = ask();
        assert_eq!(first.status, 200, "{}", first.text());
    }
    assert_eq!(here.get(&path).status, 404);
    let again = here.ask(
        "POST",
        &format!("{path}/join"),
        &[JSON, ("idempotency-key", "/join")],
        r#"{"agent_id":"alice"}"#,
    );
    assert_eq!(
        (again.status, again.json()["log_seq"].as_u64()),
        (200, Some(4))
    );
    let erasing = format!("{path}/messages/1");
    let again = here.ask(
        "DELETE",
        &erasing,
        &[JSON, ("idempotency-key", "/messages/1")],
        why,
    );
    assert_eq!(
        (again.status, again.json()["log_seq"].as_u64()),
        (200, Some(5))
    );
    let again = here.ask("DELETE", &path, &KEYED, why);
    assert_eq!(
        (again.status, again.json()["log_seq"].as_u64()),
        (200, Some(6))
    );
}

/// Somebody elsewhere without an API key, behind a proxy that is trusted.
fn from(addr: &'static str) -> (&'static str, &'static str) {
    ("x-forwarded-for", addr)
}

#[test]
fn a_strangers_repeat_of_a_keyless_opening_never_shows_the_first_callers_room() {
    let here = Here::with(|config| config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]);
    let open = |key: &str, asker| {
        let headers = [JSON, ("idempotency-key", key), asker];
        here.ask("POST", "/api/rooms", &headers, "{}")
    };
    let key = "c0ffee00-0000-4000-8000-000000000001";
    let first = open(key, from("9.9.9.9"));
    assert_eq!(first.status, 201, "{}", first.text());
    let again = open(key, from("9.9.9.9"));
    assert_eq!(again.text(), first.text(), "the honest retry is answered");
    // Another address, or the owner at the keyboard, is somebody else.
    for stranger in [from("9.9.9.8"), ("accept", "*/*")] {
        let other = open(key, stranger);
        assert_eq!(other.status, 201);
        assert_ne!(other.json()["uuid"], first.json()["uuid"]);
    }
    // One network of IPv6 is one address, whichever of its own the caller has at the moment.
    let v6 = open(key, from("2001:db8::1")).text();
    assert_eq!(open(key, from("2001:db8::2")).text(), v6);
    assert_ne!(open(key, from("2001:db8:0:1::1")).text(), v6);
    // What anybody might choose is no secret, also not behind the same address.
    for guessable in ["1", "retry", "create-room-001"] {
        let refused = open(guessable, from("9.9.9.9"));
        assert_eq!(refused.status, 400);
        let text = detail(&refused);
        assert!(
            text.starts_with("header.Idempotency-Key: must be 16 characters or more"),
            "{text}"
        );
    }
    assert_eq!(
        open("retry", ("accept", "*/*")).status,
        201,
        "on this machine all is one's own"
    );
}

#[test]
fn a_keyed_callers_short_key_is_his_own() {
    let here = Here::start();
    let issue = r#"{"label":"a","scopes":["agent"]}"#;
    let open = |secret: &str| {
        let bearer = format!("Bearer {secret}");
        let headers = [
            KEYED[0],
            KEYED[1],
            ("authorization", bearer.as_str()),
            from("9.9.9.9"),
        ];
        here.ask("POST", "/api/rooms", &headers, "{}").json()
    };
    let secrets = [(); 2].map(|()| {
        let issued = here.json("POST", "/api/keys", issue).json();
        issued["secret"].as_str().unwrap().to_owned()
    });
    let rooms = secrets.each_ref().map(|secret| open(secret));
    assert_ne!(rooms[0]["uuid"], rooms[1]["uuid"]);
    assert_eq!(open(&secrets[0]), rooms[0]);
}
