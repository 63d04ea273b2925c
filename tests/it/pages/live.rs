//! What an owner sees: rooms created, filled and followed in the browser.

use std::path::Path;

use minutebook_eventlog::store::fjall::tamper::Disk;
use minutebook_eventlog::store::{Commit, LogReader, LogWriter};
use minutebook_tests::server::Server;
use serde_json::json;

use super::browser::Browser;
use crate::support::{copy, open_store, options, patiently, start};

fn at(server: &Server, path: &str) -> String {
    format!("http://{}{path}", server.http)
}

/// Posts many messages over a few connections.
fn fill(server: &Server, room: &str, number: usize) {
    let lanes = 16;
    std::thread::scope(|scope| {
        for lane in 0..lanes {
            scope.spawn(move || {
                let mut connection = server.connect().unwrap();
                let path = format!("/api/rooms/{room}/messages");
                let headers = [("content-type", "application/json")];
                for n in (lane..number).step_by(lanes) {
                    let body = json!({ "agent_id": "alice", "text": format!("words {n}") });
                    let body = body.to_string();
                    let answer = connection.send("POST", &path, &headers, Some(body.as_bytes()));
                    assert_eq!(answer.unwrap().status, 201);
                }
            });
        }
    });
}

const SHOWN: &str = "document.querySelectorAll('.message').length";

#[test]
fn a_room_created_on_the_page_shows_what_is_posted_as_it_is_posted() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, "/"));
    browser.write("#description", "Agree on a date\nBy Friday");
    browser.click("#is_public");
    browser.click("#confirmations_needed option[value='1']");
    browser.click("#create button[type=submit]");
    let url = browser.until_at(|url| url.len() > at(&server, "/").len() + 30);
    let room = url.rsplit('/').next().unwrap().to_owned();
    assert_eq!(browser.text("h1"), "Agree on a date");
    let info = server.json("GET", &format!("/api/rooms/{room}"), None);
    let info = info.unwrap().json();
    assert_eq!(
        (&info["is_public"], &info["confirmations_needed"]),
        (&json!(true), &json!(1))
    );
    browser.until_text("#empty", "Nobody has spoken yet");
    browser.until_text("#empty pre", &format!("{url}?format=md"));
    browser.until_text("#status", "Live");
    browser.until_text("#verdict-heading .badge", "Clean");

    let posted = server.post(&room, "alice", "Hello from Alice").unwrap();
    browser.until_text("#m1 .text", "Hello from Alice");
    assert_eq!(browser.text("#m1 .agent"), "alice");
    let seq = posted.json()["log_seq"].to_string();
    assert!(browser.text("#m1 .place").contains(&format!("log {seq}")));
    browser.until_text("#spoken", "alice: Hello from Alice");
    browser.until("document.getElementById('empty').hidden");
    browser.until_text("#voices", "no signed message");
    // The verdict is about what was there; asked again, it is about all of it.
    browser.until_text("#verdict-when", "Newer events are not checked yet");
    browser.click("#verdict-again");
    browser.until("!document.getElementById('verdict-when').innerText.includes('Newer')");
    browser.expect_no_complaint();

    // The receipt that is linked is there.
    let receipt = browser.run("return document.querySelector('#m1 .place a:last-child').href");
    let path = receipt.as_str().unwrap().replace(&at(&server, ""), "");
    assert_eq!(server.json("GET", &path, None).unwrap().status, 200);
}

#[test]
fn what_agents_write_is_shown_and_never_obeyed() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let payloads = [
        "<script>window.hit = 1</script>",
        "<img src=x onerror='window.hit=1'>",
        "\"><svg onload=window.hit=1>",
        "javascript:window.hit=1",
        "</textarea></title><iframe srcdoc='<script>parent.hit=1</script>'>",
    ];
    let room = server.open_room(&payloads.join("\n")).unwrap();
    for (n, payload) in payloads.iter().enumerate() {
        server
            .post(&room, &format!("<b>agent {n}</b>"), payload)
            .unwrap();
    }
    server
        .post(&room, "alice", "a\u{202e}b\u{1b}[31mc\u{e0041}\u{e0042}d")
        .unwrap();
    let mut browser = Browser::open(1400, 900);
    for path in [format!("/{room}"), "/rooms".to_owned()] {
        browser.go(&at(&server, &path));
        if path.len() > 10 {
            browser.until("document.querySelectorAll('.message').length === 6");
        }
        let found = browser.run(
            "return [window.hit ?? null, document.querySelectorAll('main img, main script, \
             main iframe, main svg, main b').length]",
        );
        assert_eq!(found, json!([null, 0]), "{path}");
        browser.expect_no_complaint();
    }
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#m1 .text", payloads[0]);
    assert_eq!(browser.text("h1"), payloads[0]);
    assert_eq!(browser.text("#m2 .agent"), "<b>agent 1</b>");
    let odd = browser.text("#m6 .text");
    assert_eq!(odd, "aU+202EbU+001B[31mcU+E0041 ×2d");
}

