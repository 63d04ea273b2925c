//! The ledger as an outsider checks it, with nothing but what came over the wire.

use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::claims::Deal;
use super::claims_signed::{revision_v1, revision_v2};
use super::here::{Here, JSON};

/// All revisions of a room, by number.
fn ledger(deal: &Deal<'_>) -> Vec<Value> {
    let context = deal.context();
    let mut rows: Vec<Value> = Vec::new();
    for thread in context["threads"].as_array().unwrap() {
        let id = thread["id"].as_str().unwrap();
        let found = deal.get(&format!("/claims/{id}/revisions")).json();
        rows.extend(found.as_array().unwrap().iter().cloned());
    }
    rows.sort_by_key(|row| row["id"].as_u64().unwrap());
    rows
}

/// The peer's payload, spelled out.
fn payload(row: &Value) -> String {
    format!(
        concat!(
            r#"{{"author_agent_id":{},"claim_id":{},"created_at":{},"kind":{},"prev_hash":{},"#,
            r#""revision_id":{},"source_msg_id":{},"value":{}}}"#
        ),
        row["author_agent_id"],
        row["claim_id"],
        row["created_at_us"],
        row["kind"],
        row["prev_hash"],
        row["id"],
        row["source_msg_id"],
        row["value"],
    )
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap()
}

/// Recomputes the chain and checks every seal.
fn check_chain(deal: &Deal<'_>) -> usize {
    let published = deal.here.get("/api/arbiter/pubkey").json();
    let pubkey = text(&published, "pubkey_hex").to_owned();
    let bytes: [u8; 32] = hex::decode(&pubkey).unwrap().try_into().unwrap();
    let arbiter = VerifyingKey::from_bytes(&bytes).unwrap();
    let rows = ledger(deal);
    let mut prev = "0".repeat(64);
    for (number, row) in (1..).zip(&rows) {
        assert_eq!(row["id"], number);
        assert_eq!(text(row, "prev_hash"), prev, "the chain forks at {number}");
        let payload = payload(row);
        let hash = Sha256::new()
            .chain_update(&prev)
            .chain_update(&payload)
            .finalize();
        assert_eq!(text(row, "row_hash"), hex::encode(hash));
        let sig = hex::decode(text(row, "arbiter_signature_hex")).unwrap();
        let sig = Signature::from_slice(&sig).unwrap();
        arbiter.verify_strict(payload.as_bytes(), &sig).unwrap();
        assert_eq!(text(row, "arbiter_pubkey_hex"), pubkey);
        let seconds = format!("{}Z", &text(row, "created_at_us")[..19]);
        assert_eq!(text(row, "created_at"), seconds);
        text(row, "row_hash").clone_into(&mut prev);
    }
    rows.len()
}

/// The context's hash, from what the context shows.
fn context_hash(context: &Value) -> String {
    let threads = context["threads"].as_array().unwrap();
    let listed = threads
        .iter()
        .filter(|thread| thread["status"] != "cancelled");
    let parts: Vec<String> = listed
        .map(|thread| {
            format!(
                concat!(
                    r#"{{"current_value": {}, "id": {}, "status": {}, "subject": {}, "#,
                    r#""subject_key": {}}}"#
                ),
                thread["current_value"],
                thread["id"],
                thread["status"],
                thread["subject"],
                thread["subject_key"],
            )
        })
        .collect();
    hex::encode(Sha256::digest(format!("[{}]", parts.join(", "))))
}

#[test]
fn the_chain_and_the_contexts_hash_can_be_recomputed_from_the_answers() {
    let here = Here::start();
    let deal = Deal::new(&here);
    here.post(&deal.room, "alice", "hi");
    let odd = "tab\t\"quote\" \\ / \u{7f} é 🧱 \u{2028}";
    let claim = deal.open("alice", odd, odd);
    let body = json!({
        "agent_id": "bob", "value": "two\nlines", "kind": "contradict",
        "source_msg_id": 1, "quote": "hi",
    });
    assert_eq!(
        deal.post(&format!("/claims/{claim}/revisions"), &body)
            .status,
        201
    );
    let other = deal.open("bob", "date", "May");
    deal.revise(&other, "bob", "update", "June");
    let gone = deal.open("bob", "gone", "x");
    deal.revise(&gone, "bob", "retract", "x");
    for who in ["carol", "dan"] {
        deal.revise(&other, who, "confirm", "June");
    }
    assert_eq!(check_chain(&deal), 8);
    let context = deal.context();
    assert_eq!(context["threads"].as_array().unwrap().len(), 3);
    assert_eq!(context["context_hash"], context_hash(&context));
    assert_eq!(
        deal.shake_hands("alice", &context_hash(&context)).status,
        201
    );
}

#[test]
fn revisions_in_parallel_never_fork_the_chain() {
    let here = Here::start();
    for writers in [20, 50] {
        let deal = Deal::new(&here);
        let claims = [
            deal.open("alice", "price", "$8"),
            deal.open("alice", "date", "May"),
        ];
        std::thread::scope(|scope| {
            for writer in 0..writers {
                let (deal, claim) = (&deal, &claims[writer % 2]);
                scope.spawn(move || {
                    let value = if writer % 2 == 0 { "$8" } else { "May" };
                    deal.revise(claim, &format!("agent-{writer}"), "confirm", value);
                });
            }
        });
        assert_eq!(check_chain(&deal), writers + 2);
        let context = deal.context();
        assert_eq!(context["context_hash"], context_hash(&context));
        let counts = context["threads"].as_array().unwrap().iter();
        let counts = counts.map(|thread| thread["confirmations"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), writers as u64);
        let verdict = deal.verify();
        assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
    }
}

