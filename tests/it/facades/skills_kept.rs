//! Sharing skills: limits, repeats, hostile bundles, withdrawing, and what a crash leaves.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use minutebook::engine::{Committer, Entropy, Parts, SystemClock, launch};
use minutebook::http::{HttpConfig, Server};
use minutebook_eventlog::store::fault::{Fault, FaultWriter, Step};
use minutebook_eventlog::store::memory::MemoryStore;
use minutebook_tests::http::{Answer, Connection};
use tokio::sync::watch;

use super::here::{Here, JSON, detail};
use super::skills::{fields, form, id, refused, send, sha256, skill, upload};

/// The files of a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn cdn(file: &[u8]) -> String {
    format!("/skills-cdn/{}.tar.gz", sha256(file))
}

#[test]
fn ten_uploads_an_hour_per_address_refused_ones_included() {
    let here = Here::with(|config| config.skills_per_hour = 10);
    let key = [("idempotency-key", "first")];
    let file = skill("first");
    assert_eq!(send(&here, &key, "b", &fields(&file)).status, 201);
    assert_eq!(upload(&here, &file).json()["deduped"], true);
    for _ in 2..10 {
        assert_eq!(upload(&here, b"").status, 400);
    }
    let refused = upload(&here, &skill("eleventh"));
    assert_eq!(refused.status, 429);
    let seconds = refused.header("retry-after").unwrap().to_owned();
    let text = format!("Too many skill uploads from this IP. Try again in {seconds}s.");
    assert_eq!(detail(&refused), text);
    assert!((3590..=3600).contains(&seconds.parse::<u32>().unwrap()));
    let empty = send(&here, &[], "b", &[]);
    assert_eq!(empty.status, 429, "the limit comes before the fields");
    let repeat = send(&here, &key, "b", &fields(&file));
    assert_eq!(repeat.status, 201, "a repeat counts against nothing");
    assert_eq!(repeat.json()["deduped"], false);
}

#[test]
fn a_repeat_is_the_same_upload_whatever_its_boundary() {
    let here = Here::start();
    let key = [("idempotency-key", "one")];
    let file = skill("repeat");
    let first = send(&here, &key, "a", &fields(&file));
    let again = send(&here, &key, "bbbb", &fields(&file));
    assert_eq!((again.status, again.text()), (201, first.text()));
    let other = send(&here, &key, "a", &fields(&skill("other")));
    assert_eq!(other.json()["code"], "idempotency_conflict");
    assert_eq!(here.reader().head().unwrap().seq, 2);
}

#[test]
fn a_lost_or_damaged_file_is_said_to_be_and_mended_by_the_same_upload() {
    let here = Here::start();
    let file = skill("lost");
    upload(&here, &file);
    let path = here.skills().join(format!("{}.tar.gz", sha256(&file)));
    assert_eq!(fs::read(&path).unwrap(), file);
    let spoils: [fn(&Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, "other bytes").unwrap(),
    ];
    for spoil in spoils {
        spoil(&path);
        let lost = here.get(&cdn(&file));
        let text = "this skill's file is lost or damaged on this server: ask its operator, or \
                    upload the same file again";
        assert_eq!(refused(&lost), (500, text.to_owned()));
        assert_eq!(lost.header("cache-control"), None);
        assert_eq!(upload(&here, &file).json()["deduped"], true);
        assert_eq!(here.get(&cdn(&file)).body, file);
    }
}

