//! A telephone's page: the conversation first, and ways to the rest.

use minutebook_tests::server::Server;
use serde_json::json;

use super::agreed::write;
use super::browser::Browser;
use crate::support::start;

/// A room with this many messages and one thread, on a telephone.
fn page(messages: usize) -> (tempfile::TempDir, Server, Browser, String) {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("on the go").unwrap();
    for n in 1..=messages {
        server.post(&room, "alice", &format!("words {n}")).unwrap();
    }
    let claim = json!({ "opened_by": "alice", "subject": "Day", "value": "Friday" });
    write(&server, &format!("/api/rooms/{room}/claims"), &claim);
    let mut browser = Browser::open(390, 844);
    browser.go(&format!("http://{}/{room}", server.http));
    browser.until_text("#status", "Live");
    browser.until("!document.getElementById('threads').hidden");
    browser.until_text("#verdict-heading .badge", "Clean");
    (data, server, browser, room)
}

/// Where an element's upper edge is in the window.
fn top(browser: &mut Browser, css: &str) -> f64 {
    let script = format!("return document.querySelector('{css}').getBoundingClientRect().top");
    browser.run(&script).as_f64().unwrap()
}

const AT_THE_END: &str = "Math.abs(document.getElementById('talk').getBoundingClientRect().bottom \
                          - innerHeight) < 5";

#[test]
fn the_conversation_comes_first_and_links_lead_to_the_rest() {
    let (_data, _server, mut browser, _) = page(40);
    browser.until(AT_THE_END);
    let order = ["#talk", "#threads", "#record", "#verify"].map(|css| top(&mut browser, css));
    assert!(order.is_sorted(), "{order:?}");
    let bar = browser.run("return document.querySelector('.bar').offsetHeight");
    for (link, css) in [
        ("#to-threads", "#threads"),
        (".jumps a[href=\"#record\"]", "#record"),
        (".jumps a[href=\"#verify\"]", "#verify"),
    ] {
        browser.click(link);
        let below = format!(
            "((top) => top >= {bar} && top < innerHeight)\
             (document.querySelector('{css}').getBoundingClientRect().top)"
        );
        browser.until(&below);
    }
    browser.click("#to-talk");
    browser.until(AT_THE_END);
    browser.until("document.activeElement.id === 'talk'");
    let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
    assert_eq!(widths, json!([390, 390]));
    browser.expect_no_complaint();
}

#[test]
fn whoever_reads_the_record_is_not_moved_by_what_is_said_meanwhile() {
    let (_data, server, mut browser, room) = page(40);
    browser.until(AT_THE_END);
    server.post(&room, "bob", "watched").unwrap();
    browser.until_text("#m41 .text", "watched");
    browser.until(AT_THE_END);
    browser.until("document.getElementById('latest').hidden");

    browser.click(".jumps a[href=\"#verify\"]");
    browser.until("document.getElementById('talk').getBoundingClientRect().bottom < 0");
    browser.until("document.getElementById('latest').hidden");
    let before = top(&mut browser, "#verify");
    server.post(&room, "bob", "news\nof\nmany\nlines").unwrap();
    browser.until("document.getElementById('m42')");
    browser.until_text("#latest", "1 new message ↑");
    assert!((top(&mut browser, "#verify") - before).abs() < 2.0);
    browser.click("#latest");
    browser.until(AT_THE_END);
    browser.until("document.getElementById('latest').hidden");
    browser.expect_no_complaint();
}

#[test]
fn an_address_that_names_a_section_begins_there() {
    let (_data, server, mut browser, room) = page(40);
    browser.go("about:blank");
    browser.go(&format!("http://{}/{room}#verify", server.http));
    browser.until_text("#status", "Live");
    browser.until(
        "((top) => top > 0 && top < innerHeight)\
         (document.getElementById('verify').getBoundingClientRect().top)",
    );
    browser.expect_no_complaint();
}
