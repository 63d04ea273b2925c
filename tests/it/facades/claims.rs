//! Claim threads as their clients see them: shapes, texts, order of checks.

use minutebook_tests::http::Answer;
use serde_json::{Value, json};

use super::here::{Here, JSON, detail, redact};

/// A room where things are negotiated.
pub(super) struct Deal<'h> {
    pub(super) here: &'h Here,
    pub(super) room: String,
}

impl<'h> Deal<'h> {
    pub(super) fn new(here: &'h Here) -> Self {
        let room = here.room();
        Self { here, room }
    }

    /// A room with so many confirmations needed.
    pub(super) fn needing(here: &'h Here, confirmations: u8) -> Self {
        let body = json!({ "confirmations_needed": confirmations }).to_string();
        let opened = here.json("POST", "/api/rooms", &body);
        assert_eq!(opened.status, 201, "{}", opened.text());
        let room = opened.json()["uuid"].as_str().unwrap().to_owned();
        Self { here, room }
    }

    pub(super) fn path(&self, rest: &str) -> String {
        format!("/api/rooms/{}{rest}", self.room)
    }

    pub(super) fn get(&self, rest: &str) -> Answer {
        self.here.get(&self.path(rest))
    }

    pub(super) fn post(&self, rest: &str, body: &Value) -> Answer {
        self.here.json("POST", &self.path(rest), &body.to_string())
    }

    /// Opens a thread and returns its id.
    pub(super) fn open(&self, by: &str, subject: &str, value: &str) -> String {
        let body = json!({ "subject": subject, "value": value, "opened_by": by });
        let opened = self.post("/claims", &body);
        assert_eq!(opened.status, 201, "{}", opened.text());
        opened.json()["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn try_revise(&self, claim: &str, by: &str, kind: &str, value: &str) -> Answer {
        let body = json!({ "agent_id": by, "value": value, "kind": kind });
        self.post(&format!("/claims/{claim}/revisions"), &body)
    }

    /// Revises a thread and returns what became of it.
    pub(super) fn revise(&self, claim: &str, by: &str, kind: &str, value: &str) -> Value {
        let revised = self.try_revise(claim, by, kind, value);
        assert_eq!(revised.status, 201, "{}", revised.text());
        revised.json()
    }

    pub(super) fn context(&self) -> Value {
        self.get("/context").json()
    }

    pub(super) fn context_hash(&self) -> String {
        self.context()["context_hash"].as_str().unwrap().to_owned()
    }

    pub(super) fn shake_hands(&self, by: &str, hash: &str) -> Answer {
        self.post(
            "/handshake",
            &json!({ "agent_id": by, "context_hash": hash }),
        )
    }

    pub(super) fn verify(&self) -> Value {
        self.here.json("POST", &self.path("/verify"), "").json()
    }
}

/// With hashes and signatures replaced, too.
fn redact_hex(text: &str) -> String {
    let mut out = String::new();
    let mut run = String::new();
    for c in redact(text).chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            run.push(c);
            continue;
        }
        match run.len() {
            64 if run.bytes().any(|byte| byte != b'0') => out.push_str("<64>"),
            128 => out.push_str("<128>"),
            _ => out.push_str(&run),
        }
        run.clear();
        out.push(c);
    }
    out.trim_end().to_owned()
}

const REVISION: &str = concat!(
    r#"{"id":1,"claim_id":"<uuid>","value":"$8","kind":"propose","author_agent_id":"alice","#,
    r#""source_msg_id":1,"quote":"deliver","pubkey_hex":null,"signature_hex":null,"#,
    r#""created_at":"<seconds>","created_at_us":"<micros>","#,
    r#""prev_hash":"0000000000000000000000000000000000000000000000000000000000000000","#,
    r#""row_hash":"<64>","arbiter_signature_hex":"<128>","arbiter_pubkey_hex":"<64>","#,
    r#""surface":null,"position":null,"log_seq":4}"#
);

