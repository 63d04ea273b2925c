//! Models that fail, and messages that make them fail.

use minutebook_tests::model::{Model, Reply};
use serde_json::{Value, json};

use super::arbiter::{KEY, by, claim, context, is_clean, refresh, started};
use super::here::Here;

fn info(here: &Here, room: &str) -> Value {
    here.get(&format!("/api/rooms/{room}")).json()
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "one");
    model.then(Reply::Says("I would rather not.".to_owned()));
    model.then_says(&claim("A", "1"));
    assert_eq!(refresh(&here, &room, "")["extracted"], 1);
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].user().starts_with(asked[0].user()));
    assert!(asked[1].user().contains("not that JSON object"));
}

#[test]
fn the_second_model_answers_when_the_first_does_not() {
    for reply in [
        Reply::Says("no".to_owned()),
        Reply::Status(500, "oops".to_owned()),
        Reply::Status(401, "who are you".to_owned()),
        Reply::HangsUp,
    ] {
        let (first, second) = (Model::start().unwrap(), Model::start().unwrap());
        let here = Here::with(by(&[(&first, "model-1"), (&second, "model-2")]));
        let room = here.room();
        here.post(&room, "alice", "one");
        first.otherwise(reply);
        second.then_says(&claim("A", "1"));
        let done = refresh(&here, &room, "");
        assert_eq!(
            (&done["extracted"], &done["model_used"]),
            (&json!(1), &json!("openai-chat:model-2"))
        );
        assert_eq!(context(&here, &room)["last_extraction_error"], Value::Null);
    }
}

/// A message no model can read keeps nothing else from being read, and is not hidden.
#[test]
fn a_poisonous_message_is_skipped_in_the_open() {
    for reply in [
        Reply::Says("no".to_owned()),
        Reply::Status(400, "content policy".to_owned()),
        Reply::Status(413, String::new()),
        Reply::Endless(2 << 20),
    ] {
        let (model, here) = started();
        let room = here.room();
        for text in ["one", "poison", "three"] {
            here.post(&room, "alice", text);
        }
        model.then_says(&claim("A", "1"));
        model.then(reply.clone());
        if matches!(reply, Reply::Says(_)) {
            model.then(reply.clone());
        }
        model.then_says(&claim("C", "3"));
        let done = refresh(&here, &room, "");
        assert_eq!(
            (&done["extracted"], &done["skipped"]),
            (&json!(2), &json!(1)),
            "{reply:?}: {done}"
        );
        assert_eq!(
            (&done["last_extracted_msg_id"], &done["error"]),
            (&json!(3), &Value::Null)
        );
        let context = context(&here, &room);
        let told = context["last_extraction_error"].as_str().unwrap();
        assert!(told.starts_with("message 2 was skipped: "), "{told}");
        assert_eq!(context["skipped_messages"], 1);
        assert_eq!(info(&here, &room)["last_extraction_error"], told);
        is_clean(&here, &room);
        // Read later, it is told no more.
        refresh(&here, &room, "?full=true");
        assert_eq!(
            super::arbiter::context(&here, &room)["last_extraction_error"],
            Value::Null
        );
    }
}

#[test]
fn an_outage_skips_nothing_and_heals() {
    for reply in [
        Reply::HangsUp,
        Reply::Status(401, "bad key".to_owned()),
        Reply::Status(429, "slow down".to_owned()),
        Reply::Status(503, "later".to_owned()),
        Reply::Status(200, "<html>a proxy</html>".to_owned()),
    ] {
        let (model, here) = started();
        let room = here.room();
        here.post(&room, "alice", "one");
        here.post(&room, "alice", "two");
        model.otherwise(reply.clone());
        for _ in 0..10 {
            let done = refresh(&here, &room, "");
            assert_eq!(
                (&done["last_extracted_msg_id"], &done["remaining"]),
                (&json!(0), &json!(2)),
                "{reply:?}"
            );
            assert!(done["error"].is_string(), "{done}");
        }
        let told = context(&here, &room);
        assert_eq!(
            told["last_extraction_error"],
            info(&here, &room)["last_extraction_error"]
        );
        assert!(told["last_extraction_error"].is_string());
        // One failure told once: ten attempts are one record.
        let seq = told["log_seq"].as_u64().unwrap();
        assert_eq!(seq, told["last_extraction"]["log_seq"].as_u64().unwrap());
        model.otherwise(Reply::Says(claim("A", "1").to_string()));
        let done = refresh(&here, &room, "");
        assert_eq!(
            (&done["last_extracted_msg_id"], &done["error"]),
            (&json!(2), &Value::Null)
        );
        assert_eq!(context(&here, &room)["last_extraction_error"], Value::Null);
        is_clean(&here, &room);
    }
}

