//! A tab that nobody looks at.

use std::time::{Duration, Instant};

use minutebook_tests::server::Server;

use super::browser::Browser;
use crate::support::start;

/// Half a minute is what the page waits for; here it is short.
const IMPATIENT: &str = "
const real = window.setTimeout;
window.setTimeout = (call, ms, ...rest) => real(call, ms === 30000 ? 50 : ms, ...rest);
";

/// Event streams that are open.
fn streams(server: &Server) -> f64 {
    let metrics = server.json("GET", "/metrics", None).unwrap().text();
    let mut lines = metrics.lines();
    let line = lines.find_map(|line| line.strip_prefix("minutebook_streams "));
    line.unwrap().parse().unwrap()
}

#[test]
fn a_hidden_tab_gives_its_stream_back_and_catches_up_when_it_is_looked_at() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("hidden").unwrap();
    server.post(&room, "alice", "before").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.before_pages(IMPATIENT);
    browser.go(&format!("http://{}/{room}", server.http));
    browser.until_text("#status", "Live");
    assert!(streams(&server) > 0.0);

    browser.hide();
    browser.until("document.visibilityState === 'hidden'");
    browser.until_text("#status", "Paused while hidden");
    let until = Instant::now() + Duration::from_secs(30);
    while streams(&server) > 0.0 {
        assert!(Instant::now() < until, "the stream stays open");
    }
    for text in ["meanwhile", "and more"] {
        server.post(&room, "bob", text).unwrap();
    }
    browser.until("document.querySelectorAll('.message').length === 1");

    browser.show();
    browser.until("document.visibilityState === 'visible'");
    browser.until_text("#m2 .text", "meanwhile");
    browser.until_text("#m3 .text", "and more");
    browser.until_text("#status", "Live");
    browser.until("document.querySelectorAll('.message').length === 3");
    browser.expect_no_complaint();
}

#[test]
fn a_tab_that_is_hidden_for_a_moment_keeps_its_stream() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("a moment").unwrap();
    server.post(&room, "alice", "before").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&format!("http://{}/{room}", server.http));
    browser.until_text("#status", "Live");
    browser.hide();
    browser.until("document.visibilityState === 'hidden'");
    server.post(&room, "bob", "news").unwrap();
    browser.until_text("#m2 .text", "news");
    // Nobody saw it yet, and the tab's name says so.
    browser.until("document.title.startsWith('(1) ')");
    browser.show();
    browser.until("!document.title.startsWith('(')");
    browser.until_text("#status", "Live");
    browser.expect_no_complaint();
}
