//! What readers are shown is compared with the log: rows that were tampered with refute a room.

use std::sync::atomic::{AtomicBool, Ordering};

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::store::{Row, RowOp, Space};
use minutebook_projections::Kind;
use serde_json::{Value, json};

use super::claims::Deal;
use super::claims_signed::revision_v2;
use super::here::Here;

/// A room in which everything happened that rows tell of: 3 messages, two threads with 6
/// interleaved revisions (1 signed), a discrepancy and 2 handshakes.
pub(super) fn negotiate(here: &Here) -> Deal<'_> {
    let deal = Deal::needing(here, 1);
    for (agent, text) in [
        ("alice", "I can deliver nine"),
        ("bob", "in the month of May"),
        ("carol", "for eight dollars"),
    ] {
        here.post(&deal.room, agent, text);
    }
    let price = deal.open("alice", "the price", "eight dollars");
    let date = deal.open("bob", "the date", "month of May");
    deal.revise(&price, "bob", "confirm", "eight dollars");
    let signed = revision_v2(&deal, &date, ("alice", 3), ("confirm", "month of May", 2));
    let revised = deal.post(&format!("/claims/{date}/revisions"), &signed);
    assert_eq!(revised.status, 201, "{}", revised.text());
    deal.revise(&date, "carol", "contradict", "month of June");
    deal.revise(&price, "alice", "update", "seven dollars");
    for agent in ["alice", "bob"] {
        let hash = deal.context_hash();
        assert_eq!(deal.shake_hands(agent, &hash).status, 201);
    }
    deal
}

pub(super) fn id(deal: &Deal<'_>) -> RoomId {
    RoomId::parse_canonical(&deal.room).unwrap()
}

pub(super) fn space(here: &Here, kind: Kind) -> Space {
    here.engine().views().of(kind)
}

/// All rows of a room that one of its projections keeps under its id, in key order.
pub(super) fn rows_of(deal: &Deal<'_>, kind: Kind) -> Vec<Row> {
    let reader = deal.here.reader();
    let all = reader.range(space(deal.here, kind), &[0], &[0xff; 8], false, usize::MAX);
    let room = id(deal);
    let is_its = |key: &[u8]| key.get(1..17) == Some(&room.uuid().as_bytes()[..]);
    let rows = all.unwrap().into_iter();
    rows.filter(|(key, _)| is_its(key)).collect()
}

pub(super) fn put(here: &Here, kind: Kind, key: &[u8], value: Option<&[u8]>) {
    let op = RowOp {
        space: space(here, kind),
        key: key.to_vec(),
        value: value.map(<[u8]>::to_vec),
    };
    here.rows().append_rows(vec![op]).unwrap();
}

