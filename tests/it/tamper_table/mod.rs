//! The tamper table (`verifier/TAMPER.md`): every way in which a negotiation's stored ledger was
//! changed unseen elsewhere, made on each store of our own: the database of a stopped server, the
//! rows that readers are shown, and a bundle. What is started on it, or reads it, must say so, and
//! where.
//!
//! A room has 3 messages (1 signed), two threads with 6 interleaved revisions (1 signed), a
//! discrepancy, 2 handshakes (1 signed); the arbiter's cases have a room that it read. On a
//! database each case has a room of its own, but where the server does not start; there, and for
//! bundles, one room is changed anew each time.

mod anchored;
mod arbiter;
mod bundle;
mod cases;
mod complete;
mod database;
mod records;
mod rows;
mod scene;
mod shown;

use std::path::Path;

use ed25519_dalek::SigningKey;
use minutebook_domain::ids::RoomId;
use minutebook_tests::model::Model;
use minutebook_tests::server::Server;
use serde_json::Value;

use self::bundle::{Bundle, judge};
use self::cases::{COVER, Case, GAP, NO_BUNDLE, NO_START, OTHER_KEY};
use self::database::Database;
use self::records::{Care, Item, Means, Of, Room, What};
use self::rows::Rows;
use self::scene::{arbitrate, negotiate};
use self::shown::Shown;
use crate::support::{self, copy, vkey};

/// Records that one tile of the log's tree covers.
const TILE: usize = 256;

fn id(room: &str) -> RoomId {
    RoomId::parse_canonical(room).unwrap()
}

fn verify(server: &Server, room: &str) -> Value {
    let path = format!("/api/rooms/{room}/verify");
    let answer = server.json("POST", &path, None).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn get(server: &Server, path: &str) -> Vec<u8> {
    let answer = server.json("GET", path, None).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.body
}

/// The log's key, from the disk.
fn log_key(data: &Path) -> SigningKey {
    let seed = std::fs::read(data.join("arbiter.key")).unwrap();
    SigningKey::from_bytes(&seed.try_into().unwrap())
}

/// Where the server is started, how, and what it is given to do.
struct Stage {
    folder: tempfile::TempDir,
    model: Option<Model>,
}

impl Stage {
    /// For the table's room.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            folder,
            model: None,
        }
    }

    /// For the room the arbiter reads.
    fn read_by_the_arbiter() -> Self {
        let model = Some(Model::start().unwrap());
        Self {
            model,
            ..Self::new()
        }
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn start(&self) -> Server {
        let Some(model) = &self.model else {
            return support::start(&self.data());
        };
        let url = model.url();
        let mut args = support::UNLIMITED.to_vec();
        args.extend(["--arbiter-url", &url, "--arbiter-model", "model-1"]);
        args.extend(["--refreshes-per-hour", "0"]);
        Server::start(&support::options(&args), &self.data()).unwrap()
    }

    fn room(&self, server: &Server) -> String {
        match &self.model {
            Some(model) => arbitrate(server, model),
            None => negotiate(server),
        }
    }

    /// Has a room for every case and another one, whose id is last, and stops.
    fn rooms(&self, cases: usize) -> Vec<String> {
        let server = self.start();
        let rooms: Vec<_> = (0..=cases).map(|_| self.room(&server)).collect();
        // What no full tile of the tree covers yet is checked at the start; the rooms are all
        // covered by one.
        for n in 0..TILE {
            server
                .post(rooms.last().unwrap(), "dan", &n.to_string())
                .unwrap();
        }
        let clean = verify(&server, &rooms[0]);
        assert_eq!(clean["verdict"], "CLEAN", "{clean}");
        assert!(server.terminate().unwrap().success());
        rooms
    }
}

/// What verify said: verdict and type, and the act it named.
fn said(verdict: &Value) -> (String, Option<Of>) {
    let details = &verdict["details"];
    let number = |name: &str| Some(usize::try_from(details[name].as_u64()?).unwrap());
    let message = number("message_id").map(Of::Message);
    let revision = number("revision_id").map(Of::Revision);
    let handshake = number("handshake_id").map(Of::Handshake);
    let kind = details["type"].as_str().unwrap_or("nothing");
    let verdict = verdict["verdict"].as_str().unwrap();
    let text = format!("{verdict} {kind}");
    (text, message.or(revision).or(handshake))
}

/// The act the server must name, if it has a number in the dialect.
fn named(case: &Case, stage: &Stage) -> Option<Of> {
    let of = match case.server {
        // What was signed covers the room's last record, and all before by its links.
        COVER if stage.model.is_none() => Of::Handshake(2),
        COVER => Of::Reading(4),
        _ => case.named(),
    };
    match of {
        Of::Message(_) | Of::Revision(_) | Of::Handshake(_) => Some(of),
        Of::Opening | Of::Reading(_) | Of::Noted(_) | Of::Last => None,
    }
}

/// What is now in the place of a record.
fn now<'r>(after: &'r Room, item: &Item) -> Option<&'r Item> {
    after.items.iter().find(|left| left.key == item.key)
}