#[test]
fn a_manual_thread_verifies_clean_and_is_counted() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    deal.revise(&claim, "bob", "confirm", "$8");
    let signed = revision_v1(&claim, ("carol", 1), "confirm", "$8");
    let path = format!("/claims/{claim}/revisions");
    assert_eq!(deal.post(&path, &signed).status, 201);
    let signed = revision_v2(&deal, &claim, ("dan", 2), ("confirm", "$8", 1));
    assert_eq!(deal.post(&path, &signed).status, 201);
    deal.shake_hands("bob", &deal.context_hash());
    let verdict = deal.verify();
    assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
    let details = &verdict["details"];
    for (field, expected) in [
        ("messages_checked", 0),
        ("revisions_checked", 4),
        ("revisions_pre_pcis", 0),
        ("revisions_signed", 2),
        ("handshakes_checked", 1),
        ("handshakes_signed", 0),
    ] {
        assert_eq!(details[field], expected, "{field}");
    }
    let surfaces = json!({ "roomcomm-v1": 1, "minutebook-v2": 1 });
    assert_eq!(details["surfaces"], surfaces);
}

#[test]
fn an_erased_room_shows_nothing_of_its_negotiation() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    deal.shake_hands("bob", &deal.context_hash());
    let reason = json!({ "reason": "an order" }).to_string();
    assert_eq!(here.json("DELETE", &deal.path(""), &reason).status, 200);
    for rest in ["/context", "/handshakes", &format!("/claims/{claim}")] {
        assert_eq!(deal.get(rest).status, 404, "{rest}");
    }
    assert_eq!(deal.try_revise(&claim, "bob", "confirm", "$8").status, 404);
    let reader = here.reader();
    let rows = reader.range(here.engine().views().threads, &[], &[0xff; 8], false, 9);
    assert_eq!(rows.unwrap(), [], "of its rows, too");
}

#[test]
fn a_long_thread_is_answered_whole() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    for number in 0..150 {
        deal.revise(&claim, "alice", "update", &number.to_string());
    }
    let thread = deal.get(&format!("/claims/{claim}")).json();
    assert_eq!(thread["revisions_count"], 151);
    assert_eq!(thread["revisions"].as_array().unwrap().len(), 151);
    assert_eq!(thread["revisions"][150], thread["last_revision"]);
    assert_eq!(thread["current_value"], "149");
    assert_eq!(check_chain(&deal), 151);
}

#[test]
fn a_ledger_is_read_in_pages_by_its_numbers() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let other = deal.open("bob", "date", "May");
    for number in 0..7 {
        deal.revise(&claim, "alice", "update", &number.to_string());
        deal.revise(&other, "bob", "update", &number.to_string());
    }
    let path = format!("/claims/{claim}/revisions");
    let page = |query: &str| deal.get(&format!("{path}{query}")).json();
    let whole = page("");
    let whole = whole.as_array().unwrap();
    assert_eq!(whole.len(), 8);
    let ids: Vec<_> = whole
        .iter()
        .map(|row| row["id"].as_u64().unwrap())
        .collect();
    // A number of the other thread, or of none, is a place all the same.
    for since in 0..ids[7] + 2 {
        let rest: Vec<_> = whole
            .iter()
            .filter(|row| row["id"].as_u64().unwrap() > since)
            .cloned()
            .collect();
        assert_eq!(page(&format!("?since={since}")), json!(rest));
        let first = &rest[..rest.len().min(3)];
        assert_eq!(page(&format!("?since={since}&limit=3")), json!(first));
    }
    assert_eq!(page("?limit=8").as_array().unwrap(), whole);
    assert_eq!(
        page("?limit=99999999999999999999").as_array().unwrap(),
        whole
    );
    assert_eq!(page("?since=9223372036854775807"), json!([]));
    for bad in ["limit=0", "limit=", "since=-1", "since=x"] {
        assert_eq!(deal.get(&format!("{path}?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn who_prefers_a_minimal_answer_gets_the_thread_without_its_ledger() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = deal.path(&format!("/claims/{claim}/revisions"));
    let revise = |prefer: &'static str, key: &'static str| {
        let body = json!({ "agent_id": "bob", "value": "$8", "kind": "confirm" }).to_string();
        let headers = [JSON, ("prefer", prefer), ("idempotency-key", key)];
        here.ask("POST", &path, &headers, &body)
    };
    let minimal = revise("return=minimal", "one");
    assert_eq!(minimal.status, 201, "{}", minimal.text());
    assert_eq!(minimal.header("preference-applied"), Some("return=minimal"));
    assert!(minimal.header("minutebook-seq").is_some());
    let mut whole = deal.get(&format!("/claims/{claim}")).json();
    let revisions = whole.as_object_mut().unwrap().remove("revisions").unwrap();
    assert_eq!(revisions.as_array().unwrap().len(), 2);
    assert_eq!(minimal.json(), whole);
    // The same request again is the same write, however its answer is preferred.
    let again = revise("return=representation", "one");
    assert_eq!(again.header("preference-applied"), None);
    assert_eq!(again.json()["revisions"], revisions);
    assert_eq!(
        again.header("minutebook-seq"),
        minimal.header("minutebook-seq")
    );
}
