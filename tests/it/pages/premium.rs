//! Premium rooms on the pages: chosen, marked, and told when nobody can read.

use minutebook_tests::model::{Model, Reply};
use minutebook_tests::server::Server;
use serde_json::json;

use super::agreed::write;
use super::browser::Browser;
use crate::support::{options, start};

const UNREAD: [&str; 2] = ["--rooms-per-hour", "0"];

fn at(server: &Server, path: &str) -> String {
    format!("http://{}{path}", server.http)
}

#[test]
fn a_premium_room_is_chosen_on_the_front_page_marked_and_read() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path());
    let mut browser = Browser::open(1400, 900);
    for scripts in [true, false] {
        if !scripts {
            browser.without_scripts();
        }
        browser.go(&at(&server, "/"));
        browser.until_text("#premium-hint", "nothing leaves this server");
        browser.write("#description", "Read along");
        browser.click("#is_public");
        browser.click("#premium");
        browser.click("#confirmations_needed option[value='3']");
        browser.click("#create button[type=submit]");
        let url = browser.until_at(|url| url.len() > at(&server, "/").len() + 30);
        let room = url.rsplit('/').next().unwrap().to_owned();
        assert!(
            browser
                .text("#premium")
                .contains("The arbiter reads every message")
        );
        let info = server.json("GET", &format!("/api/rooms/{room}"), None);
        let info = info.unwrap().json();
        assert_eq!(
            [
                &info["protocol_mode"],
                &info["arbiter_active"],
                &info["confirmations_needed"]
            ],
            [&json!("premium"), &json!(true), &json!(3)]
        );
        if scripts {
            browser.until_text("#status", "Live");
            server.post(&room, "alice", "Price: $8 a unit").unwrap();
            browser.until_text(".thread .subject", "Price");
            browser.until_text("#threads-rule", "3 agents confirm its value");
            browser.until_text("#to-threads", "Threads 1");
            browser.expect_no_complaint();
        }
    }
    let rooms = server.connect().unwrap().send("GET", "/rooms", &[], None);
    assert_eq!(
        rooms.unwrap().text().matches("read by the arbiter").count(),
        2
    );
}

#[test]
fn without_an_arbiter_premium_cannot_be_chosen_and_a_premium_room_says_so() {
    let data = tempfile::tempdir().unwrap();
    let room = {
        let server = start(data.path());
        let premium = json!({ "protocol_mode": "premium" });
        let opened = write(&server, "/api/rooms", &premium).json();
        assert!(server.terminate().unwrap().success());
        opened["uuid"].as_str().unwrap().to_owned()
    };
    let mut off = options(&UNREAD);
    off.args.extend(["--arbiter", "off"].map(str::to_owned));
    let server = crate::support::patiently(|| Server::start(&off, data.path())).unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, "/"));
    browser.until("document.getElementById('premium').disabled");
    browser.until_text("#premium-hint", "runs without an arbiter");
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#premium", "this server runs without one now");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let asked = Some(&b"description=x&protocol_mode=premium"[..]);
    let mut connection = server.connect().unwrap();
    let refused = connection.send("POST", "/rooms", &form, asked).unwrap();
    assert_eq!(refused.status, 503);
    assert!(
        refused.text().contains("without Premium"),
        "{}",
        refused.text()
    );
    let document = server.connect().unwrap();
    let told = { document }.send("GET", &format!("/{room}?format=md"), &[], None);
    assert!(told.unwrap().text().contains("runs without one now"));
}

#[test]
fn an_outage_of_the_model_is_shown_and_goes_when_it_is_over() {
    let data = tempfile::tempdir().unwrap();
    let model = Model::start().unwrap();
    model.otherwise(Reply::Status(503, "down for <b>now</b>".to_owned()));
    let key = data.path().join("model.key");
    std::fs::write(&key, "sk-hush").unwrap();
    let folder = data.path().join("data");
    let mut asked = options(&UNREAD);
    let (url, file) = (model.url(), key.to_str().unwrap().to_owned());
    let arguments = [
        "--arbiter-url",
        &url,
        "--arbiter-model",
        "m-1",
        "--arbiter-key-file",
        &file,
    ];
    asked.args.extend(arguments.map(str::to_owned));
    let server = Server::start(&asked, &folder).unwrap();
    let mut browser = Browser::open(1400, 900);
    browser.go(&at(&server, "/"));
    browser.until_text("#premium-hint", "its server is sent what is said");
    let opened = write(
        &server,
        "/api/rooms",
        &json!({ "protocol_mode": "premium" }),
    )
    .json();
    let room = opened["uuid"].as_str().unwrap();
    browser.go(&at(&server, &format!("/{room}")));
    browser.until_text("#status", "Live");
    server.post(room, "alice", "We say Friday").unwrap();
    browser.until_text("#arbiter-trouble", "503");
    browser.until_text("#arbiter-by", "Last tried message #1");
    let found = json!({ "subject": "Day", "value": "Friday", "quote": "Friday" });
    model.otherwise(Reply::Says(json!({ "new_claims": [found] }).to_string()));
    browser.until_text(".thread .subject", "Day");
    browser.until("document.getElementById('arbiter-trouble').hidden");
    browser.until_text("#arbiter-by", "Last read message #1 by m-1");
    browser.expect_no_complaint();
}
