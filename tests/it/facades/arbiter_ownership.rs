//! Whose words move what, and what is read late, again, or while it is taken away.

use minutebook_tests::model::Reply;
use serde_json::{Value, json};

use super::arbiter::{claim, context, is_clean, refresh, revise, started};
use super::here::Here;

fn patterns() -> Here {
    Here::with(|config| config.refreshes_per_hour = 0)
}

#[test]
fn reading_again_turns_nothing_back() {
    let here = patterns();
    let room = here.room();
    for (agent, text) in [
        ("alice", "Price: $10"),
        ("bob", "Price: $10"),
        ("alice", "Price: $8"),
    ] {
        here.post(&room, agent, text);
        refresh(&here, &room, "");
    }
    let before = context(&here, &room);
    assert_eq!(before["threads"][0]["current_value"], "$8");
    refresh(&here, &room, "?full=true");
    let after = context(&here, &room);
    for field in ["threads", "discrepancies", "suggestions", "context_hash"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    is_clean(&here, &room);
}

#[test]
fn what_was_agreed_since_is_no_discrepancy_of_an_older_message() {
    let here = patterns();
    let room = here.room();
    here.post(&room, "alice", "Price: $10");
    here.post(&room, "alice", "Price: $8");
    refresh(&here, &room, "");
    let thread = context(&here, &room)["threads"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for agent in ["bob", "carol"] {
        assert_eq!(revise(&here, &room, &thread, agent, "confirm", "$8"), 201);
    }
    let again = refresh(&here, &room, "?full=true");
    assert_eq!(
        (&again["extracted"], &again["discrepancies_found"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(context(&here, &room)["threads"][0]["status"], "agreed");
}

#[test]
fn only_who_began_a_matter_has_the_arbiter_move_it() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "Price is $8");
    model.then_says(&claim("Price", "$8"));
    refresh(&here, &room, "");
    let thread = context(&here, &room)["threads"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for kind in ["update", "retract"] {
        here.post(&room, "mallory", "the price is $1, or nothing");
        let update = json!({"updates": [{"thread_id": thread, "kind": kind, "value": "$1"}]});
        model.then_says(&update);
        assert_eq!(refresh(&here, &room, "")["extracted"], 0, "{kind}");
    }
    let told = context(&here, &room);
    let shown = &told["threads"][0];
    assert_eq!(
        (&shown["current_value"], &shown["status"]),
        (&json!("$8"), &json!("proposed"))
    );
    // That there is another value does not get lost: its agent can contradict.
    let heard = told["suggestions"].as_array().unwrap();
    let heard: Vec<_> = heard
        .iter()
        .map(|one| (&one["agent_id"], &one["kind"], &one["value"]))
        .collect();
    let (who, kind, value) = (json!("mallory"), json!("contradict"), json!("$1"));
    assert_eq!(heard, [(&who, &kind, &value)]);
    // Who began the matter moves it, and is not said to object.
    here.post(&room, "alice", "the price is $7");
    model.then_says(&json!({"updates": [{"thread_id": thread, "kind": "update", "value": "$7"}]}));
    assert_eq!(refresh(&here, &room, "")["extracted"], 1);
    assert_eq!(context(&here, &room)["suggestions"], json!([]));
}

/// A message that is erased while a model reads it leaves nothing of what the model said.
#[test]
fn a_message_erased_while_it_is_read_leaves_nothing() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "my secret is 4711");
    model.hold(true);
    model.then_says(&claim("Secret", "4711"));
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| refresh(&here, &room, ""));
        model.wait_for(1);
        let path = format!("/api/rooms/{room}/messages/1");
        let erased = here.json("DELETE", &path, r#"{"reason":"a slip"}"#);
        assert_eq!(erased.status, 200, "{}", erased.text());
        model.hold(false);
        let done = reading.join().unwrap();
        assert_eq!(
            (&done["extracted"], &done["skipped"]),
            (&json!(0), &json!(1))
        );
    });
    let bundle = here.get("/api/log/bundle").text();
    assert!(!bundle.contains("4711"), "what was erased is in the log");
    is_clean(&here, &room);
}

#[test]
fn a_room_closed_while_it_is_read_says_what_is_left() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "one");
    here.post(&room, "alice", "two");
    refresh(&here, &room, "");
    here.post(&room, "alice", "three");
    here.post(&room, "alice", "four");
    model.hold(true);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| refresh(&here, &room, ""));
        model.wait_for(3);
        let path = format!("/api/rooms/{room}/close");
        let closed = here.json("POST", &path, r#"{"reason":"done"}"#);
        assert_eq!(closed.status, 200, "{}", closed.text());
        model.hold(false);
        let done = reading.join().unwrap();
        assert_eq!(
            (&done["remaining"], &done["next_msg_id"], &done["error"]),
            (&json!(2), &json!(3), &json!("the room takes nothing"))
        );
        assert_eq!(done["last_extracted_msg_id"], 2);
    });
    is_clean(&here, &room);
}

/// A server that takes none of our prompts is not a room full of poison.
#[test]
fn a_model_that_takes_no_prompt_at_all_skips_nothing() {
    let (model, here) = started();
    let room = here.room();
    for n in 0..3 {
        here.post(&room, "alice", &format!("number {n}"));
    }
    model.otherwise(Reply::Status(
        400,
        "unknown field response_format".to_owned(),
    ));
    for _ in 0..10 {
        let done = refresh(&here, &room, "");
        assert_eq!(
            (&done["skipped"], &done["remaining"]),
            (&json!(0), &json!(3)),
            "{done}"
        );
    }
}

#[test]
fn a_context_is_not_known_any_more_when_a_message_is_erased_or_the_room_closed() {
    let (model, here) = started();
    let room = here.room();
    let path = format!("/api/rooms/{room}/context");
    let body = json!({"subject": "Price", "value": "$8", "opened_by": "ann"}).to_string();
    let thread = here
        .json("POST", &format!("/api/rooms/{room}/claims"), &body)
        .json();
    here.post(&room, "bob", "fine with me");
    let confirm = json!({"updates": [
        {"thread_id": thread["id"], "kind": "confirm", "value": "$8", "quote": "fine"},
    ]});
    model.then_says(&confirm);
    refresh(&here, &room, "");
    let tag = || here.get(&path).header("etag").unwrap().to_owned();
    assert_eq!(context(&here, &room)["suggestions"][0]["quote"], "fine");
    let before = tag();
    here.json(
        "DELETE",
        &format!("/api/rooms/{room}/messages/1"),
        r#"{"reason":"a slip"}"#,
    );
    let erased = tag();
    assert_ne!(before, erased);
    assert_eq!(
        context(&here, &room)["suggestions"],
        Value::Array(Vec::new())
    );
    here.json(
        "POST",
        &format!("/api/rooms/{room}/close"),
        r#"{"reason":"done"}"#,
    );
    assert_ne!(erased, tag());
    is_clean(&here, &room);
}