/// The record a finding on a bundle must name: a gap by what is missing, and everything else that
/// follows from it by the next record.
fn place(case: &Case, before: &Room, after: &Room) -> u64 {
    let of = case.named();
    if case.bundle == COVER || of == Of::Last {
        return after.seq(Of::Last);
    }
    if case.bundle == GAP {
        return before.seq(of);
    }
    let mut its = before
        .items
        .iter()
        .skip_while(|item| *item != before.at(of));
    let found = its.find_map(|item| Some((item, now(after, item)?)));
    let (item, now) = found.unwrap();
    now.envelope().or(item.envelope()).unwrap().seq
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes the cases of records on a stopped server's database, each in a room of its own.
fn make_on_a_database(stage: &Stage, cases: &[Case]) {
    let cases: Vec<_> = cases
        .iter()
        .filter(|case| case.server != NO_START)
        .collect();
    let rooms = stage.rooms(cases.len());
    let other = rooms.last().unwrap();
    let database = Database::open(&stage.data());
    let means = Means {
        other: &database.room(id(other)),
        arbiter: &log_key(&stage.data()),
    };
    for (case, room) in cases.iter().zip(&rooms) {
        let before = database.room(id(room));
        let after = before.tampered(case.what, case.care, &means);
        database.put_room(&before, &after);
        if let What::Unindexed(of) = case.what {
            database.unindex(&before, of);
        }
    }
    drop(database);
    let server = stage.start();
    let mut wrong = Vec::new();
    for (case, room) in cases.iter().zip(&rooms) {
        let Case {
            row,
            care,
            what,
            server: kind,
            ..
        } = case;
        let verdict = verify(&server, room);
        let found = said(&verdict);
        if found != (format!("REFUTED {kind}"), named(case, stage)) {
            let explanation = &verdict["explanation"];
            wrong.push(format!(
                "{row} {care:?} {what:?}: {kind} but {found:?} {explanation}"
            ));
        }
    }
    assert_none(&wrong);
    assert_eq!(verify(&server, other)["verdict"], "CLEAN");
}

/// Makes the cases that keep a server from starting, each in a directory of its own. The room's
/// records are the log's last, so that all that follows a record can be cut off.
fn make_on_databases_that_are_not_opened(stage: &Stage, cases: &[Case]) {
    let server = stage.start();
    let rooms = [stage.room(&server), stage.room(&server)];
    assert!(server.terminate().unwrap().success());
    let database = Database::open(&stage.data());
    let [other, before] = rooms.map(|room| database.room(id(&room)));
    drop(database);
    let means = Means {
        other: &other,
        arbiter: &log_key(&stage.data()),
    };
    for case in cases.iter().filter(|case| case.server == NO_START) {
        let Case {
            row, care, what, ..
        } = case;
        let after = before.tampered(*what, *care, &means);
        let told = refusal(stage, &before, &after);
        let [was, is] = [&before, &after].map(|room| room.seq(Of::Last));
        let named: Vec<_> = match care {
            _ if was != is => vec![format!(
                "the envelopes end at {is}, the head row says {was}"
            )],
            // Where there are several gaps, one of them is named.
            Care::Plain => {
                let gone = before
                    .items
                    .iter()
                    .filter(|item| now(&after, item).is_none());
                let gone = gone.filter_map(Item::envelope);
                gone.map(|envelope| format!("events {} to ", envelope.seq))
                    .collect()
            }
            Care::Chained | Care::Hashed | Care::Sealed => {
                vec![format!("envelope {was} is not the one that was written")]
            }
        };
        let is_named = named.iter().any(|named| told.contains(named));
        assert!(is_named, "{row} {care:?} {what:?}: {named:?} but {told}");
    }
}

/// Why a copy of the database with these records is not opened, by a command that opens it as the
/// server does.
fn refusal(stage: &Stage, before: &Room, after: &Room) -> String {
    let data = stage.folder.path().join("copy");
    copy(&stage.data(), &data);
    let database = Database::open(&data);
    database.put_room(before, after);
    drop(database);
    let path = data.to_str().unwrap();
    let refused = support::minutebook(&["agents", "enrol", "ann", OTHER_KEY, "--data", path]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(65), "{told}");
    std::fs::remove_dir_all(data).unwrap();
    told
}

/// Makes the cases of records on a bundle.
fn make_on_a_bundle(stage: &Stage, cases: &[Case]) {
    let server = stage.start();
    let [room, other] = [(); 2].map(|()| {
        let room = stage.room(&server);
        Bundle::parse(&get(&server, &format!("/api/log/bundle?room={room}")))
    });
    let vkey = vkey(&server);
    let means = Means {
        other: &other.room,
        arbiter: &log_key(&stage.data()),
    };
    let clean = judge(&room.with(&room.room), &vkey);
    assert_eq!(clean.verdict.name(), "CLEAN", "{}", clean.explanation);
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| case.bundle != NO_BUNDLE) {
        let Case {
            row,
            care,
            what,
            bundle,
            ..
        } = case;
        let after = room.room.tampered(*what, *care, &means);
        let report = judge(&room.with(&after), &vkey);
        let (verdict, explanation) = (report.verdict.name(), &report.explanation);
        let found = report.findings.first();
        let name = found.map_or("nothing", |found| found.name.name());
        let place = place(case, &room.room, &after);
        let is_there = found.is_some_and(|found| found.covers(place));
        if (verdict, name, is_there) != ("REFUTED", *bundle, true) {
            wrong.push(format!(
                "{row} {care:?} {what:?}: {bundle} but {verdict} {name} {explanation}"
            ));
        }
    }
    assert_none(&wrong);
    assert_told_by_the_program(stage, &cases[0], &room, &means, &vkey);
}