#[test]
fn a_withdrawn_skill_is_gone_and_does_not_come_back() {
    let here = Here::start();
    let file = skill("withdrawn");
    let path = format!("/api/skills/{}", id(&upload(&here, &file)));
    let reason = r#"{"reason":"it reads keys"}"#;
    let key = [JSON, ("idempotency-key", "w")];
    let withdrawn = here.ask("DELETE", &path, &key, reason);
    assert_eq!(
        (withdrawn.status, withdrawn.text().as_str()),
        (200, r#"{"done":true,"log_seq":3}"#)
    );
    let missing = (404, "skill not found".to_owned());
    for gone in [&path, &format!("{path}/x"), &cdn(&file)] {
        assert_eq!(refused(&here.get(gone)), missing, "{gone}");
    }
    assert!(names(here.skills()).is_empty());
    assert_eq!(here.ask("DELETE", &path, &key, reason).json()["log_seq"], 3);
    assert_eq!(refused(&here.json("DELETE", &path, reason)), missing);
    let again = upload(&here, &file);
    let text = "this skill was withdrawn and cannot come back";
    assert_eq!(refused(&again), (409, text.to_owned()));
    assert!(
        names(here.skills()).is_empty(),
        "what is refused is not kept"
    );
}

#[test]
fn the_log_shows_and_proves_what_was_shared() {
    let here = Here::start();
    let file = skill("proved");
    let path = format!("/api/skills/{}", id(&upload(&here, &file)));
    here.json("DELETE", &path, r#"{"reason":"done"}"#);
    let mut events = here.connect();
    events
        .send_raw(b"GET /api/events?since=1 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let (status, _) = events.read_head().unwrap();
    assert_eq!(status, 200);
    let mut seen = String::new();
    while !seen.contains("event: skill.withdrawn") {
        let chunk = events.read_chunk().unwrap().unwrap();
        seen.push_str(&String::from_utf8(chunk).unwrap());
    }
    assert!(seen.contains("id: 2\nevent: skill.published\n"), "{seen}");
    assert!(seen.contains(r#""stream":"skills""#), "{seen}");
    assert!(seen.contains(&sha256(&file)), "{seen}");
    let bundle = here.get("/api/log/bundle").body;
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("log.ndjson");
    fs::write(&saved, bundle).unwrap();
    let key = here.get("/api/arbiter/pubkey").json()["vkey"]
        .as_str()
        .unwrap()
        .to_owned();
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_mb-verify"))
        .arg(&saved)
        .args(["--key", &key])
        .output()
        .unwrap();
    let said = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(verified.status.code(), Some(0), "{said}");
    assert!(said.contains("CLEAN"), "{said}");
}

#[test]
fn only_operators_withdraw() {
    let here = Here::start();
    let file = skill("operators");
    let path = format!("/api/skills/{}", id(&upload(&here, &file)));
    let far = [JSON, ("x-forwarded-for", "10.0.0.1")];
    let refused = here.ask("DELETE", &path, &far, r#"{"reason":"x"}"#);
    assert_eq!(
        (refused.status, refused.json()["code"].as_str()),
        (403, Some("local_only"))
    );
    assert_eq!(here.get(&cdn(&file)).body, file);
}

#[test]
fn without_a_place_for_them_there_are_no_skills() {
    let here = Here::with(|config| config.skills = None);
    let nothing = (404, "Not Found".to_owned());
    assert_eq!(refused(&upload(&here, &skill("x"))), nothing);
    let id = "/api/skills/00000000-0000-0000-0000-000000000000";
    assert_eq!(refused(&here.get(id)), nothing);
    assert_eq!(refused(&here.get(&cdn(b"x"))), nothing);
}

/// A log and a directory that outlive a server.
struct Kept {
    store: MemoryStore,
    dir: tempfile::TempDir,
}

impl Kept {
    /// A server over them, whose log fails as told, for as long as `act` takes.
    fn serve(&self, fault: Fault, act: impl FnOnce(SocketAddr)) {
        let (writer, reader) = self.store.open().unwrap();
        let writer = FaultWriter::new(writer, move |step| match step {
            // The first upload.
            Step::Commit(2) => fault,
            Step::Commit(_)
            | Step::HeadFile(_)
            | Step::Rows(_)
            | Step::Persist
            | Step::DropSpace
            | Step::CompactErased
            | Step::Stop => Fault::None,
        });
        let mut committer = Committer::recover(Parts {
            writer,
            reader,
            seed: [9; 32],
            origin: Some("example.org/kept".to_owned()),
            entropy: Entropy::from_seed([7; 32]),
        })
        .unwrap();
        committer.found(&SystemClock).unwrap();
        let (engine, running) = launch(committer, Box::new(SystemClock)).unwrap();
        let mut config = HttpConfig::new(([127, 0, 0, 1], 0).into());
        config.skills = Some(self.dir.path().join("skills"));
        let (stop, stopping) = watch::channel(false);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime
            .block_on(Server::bind(config, engine.clone(), stopping))
            .unwrap();
        let addr = server.local_addr();
        let serving = runtime.spawn(server.run());
        act(addr);
        stop.send_replace(true);
        runtime.block_on(serving).unwrap();
        engine.stop();
        assert_eq!(running.join().unwrap().is_err(), fault != Fault::None);
    }

    fn files(&self) -> Vec<String> {
        names(&self.dir.path().join("skills"))
    }
}

fn upload_to(addr: SocketAddr, file: &[u8]) -> Answer {
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let body = form("b", &fields(file));
    let mut connection = Connection::open(addr).unwrap();
    connection
        .send("POST", "/api/skills", &headers, Some(&body))
        .unwrap()
}

fn get_from(addr: SocketAddr, path: &str) -> Answer {
    let mut connection = Connection::open(addr).unwrap();
    connection.send("GET", path, &[], None).unwrap()
}

#[test]
fn a_crash_between_the_bytes_and_their_event_leaves_nothing_that_is_served() {
    let file = skill("crash");
    let name = format!("{}.tar.gz", sha256(&file));
    for (fault, is_published) in [
        (Fault::FailNotPersisted, false),
        (Fault::FailButPersisted, true),
    ] {
        let kept = Kept {
            store: MemoryStore::new(),
            dir: tempfile::tempdir().unwrap(),
        };
        kept.serve(fault, |addr| {
            assert_eq!(upload_to(addr, &file).status, 503, "not acknowledged");
            assert_eq!(kept.files(), [name.as_str()], "its bytes came first");
        });
        kept.serve(Fault::None, |addr| {
            let found = get_from(addr, &cdn(&file));
            assert_eq!(found.status, if is_published { 200 } else { 404 });
            assert_eq!(kept.files().len(), usize::from(is_published), "{fault:?}");
            let again = upload_to(addr, &file);
            assert_eq!(again.json()["deduped"], is_published, "{}", again.text());
            assert_eq!(get_from(addr, &cdn(&file)).body, file);
        });
    }
}

#[test]
fn a_restart_keeps_what_was_published() {
    let kept = Kept {
        store: MemoryStore::new(),
        dir: tempfile::tempdir().unwrap(),
    };
    let file = skill("restart");
    let mut first = String::new();
    kept.serve(Fault::None, |addr| first = upload_to(addr, &file).text());
    fs::write(kept.dir.path().join("skills/.unfinished-x"), "half").unwrap();
    kept.serve(Fault::None, |addr| {
        assert_eq!(get_from(addr, &cdn(&file)).body, file);
        let again = upload_to(addr, &file).json();
        let first: serde_json::Value = serde_json::from_str(&first).unwrap();
        assert_eq!(
            (&again["id"], &again["deduped"]),
            (&first["id"], &true.into())
        );
    });
    assert_eq!(kept.files(), [format!("{}.tar.gz", sha256(&file))]);
}
