//! What handshakes amount to is what the server says.

use minutebook_tests::server::Server;
use serde_json::json;

use super::agreed::write;
use super::browser::Browser;
use crate::facades::claims_signed::{handshake_v2, revision_v1};
use crate::support::start;

/// A room, its path in the API, and a page that shows it.
fn watched(server: &Server, browser: &mut Browser) -> String {
    let opened = write(server, "/api/rooms", &json!({ "confirmations_needed": 1 })).json();
    let room = opened["uuid"].as_str().unwrap();
    browser.go(&format!("http://{}/{room}", server.http));
    browser.until_text("#status", "Live");
    format!("/api/rooms/{room}")
}

fn hash(server: &Server, room: &str) -> String {
    let context = server.json("GET", &format!("{room}/context"), None);
    let context = context.unwrap().json();
    context["context_hash"].as_str().unwrap().to_owned()
}

fn shake(server: &Server, room: &str, agents: &[&str]) {
    let hash = hash(server, room);
    for agent in agents {
        let hand = json!({ "agent_id": agent, "context_hash": hash });
        write(server, &format!("{room}/handshake"), &hand);
    }
}

/// A thread, on whose ledger one key signs under two names.
fn thread_of_one_key(server: &Server, room: &str) {
    let claim = json!({ "opened_by": "carol", "subject": "Day", "value": "Friday" });
    let claim = write(server, &format!("{room}/claims"), &claim).json();
    let claim = claim["id"].as_str().unwrap();
    for (agent, kind) in [("alice", "confirm"), ("bob", "contradict")] {
        let signed = revision_v1(claim, (agent, 1), kind, "Friday");
        write(server, &format!("{room}/claims/{claim}/revisions"), &signed);
    }
}

#[test]
fn two_names_of_one_key_seal_nothing_and_the_page_says_why() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    let room = watched(&server, &mut browser);
    thread_of_one_key(&server, &room);
    shake(&server, &room, &["alice"]);
    browser.until_text(
        "#sealed-why",
        "alice shook hands on this state. Another party has to",
    );
    shake(&server, &room, &["bob"]);
    browser.until_text("#sealed-why", "one key signed for both names");
    browser.until_text("#sealed", "Not sealed: 0 of 1 thread agreed");
    // A third party makes it two.
    shake(&server, &room, &["dave"]);
    browser.until_text("#sealed", "Sealed: 0 of 1 thread agreed");
    browser.until_text("#sealed-why", "alice, bob and dave shook hands");
    browser.expect_no_complaint();
}

#[test]
fn a_sealed_room_in_which_nothing_is_agreed_does_not_look_settled() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    let room = watched(&server, &mut browser);
    shake(&server, &room, &["alice", "bob"]);
    browser.until_text("#sealed", "Sealed: 0 of 0 threads agreed");
    browser.until_text("#sealed-why", "in which nothing is agreed");
    browser.until("document.getElementById('sealed').classList.contains('warn')");
    let claim = json!({ "opened_by": "alice", "subject": "Day", "value": "Friday" });
    let claim = write(&server, &format!("{room}/claims"), &claim).json();
    browser.until_text("#sealed", "Not sealed: 0 of 1 thread agreed");
    browser.until_text("#sealed-why", "Nobody has shaken hands on this state yet");
    let ledger = format!("{room}/claims/{}/revisions", claim["id"].as_str().unwrap());
    let confirm = json!({ "agent_id": "bob", "kind": "confirm", "value": "Friday" });
    write(&server, &ledger, &confirm);
    shake(&server, &room, &["alice", "bob"]);
    browser.until_text("#sealed", "Sealed: 1 of 1 thread agreed");
    browser.until("document.getElementById('sealed').classList.contains('good')");
    browser.expect_no_complaint();
}

#[test]
fn who_signed_for_an_earlier_value_is_not_taken_for_somebody_else() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    let room = watched(&server, &mut browser);
    let claim = json!({ "opened_by": "alice", "subject": "Day", "value": "Friday" });
    let claim = write(&server, &format!("{room}/claims"), &claim).json();
    let ledger = format!("{room}/claims/{}/revisions", claim["id"].as_str().unwrap());
    for (agent, key) in [("alice", 1), ("bob", 2)] {
        let hand = handshake_v2(&room, (agent, key), &hash(&server, &room), 1);
        write(&server, &format!("{room}/handshake"), &hand);
    }
    browser.until_text("#sealed", "Sealed: 0 of 1 thread agreed");
    for value in ["Monday", "Friday"] {
        let update = json!({ "agent_id": "alice", "kind": "update", "value": value });
        write(&server, &ledger, &update);
    }
    browser.until_text("#sealed", "Not sealed: 0 of 1 thread agreed");
    browser.until_text("#sealed-why", "alice and bob signed for an earlier value");
    let hand = handshake_v2(&room, ("bob", 2), &hash(&server, &room), 3);
    write(&server, &format!("{room}/handshake"), &hand);
    browser.until_text(
        "#sealed-why",
        "bob shook hands on this state. Another party has to. alice signed for an earlier value",
    );
    browser.expect_no_complaint();
}