#[test]
fn a_thread_is_opened_and_shown_as_the_peer_does() {
    let here = Here::start();
    let deal = Deal::new(&here);
    here.post(&deal.room, "alice", "we deliver for $8");
    let body = concat!(
        r#"{"subject":"  Café Délai №7 — Price/kg!! ","value":"  $8  ","#,
        r#""opened_by":" alice ","source_msg_id":1,"quote":"deliver"}"#
    );
    let opened = here.json("POST", &deal.path("/claims"), body);
    assert_eq!(opened.status, 201, "{}", opened.text());
    assert_eq!(opened.header("minutebook-seq"), Some("4"));
    let head = concat!(
        r#"{"id":"<uuid>","subject":"Café Délai №7 — Price/kg!!","#,
        r#""subject_key":"caf-d-lai-7-price-kg","current_value":"$8","status":"proposed","#,
        r#""opened_by":"alice","revisions_count":1,"last_revision":"#
    );
    let times = r#","created_at":"<seconds>","updated_at":"<seconds>""#;
    let ours = r#","value_revision_id":1,"confirmations":0,"confirmations_needed":2}"#;
    let short = format!("{head}{REVISION}{times}{ours}");
    assert_eq!(redact_hex(&opened.text()), short);
    let id = opened.json()["id"].as_str().unwrap().to_owned();
    let shown = deal.get(&format!("/claims/{id}"));
    let whole = format!(r#"{head}{REVISION}{times},"revisions":[{REVISION}]{ours}"#);
    assert_eq!((shown.status, redact_hex(&shown.text())), (200, whole));
    let revisions = deal.get(&format!("/claims/{id}/revisions"));
    assert_eq!(redact_hex(&revisions.text()), format!("[{REVISION}]"));
    let context = redact_hex(&deal.get("/context").text());
    let expected =
        format!(r#"{{"room_uuid":"<uuid>","protocol_mode":"standard","threads":[{short}],"#)
            + r#""discrepancies":[],"context_hash":"<64>","last_extracted_msg_id":0,"#
            + r#""arbiter_active":false,"last_extraction_error":null,"sealed":false,"#
            + r#""last_revision_id":1,"confirmations_needed":2,"suggestions":[],"#
            + r#""last_extraction":null,"skipped_messages":0,"log_seq":4}"#;
    assert_eq!(context, expected);
}

#[test]
fn an_empty_room_has_the_empty_contexts_hash() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let context = deal.context();
    let empty = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
    assert_eq!(context["context_hash"], empty);
    assert_eq!(
        (&context["threads"], &context["discrepancies"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(deal.get("/handshakes").text(), "[]");
    assert_eq!(deal.shake_hands("alice", empty).status, 201);
}

#[test]
fn a_handshake_is_made_and_listed_as_the_peer_does() {
    let here = Here::start();
    let deal = Deal::new(&here);
    deal.open("alice", "price", "$8");
    let made = deal.shake_hands(" alice ", &deal.context_hash());
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.header("minutebook-seq"), Some("4"));
    let expected = concat!(
        r#"{"id":1,"agent_id":"alice","context_hash":"<64>","pubkey_hex":null,"#,
        r#""signature_hex":null,"created_at":"<seconds>","signature_valid":null,"#,
        r#""created_at_us":"<micros>","surface":null,"position":null,"log_seq":4}"#
    );
    assert_eq!(redact_hex(&made.text()), expected);
    let listed = deal.get("/handshakes");
    assert_eq!(redact_hex(&listed.text()), format!("[{expected}]"));
}

/// Posts each body and expects its refusal.
fn refused(deal: &Deal<'_>, rest: &str, cases: &[(Value, u16, &str)]) {
    for (body, status, text) in cases {
        let answer = deal.post(rest, body);
        let found = (answer.status, detail(&answer));
        assert_eq!(found, (*status, (*text).to_owned()), "{rest} {body}");
    }
}

#[test]
fn an_opening_is_judged_with_the_peers_texts_in_the_order_of_its_fields() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let with = |field: &str, value: Value| {
        let mut body = json!({ "subject": "s", "value": "v", "opened_by": "a" });
        body[field] = value;
        body
    };
    refused(
        &deal,
        "/claims",
        &[
            (json!({}), 400, "subject: Field required"),
            (json!({ "subject": "s" }), 400, "value: Field required"),
            (
                json!({ "subject": "s", "value": "v" }),
                400,
                "opened_by: Field required",
            ),
            (
                with("subject", "".into()),
                400,
                "subject: String should have at least 1 character",
            ),
            (
                with("subject", "é".repeat(201).into()),
                400,
                "subject: String should have at most 200 characters",
            ),
            (
                with("value", "é".repeat(501).into()),
                400,
                "value: String should have at most 500 characters",
            ),
            (
                with("opened_by", "é".repeat(101).into()),
                400,
                "opened_by: String should have at most 100 characters",
            ),
            (
                with("subject_key", "é".repeat(201).into()),
                400,
                "subject_key: String should have at most 200 characters",
            ),
            (
                with("quote", "é".repeat(301).into()),
                400,
                "quote: String should have at most 300 characters",
            ),
            (
                with("subject", "  ".into()),
                400,
                "subject: String should have at least 1 character",
            ),
        ],
    );
    assert_eq!(deal.context()["threads"], json!([]));
}

#[test]
fn a_source_message_is_an_integer_and_one_of_the_room() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let with = |field: &str, value: Value| {
        let mut body = json!({ "subject": "s", "value": "v", "opened_by": "a" });
        body[field] = value;
        body
    };
    let no_message = "source_msg_id does not belong to this room";
    let unclear = "source_msg_id: Input should be a valid integer, unable to parse string as an \
                   integer";
    let fraction = "source_msg_id: Input should be a valid integer, got a number with a \
                    fractional part";
    refused(
        &deal,
        "/claims",
        &[
            (with("source_msg_id", "x".into()), 400, unclear),
            (with("source_msg_id", 4.5.into()), 400, fraction),
            (
                with("source_msg_id", json!([])),
                400,
                "source_msg_id: Input should be a valid integer",
            ),
            (with("source_msg_id", 1.into()), 400, no_message),
            (with("source_msg_id", 0.into()), 400, no_message),
            (with("source_msg_id", (-1).into()), 400, no_message),
            (with("source_msg_id", 1e30.into()), 400, no_message),
        ],
    );
}

#[test]
fn what_the_peer_coerces_is_taken() {
    let here = Here::start();
    let deal = Deal::new(&here);
    here.post(&deal.room, "alice", "hi");
    for source in [json!("1"), json!(1.0), json!(true), json!(null)] {
        let body = json!({
            "subject": "s", "value": "v", "opened_by": "a", "quote": "",
            "source_msg_id": source, "subject_key": "   ",
        });
        let opened = deal.post("/claims", &body);
        assert_eq!(opened.status, 201, "{}", opened.text());
        let revision = &opened.json()["last_revision"];
        let expected = if source.is_null() {
            Value::Null
        } else {
            json!(1)
        };
        assert_eq!(
            (&revision["source_msg_id"], &revision["quote"]),
            (&expected, &Value::Null)
        );
        assert_eq!(opened.json()["subject_key"], "thread");
    }
}

/// The order in which a revision is judged: what is set right, where it is sent, and what is
/// then the first to be wrong.
type Steps<'a> = [(&'a [(&'a str, Value)], &'a str, u16, &'a str)];

fn walk(here: &Here, mut body: Value, steps: &Steps<'_>) {
    for (set, path, status, text) in steps {
        for (field, value) in *set {
            body[*field] = value.clone();
        }
        let answer = here.json("POST", path, &body.to_string());
        let found = (answer.status, detail(&answer));
        assert_eq!(found, (*status, (*text).to_owned()), "{path} {body}");
    }
}

#[test]
fn a_revisions_place_is_judged_after_its_fields() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let nil = "00000000-0000-0000-0000-000000000000";
    let of = |claim: &str| deal.path(&format!("/claims/{claim}/revisions"));
    let no_uuid = "/api/rooms/nope/claims/x/revisions";
    let no_room = format!("/api/rooms/{nil}/claims/{claim}/revisions");
    let (no_thread, upper, odd) = (of(nil), of(&claim.to_uppercase()), of("x"));
    let elsewhere = Deal::new(&here).path(&format!("/claims/{claim}/revisions"));
    let empty = "value: String should have at least 1 character";
    let pattern = "kind: String should match pattern '^(update|confirm|contradict|retract)$'";
    let none = "thread not found in this room";
    let owned = "only the thread owner (alice) can update it";
    let body = json!({ "agent_id": "bob", "value": "", "kind": "propose", "pubkey_hex": "zz" });
    let steps: &Steps<'_> = &[
        (&[], no_uuid, 400, empty),
        (&[("value", "$9".into())], no_uuid, 400, pattern),
        (&[("kind", "update".into())], no_uuid, 400, "Invalid UUID"),
        (&[], &no_room, 404, "Room not found"),
        (&[], &no_thread, 404, none),
        (&[], &upper, 404, none),
        (&[], &odd, 404, none),
        (&[], &elsewhere, 404, none),
        (&[], &of(&claim), 403, owned),
    ];
    walk(&here, body, steps);
}

#[test]
fn a_revision_is_judged_by_its_owner_its_signature_and_its_source() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let path = deal.path(&format!("/claims/{claim}/revisions"));
    let retract = "only the thread owner (alice) can retract it";
    let confirm = "the opener cannot confirm their own thread";
    let contradict = "the opener cannot contradict their own thread";
    let pair = "provide both pubkey_hex and signature_hex, or neither";
    let bad_key = "pubkey_hex must be 64 hex chars";
    let bad_sig = "signature_hex must be 128 hex chars";
    let unfit = "signature does not verify against revision canonical bytes";
    let source = "source_msg_id does not belong to this room";
    let body = json!({
        "agent_id": "bob", "value": "$9", "kind": "retract", "source_msg_id": 9,
        "pubkey_hex": "zz",
    });
    let opener = [("agent_id", "alice".into()), ("kind", "confirm".into())];
    let unsigned = [("pubkey_hex", "".into()), ("signature_hex", json!(null))];
    let key = super::claims_signed::pubkey(1);
    let steps: &Steps<'_> = &[
        (&[], &path, 403, retract),
        (&opener, &path, 400, confirm),
        (&[("kind", "contradict".into())], &path, 400, contradict),
        (&[("agent_id", "bob".into())], &path, 400, pair),
        (&[("signature_hex", "zz".into())], &path, 400, bad_key),
        (&[("pubkey_hex", key.into())], &path, 400, bad_sig),
        (
            &[("signature_hex", "ab".repeat(64).into())],
            &path,
            400,
            unfit,
        ),
        (&unsigned, &path, 400, source),
    ];
    walk(&here, body, steps);
    assert_eq!(
        deal.try_revise(&claim, "bob", "contradict", "$9").status,
        201
    );
    let revisions = deal.get(&format!("/claims/{claim}/revisions")).json();
    assert_eq!(revisions.as_array().unwrap().len(), 2);
}