#[test]
fn five_thousand_messages_are_a_window_that_moves() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("long").unwrap();
    fill(&server, &room, 5_000);
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until("document.getElementById('m5000')");
    browser.until_text("#span", "Messages 4,901 to 5,000 of 5,000");
    browser.until("document.documentElement.scrollHeight - innerHeight - scrollY < 5");

    // Back, again and again: what was far behind goes, and what is read stays where it is.
    for expected in [4_801, 4_701, 4_601, 4_501] {
        browser.run("scrollTo(0, 0)");
        browser.until(&format!("document.getElementById('m{expected}')"));
    }
    browser.until(&format!("{SHOWN} <= 300"));
    browser.until("!document.getElementById('m5000')");

    // New messages do not move the reader; the way back is offered.
    let before = browser.run("return scrollY");
    server.post(&room, "bob", "news").unwrap();
    browser.until_text("#latest", "1 new message");
    assert_eq!(browser.run("return scrollY"), before);
    browser.click("#latest");
    browser.until_text("#m5001 .text", "news");
    browser.until("document.documentElement.scrollHeight - innerHeight - scrollY < 5");

    // An address with a position begins there, and reads on to the end by scrolling.
    browser.go("about:blank");
    browser.go(&at(&server, &format!("/{room}#m2500")));
    browser.until("document.getElementById('m2500')?.getBoundingClientRect().top > 0");
    for _ in 0..3 {
        browser.run("scrollTo(0, document.documentElement.scrollHeight)");
        browser.until("document.getElementById('log').ariaBusy === 'false'");
    }
    browser.until("document.getElementById('m2650')");
    browser.until(&format!("{SHOWN} <= 300"));
    browser.run("document.getElementById('first').click()");
    browser.until("document.getElementById('m1')?.getBoundingClientRect().top > 0");
    browser.expect_no_complaint();
}

#[test]
fn a_broken_connection_is_told_in_words_and_loses_nothing() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("breaks").unwrap();
    server.post(&room, "alice", "before").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#status", "Live");
    // The server ends the connection; it comes back at the same address with the same log.
    let address = server.http.to_string();
    assert!(server.terminate().unwrap().success());
    browser.until_text("#status", "Connection lost");
    let server = restart(data.path(), &address);
    server.post(&room, "bob", "after").unwrap();
    browser.until_text("#m2 .text", "after");
    browser.until_text("#status", "Live");
    browser.until(&format!("{SHOWN} === 2"));
}

#[test]
fn the_badge_turns_when_the_record_was_tampered_with() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("tampered with").unwrap();
    let posted = server.post(&room, "alice", "what was said").unwrap().json();
    let seq = posted["log_seq"].as_u64().unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text(".bar .badge", "Clean");
    browser.until_text("#status", "Live");
    let address = server.http.to_string();
    assert!(server.terminate().unwrap().success());

    // Somebody takes the body of a record away, past every rule.
    let (mut writer, reader) = open_store(data.path());
    let commit = Commit {
        expected_seq: reader.head().unwrap().seq,
        erase: vec![seq],
        ..Commit::default()
    };
    writer.append(commit).unwrap();
    writer.stop().unwrap();
    drop((writer, reader));

    let _server = restart(data.path(), &address);
    browser.until_text("#status", "Live");
    browser.until_text("#verdict-when", "not checked yet");
    browser.click("#verdict-again");
    browser.until_text(".bar .badge", "Refuted");
    browser.until_text("#verdict-sentence", "Do not rely on it");
    browser.click("#verdict-more summary");
    browser.until_text("#verdict-details", &format!("log seq {seq}"));
}

#[test]
fn the_badge_turns_when_what_is_shown_was_tampered_with() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("tampered with").unwrap();
    server.post(&room, "alice", "it costs eight").unwrap();
    assert!(server.terminate().unwrap().success());
    let disk = patiently(|| Disk::open(data.path())).unwrap();
    let (key, mut row) = disk.rows("v.history.g1").unwrap().remove(0);
    let shown = row.windows(5).position(|bytes| bytes == b"eight");
    row[shown.unwrap()..][..5].copy_from_slice(b"seven");
    disk.put("v.history.g1", &key, Some(&row)).unwrap();
    drop(disk);
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#m1 .text", "it costs seven");
    browser.until_text(".bar .badge", "Refuted");
    browser.until_text("#verdict-sentence", "Do not rely on it");
}

