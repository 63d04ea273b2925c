//! Signatures on openings, revisions and handshakes.

use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};

use super::claims::Deal;
use super::here::{Here, detail};

fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub(super) fn pubkey(number: u8) -> String {
    hex::encode(key(number).verifying_key().to_bytes())
}

fn sign(number: u8, message: &[u8]) -> String {
    hex::encode(key(number).sign(message).to_bytes())
}

/// Each field behind its length, as `PROTOCOL.md` says it.
fn framed(fields: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        out.extend(u32::try_from(field.len()).unwrap().to_be_bytes());
        out.extend(field.as_bytes());
    }
    out
}

/// A `minutebook-v2` revision.
pub(super) fn revision_v2(
    deal: &Deal<'_>,
    claim: &str,
    who: (&str, u8),
    what: (&str, &str, u64),
) -> Value {
    let (agent, number) = who;
    let (kind, value, position) = what;
    let fields = [
        "minutebook-revision-v2",
        &deal.room,
        claim,
        agent,
        &position.to_string(),
        kind,
        value,
    ];
    json!({
        "agent_id": agent, "value": value, "kind": kind, "position": position,
        "surface": "minutebook-v2", "pubkey_hex": pubkey(number),
        "signature_hex": sign(number, &framed(&fields)),
    })
}

/// A `roomcomm-v1` revision.
pub(crate) fn revision_v1(
    claim: &str,
    (agent, number): (&str, u8),
    kind: &str,
    value: &str,
) -> Value {
    let message = format!("{claim}|{kind}|{value}");
    json!({
        "agent_id": agent, "value": value, "kind": kind, "pubkey_hex": pubkey(number),
        "signature_hex": sign(number, message.as_bytes()),
    })
}

/// A `minutebook-v2` handshake, in a room's path.
pub(crate) fn handshake_v2(
    room: &str,
    (agent, number): (&str, u8),
    hash: &str,
    position: u64,
) -> Value {
    let room = room.rsplit('/').next().unwrap();
    let read = position.to_string();
    let fields = ["minutebook-handshake-v2", room, agent, &read, hash];
    json!({
        "agent_id": agent, "context_hash": hash, "surface": "minutebook-v2", "position": position,
        "pubkey_hex": pubkey(number), "signature_hex": sign(number, &framed(&fields)),
    })
}

#[test]
fn a_revision_signed_as_the_seed_says_is_kept_as_sent() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = format!("/claims/{claim}/revisions");
    let mut body = revision_v1(&claim, ("bob", 1), "confirm", " $8 ");
    let upper = body["signature_hex"].as_str().unwrap().to_uppercase();
    body["signature_hex"] = upper.clone().into();
    let revised = deal.post(&path, &body);
    assert_eq!(revised.status, 201, "{}", revised.text());
    let last = revised.json()["last_revision"].clone();
    assert_eq!(last["value"], " $8 ", "what was signed");
    assert_eq!(last["signature_hex"], upper.to_lowercase());
    assert_eq!(
        (&last["surface"], &last["position"]),
        (&json!("roomcomm-v1"), &Value::Null)
    );
    assert_eq!(
        revised.json()["confirmations"],
        1,
        "its white space says nothing"
    );
    assert_eq!(deal.verify()["verdict"], "CLEAN");
}

#[test]
fn a_signature_is_taken_once_for_ever_under_any_name() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = format!("/claims/{claim}/revisions");
    let mut body = revision_v1(&claim, ("bob", 1), "confirm", "$8");
    assert_eq!(deal.post(&path, &body).status, 201);
    for name in ["bob", "mallory"] {
        body["agent_id"] = name.into();
        let again = deal.post(&path, &body);
        assert_eq!(again.status, 409, "{}", again.text());
        assert_eq!(again.json()["code"], "signature_replayed");
    }
    let hash = deal.context_hash();
    let shake = json!({
        "agent_id": "bob", "context_hash": hash, "pubkey_hex": pubkey(1),
        "signature_hex": sign(1, hash.as_bytes()),
    });
    let made = deal.post("/handshake", &shake);
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["signature_valid"], true);
    assert_eq!(made.json()["surface"], "roomcomm-v1");
    assert_eq!(
        deal.post("/handshake", &shake).json()["code"],
        "signature_replayed"
    );
    assert_eq!(
        deal.get("/handshakes").json()[0]["signature_valid"],
        Value::Null
    );
}

