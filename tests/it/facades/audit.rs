//! The log, for those who check it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minutebook_eventlog::format::checkpoint::Checkpoint;
use minutebook_eventlog::format::hash::{Hash, leaf_hash};
use minutebook_eventlog::format::key::VerifyingKey;
use minutebook_eventlog::format::proof::TlogProof;
use minutebook_eventlog::format::tree::verify_consistency;

use super::here::{Here, detail};

const ORIGIN: &str = "example.org/here";
const PROXIED: (&str, &str) = ("x-forwarded-for", "9.9.9.9");

fn open_checkpoint(here: &Here) -> Checkpoint {
    let vkey = here.get("/api/arbiter/pubkey").json()["vkey"]
        .as_str()
        .unwrap()
        .to_owned();
    let key = VerifyingKey::parse(&vkey).unwrap();
    let note = here.get("/api/log/checkpoint");
    assert_eq!(
        note.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    Checkpoint::open(&note.text(), ORIGIN, &[&key])
        .unwrap()
        .checkpoint
}

#[test]
fn checkpoints_are_signed_and_consistent_with_one_another() {
    let here = Here::start();
    let room = here.room();
    let before = open_checkpoint(&here);
    for n in 0..300 {
        here.post(&room, "alice", &n.to_string());
    }
    let after = open_checkpoint(&here);
    assert_eq!((before.size, after.size), (2, 302));
    let proof = here.get("/api/log/proof/consistency?from=2").json();
    assert_eq!(proof["to"].as_u64(), Some(302));
    let hashes: Vec<Hash> = proof["hashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hash| Hash::from_slice(&STANDARD.decode(hash.as_str().unwrap()).unwrap()).unwrap())
        .collect();
    verify_consistency(2, 302, &hashes, &before.root, &after.root).unwrap();
    for (query, status, text) in [
        ("", 400, "query.from: Field required"),
        (
            "?from=x",
            400,
            "query.from: Input should be a valid integer, unable to parse string as an integer",
        ),
        (
            "?from=5&to=4",
            400,
            "query.from: Input should be less than or equal to 4",
        ),
        ("?from=1&to=303", 404, "the log's size is 302"),
    ] {
        let answer = here.get(&format!("/api/log/proof/consistency{query}"));
        assert_eq!((answer.status, detail(&answer).as_str()), (status, text));
    }
}

#[test]
fn a_receipt_proves_its_record_to_whoever_may_see_the_room() {
    let here = Here::start();
    let (room, other) = (here.room(), here.room());
    let seq = here.post(&room, "alice", "hi");
    let path = format!("/api/log/receipt/{seq}");
    let own = here.ask("GET", &format!("{path}?room_id={room}"), &[PROXIED], "");
    assert_eq!(own.status, 200, "{}", own.text());
    let proof = TlogProof::parse(&own.text()).unwrap();
    let envelope = proof.extra.clone().unwrap();
    assert!(String::from_utf8(envelope.clone()).unwrap().contains(&room));
    proof
        .verify_in(&leaf_hash(&envelope), &open_checkpoint(&here))
        .unwrap();
    assert_eq!(proof.index, seq - 1);
    // Without the room's name only an auditor gets it, and another room's name does not help.
    assert_eq!(here.get(&path).status, 200);
    let status = |path: &str| here.ask("GET", path, &[PROXIED], "").status;
    assert_eq!(status(&path), 403);
    assert_eq!(status(&format!("{path}?room_id={other}")), 404);
    assert_eq!(
        status("/api/log/receipt/1"),
        200,
        "the log's own records are everybody's"
    );
    for missing in ["0", "99", "99999999999999999999999"] {
        assert_eq!(
            here.get(&format!("/api/log/receipt/{missing}")).status,
            404,
            "{missing}"
        );
    }
    for bad in ["x", "-1", "1.0", "%31x"] {
        assert_eq!(
            here.get(&format!("/api/log/receipt/{bad}")).status,
            400,
            "{bad}"
        );
    }
}

#[test]
fn tiles_hold_the_leaves_of_the_tree() {
    let here = Here::start();
    let room = here.room();
    for n in 0..298 {
        here.post(&room, "alice", &n.to_string());
    }
    let tile = |path: &str| here.get(&format!("/api/log/tile/{path}"));
    let page = here.reader().read(1, 300).unwrap();
    let leaves: Vec<u8> = page
        .iter()
        .flat_map(|(_, record)| leaf_hash(&record.envelope).as_bytes().to_vec())
        .collect();
    assert_eq!(tile("0/000").body, &leaves[..256 * 32]);
    assert_eq!(tile("0/001.p/44").body, &leaves[256 * 32..]);
    assert_eq!(tile("0/001.p/7").body, &leaves[256 * 32..263 * 32]);
    assert_eq!(tile("1/000.p/1").body.len(), 32);
    let entries = tile("entries/001.p/44");
    assert_eq!(
        entries.header("content-type"),
        Some("application/octet-stream")
    );
    let mut rest = entries.body.as_slice();
    for (_, record) in &page[256..] {
        let (length, tail) = rest.split_first_chunk::<2>().unwrap();
        let length = usize::from(u16::from_be_bytes(*length));
        assert_eq!(&tail[..length], record.envelope.as_slice());
        rest = &tail[length..];
    }
    assert!(rest.is_empty());
    for missing in [
        "0/001",
        "0/001.p/45",
        "0/002.p/1",
        "2/000.p/1",
        "63/000.p/1",
        "1/000",
    ] {
        assert_eq!(tile(missing).status, 404, "{missing}");
    }
    for bad in [
        "0/1",
        "0/000.p/0",
        "0/000.p/257",
        "x/000",
        "0/000/../000",
        "entries/",
        "64/000",
    ] {
        assert_eq!(tile(bad).status, 404, "{bad}");
    }
    let outside = here.ask("GET", "/api/log/tile/0/000", &[PROXIED], "");
    assert_eq!(outside.status, 403);
}

#[test]
fn a_rooms_bundle_and_the_logs_are_verified_clean_and_a_rooms_needs_no_scope() {
    let here = Here::start();
    let (room, other) = (here.room(), here.room());
    for n in 0..50 {
        here.post(&room, "alice", &n.to_string());
        here.post(&other, "bob", &n.to_string());
    }
    here.json(
        "DELETE",
        &format!("/api/rooms/{room}/messages/3"),
        r#"{"reason":"x"}"#,
    );
    let vkey = here.get("/api/arbiter/pubkey").json()["vkey"]
        .as_str()
        .unwrap()
        .to_owned();
    let policy = minutebook_verifier::Policy::of_key(&vkey).unwrap();
    let verdict = |bundle: &[u8]| {
        let options = minutebook_verifier::Options::default();
        let report = minutebook_verifier::verify(bundle, &policy, options)
            .unwrap()
            .report;
        (
            report.verdict.name(),
            report.counts.messages,
            report.findings.len(),
        )
    };
    let own = here.ask(
        "GET",
        &format!("/api/log/bundle?room={room}"),
        &[PROXIED],
        "",
    );
    assert_eq!(own.status, 200);
    assert_eq!(own.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(verdict(&own.body), ("CLEAN", 50, 0));
    assert!(!own.text().contains(&other));
    let whole = here.get("/api/log/bundle");
    assert_eq!(verdict(&whole.body), ("CLEAN", 100, 0));
    assert_eq!(
        here.ask("GET", "/api/log/bundle", &[PROXIED], "").status,
        403
    );
    let none = here.get("/api/log/bundle?room=00000000-0000-0000-0000-000000000000");
    assert_eq!(
        (none.status, detail(&none).as_str()),
        (404, "Room not found")
    );
    let bad = here.get("/api/log/bundle?room=nope");
    assert_eq!((bad.status, detail(&bad).as_str()), (400, "Invalid UUID"));
}

#[test]
fn a_room_verifies_clean_with_the_peers_summary_and_says_what_is_not_proven() {
    let here = Here::start();
    let room = here.room();
    here.post(&room, "alice", "hi");
    let json = here
        .json("POST", &format!("/api/rooms/{room}/verify"), "")
        .json();
    assert_eq!(json["verdict"].as_str(), Some("CLEAN"), "{json}");
    let details = &json["details"];
    assert_eq!(details["messages_checked"].as_u64(), Some(1));
    assert_eq!(details["messages_signed"].as_u64(), Some(0));
    for zero in [
        "revisions_checked",
        "revisions_pre_pcis",
        "handshakes_checked",
        "handshakes_signed",
    ] {
        assert_eq!(details[zero].as_u64(), Some(0), "{zero}");
    }
    let pubkey = here.get("/api/arbiter/pubkey").json()["pubkey_hex"].clone();
    assert_eq!(details["arbiter_pubkey"], pubkey);
    assert!(!json["not_proven"].as_array().unwrap().is_empty());
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
    assert_eq!(json["log"]["origin"].as_str(), Some(ORIGIN));
    let none = "/api/rooms/00000000-0000-0000-0000-000000000000/verify";
    let none = here.json("POST", none, "anything at all");
    assert_eq!(
        (none.status, detail(&none).as_str()),
        (404, "Room not found")
    );
}

#[test]
fn receipts_and_the_bundle_of_an_erased_room_are_the_auditors() {
    let here = Here::start();
    let room = here.room();
    let seq = here.post(&room, "alice", "hi");
    let erased = here.json("DELETE", &format!("/api/rooms/{room}"), r#"{"reason":"x"}"#);
    assert_eq!(erased.status, 200);
    for path in [
        format!("/api/log/receipt/{seq}?room_id={room}"),
        format!("/api/log/bundle?room={room}"),
    ] {
        let outside = here.ask("GET", &path, &[PROXIED], "");
        assert_eq!(
            (outside.status, detail(&outside).as_str()),
            (404, "Room not found"),
            "{path}"
        );
        assert_eq!(here.get(&path).status, 200, "{path}");
    }
}

#[test]
fn a_bundle_is_of_the_room_by_either_name() {
    let here = Here::start();
    let (room, other) = (here.room(), here.room());
    for name in ["room", "room_id"] {
        let answer = here.get(&format!("/api/log/bundle?{name}={room}"));
        let text = answer.text();
        assert_eq!(answer.status, 200);
        assert!(text.contains(&room) && !text.contains(&other), "{text}");
    }
}

#[test]
fn routes_beyond_the_dialect_refuse_what_they_do_not_know() {
    let here = Here::start();
    let room = here.room();
    let nil = format!("/api/rooms/{room}");
    for (method, path) in [
        ("GET", "/api/log/bundle"),
        ("GET", "/api/log/checkpoint"),
        ("GET", "/api/log/proof/consistency"),
        ("GET", "/api/log/receipt/1"),
        ("GET", "/api/log/tile/0/000.p/1"),
        ("GET", "/api/keys"),
        ("POST", "/api/keys"),
        ("GET", "/api/agents/alice/keys"),
        ("DELETE", nil.as_str()),
    ] {
        let answer = here.json(method, &format!("{path}?rom={room}"), "");
        assert_eq!(answer.status, 400, "{method} {path}");
        let text = detail(&answer);
        assert!(
            text.starts_with("query.rom: Unknown parameter; this route takes "),
            "{text}"
        );
    }
    for path in [
        "/api/rooms",
        nil.as_str(),
        "/api/arbiter/pubkey",
        "/healthz",
    ] {
        assert_eq!(here.get(&format!("{path}?rom=1")).status, 200, "{path}");
    }
}