#[test]
fn checks_of_a_handshake_come_in_the_peers_order() {
    let here = Here::start();
    let deal = Deal::new(&here);
    deal.open("alice", "price", "$8");
    let current = deal.context_hash();
    let stale = format!("context_hash stale (current: {current})");
    let with = |hash: &str, pubkey: &str, sig: &str| {
        json!({
            "agent_id": "bob", "context_hash": hash, "pubkey_hex": pubkey, "signature_hex": sig,
        })
    };
    let other = "0".repeat(64);
    let key = super::claims_signed::pubkey(1);
    let sig = "ab".repeat(64);
    refused(
        &deal,
        "/handshake",
        &[
            (
                json!({ "agent_id": "b" }),
                400,
                "context_hash: Field required",
            ),
            (
                with(&other[1..], "", ""),
                400,
                "context_hash: String should have at least 64 characters",
            ),
            (
                with(&format!("{other}0"), "", ""),
                400,
                "context_hash: String should have at most 64 characters",
            ),
            (with(&other, "zz", ""), 409, &stale),
            (with(&other, &key, &sig), 409, &stale),
            (with(&current.to_uppercase(), "", ""), 409, &stale),
            (
                with(&current, "zz", ""),
                400,
                "provide both pubkey_hex and signature_hex, or neither",
            ),
            (
                with(&current, "zz", "zz"),
                400,
                "pubkey_hex must be 64 hex chars",
            ),
            (
                with(&current, &key, "zz"),
                400,
                "signature_hex must be 128 hex chars",
            ),
            (
                with(&current, &key, &sig),
                400,
                "signature does not verify against context_hash",
            ),
        ],
    );
    assert_eq!(deal.get("/handshakes").text(), "[]");
    assert_eq!(deal.shake_hands("bob", &current).status, 201);
}