/// The program says what the library does.
fn assert_told_by_the_program(
    stage: &Stage,
    case: &Case,
    room: &Bundle,
    means: &Means<'_>,
    vkey: &str,
) {
    let after = room.room.tampered(case.what, case.care, means);
    let path = stage.folder.path().join("bundle");
    std::fs::write(&path, room.with(&after)).unwrap();
    let told = support::verify(&[path.to_str().unwrap(), "--key", vkey]);
    let text = String::from_utf8_lossy(&told.stdout);
    assert_eq!(told.status.code(), Some(1), "{text}");
    let promised = format!("{} at record {}:", case.bundle, room.room.seq(case.named()));
    assert!(text.contains(&promised), "{promised} {text}");
}

/// Makes the cases of rows on a stopped server's database, each in a room of its own.
fn make_on_rows(stage: &Stage, cases: &[Shown]) {
    let rooms = stage.rooms(cases.len());
    let other = rooms.last().unwrap();
    let server = stage.start();
    let empty = server.open_room("nothing here").unwrap();
    assert!(server.terminate().unwrap().success());
    let database = Database::open(&stage.data());
    let rows = Rows {
        database: &database,
        other: id(other),
        empty: id(&empty),
    };
    for (case, room) in cases.iter().zip(&rooms) {
        rows.make(case.edit, id(room));
    }
    drop(database);
    let server = stage.start();
    let mut wrong = Vec::new();
    for (Shown { row, edit, named }, room) in cases.iter().zip(&rooms) {
        let verdict = verify(&server, room);
        let found = said(&verdict);
        if found
            != (
                "REFUTED projection_differs".to_owned(),
                named.first().copied(),
            )
        {
            let explanation = &verdict["explanation"];
            wrong.push(format!(
                "{row} {edit:?}: {named:?} but {found:?} {explanation}"
            ));
        }
        for path in ["", "/messages", "/context", "/claims", "/handshakes"] {
            let path = format!("/api/rooms/{room}{path}");
            let answer = server.json("GET", &path, None).unwrap();
            if ![200, 404, 405, 503].contains(&answer.status) {
                wrong.push(format!("{row} {edit:?}: {path}: {}", answer.text()));
            }
        }
    }
    assert_none(&wrong);
    assert_eq!(verify(&server, other)["verdict"], "CLEAN");
}

#[test]
fn every_tampering_with_records_in_a_database_is_refuted_and_names_what_was_tampered_with() {
    make_on_a_database(&Stage::new(), cases::CASES);
}

#[test]
fn a_database_with_records_missing_or_beyond_the_signed_end_is_not_opened() {
    make_on_databases_that_are_not_opened(&Stage::new(), cases::CASES);
}

#[test]
fn a_change_of_a_record_that_no_full_tile_covers_yet_keeps_the_database_from_opening() {
    let stage = Stage::new();
    let server = stage.start();
    let room = stage.room(&server);
    assert!(server.terminate().unwrap().success());
    let before = Database::open(&stage.data()).room(id(&room));
    let means = Means {
        other: &before,
        arbiter: &log_key(&stage.data()),
    };
    let after = before.tampered(What::Later(Of::Revision(3), 1), Care::Plain, &means);
    let told = refusal(&stage, &before, &after);
    assert!(
        told.contains("the newest checkpoint does not fit the log: its root is "),
        "{told}"
    );
}

#[test]
fn every_tampering_with_records_in_a_bundle_is_refuted() {
    make_on_a_bundle(&Stage::new(), cases::CASES);
}

#[test]
fn every_tampering_with_rows_is_refuted_and_names_what_they_show() {
    make_on_rows(&Stage::new(), shown::CASES);
}

#[test]
fn every_tampering_with_what_the_arbiter_recorded_is_refuted() {
    make_on_a_database(&Stage::read_by_the_arbiter(), arbiter::CASES);
    make_on_databases_that_are_not_opened(&Stage::read_by_the_arbiter(), arbiter::CASES);
    make_on_a_bundle(&Stage::read_by_the_arbiter(), arbiter::CASES);
}

#[test]
fn every_tampering_with_what_the_arbiter_is_shown_to_have_read_is_refuted() {
    make_on_rows(&Stage::read_by_the_arbiter(), arbiter::ROWS);
}