/// The verdict, which is always an answer.
pub(super) fn verdict(deal: &Deal<'_>) -> Value {
    let answer = deal.post("/verify", &json!({}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

pub(super) fn refuted(deal: &Deal<'_>, kind: Kind, what: &str) -> Value {
    let verdict = verdict(deal);
    assert_eq!(verdict["verdict"], "REFUTED", "{what}: {verdict}");
    let first = &verdict["findings"][0];
    assert_eq!(first["name"], "projection_differs", "{what}: {verdict}");
    assert_eq!(first["projection"], kind.name(), "{what}: {verdict}");
    assert_eq!(
        verdict["details"]["type"], "projection_differs",
        "{what}: {verdict}"
    );
    let said = verdict["explanation"].as_str().unwrap();
    assert!(said.starts_with("the log is intact"), "{what}: {said}");
    verdict
}

#[test]
fn no_row_of_a_room_can_be_changed_or_lost_unseen() {
    let here = Here::start();
    let deal = negotiate(&here);
    let clean = verdict(&deal);
    assert_eq!(clean["verdict"], "CLEAN", "{clean}");
    let mut tried = 0;
    for kind in [Kind::Rooms, Kind::History, Kind::Threads] {
        for (key, value) in rows_of(&deal, kind) {
            let mut bad: Vec<Option<Vec<u8>>> = vec![None, Some(vec![]), Some(vec![0xff; 40])];
            for place in [0, value.len() / 3, value.len().saturating_sub(1)] {
                let mut flipped = value.clone();
                if let Some(byte) = flipped.get_mut(place) {
                    *byte ^= 1;
                    bad.push(Some(flipped));
                }
            }
            bad.push(Some([value.as_slice(), b"\0"].concat()));
            for bad in bad.into_iter().filter(|bad| bad.as_ref() != Some(&value)) {
                put(&here, kind, &key, bad.as_deref());
                refuted(&deal, kind, &format!("{kind} {key:02x?} {bad:02x?}"));
                tried += 1;
            }
            put(&here, kind, &key, Some(&value));
        }
    }
    assert!(tried > 200, "{tried}");
    assert_eq!(verdict(&deal), clean);
}

#[test]
fn no_row_can_be_added_to_a_room_or_moved_there_from_another_one() {
    let here = Here::start();
    let deal = negotiate(&here);
    let other = Deal::new(&here);
    for kind in [Kind::Rooms, Kind::History, Kind::Threads] {
        for (key, value) in rows_of(&deal, kind) {
            let mut moved = key.clone();
            moved[1..17].copy_from_slice(id(&other).uuid().as_bytes());
            if rows_of(&other, kind).iter().any(|(key, _)| *key == moved) {
                continue;
            }
            put(&here, kind, &key, None);
            put(&here, kind, &moved, Some(&value));
            refuted(&deal, kind, "the room it was taken from");
            refuted(&other, kind, "the room it was put in");
            put(&here, kind, &moved, None);
            put(&here, kind, &key, Some(&value));
        }
    }
    for deal in [&deal, &other] {
        assert_eq!(verdict(deal)["verdict"], "CLEAN");
    }
}

#[test]
fn a_room_that_exists_in_its_rows_only_or_in_its_log_only_is_refuted() {
    let here = Here::start();
    let deal = negotiate(&here);
    let (key, value) = rows_of(&deal, Kind::Rooms).remove(0);
    put(&here, Kind::Rooms, &key, None);
    assert_eq!(deal.get("").status, 404);
    refuted(&deal, Kind::Rooms, "only its log");
    put(&here, Kind::Rooms, &key, Some(&value));
    let forged = Deal {
        here: &here,
        room: "a9efd68c-8ac8-4893-be5e-5c1905d1ae03".to_owned(),
    };
    assert_eq!(forged.post("/verify", &json!({})).status, 404);
    let mut key = key;
    key[1..17].copy_from_slice(id(&forged).uuid().as_bytes());
    put(&here, Kind::Rooms, &key, Some(&value));
    refuted(&forged, Kind::Rooms, "only its row");
}

#[test]
fn garbage_rows_are_answered_clearly_everywhere_and_nothing_panics() {
    let here = Here::start();
    let deal = negotiate(&here);
    for kind in [Kind::Rooms, Kind::History, Kind::Threads] {
        let rows = rows_of(&deal, kind);
        for garbage in [&b""[..], &[0xff; 64]] {
            for (key, _) in &rows {
                put(&here, kind, key, Some(garbage));
            }
            refuted(&deal, kind, "garbage");
            for path in ["", "/messages", "/context", "/claims", "/handshakes"] {
                let answer = deal.get(path);
                assert!(
                    [200, 405, 503].contains(&answer.status),
                    "{path}: {}",
                    answer.text()
                );
            }
        }
        for (key, value) in &rows {
            put(&here, kind, key, Some(value));
        }
    }
    assert_eq!(verdict(&deal)["verdict"], "CLEAN");
}

#[test]
fn a_public_rooms_place_in_the_directory_is_compared_and_a_private_one_has_none() {
    let here = Here::start();
    let open = |public: bool| {
        let body = json!({ "is_public": public }).to_string();
        let room = here.json("POST", "/api/rooms", &body).json()["uuid"].clone();
        Deal {
            here: &here,
            room: room.as_str().unwrap().to_owned(),
        }
    };
    let (public, private) = (open(true), open(false));
    let space = space(&here, Kind::Rooms);
    let reader = here.reader();
    for tag in [2, 4] {
        let rows = reader.range(space, &[tag], &[tag + 1], false, 9).unwrap();
        assert_eq!(rows.len(), 1);
        let (key, value) = &rows[0];
        put(&here, Kind::Rooms, key, None);
        refuted(&public, Kind::Rooms, "taken off the list");
        put(
            &here,
            Kind::Rooms,
            key,
            Some(id(&private).uuid().as_bytes()),
        );
        refuted(&public, Kind::Rooms, "another room in its place");
        put(&here, Kind::Rooms, key, Some(value));
    }
    let opened = private.get("").json()["log_seq"].as_u64();
    let seq = opened.unwrap_or(3);
    let mut listed = vec![4];
    listed.extend((!seq).to_be_bytes());
    put(
        &here,
        Kind::Rooms,
        &listed,
        Some(id(&private).uuid().as_bytes()),
    );
    refuted(&private, Kind::Rooms, "put on the list");
    put(&here, Kind::Rooms, &listed, None);
    for deal in [&public, &private] {
        assert_eq!(verdict(deal)["verdict"], "CLEAN");
    }
}

#[test]
fn a_room_that_is_written_to_meanwhile_stays_clean() {
    let here = Here::start();
    let deal = negotiate(&here);
    let claim = deal.open("dan", "how many", "nine");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (deal, claim, is_over) = (&deal, &claim, &is_over);
            scope.spawn(move || {
                let agent = format!("agent-{writer}");
                while !is_over.load(Ordering::Relaxed) {
                    deal.here.post(&deal.room, &agent, "on and on");
                    deal.revise(claim, &agent, "confirm", "nine");
                }
            });
        }
        for _ in 0..40 {
            let verdict = verdict(&deal);
            let is_clean = verdict["verdict"] == "CLEAN";
            if !is_clean {
                is_over.store(true, Ordering::Relaxed);
            }
            assert!(is_clean, "{verdict}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
