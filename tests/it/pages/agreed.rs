//! Threads as they are settled, in front of whoever watches.

use minutebook_tests::http::Answer;
use minutebook_tests::server::Server;
use serde_json::{Value, json};

use super::browser::Browser;
use crate::support::start;

/// A write that the server takes.
pub(super) fn write(server: &Server, path: &str, body: &Value) -> Answer {
    let answer = server.json("POST", path, Some(body)).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer
}

#[test]
fn a_thread_is_seen_to_become_agreed_disputed_and_sealed() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let opened = json!({ "description": "Agree on a day", "confirmations_needed": 1 });
    let opened = write(&server, "/api/rooms", &opened).json();
    let room = format!("/api/rooms/{}", opened["uuid"].as_str().unwrap());
    let say = json!({ "agent_id": "alice", "text": "May we say Friday?" });
    write(&server, &format!("{room}/messages"), &say);
    let mut browser = Browser::open(1400, 900);
    browser.go(&format!(
        "http://{}/{}",
        server.http,
        opened["uuid"].as_str().unwrap()
    ));
    browser.until_text("#status", "Live");
    browser.until_text("#threads-summary", "No thread has been opened yet");
    browser.until("document.getElementById('arbiter').hidden");

    let claim = json!({
        "opened_by": "alice", "subject": "Delivery <day>", "value": "Friday",
        "source_msg_id": 1, "quote": "we say Friday",
    });
    let claim = write(&server, &format!("{room}/claims"), &claim).json();
    browser.until_text(".thread .chip", "proposed");
    assert_eq!(browser.text(".thread .value"), "Friday");
    browser.click(".thread summary");
    browser.until_text(".ledger", "alice proposes Friday");
    browser.until_text(".ledger blockquote", "we say Friday");

    let ledger = format!("{room}/claims/{}/revisions", claim["id"].as_str().unwrap());
    let act = |agent: &str, kind: &str, value: &str| {
        let act = json!({ "agent_id": agent, "kind": kind, "value": value });
        write(&server, &ledger, &act).json()
    };
    act("bob", "confirm", "Friday");
    browser.until_text(".thread .chip", "agreed");
    browser.until_text(".ledger li:nth-child(2)", "bob confirms Friday");
    browser.until_text(".thread > p", "1 of 1 confirmation · 2 entries");
    browser.until_text("#spoken", "Delivery <day>: agreed");

    act("bob", "contradict", "Friday");
    browser.until_text(".thread .chip", "disputed");
    browser.until_text("#discrepancies", "high");
    act("alice", "update", "Monday");
    // One that does not count does not look like one that does.
    act("carol", "confirm", "Friday");
    browser.until_text(".ledger li.other", "carol confirms Friday – another value");
    act("bob", "confirm", "Monday");
    browser.until_text(".thread .chip", "agreed");
    browser.until("document.getElementById('discrepancies').hidden");

    let context = server
        .json("GET", &format!("{room}/context"), None)
        .unwrap();
    for agent in ["alice", "bob"] {
        let hand = json!({ "agent_id": agent, "context_hash": context.json()["context_hash"] });
        write(&server, &format!("{room}/handshake"), &hand);
    }
    browser.until_text("#sealed", "Sealed: 1 of 1 thread agreed");
    browser.until_text("#sealed-why", "alice and bob shook hands on exactly this");
    browser.click("#verdict-again");
    browser.until("!document.getElementById('verdict-when').innerText.includes('Newer')");
    browser.until_text("#verdict-heading .badge", "Clean");
    // The receipt of an entry is as near as that of a message.
    let receipt =
        browser.run("return document.querySelector('.ledger .place a[href*=receipt]').href");
    let path = receipt
        .as_str()
        .unwrap()
        .replace(&format!("http://{}", server.http), "");
    assert_eq!(server.json("GET", &path, None).unwrap().status, 200);
    browser.expect_no_complaint();
}