#[test]
fn no_such_room_is_the_same_answer_everywhere() {
    let here = Here::start();
    let nil = "00000000-0000-0000-0000-000000000000";
    for rest in ["context", "handshakes", "claims/x", "claims/x/revisions"] {
        let answer = here.get(&format!("/api/rooms/{nil}/{rest}"));
        assert_eq!(
            (answer.status, detail(&answer)),
            (404, "Room not found".to_owned())
        );
        let answer = here.get(&format!("/api/rooms/nope/{rest}"));
        assert_eq!(
            (answer.status, detail(&answer)),
            (400, "Invalid UUID".to_owned())
        );
    }
    let answer = here.get(&format!("/api/rooms/{nil}/claims"));
    assert_eq!(answer.status, 405);
}

#[test]
fn a_poll_that_finds_nothing_new_is_304() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let claim = deal.open("alice", "price", "$8");
    let other = deal.open("alice", "date", "May");
    let paths = [
        "/context".to_owned(),
        "/handshakes".to_owned(),
        format!("/claims/{claim}"),
        format!("/claims/{claim}/revisions"),
    ];
    let poll = |rest: &str, tag: &str| {
        here.ask("GET", &deal.path(rest), &[("if-none-match", tag)], "")
            .status
    };
    let tags: Vec<String> = paths
        .iter()
        .map(|rest| deal.get(rest).header("etag").unwrap().to_owned())
        .collect();
    let statuses = || -> Vec<u16> {
        let both = paths.iter().zip(&tags);
        both.map(|(rest, tag)| poll(rest, tag)).collect()
    };
    assert_eq!(statuses(), [304; 4]);
    here.post(&deal.room, "bob", "a message is no part of it");
    assert_eq!(statuses(), [304; 4]);
    deal.revise(&other, "bob", "confirm", "May");
    assert_eq!(statuses(), [200, 200, 304, 304]);
    deal.revise(&claim, "bob", "confirm", "$8");
    assert_eq!(statuses(), [200; 4]);
}

