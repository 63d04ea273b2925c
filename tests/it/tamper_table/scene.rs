//! The rooms that are tampered with.

use ed25519_dalek::{Signer, SigningKey};
use minutebook_domain::time::Timestamp;
use minutebook_tests::model::{Model, Reply};
use minutebook_tests::server::Server;
use serde_json::{Value, json};

use crate::support::post;

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

/// The room of the table, in the making.
pub(super) struct Scene {
    pub(super) room: String,
    /// The two threads.
    claims: Vec<String>,
}

impl Scene {
    fn at(&self, rest: &str) -> String {
        format!("/api/rooms/{}{rest}", self.room)
    }

    pub(super) fn say(&self, server: &Server, agent: &str, text: &str) {
        let body = json!({ "agent_id": agent, "text": text });
        post(server, &self.at("/messages"), &body);
    }

    /// A room with 3 messages, the last of them signed.
    pub(super) fn begin(server: &Server) -> Self {
        let opening = json!({ "confirmations_needed": 1, "description": "a sale" });
        let opened = post(server, "/api/rooms", &opening);
        let room = opened["uuid"].as_str().unwrap().to_owned();
        let scene = Self {
            room,
            claims: vec![],
        };
        scene.say(server, "alice", "I can deliver nine");
        scene.say(server, "bob", "in the month of May");
        let (text, ts) = ("for eight dollars", now());
        let body = json!({ "agent_id": "carol", "text": text, "ts_iso": ts });
        let body = signed(body, &format!("{text}{ts}{}", scene.room));
        post(server, &scene.at("/messages"), &body);
        scene
    }

    fn open(&mut self, server: &Server, body: &Value) {
        let opened = post(server, &self.at("/claims"), body);
        self.claims.push(opened["id"].as_str().unwrap().to_owned());
    }

    fn revise(&self, server: &Server, thread: usize, (agent, kind, value): (&str, &str, &str)) {
        let claim = &self.claims[thread];
        let mut body = json!({ "agent_id": agent, "kind": kind, "value": value });
        if (agent, kind) == ("alice", "confirm") {
            body = signed(body, &format!("{claim}|{kind}|{value}"));
        }
        post(
            server,
            &self.at(&format!("/claims/{claim}/revisions")),
            &body,
        );
    }

    /// The ledger's entry of this number. 2 threads have 6 between them, 1 signed; the last
    /// contradicts what was agreed. `value` may be another one than in the table's room.
    pub(super) fn enter(&mut self, server: &Server, entry: usize, value: Option<&str>) {
        let or = |usual: &'static str| value.unwrap_or(usual).to_owned();
        match entry {
            1 => {
                let body = json!({
                    "subject": "the price", "value": or("eight dollars"), "opened_by": "alice",
                    "source_msg_id": 1, "quote": "can deliver",
                });
                self.open(server, &body);
            }
            2 => {
                let value = or("month of May");
                let body = json!({ "subject": "the date", "value": value, "opened_by": "bob" });
                self.open(server, &body);
            }
            3 => self.revise(server, 0, ("bob", "confirm", &or("eight dollars"))),
            4 => self.revise(server, 1, ("alice", "confirm", &or("month of May"))),
            5 => self.revise(server, 1, ("bob", "update", &or("month of June"))),
            6 => self.revise(server, 0, ("carol", "contradict", &or("nine dollars"))),
            _ => unreachable!("6 entries"),
        }
    }

    /// 2 handshakes, the last of them signed.
    pub(super) fn end(&self, server: &Server) {
        let context = server.json("GET", &self.at("/context"), None).unwrap();
        let context = context.json();
        let hash = context["context_hash"].as_str().unwrap();
        let shake = |agent: &str| json!({ "agent_id": agent, "context_hash": hash });
        post(server, &self.at("/handshake"), &shake("alice"));
        post(server, &self.at("/handshake"), &signed(shake("bob"), hash));
    }
}

/// The room of the table.
pub(super) fn negotiate(server: &Server) -> String {
    let mut scene = Scene::begin(server);
    for entry in 1..=6 {
        scene.enter(server, entry, None);
    }
    scene.end(server);
    scene.room
}

/// A room in which the arbiter read: it opened a thread, noted a discrepancy, heard a confirmation
/// that it may not give, and passed over a message that no model could read.
pub(super) fn arbitrate(server: &Server, model: &Model) -> String {
    let opened = post(server, "/api/rooms", &json!({ "description": "a sale" }));
    let room = opened["uuid"].as_str().unwrap().to_owned();
    let scene = Scene {
        room,
        claims: vec![],
    };
    let read = || {
        let path = scene.at("/context/refresh");
        let read = server.json("POST", &path, None).unwrap().json();
        assert_eq!(read["error"], Value::Null, "{read}");
        server
            .json("GET", &scene.at("/context"), None)
            .unwrap()
            .json()
    };
    scene.say(server, "alice", "the price is $8");
    scene.say(server, "bob", "it was $9");
    model.then_says(&json!({ "new_claims": [
        { "subject": "the price", "value": "$8", "quote": "is $8", "kind": "propose" },
    ]}));
    model.then_says(&json!({ "discrepancies": [
        { "description": "bob says $9", "severity": "high" },
    ]}));
    let thread = read()["threads"][0]["id"].clone();
    scene.say(server, "carol", "fine, $8");
    scene.say(server, "dan", "poison");
    model.then_says(&json!({ "updates": [
        { "thread_id": thread, "kind": "confirm", "value": "$8", "quote": "fine" },
    ]}));
    for _ in 0..2 {
        model.then(Reply::Says("I would rather not.".to_owned()));
    }
    let context = read();
    let lists = ["threads", "discrepancies", "suggestions"];
    let lists = lists.map(|list| context[list].as_array().unwrap().len());
    assert_eq!(
        (lists, &context["skipped_messages"]),
        ([1; 3], &json!(1)),
        "{context}"
    );
    scene.room
}
