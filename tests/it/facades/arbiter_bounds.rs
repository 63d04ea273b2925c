//! What the arbiter must not give away, and what one room must not take from others.

use minutebook::policies::arbiter::ArbiterConfig;
use minutebook_tests::model::{Model, Reply};
use serde_json::json;

use super::arbiter::{KEY, by, claim, context, refresh, started};
use super::arbiter_premium::{premium, wait_for};
use super::here::Here;

/// What a server says of a failure is kept for all readers of the room: not so the key in it.
#[test]
fn a_key_that_a_server_repeats_is_shown_and_recorded_nowhere() {
    let model = Model::start().unwrap();
    let here = Here::with(by(&[(&model, "model-1")]));
    let room = here.room();
    here.post(&room, "alice", "zero");
    // One that can be read: else the fault may be in what all prompts share.
    refresh(&here, &room, "");
    here.post(&room, "alice", "one");
    here.post(&room, "alice", "two");
    model.then(Reply::Status(401, format!("no such key: {KEY}")));
    let done = refresh(&here, &room, "");
    let error = done["error"].as_str().unwrap();
    assert!(
        error.contains("401") && error.contains("no such key"),
        "{error}"
    );
    model.then(Reply::Status(400, format!("{KEY} may not ask that")));
    let echoed = json!({"new_claims": [{"subject": "Key", "value": KEY, "quote": KEY}]});
    model.then_says(&echoed);
    let done = refresh(&here, &room, "");
    assert_eq!(
        (&done["skipped"], &done["extracted"]),
        (&json!(1), &json!(1))
    );
    for path in [
        format!("/api/rooms/{room}"),
        format!("/api/rooms/{room}/context"),
        "/api/log/bundle".to_owned(),
        "/metrics".to_owned(),
    ] {
        let answer = here.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains(KEY), "{path}: {}", answer.text());
    }
}

/// However much is posted in a room whose model takes its time, others are read beside it.
#[test]
fn a_busy_room_keeps_no_other_from_being_read() {
    let (model, here) = started();
    model.hold(true);
    let (busy, quiet) = (premium(&here), premium(&here));
    here.post(&busy, "alice", "busy");
    model.wait_for(1);
    for _ in 0..20 {
        here.post(&busy, "alice", "busy");
    }
    here.post(&quiet, "bob", "a word from the quiet room");
    model.wait_for(2);
    let asked = model.asked();
    assert!(
        asked[1].user().contains("the quiet room"),
        "{}",
        asked[1].user()
    );
    model.hold(false);
    wait_for(here.addr(), &busy, "room.context_extracted", 21);
    wait_for(here.addr(), &quiet, "room.context_extracted", 1);
    assert_eq!(model.asked().len(), 22, "each message once");
}

#[test]
fn calls_are_counted_by_how_they_ended() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "one");
    model.then(Reply::Status(503, "later".to_owned()));
    refresh(&here, &room, "");
    model.then(Reply::Says("<html>no</html>".to_owned()));
    model.then_says(&claim("Price", "$8"));
    refresh(&here, &room, "");
    assert_eq!(context(&here, &room)["last_extraction_error"], json!(null));
    let metrics = here.get("/metrics").text();
    let calls = "minutebook_model_calls_total";
    for line in [
        format!("{calls}{{outcome=\"unavailable\"}} 1"),
        format!("{calls}{{outcome=\"nonsense\"}} 1"),
        format!("{calls}{{outcome=\"answered\"}} 1"),
        format!("{calls}{{outcome=\"doubtful\"}} 0"),
        "minutebook_model_seconds_count 3".to_owned(),
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line}\n{metrics}"
        );
    }
    let off = Here::with(|config| config.arbiter = ArbiterConfig::Off);
    assert!(
        !off.get("/metrics").text().contains(calls),
        "there is nothing to count"
    );
}
