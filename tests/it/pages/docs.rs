//! The API's description as a page: its contents, with no script at all.

use serde_json::json;

use super::browser::Browser;
use crate::support::start;

const DISPLAYED: &str = "return ['nav.contents', 'details.contents'].map((css) => \
                         getComputedStyle(document.querySelector(css)).display !== 'none')";

#[test]
fn every_entry_of_the_contents_leads_somewhere_and_every_route_is_in_them() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1280, 800);
    browser.go(&format!("http://{}/docs", server.http));
    let found = browser.run(
        "const links = [...document.querySelectorAll('nav.contents a')].map((one) => \
         one.hash.slice(1)); \
         const sections = [...document.querySelectorAll('section section h3 a')].map((one) => \
         one.hash.slice(1)); \
         const ids = [...document.querySelectorAll('[id]')].map((one) => one.id); \
         return [links.filter((id) => !document.getElementById(id)), \
         sections.filter((id) => !links.includes(id)), ids.length - new Set(ids).size, \
         sections.length > 30]",
    );
    assert_eq!(found, json!([[], [], 0, true]));
    assert!(
        !browser.text("main").contains('`'),
        "backticks are for code"
    );
    browser.expect_no_complaint();
}

#[test]
fn the_contents_stay_beside_a_wide_page_and_fold_away_on_a_narrow_one() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1280, 800);
    browser.go(&format!("http://{}/docs", server.http));
    assert_eq!(browser.run(DISPLAYED), json!([true, false]));
    browser.click("nav.contents a[href='#errors']");
    browser.until("document.getElementById('errors').getBoundingClientRect().top < 400");
    let rect = browser.run(
        "const { top, bottom } = document.querySelector('nav.contents').getBoundingClientRect(); \
         return top >= -40 && bottom > 400",
    );
    assert_eq!(rect, json!(true), "it stays in view");

    browser.size(390, 844);
    browser.go("about:blank");
    browser.go(&format!("http://{}/docs", server.http));
    assert_eq!(browser.run(DISPLAYED), json!([false, true]));
    let entry = "details.contents a[href='#post-api-rooms-id-messages']";
    let is_seen = format!("document.querySelector(\"{entry}\").checkVisibility()");
    assert_eq!(browser.run(&format!("return {is_seen}")), json!(false));
    browser.click("details.contents summary");
    browser.until(&is_seen);
    browser.click(entry);
    let section = "document.getElementById('post-api-rooms-id-messages')";
    browser.until(&format!("{section}.getBoundingClientRect().top < 100"));
    let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]");
    assert_eq!(widths, json!([390, 390]));
    browser.expect_no_complaint();
}

#[test]
fn a_keyboard_skips_the_contents() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1280, 800);
    browser.go(&format!("http://{}/docs", server.http));
    browser.write("body", "\u{e004}");
    let first = browser.run("return document.activeElement.className");
    assert_eq!(first, json!("skip"));
    browser.write("a.skip", "\u{e007}");
    browser.until("document.activeElement.id === 'main'");
}
