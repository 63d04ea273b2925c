//! A negotiation outlives its server and its rows.

use std::path::Path;

use minutebook_tests::server::Server;
use serde_json::json;

use crate::support::{self, post};

fn seen(server: &Server, room: &str, claim: &str) -> [String; 4] {
    let get = |rest: &str| {
        let path = format!("/api/rooms/{room}{rest}");
        server.json("GET", &path, None).unwrap().text()
    };
    [
        get("/context"),
        get("/handshakes"),
        get(&format!("/claims/{claim}")),
        get(""),
    ]
}

/// A room with an agreement, a dispute and a handshake.
fn negotiate(server: &Server) -> (String, String) {
    let opened = post(server, "/api/rooms", &json!({ "confirmations_needed": 1 }));
    let room = opened["uuid"].as_str().unwrap().to_owned();
    let path = |rest: &str| format!("/api/rooms/{room}{rest}");
    let open = json!({ "subject": "price", "value": "$8", "opened_by": "alice" });
    let thread = post(server, &path("/claims"), &open);
    let claim = thread["id"].as_str().unwrap().to_owned();
    for (who, kind) in [("bob", "confirm"), ("carol", "contradict")] {
        let revision = json!({ "agent_id": who, "kind": kind, "value": "$8" });
        post(
            server,
            &path(&format!("/claims/{claim}/revisions")),
            &revision,
        );
    }
    let context = server.json("GET", &path("/context"), None).unwrap().json();
    assert_eq!(context["discrepancies"].as_array().unwrap().len(), 1);
    let shake = json!({ "agent_id": "bob", "context_hash": context["context_hash"] });
    post(server, &path("/handshake"), &shake);
    (room, claim)
}

fn projections(data: &Path, args: &[&str]) -> String {
    let mut all = vec!["projections"];
    all.extend(args);
    all.extend(["--data", data.to_str().unwrap()]);
    let output = support::minutebook(&all);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[test]
fn restarts_and_rebuilds_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = support::start(&data);
    let (room, claim) = negotiate(&server);
    let before = seen(&server, &room, &claim);
    assert!(server.terminate().unwrap().success());
    let server = support::start(&data);
    assert_eq!(seen(&server, &room, &claim), before);
    assert!(server.terminate().unwrap().success());
    let checked = projections(&data, &["check"]);
    assert!(checked.contains("threads: ok"), "{checked}");
    let rebuilt = projections(&data, &["rebuild", "threads"]);
    assert!(rebuilt.contains("equal to the live rows"), "{rebuilt}");
    let server = support::start(&data);
    assert_eq!(seen(&server, &room, &claim), before);
    // The chain goes on where it was.
    let revision = json!({ "agent_id": "alice", "kind": "update", "value": "$9" });
    let path = format!("/api/rooms/{room}/claims/{claim}/revisions");
    let revised = post(&server, &path, &revision);
    let revisions = revised["revisions"].as_array().unwrap();
    assert_eq!(revisions[3]["prev_hash"], revisions[2]["row_hash"]);
    let verify = format!("/api/rooms/{room}/verify");
    let verdict = server.json("POST", &verify, None).unwrap().json();
    assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
}