#[test]
fn a_bound_signature_names_what_was_read_and_nothing_else_fits_it() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = format!("/claims/{claim}/revisions");
    let good = revision_v2(&deal, &claim, ("bob", 1), ("confirm", "$8", 1));
    let wrong = "signature does not verify against revision canonical bytes";
    for (field, value) in [
        ("agent_id", json!("mallory")),
        ("kind", json!("contradict")),
        ("value", json!("$9")),
        ("position", json!(2)),
        ("surface", json!(null)),
    ] {
        let mut body = good.clone();
        body[field] = value;
        if field == "surface" {
            body["position"] = Value::Null;
        }
        let answer = deal.post(&path, &body);
        assert_eq!(
            (answer.status, detail(&answer).as_str()),
            (400, wrong),
            "{field}"
        );
    }
    let mut without = good.clone();
    without["position"] = Value::Null;
    let answer = deal.post(&path, &without);
    assert_eq!(answer.json()["code"], "signature_position_misplaced");
    let mut odd = good.clone();
    odd["surface"] = "x".into();
    let pattern = "surface: String should match pattern '^(roomcomm-v1|minutebook-v2)$'";
    assert_eq!(detail(&deal.post(&path, &odd)), pattern);
    let revised = deal.post(&path, &good);
    assert_eq!(revised.status, 201, "{}", revised.text());
    let last = &revised.json()["last_revision"];
    assert_eq!(
        (&last["surface"], &last["position"]),
        (&json!("minutebook-v2"), &json!(1))
    );
    // $8 became $9 and $8 again: who signed for the first $8 did not sign for this one.
    deal.revise(&claim, "alice", "update", "$9");
    deal.revise(&claim, "alice", "update", "$8");
    let stale = revision_v2(&deal, &claim, ("carol", 2), ("confirm", "$8", 1));
    let answer = deal.post(&path, &stale);
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (409, &json!("signature_position_stale"))
    );
    let fresh = revision_v2(&deal, &claim, ("carol", 2), ("confirm", "$8", 4));
    assert_eq!(deal.post(&path, &fresh).status, 201);
    // Who thinks again and again signs what stands there by then.
    let again = |kind, read| revision_v2(&deal, &claim, ("carol", 2), (kind, "$8", read));
    assert_eq!(deal.post(&path, &again("contradict", 5)).status, 201);
    let replayed = deal.post(&path, &fresh);
    assert_eq!(
        (replayed.status, &replayed.json()["code"]),
        (409, &json!("signature_replayed"))
    );
    assert_eq!(deal.post(&path, &again("confirm", 6)).status, 201);
    assert_eq!(deal.verify()["verdict"], "CLEAN");
}

