//! A model's words: quotes are the message's, subjects and values are English.

use minutebook_tests::model::{Model, Reply};
use serde_json::{Value, json};

use super::arbiter::{by, claim, context, is_clean, refresh, started};
use super::here::Here;

fn quoted(quote: &str) -> Value {
    json!({"new_claims": [{"subject": "Greeting", "value": "a hello", "quote": quote}]})
}

/// Whether an answer is in the room's log as it was given: a text in a body, which is a text too.
fn is_recorded(here: &Here, room: &str, answer: &Value) -> bool {
    let bundle = here.get(&format!("/api/log/bundle?room={room}")).text();
    let body = Value::from(answer.to_string()).to_string();
    let told = Value::from(body).to_string();
    let told = told.trim_matches('"');
    let mut lines = bundle.lines();
    lines.any(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line.to_string().contains(told)
    })
}

#[test]
fn a_quote_nobody_said_is_not_recorded() {
    for (quote, kept) in [
        ("never said", None),
        ("ello", None),
        ("hello", Some("hello")),
        ("\u{201c}hello  all\u{201d}", Some("hello all")),
        ("... all.", Some("all")),
    ] {
        let (model, here) = started();
        let room = here.room();
        here.post(&room, "alice", "Oh hello\n all");
        let answer = quoted(quote);
        model.then_says(&answer);
        assert_eq!(refresh(&here, &room, "")["extracted"], 1, "{quote}");
        let context = context(&here, &room);
        let last = &context["threads"][0]["last_revision"];
        assert_eq!(
            (last["quote"].as_str(), &last["source_msg_id"]),
            (kept, &json!(1)),
            "{quote}"
        );
        // What the model said is evidence, and stays as it was said.
        assert!(is_recorded(&here, &room, &answer), "{quote}");
        is_clean(&here, &room);
    }
}

#[test]
fn a_suggestion_quotes_what_was_said() {
    let (model, here) = started();
    let room = here.room();
    let body = json!({"subject": "Price", "value": "восемь", "opened_by": "alice"}).to_string();
    let opened = here.json("POST", &format!("/api/rooms/{room}/claims"), &body);
    let thread = opened.json()["id"].as_str().unwrap().to_owned();
    let confirm = |quote: &str| {
        json!({"updates": [{"thread_id": thread, "kind": "confirm", "value": "восемь",
            "quote": quote}]})
    };
    for (agent, quote) in [("bob", "Согласен"), ("carol", "I agree")] {
        here.post(&room, agent, "Согласен, пусть будет восемь");
        model.then_says(&confirm(quote));
    }
    // The value is the thread's own, in whatever language: a confirmation counts for that.
    assert_eq!(refresh(&here, &room, "")["skipped"], 0);
    assert_eq!(model.asked().len(), 2);
    let context = context(&here, &room);
    let heard = context["suggestions"].as_array().unwrap();
    let heard: Vec<_> = heard
        .iter()
        .map(|one| (one["agent_id"].as_str().unwrap(), one["quote"].as_str()))
        .collect();
    assert_eq!(heard, [("carol", None), ("bob", Some("Согласен"))]);
}

#[test]
fn an_answer_in_another_script_is_asked_for_again_with_the_reason() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "Цена: 8 долларов");
    model.then_says(&claim("Цена", "8 долларов"));
    let mut english = claim("Price", "8 dollars");
    english["new_claims"][0]["quote"] = "Цена: 8 долларов".into();
    model.then_says(&english);
    let done = refresh(&here, &room, "");
    assert_eq!(
        (&done["extracted"], &done["skipped"]),
        (&json!(1), &json!(0))
    );
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].user().starts_with(asked[0].user()));
    assert!(asked[1].user().contains("not in English"));
    let context = context(&here, &room);
    let thread = &context["threads"][0];
    assert_eq!(
        (&thread["subject"], &thread["last_revision"]["quote"]),
        (&json!("Price"), &json!("Цена: 8 долларов"))
    );
    assert_eq!(context["last_extraction_error"], Value::Null);
}

#[test]
fn a_message_no_model_puts_into_english_is_skipped_in_the_open() {
    let (model, here) = started();
    let room = here.room();
    here.post(&room, "alice", "Цена: 8 долларов");
    here.post(&room, "bob", "fine");
    let mixed = json!({"new_claims": [
        {"subject": "Price", "value": "$8"}, {"subject": "Срок", "value": "May"},
    ]});
    model.then_says(&mixed);
    model.then_says(&mixed);
    let done = refresh(&here, &room, "");
    assert_eq!(
        (
            &done["extracted"],
            &done["skipped"],
            &done["last_extracted_msg_id"]
        ),
        (&json!(0), &json!(1), &json!(2))
    );
    let told = context(&here, &room);
    assert_eq!(told["threads"], json!([]));
    assert_eq!(told["skipped_messages"], 1);
    let error = told["last_extraction_error"].as_str().unwrap();
    assert!(error.starts_with("message 1 was skipped: "), "{error}");
    assert!(error.contains("not in English"), "{error}");
    assert!(is_recorded(&here, &room, &mixed));
    is_clean(&here, &room);
    // Read again, in English, it is not skipped any more.
    model.then_says(&claim("Price", "$8"));
    assert_eq!(refresh(&here, &room, "?full=true")["extracted"], 1);
    assert_eq!(context(&here, &room)["last_extraction_error"], Value::Null);
}

#[test]
fn the_second_model_is_asked_when_the_first_knows_no_english() {
    let (first, second) = (Model::start().unwrap(), Model::start().unwrap());
    let here = Here::with(by(&[(&first, "model-1"), (&second, "model-2")]));
    let room = here.room();
    here.post(&room, "alice", "Цена: 8");
    first.otherwise(Reply::Says(claim("Цена", "8").to_string()));
    second.then_says(&claim("Price", "8"));
    let done = refresh(&here, &room, "");
    assert_eq!(
        (&done["extracted"], &done["model_used"]),
        (&json!(1), &json!("openai-chat:model-2"))
    );
    assert_eq!(first.asked().len(), 2);
}
