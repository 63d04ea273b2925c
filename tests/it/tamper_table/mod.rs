//! The tamper table (`verifier/TAMPER.md`): every way in which a negotiation's stored ledger was
//! changed unseen elsewhere, made on the database of a stopped server. The server that is started
//! on it must say so, and where.
//!
//! Each case has a room of its own: 3 messages (1 signed), two threads with 6 interleaved
//! revisions (1 signed), a discrepancy, 2 handshakes (1 signed).

mod cases;
mod scene;
mod stopped;

use std::path::Path;

use minutebook_tests::server::Server;
use serde_json::{Value, json};

use self::cases::{CASES, DELETED, Of};
use self::scene::{negotiate, post};
use self::stopped::{Places, Stopped};
use crate::support;

fn verify(server: &Server, room: &str) -> Value {
    let path = format!("/api/rooms/{room}/verify");
    let answer = server.json("POST", &path, None).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn every_tampering_of_the_table_is_refuted_and_names_what_was_tampered_with() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    let rooms: Vec<String> = CASES.iter().map(|_| negotiate(&server)).collect();
    let untouched = negotiate(&server);
    let clean = verify(&server, &rooms[0]);
    assert_eq!(clean["verdict"], "CLEAN", "{clean}");
    assert!(server.terminate().unwrap().success());
    let stopped = Stopped::open(&data);
    for ((_, edit, ..), room) in CASES.iter().zip(&rooms) {
        stopped.make(*edit, room);
    }
    drop(stopped);
    let server = support::start(&data);
    let mut wrong = Vec::new();
    for ((row, edit, kind, act), room) in CASES.iter().zip(&rooms) {
        let verdict = verify(&server, room);
        let details = &verdict["details"];
        let acts = ["message_id", "revision_id", "handshake_id"];
        let named = acts
            .iter()
            .find_map(|name| Some((*name, details[name].as_u64()?)));
        let said = verdict["verdict"] == "REFUTED";
        if !said || details["type"] != *kind || named != *act {
            let explanation = &verdict["explanation"];
            let kind = &details["type"];
            wrong.push(format!("{row} {edit:?}: {kind} {named:?} {explanation}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(verify(&server, &untouched)["verdict"], "CLEAN");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(path, target).unwrap();
        }
    }
}

#[test]
fn a_database_from_which_records_were_deleted_is_refused_and_the_gap_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    let room = negotiate(&server);
    assert!(server.terminate().unwrap().success());
    for (number, gone) in DELETED.iter().enumerate() {
        let copied = folder.path().join(number.to_string());
        copy(&data, &copied);
        let stopped = Stopped::open(&copied);
        let places = Places::of(&stopped.envelopes, &room);
        for of in *gone {
            stopped.put("envelopes", places.seq(*of), None);
            stopped.put("bodies", places.seq(*of), None);
        }
        drop(stopped);
        let path = copied.to_str().unwrap();
        let refused = support::minutebook(&["projections", "check", "--data", path]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(65), "{gone:?}: {said}");
        let named = |of: &Of| said.contains(&format!("events {} to ", places.seq(*of)));
        assert!(gone.iter().any(named), "{gone:?}: {said}");
    }
}

/// Row 21: what is put after the end that was signed.
#[test]
fn a_record_forged_after_the_signed_end_keeps_the_database_from_opening() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    negotiate(&server);
    assert!(server.terminate().unwrap().success());
    let stopped = Stopped::open(&data);
    let (key, last) = stopped.envelopes.last().unwrap();
    let seq = u64::from_be_bytes(key.as_slice().try_into().unwrap());
    stopped.put("envelopes", seq + 1, Some(last));
    drop(stopped);
    let path = data.to_str().unwrap();
    let refused = support::minutebook(&["projections", "check", "--data", path]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(65), "{said}");
    assert!(said.contains(&format!("{}", seq + 1)), "{said}");
}

/// Rows 4 to 6: the end is cut off without a trace by putting an older copy back. The server can
/// only say that it cannot know; a checkpoint kept outside knows.
#[test]
fn a_cut_tail_is_not_proven_absent_and_an_anchor_refutes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (data, older) = (folder.path().join("data"), folder.path().join("older"));
    let server = support::start(&data);
    let room = negotiate(&server);
    assert!(server.terminate().unwrap().success());
    copy(&data, &older);
    let server = support::start(&data);
    let said = json!({ "agent_id": "bob", "text": "one more" });
    post(&server, &format!("/api/rooms/{room}/messages"), &said);
    let anchor = server.json("GET", "/api/log/checkpoint", None).unwrap();
    let kept = folder.path().join("anchor");
    std::fs::write(&kept, &anchor.body).unwrap();
    assert!(server.terminate().unwrap().success());
    let server = support::start(&older);
    let verdict = verify(&server, &room);
    assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
    let open = verdict["not_proven"].as_array().unwrap();
    for name in ["cut_tail", "rollback", "rewrite"] {
        assert!(
            open.iter().any(|item| item["name"] == name),
            "{name}: {verdict}"
        );
    }
    let bundle = folder.path().join("bundle");
    let path = format!("/api/log/bundle?room={room}");
    let got = server.json("GET", &path, None).unwrap();
    std::fs::write(&bundle, &got.body).unwrap();
    let key = server
        .json("GET", "/api/arbiter/pubkey", None)
        .unwrap()
        .json();
    let vkey = key["vkey"].as_str().unwrap();
    let bundle = bundle.to_str().unwrap();
    let told = support::verify(&[bundle, "--key", vkey, "--anchor", kept.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&told.stdout);
    assert_eq!(told.status.code(), Some(1), "{text}");
    assert!(text.contains("truncated_below_anchor"), "{text}");
}
