//! How far an agreement is: every transition, and who counts.

use serde_json::{Value, json};

use super::claims::Deal;
use super::here::{Here, detail};

fn status(thread: &Value) -> &str {
    thread["status"].as_str().unwrap()
}

/// What a row of the table starts from.
#[derive(Clone, Copy, Debug)]
enum Start {
    Proposed,
    Confirmed,
    Agreed,
    Disputed,
    Cancelled,
}

fn begin(deal: &Deal<'_>, start: Start) -> String {
    let claim = deal.open("op", "price", "$8");
    let confirm = |who: &str| {
        deal.revise(&claim, who, "confirm", "$8");
    };
    match start {
        Start::Proposed => {}
        Start::Confirmed => confirm("b"),
        Start::Agreed => ["b", "c"].into_iter().for_each(confirm),
        Start::Disputed => {
            ["b", "c"].into_iter().for_each(confirm);
            deal.revise(&claim, "d", "contradict", "$7");
        }
        Start::Cancelled => {
            deal.revise(&claim, "op", "retract", "$8");
        }
    }
    claim
}

#[test]
fn every_transition_of_the_table_happens() {
    let here = Here::start();
    let (start, proposed, agreed) = ("", "proposed", "agreed");
    let (disputed, cancelled) = ("disputed", "cancelled");
    let moves = [
        ("op", "update"),
        ("op", "retract"),
        ("b", "confirm"),
        ("x", "confirm"),
        ("x", "contradict"),
    ];
    let table = [
        (
            Start::Proposed,
            [proposed, cancelled, proposed, proposed, proposed],
        ),
        (
            Start::Confirmed,
            [proposed, cancelled, proposed, agreed, proposed],
        ),
        (
            Start::Agreed,
            [proposed, cancelled, agreed, agreed, disputed],
        ),
        // b and c still stand by it, so one confirmation more, or again, ends the dispute.
        (
            Start::Disputed,
            [disputed, cancelled, agreed, agreed, disputed],
        ),
        (Start::Cancelled, [cancelled; 5]),
    ];
    assert_eq!(start, "");
    for (start, expected) in table {
        for ((who, kind), expected) in moves.into_iter().zip(expected) {
            let deal = Deal::new(&here);
            let claim = begin(&deal, start);
            let before = deal.get(&format!("/claims/{claim}")).json();
            let value = if kind == "update" { "$9" } else { "$8" };
            let after = deal.revise(&claim, who, kind, value);
            assert_eq!(status(&after), expected, "{start:?}: {who} {kind}");
            assert_eq!(after["current_value"], value, "{start:?}: {who} {kind}");
            let counts = [&before, &after].map(|thread| thread["revisions_count"].as_u64());
            assert_eq!(counts[1], counts[0].map(|count| count + 1));
            assert_eq!(after["last_revision"]["kind"], kind);
        }
    }
}

#[test]
fn an_agreement_takes_two_others_and_an_update_takes_it_back() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let opened = deal.get(&format!("/claims/{claim}")).json();
    assert_eq!(
        (status(&opened), &opened["revisions_count"]),
        ("proposed", &json!(1))
    );
    assert_eq!(
        status(&deal.revise(&claim, "bob", "confirm", "$8")),
        "proposed"
    );
    let agreed = deal.revise(&claim, "carol", "confirm", " $8 ");
    assert_eq!(
        (status(&agreed), &agreed["revisions_count"]),
        ("agreed", &json!(3))
    );
    assert_eq!(agreed["confirmations"], 2);
    let updated = deal.revise(&claim, "alice", "update", "$9");
    assert_eq!(
        (status(&updated), &updated["current_value"]),
        ("proposed", &json!("$9"))
    );
    assert_eq!(
        (&updated["confirmations"], &updated["value_revision_id"]),
        (&json!(0), &json!(4))
    );
    // What was confirmed before counts for nothing now, and neither does another value.
    assert_eq!(
        status(&deal.revise(&claim, "bob", "confirm", "$9")),
        "proposed"
    );
    assert_eq!(
        status(&deal.revise(&claim, "carol", "confirm", "$8")),
        "proposed"
    );
    assert_eq!(
        status(&deal.revise(&claim, "carol", "confirm", "$9")),
        "agreed"
    );
    let retracted = deal.revise(&claim, "alice", "retract", "$9");
    assert_eq!(status(&retracted), "cancelled");
    let stranger = deal.try_revise(&claim, "bob", "update", "$1");
    assert_eq!(stranger.status, 403);
}

