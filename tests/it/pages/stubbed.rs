//! What the room's page makes of answers that this server does not give on demand: stubbed in the
//! browser, in the shapes of the dialect.

use minutebook_tests::server::Server;
use serde_json::{Value, json};

use super::browser::Browser;
use crate::support::start;

/// Answers by the end of the path; everything else goes to the server.
fn stub(answers: &Value) -> String {
    format!(
        "const answers = {answers};
         const real = window.fetch;
         window.fetch = (path, ...rest) => {{
           const found = Object.entries(answers).find(([end]) => path.endsWith(end));
           return found ? Promise.resolve(Response.json(found[1])) : real(path, ...rest);
         }};"
    )
}

/// A room with one message, whose page gets these answers.
fn page(answers: &Value) -> (tempfile::TempDir, Server, Browser) {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("stubbed").unwrap();
    server.post(&room, "alice", "May we say Friday?").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.before_pages(&stub(answers));
    browser.go(&format!("http://{}/{room}", server.http));
    (data, server, browser)
}

#[test]
fn a_refuted_record_is_told_in_words_and_says_where() {
    let finding = json!({
        "name": "body_changed", "seq": 3, "message": "the body is <b>not</b> what was recorded",
    });
    let verify = json!({
        "verdict": "REFUTED",
        "explanation": "the body of seq 3 was changed",
        "details": { "messages_checked": 1, "messages_signed": 0 },
        "findings": [finding],
        "not_proven": [
            { "name": "cut_tail", "text": "records may be cut `off`", "remedy": "keep `a <b>`" },
            { "name": "rollback", "text": "or put back", "remedy": "keep `a <b>`" },
            { "name": "erasure", "text": "a lone ` is itself", "remedy": null },
        ],
        "log": { "origin": "example.org", "size": 3, "root": "abc", "events_checked": 3 },
    });
    let (_data, _server, mut browser) = page(&json!({ "/verify": verify }));
    browser.until_text("#verdict-heading .badge", "Refuted");
    browser.until_text(".bar .badge", "Refuted");
    browser.until_text("#verdict-sentence", "Do not rely on it");
    browser.click("#verdict-more summary");
    browser.until_text("#verdict-details", "log seq 3: the body is <b>not</b>");
    browser.until_text("#verdict-details", "body_changed");
    // What is code looks like code, and what helps is said once.
    let code = browser.run(
        "return [...document.querySelectorAll('#verdict-details code')].map((one) => \
         one.textContent)",
    );
    assert_eq!(code, json!(["body_changed", "off", "a <b>"]));
    browser.until_text("#verdict-details", "A lone ` is itself");
    let remedies = browser.run("return document.querySelectorAll('.remedy').length");
    assert_eq!(remedies, json!(1));
    browser.until_text("#evidence", "example.org");
    let colours = browser.run(
        "return ['#verdict-heading .badge', 'body'].map((css) => \
         getComputedStyle(document.querySelector(css)).color)",
    );
    assert_ne!(colours[0], colours[1]);
}