#[test]
fn openings_and_handshakes_are_signed_with_the_bound_surface() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let fields = ["minutebook-claim-v2", &deal.room, "alice", " price", "$8 "];
    let mut open = json!({
        "subject": " price", "value": "$8 ", "opened_by": "alice", "surface": "minutebook-v2",
        "pubkey_hex": pubkey(1), "signature_hex": sign(1, &framed(&fields)),
    });
    let opened = deal.post("/claims", &open);
    assert_eq!(opened.status, 201, "{}", opened.text());
    let thread = opened.json();
    assert_eq!(
        (&thread["subject"], &thread["current_value"]),
        (&json!("price"), &json!("$8"))
    );
    assert_eq!(thread["last_revision"]["value"], "$8 ");
    assert_eq!(thread["last_revision"]["surface"], "minutebook-v2");
    open["surface"] = "roomcomm-v1".into();
    let answer = deal.post("/claims", &open);
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (400, &json!("signature_surface_unknown"))
    );
    assert!(
        detail(&answer).contains("use minutebook-v2"),
        "{}",
        answer.text()
    );
    // Signed the seed's way for want of a better one: the answer names the better one.
    let claim = thread["id"].as_str().unwrap();
    let unframed = sign(1, format!("{claim}|propose|$8 ").as_bytes());
    open.as_object_mut().unwrap().remove("surface");
    open["signature_hex"] = unframed.into();
    let answer = deal.post("/claims", &open);
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (400, &json!("ledger_signature_invalid"))
    );
    assert!(
        detail(&answer).contains("minutebook-v2 bytes"),
        "{}",
        answer.text()
    );
    let shake = handshake_v2(&deal.room, ("bob", 2), &deal.context_hash(), 1);
    let made = deal.post("/handshake", &shake);
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["position"], 1);
    let verdict = deal.verify();
    assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
}

#[test]
fn a_message_is_signed_with_the_bound_surface() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let micros = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let micros = i64::try_from(micros.unwrap().as_micros()).unwrap();
    let ts_iso = minutebook_domain::time::Timestamp::from_micros(micros).to_string();
    let fields = [
        "minutebook-message-v2",
        &deal.room,
        "alice",
        &ts_iso,
        "chat",
        "we agree",
        "root",
    ];
    let mut body = json!({
        "agent_id": "mallory", "text": "we agree", "ts_iso": ts_iso, "memory_root": "root",
        "surface": "minutebook-v2", "pubkey_hex": pubkey(1),
        "signature_hex": sign(1, &framed(&fields)),
    });
    assert_eq!(deal.post("/messages", &body).status, 400, "another's name");
    body["agent_id"] = "alice".into();
    let posted = deal.post("/messages", &body);
    assert_eq!(posted.status, 201, "{}", posted.text());
    let listed = deal.get("/messages").json()["messages"][0].clone();
    assert_eq!(posted.json(), listed);
    assert_eq!(listed["surface"], "minutebook-v2");
    assert_eq!(listed["signature_hex"], body["signature_hex"]);
}

#[test]
fn one_key_under_two_names_counts_once() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = format!("/claims/{claim}/revisions");
    for (name, position) in [("bob", 1), ("robert", 1)] {
        let body = revision_v2(&deal, &claim, (name, 1), ("confirm", "$8", position));
        let revised = deal.post(&path, &body).json();
        assert_eq!(
            (&revised["status"], &revised["confirmations"]),
            (&json!("proposed"), &json!(1))
        );
    }
    let body = revision_v2(&deal, &claim, ("carol", 2), ("confirm", "$8", 1));
    assert_eq!(deal.post(&path, &body).json()["status"], "agreed");
    // And two names of one key seal nothing.
    let hash = deal.context_hash();
    for (name, expected) in [("bob", false), ("robert", false), ("carol", true)] {
        assert_eq!(deal.shake_hands(name, &hash).status, 201);
        assert_eq!(deal.context()["sealed"], expected, "{name}");
    }
}

#[test]
fn the_opener_under_another_name_counts_for_nothing() {
    let here = Here::start();
    let deal = Deal::needing(&here, 1);
    let fields = ["minutebook-claim-v2", &deal.room, "alice", "price", "$8"];
    let open = json!({
        "subject": "price", "value": "$8", "opened_by": "alice", "surface": "minutebook-v2",
        "pubkey_hex": pubkey(1), "signature_hex": sign(1, &framed(&fields)),
    });
    let claim = deal.post("/claims", &open).json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/claims/{claim}/revisions");
    let body = revision_v2(&deal, &claim, ("another", 1), ("confirm", "$8", 1));
    let revised = deal.post(&path, &body).json();
    assert_eq!(
        (&revised["status"], &revised["confirmations"]),
        (&json!("proposed"), &json!(0))
    );
    assert_eq!(
        deal.revise(&claim, "bob", "confirm", "$8")["status"],
        "agreed"
    );
}