#[test]
fn two_parties_can_agree_where_the_room_says_so() {
    let here = Here::start();
    let deal = Deal::needing(&here, 1);
    let claim = deal.open("alice", "price", "$8");
    assert_eq!(
        status(&deal.revise(&claim, "bob", "confirm", "$8")),
        "agreed"
    );
    let room = here.get(&deal.path("")).json();
    assert_eq!(room["confirmations_needed"], 1);
    assert_eq!(deal.context()["confirmations_needed"], 1);
    assert_eq!(deal.context()["threads"][0]["confirmations_needed"], 1);
    assert_eq!(deal.verify()["verdict"], "CLEAN");
    let three = Deal::needing(&here, 3);
    let claim = three.open("alice", "price", "$8");
    for (who, expected) in [("b", "proposed"), ("c", "proposed"), ("d", "agreed")] {
        assert_eq!(
            status(&three.revise(&claim, who, "confirm", "$8")),
            expected
        );
    }
}

#[test]
fn how_many_confirmations_a_room_needs_is_from_1_to_16() {
    let here = Here::start();
    for (value, text) in [
        (json!(0), "Input should be greater than or equal to 1"),
        (json!(17), "Input should be less than or equal to 16"),
        (
            json!("x"),
            "Input should be a valid integer, unable to parse string as an integer",
        ),
    ] {
        let body = json!({ "confirmations_needed": value }).to_string();
        let answer = here.json("POST", "/api/rooms", &body);
        let expected = format!("confirmations_needed: {text}");
        assert_eq!((answer.status, detail(&answer)), (400, expected));
    }
    for (value, expected) in [
        (json!(null), 2),
        (json!(2), 2),
        (json!(16), 16),
        (json!("1"), 1),
    ] {
        let body = json!({ "confirmations_needed": value, "is_public": true }).to_string();
        let opened = here.json("POST", "/api/rooms", &body).json();
        assert_eq!(opened["confirmations_needed"], expected);
        let listed = here.get("/api/rooms?sort=new&limit=1").json();
        assert_eq!(listed["rooms"][0]["confirmations_needed"], expected);
    }
}

#[test]
fn contradicting_what_is_agreed_records_a_discrepancy_until_it_is_given_up() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    deal.revise(&claim, "x", "contradict", "$1");
    assert_eq!(
        deal.context()["discrepancies"],
        json!([]),
        "nothing was agreed yet"
    );
    deal.revise(&claim, "bob", "confirm", "$8");
    deal.revise(&claim, "carol", "confirm", "$8");
    here.post(&deal.room, "dan", "no, $7");
    let body =
        json!({ "agent_id": "dan", "value": "$7", "kind": "contradict", "source_msg_id": 1 });
    let revised = deal.post(&format!("/claims/{claim}/revisions"), &body);
    assert_eq!(status(&revised.json()), "disputed");
    let found = deal.context()["discrepancies"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1);
    let found = &found[0];
    let text = r#"dan contradicts the agreed value of "price", "$8": "$7""#;
    assert_eq!(found["description"], text);
    assert_eq!(
        (&found["id"], &found["severity"]),
        (&json!(1), &json!("high"))
    );
    assert_eq!(found["related_msg_id"], 1);
    assert_eq!(found["related_claim_id"], claim.as_str());
    assert_eq!(found["resolved"], false);
    // Another thread's dispute comes first: the newest does.
    let other = deal.open("alice", "date", "May");
    for who in ["bob", "carol"] {
        deal.revise(&other, who, "confirm", "May");
    }
    deal.revise(&other, "bob", "contradict", "May");
    let ids = |context: Value| -> Vec<u64> {
        let found = context["discrepancies"].as_array().unwrap().clone();
        found
            .iter()
            .map(|one| one["id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids(deal.context()), [2, 1]);
    assert_eq!(
        status(&deal.revise(&claim, "eve", "confirm", "$8")),
        "agreed"
    );
    assert_eq!(ids(deal.context()), [2, 1], "dan still objects");
    deal.revise(&claim, "dan", "confirm", "$8");
    assert_eq!(ids(deal.context()), [2]);
    deal.revise(&other, "alice", "retract", "May");
    assert_eq!(ids(deal.context()), [0; 0]);
}

#[test]
fn two_distinct_principals_with_the_current_hash_seal_the_deal() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let sealed = || deal.context()["sealed"].as_bool().unwrap();
    let hash = deal.context_hash();
    assert_eq!(deal.shake_hands("alice", &hash).status, 201);
    assert_eq!(deal.shake_hands("alice", &hash).status, 201);
    assert!(!sealed(), "one agent twice is one");
    assert_eq!(deal.shake_hands("bob", &hash).status, 201);
    assert!(sealed());
    deal.revise(&claim, "alice", "update", "$9");
    assert!(!sealed(), "nobody shook hands on this");
    assert_eq!(deal.shake_hands("carol", &hash).status, 409);
    assert_eq!(deal.get("/handshakes").json().as_array().unwrap().len(), 3);
}