#[test]
fn a_context_changes_its_tag_with_its_error() {
    let (model, here) = started();
    let room = here.room();
    let path = format!("/api/rooms/{room}/context");
    here.post(&room, "alice", "one");
    let tag = |of: &str| here.get(of).header("etag").unwrap().to_owned();
    let info = format!("/api/rooms/{room}");
    let (before, info_before) = (tag(&path), tag(&info));
    model.otherwise(Reply::HangsUp);
    refresh(&here, &room, "");
    let (failed, info_failed) = (tag(&path), tag(&info));
    assert!(before != failed && info_before != info_failed);
    let known = here.ask("GET", &path, &[("if-none-match", &failed)], "");
    assert_eq!(known.status, 304);
}

/// A server that fails over a message is not gone: it is asked again, then the message is passed.
#[test]
fn a_message_that_breaks_the_models_server_is_given_up_in_the_end() {
    let (model, here) = started();
    let (room, other) = (here.room(), here.room());
    here.post(&room, "alice", "poison");
    here.post(&room, "alice", "two");
    model.then(Reply::Status(500, "crashed".to_owned()));
    assert_eq!(refresh(&here, &room, "")["remaining"], 2);
    here.post(&other, "alice", "fine");
    assert_eq!(refresh(&here, &other, "")["last_extracted_msg_id"], 1);
    model.then(Reply::Status(500, "crashed".to_owned()));
    assert_eq!(refresh(&here, &room, "")["remaining"], 2);
    model.then(Reply::Status(500, "crashed".to_owned()));
    let done = refresh(&here, &room, "");
    assert_eq!(
        (&done["skipped"], &done["last_extracted_msg_id"]),
        (&json!(1), &json!(2))
    );
}

/// A server may close a connection that it has kept for a while, just as the next call begins.
#[test]
fn no_call_depends_on_a_connection_that_the_models_server_kept() {
    let model = Model::start().unwrap();
    let here = Here::with(by(&[(&model, "model-1")]));
    let room = here.room();
    for calls in 1..=3 {
        here.post(&room, "alice", "one");
        assert_eq!(refresh(&here, &room, "")["error"], Value::Null);
        assert_eq!((model.asked().len(), model.connections()), (calls, calls));
    }
}

#[test]
fn the_key_goes_to_no_other_place() {
    let (model, thief) = (Model::start().unwrap(), Model::start().unwrap());
    let here = Here::with(by(&[(&model, "model-1")]));
    let room = here.room();
    here.post(&room, "alice", "one");
    model.otherwise(Reply::Redirect(thief.url()));
    let done = refresh(&here, &room, "");
    assert!(done["error"].as_str().unwrap().contains("307"), "{done}");
    assert!(thief.asked().is_empty());
    for path in ["", "/context"] {
        let text = here.get(&format!("/api/rooms/{room}{path}")).text();
        assert!(!text.contains(KEY), "{text}");
    }
}

#[test]
fn what_a_model_says_at_length_has_a_bound() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "one");
    let many: Vec<_> = (0..10_000)
        .map(|n| json!({"subject": format!("Matter {n}"), "value": n}))
        .collect();
    model.then_says(&json!({ "new_claims": many }));
    let done = refresh(&here, &room, "");
    assert_eq!(done["extracted"], 32, "{done}");
    is_clean(&here, &room);
}