#[test]
fn a_repeat_with_its_key_does_nothing_twice() {
    let here = Here::start();
    let deal = Deal::new(&here);
    let keyed = |rest: &str, key: &str, body: &Value| {
        let headers = [JSON, ("idempotency-key", key)];
        here.ask("POST", &deal.path(rest), &headers, &body.to_string())
    };
    let open = json!({ "subject": "price", "value": "$8", "opened_by": "alice" });
    let first = keyed("/claims", "a", &open);
    let again = keyed("/claims", "a", &open);
    assert_eq!((again.status, again.text()), (201, first.text()));
    let claim = first.json()["id"].as_str().unwrap().to_owned();
    let revisions = format!("/claims/{claim}/revisions");
    let confirm = json!({ "agent_id": "bob", "value": "$8", "kind": "confirm" });
    let first = keyed(&revisions, "b", &confirm);
    let again = keyed(&revisions, "b", &confirm);
    assert_eq!((again.status, again.text()), (201, first.text()));
    assert_eq!(
        first.header("minutebook-seq"),
        again.header("minutebook-seq")
    );
    let shake = json!({ "agent_id": "bob", "context_hash": deal.context_hash() });
    let first = keyed("/handshake", "c", &shake);
    deal.open("carol", "date", "May");
    // The context has changed since, but this was done before.
    let again = keyed("/handshake", "c", &shake);
    assert_eq!((again.status, again.text()), (201, first.text()));
    let other = json!({ "agent_id": "bob", "context_hash": "0".repeat(64) });
    assert_eq!(keyed("/handshake", "c", &other).status, 409);
    assert_eq!(deal.get(&revisions).json().as_array().unwrap().len(), 2);
    assert_eq!(deal.get("/handshakes").json().as_array().unwrap().len(), 1);
    assert_eq!(deal.context()["threads"].as_array().unwrap().len(), 2);
}