#[test]
fn a_log_that_was_put_back_is_noticed_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (data, kept) = (folder.path().join("data"), folder.path().join("kept"));
    let server = start(&data);
    let room = server.open_room("rolled back").unwrap();
    server.post(&room, "alice", "stays").unwrap();
    let address = server.http.to_string();
    assert!(server.terminate().unwrap().success());
    copy(&data, &kept);

    let server = restart(&data, &address);
    server.post(&room, "alice", "goes").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#m2 .text", "goes");
    browser.until_text("#status", "Live");
    assert!(server.terminate().unwrap().success());
    let server = restart(&kept, &address);
    browser.until_text("#note", "put back");
    browser.until(&format!("{SHOWN} === 1"));
    server.post(&room, "bob", "and so it goes on").unwrap();
    browser.until_text("#m2 .text", "and so it goes on");
}

#[test]
fn a_flood_is_shown_whole_and_watched_to_its_end() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("flood").unwrap();
    server.post(&room, "alice", "first").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#status", "Live");
    fill(&server, &room, 700);
    browser.until_text("#span", "to 701 of 701");
    browser.until("document.documentElement.scrollHeight - innerHeight - scrollY < 5");
    let gaps = browser.run(
        "const ids = [...document.querySelectorAll('.message')].map((one) => \
         Number(one.id.slice(1))); \
         return [ids.length, ids.filter((id, i) => i && id !== ids[i - 1] + 1).length]",
    );
    assert_eq!(gaps, json!([300, 0]));
    browser.expect_no_complaint();
}

fn restart(data: &Path, address: &str) -> Server {
    let mut options = options(&["--rooms-per-hour", "0", "--messages-per-room", "0"]);
    options.http = Some(address.to_owned());
    crate::support::patiently(|| Server::start(&options, data)).unwrap()
}

#[test]
fn what_is_erased_goes_from_the_page_and_a_room_that_is_gone_says_so() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let room = server.open_room("erased").unwrap();
    server.post(&room, "alice", "too much").unwrap();
    server.post(&room, "alice", "stays").unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#m1 .text", "too much");
    browser.until_text("#status", "Live");
    let reason = json!({ "reason": "asked for" });
    let erased = server.json(
        "DELETE",
        &format!("/api/rooms/{room}/messages/1"),
        Some(&reason),
    );
    assert_eq!(erased.unwrap().status, 200);
    browser.until_text("#m1 .text", "This message was erased");
    browser.until_text("#m2 .text", "stays");
    let gone = server.json("DELETE", &format!("/api/rooms/{room}"), Some(&reason));
    assert_eq!(gone.unwrap().status, 200);
    browser.until_text("#status", "This room was erased");
}

#[test]
fn the_form_works_without_scripts() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    browser.without_scripts();
    browser.go(&at(&server, "/"));
    browser.write("#description", &"x".repeat(501));
    browser.click("#create button[type=submit]");
    browser.until_at(|url| url.ends_with("/rooms"));
    assert!(
        browser.text("#problem").contains("500"),
        "{}",
        browser.text("#problem")
    );
    let complaints = browser.complaints();
    let refused = |line: &String| line.contains("400 (Bad Request)");
    assert!(complaints.iter().all(refused), "{complaints:?}");
    browser.go(&at(&server, "/"));
    browser.write("#description", "Plain <form>");
    browser.click("#create button[type=submit]");
    let url = browser.until_at(|url| url.len() > at(&server, "/").len() + 30);
    assert_eq!(browser.text("h1"), "Plain <form>");
    assert!(browser.text("noscript").contains("messages as JSON"));
    let room = url.rsplit('/').next().unwrap();
    let info = server
        .json("GET", &format!("/api/rooms/{room}"), None)
        .unwrap();
    assert_eq!(info.json()["is_public"], json!(false));
    browser.expect_no_complaint();
}

#[test]
fn a_server_that_wants_a_key_is_read_with_one() {
    let data = tempfile::tempdir().unwrap();
    let room = {
        let server = start(data.path());
        let room = server.open_room("Kept close").unwrap();
        server.post(&room, "alice", "for holders of a key").unwrap();
        assert!(server.terminate().unwrap().success());
        room
    };
    let path = data.path().to_str().unwrap();
    let issued = crate::support::minutebook(&[
        "--data", path, "--json", "keys", "issue", "--label", "me", "--scope", "agent",
    ]);
    let issued: serde_json::Value = serde_json::from_slice(&issued.stdout).unwrap();
    let secret = issued["secret"].as_str().unwrap();
    let server = Server::start(&options(&["--require-key"]), data.path()).unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, &format!("/{room}")));
    browser.until("!document.getElementById('key-form').hidden");
    assert!(!browser.text("body").contains("Kept close"));
    browser.write("#key", secret);
    browser.click("#key-form button");
    browser.until_text("#m1 .text", "for holders of a key");
    browser.until_text("h1", "Kept close");
    browser.until_text("#status", "Live");
    browser.until_text("#verdict-heading .badge", "Clean");
}
