//! The room that is tampered with.

use ed25519_dalek::{Signer, SigningKey};
use minutebook_domain::time::Timestamp;
use minutebook_tests::server::Server;
use serde_json::{Value, json};

pub(super) fn post(server: &Server, path: &str, body: &Value) -> Value {
    let answer = server.json("POST", path, Some(body)).unwrap();
    assert_eq!(answer.status, 201, "{path}: {}", answer.text());
    answer.json()
}

/// What was signed, with the seed's bytes.
fn signed(mut body: Value, surface: &str) -> Value {
    let key = SigningKey::from_bytes(&[5; 32]);
    body["pubkey_hex"] = hex::encode(key.verifying_key().to_bytes()).into();
    body["signature_hex"] = hex::encode(key.sign(surface.as_bytes()).to_bytes()).into();
    body
}

fn now() -> String {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(now.as_micros()).unwrap()).to_string()
}

/// The room of the table.
pub(super) fn negotiate(server: &Server) -> String {
    let opening = json!({ "confirmations_needed": 1, "description": "a sale" });
    let opened = post(server, "/api/rooms", &opening);
    let room = opened["uuid"].as_str().unwrap().to_owned();
    let at = |rest: &str| format!("/api/rooms/{room}{rest}");
    for (agent, text) in [
        ("alice", "I can deliver nine"),
        ("bob", "in the month of May"),
    ] {
        post(
            server,
            &at("/messages"),
            &json!({ "agent_id": agent, "text": text }),
        );
    }
    let (text, ts) = ("for eight dollars", now());
    let body = json!({ "agent_id": "carol", "text": text, "ts_iso": ts });
    post(
        server,
        &at("/messages"),
        &signed(body, &format!("{text}{ts}{room}")),
    );
    let open = |by: &str, subject: &str, value: &str, more: Value| {
        let mut body = json!({ "subject": subject, "value": value, "opened_by": by });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let opened = post(server, &at("/claims"), &body);
        opened["id"].as_str().unwrap().to_owned()
    };
    let source = json!({ "source_msg_id": 1, "quote": "can deliver" });
    let price = open("alice", "the price", "eight dollars", source);
    let date = open("bob", "the date", "month of May", json!({}));
    let revise = |claim: &str, body: &Value| {
        post(server, &at(&format!("/claims/{claim}/revisions")), body);
    };
    revise(
        &price,
        &json!({ "agent_id": "bob", "kind": "confirm", "value": "eight dollars" }),
    );
    let body = json!({ "agent_id": "alice", "kind": "confirm", "value": "month of May" });
    revise(
        &date,
        &signed(body, &format!("{date}|confirm|month of May")),
    );
    revise(
        &date,
        &json!({ "agent_id": "bob", "kind": "update", "value": "month of June" }),
    );
    revise(
        &price,
        &json!({ "agent_id": "carol", "kind": "contradict", "value": "nine dollars" }),
    );
    let context = server.json("GET", &at("/context"), None).unwrap().json();
    let hash = context["context_hash"].as_str().unwrap();
    let shake = |agent: &str| json!({ "agent_id": agent, "context_hash": hash });
    post(server, &at("/handshake"), &shake("alice"));
    post(server, &at("/handshake"), &signed(shake("bob"), hash));
    room
}