#[test]
fn threads_are_shown_with_their_ledgers() {
    let claim = "5c6cf5cd-5c29-4c39-a3b4-1d4cd6bcb9d0";
    let (key, hash) = ("ab".repeat(32), "cd".repeat(32));
    let revision = |id: u64, kind: &str, author: &str, value: &str| {
        json!({
            "id": id, "claim_id": claim, "kind": kind, "author_agent_id": author, "value": value,
            "source_msg_id": 1, "quote": "May we <i>say</i> Friday?", "pubkey_hex": key,
            "signature_hex": "ef".repeat(64), "created_at": "2026-11-30T12:00:00Z",
            "log_seq": 3, "row_hash": hash,
        })
    };
    let thread = json!({
        "id": claim, "subject": "<u>Delivery</u> date", "subject_key": "delivery-date",
        "current_value": "Friday", "status": "agreed", "opened_by": "alice",
        "revisions_count": 2, "confirmations": 1, "confirmations_needed": 1,
        "created_at": "2026-11-30T12:00:00Z", "updated_at": "2026-11-30T12:00:00Z",
    });
    let discrepancy = json!({
        "id": 1, "description": "the price differs", "severity": "high", "related_msg_id": 1,
        "related_claim_id": claim, "created_at": "2026-11-30T12:00:00Z", "resolved": false,
    });
    let handshake = |id: u64, agent: &str| {
        json!({
            "id": id, "agent_id": agent, "context_hash": hash, "pubkey_hex": null,
            "signature_hex": null, "created_at": "2026-11-30T12:00:00Z", "log_seq": 3,
        })
    };
    let answers = json!({
        "/context": {
            "threads": [thread], "discrepancies": [discrepancy], "context_hash": hash,
        },
        "/handshakes": [handshake(1, "alice"), handshake(2, "bob")],
        "/revisions": [
            revision(1, "propose", "alice", "Friday"), revision(2, "confirm", "bob", "Friday"),
        ],
    });
    let (_data, _server, mut browser) = page(&answers);
    browser.until_text("#threads-summary", "1 agreed");
    browser.until_text(".thread summary", "<u>Delivery</u> date");
    browser.until_text(".thread .chip", "agreed");
    browser.until_text("#discrepancies", "the price differs");
    browser.until_text("#sealed", "Sealed: 1 of 1 thread agreed");
    browser.until_text("#sealed-why", "alice and bob shook hands");
    browser.click(".thread summary");
    browser.until_text(".ledger li:nth-child(2)", "bob confirms Friday");
    browser.until_text(".ledger", "May we <i>say</i> Friday?");
    browser.until_text(".ledger", "ababab…abab");
    browser.until_text(".thread > p", "1 of 1 confirmation · 2 entries");
    browser.click(".ledger .place a");
    browser.until("location.hash === '#m1'");
    browser.expect_no_complaint();
}

/// What the arbiter could not do is as visible as what it did.
#[test]
fn the_arbiters_failures_and_what_it_only_heard_are_shown() {
    let claim = "5c6cf5cd-5c29-4c39-a3b4-1d4cd6bcb9d0";
    let thread = json!({
        "id": claim, "subject": "<u>Delivery</u> date", "subject_key": "delivery-date",
        "current_value": "Friday", "status": "proposed", "opened_by": "arbiter",
        "revisions_count": 1, "confirmations": 0, "confirmations_needed": 2,
        "created_at": "2026-11-30T12:00:00Z", "updated_at": "2026-11-30T12:00:00Z",
    });
    let suggestion = json!({
        "claim_id": claim, "kind": "confirm", "agent_id": "alice", "value": "Friday <b>then</b>",
        "quote": "fine with <i>me</i>", "source_msg_id": 1, "log_seq": 3,
    });
    let reading = json!({
        "adapter": "openai-chat", "model": "big-<model>", "prompt_hash": "ab".repeat(32),
        "message_id": 1, "log_seq": 3,
    });
    let answers = json!({
        "/context": {
            "threads": [thread], "discrepancies": [], "context_hash": "cd".repeat(32),
            "last_extracted_msg_id": 1, "suggestions": [suggestion], "last_extraction": reading,
            "last_extraction_error": "message 1 was skipped: <script>no answer</script>",
        },
        "/handshakes": [],
    });
    let (_data, _server, mut browser) = page(&answers);
    browser.until_text(
        "#arbiter-trouble",
        "message 1 was skipped: <script>no answer",
    );
    browser.until_text("#arbiter-by", "by big-<model> (openai-chat)");
    browser.until_text(
        "#suggestions",
        "alice would confirm <u>Delivery</u> date: Friday <b>then",
    );
    browser.until_text("#suggestions blockquote", "fine with <i>me</i>");
    browser.click("#suggestions .place a");
    browser.until("location.hash === '#m1'");
    browser.expect_no_complaint();
}
