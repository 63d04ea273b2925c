//! The log's key is rotated: what was pinned before verifies on, a crash at any step leaves a
//! directory that opens, and a key that was given up signs no more.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use minutebook::engine::{
    self, Clock, Committer, Entropy, Options, Parts, RecoverError, StartError, Submission,
    SubmitError, SystemClock, keyfile,
};
use minutebook_domain::actor::Actor;
use minutebook_domain::{Command, ids::KeyId, keys};
use minutebook_eventlog::format::{checkpoint::Checkpoint, epoch::certify, key::SigningKey};
use minutebook_eventlog::store::fault::{Fault, FaultWriter};
use minutebook_eventlog::store::fjall::{FjallWriter, Options as StoreOptions};
use minutebook_eventlog::store::{LogReader, META_SPACE, RowOp};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, open_store, patiently};

const ORIGIN: &str = "rotate.example/log";
const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

/// Runs an offline command on this directory that must end with 0; its stdout.
fn run(data: &Path, args: &[&str]) -> String {
    let (code, out, err) = ran(data, args);
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

fn ran(data: &Path, args: &[&str]) -> (i32, String, String) {
    let all = [&["--data", data.to_str().unwrap()], args].concat();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let told = patiently(|| {
        let output = support::minutebook(&all);
        let code = output.status.code().unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        if code == 69 {
            return Err((code, out, err));
        }
        Ok((code, out, err))
    });
    told.unwrap_or_else(|told| told)
}

fn rotate(data: &Path) -> Value {
    serde_json::from_str(&run(data, &["keys", "rotate", "--json"])).unwrap()
}

fn clean(bundle: &Path, vkey: &str) {
    let report = support::verify(&[bundle.to_str().unwrap(), "--key", vkey]);
    let told = String::from_utf8_lossy(&report.stdout);
    assert_eq!(report.status.code(), Some(0), "{vkey}: {told}");
}

#[test]
fn a_rotated_log_goes_on_and_verifies_with_every_key_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut vkeys = Vec::new();
    let (mut room, mut last) = (String::new(), 0);
    for epoch in 1..=3_u64 {
        let server = support::start(&data);
        let told = server.json("GET", "/api/arbiter/pubkey", None).unwrap();
        let vkey = told.json()["vkey"].as_str().unwrap().to_owned();
        if epoch == 1 {
            room = server.open_room("outlives its keys").unwrap();
            vkeys.push(vkey.clone());
        }
        assert_eq!(vkeys.last(), Some(&vkey));
        let answer = server.post(&room, "alice", &format!("epoch {epoch}"));
        assert_eq!(answer.unwrap().status, 201);
        assert!(server.terminate().unwrap().success());
        if epoch < 3 {
            let before = std::fs::read(data.join("arbiter.key")).unwrap();
            let rotated = rotate(&data);
            assert_eq!(rotated["epoch"], epoch + 1);
            assert_eq!(rotated["prev_vkey"], vkey);
            last = rotated["seq"].as_u64().unwrap();
            assert_eq!(rotated["was_interrupted"], false);
            vkeys.push(rotated["vkey"].as_str().unwrap().to_owned());
            let retired = rotated["retired_key_file"].as_str().unwrap();
            assert_eq!(std::fs::read(retired).unwrap(), before);
            assert!(!data.join("arbiter.key.next").exists());
            let mode = std::fs::metadata(data.join("arbiter.key")).unwrap();
            assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        }
    }
    let (log, one) = (folder.path().join("log"), folder.path().join("room"));
    run(&data, &["log", "export", "-o", log.to_str().unwrap()]);
    let to = one.to_str().unwrap();
    run(&data, &["log", "export", "--room", &room, "-o", to]);
    for vkey in &vkeys {
        clean(&log, vkey);
        clean(&one, vkey);
    }
    run(&data, &["projections", "check"]);
    let replay = run(&data, &["replay", "--until", &last.to_string()]);
    assert!(replay.contains("outlives its keys"), "{replay}");
}

#[test]
fn the_new_key_is_told_to_people_with_what_to_do() {
    let log = TestLog::new();
    let (code, out, err) = ran(log.data(), &["keys", "rotate"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&format!("before   {}\n", vkey(OLD))), "{out}");
    assert!(out.contains("epoch    2, since seq 2\n"), "{out}");
    assert!(out.contains("arbiter.key.retired-1\n"), "{out}");
    assert!(err.contains("Publish the new vkey"), "{err}");
    assert!(err.contains("Destroy the retired one"), "{err}");
}

/// A founded log whose key is known, and nobody has open.
struct TestLog(TempDir);

impl TestLog {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        keyfile::create(&folder.path().join("arbiter.key"), &OLD).unwrap();
        let log = Self(folder);
        log.open().unwrap().close().unwrap();
        log
    }

    fn data(&self) -> &Path {
        self.0.path()
    }

    fn key(&self) -> PathBuf {
        self.data().join("arbiter.key")
    }

    fn options(&self) -> Options {
        Options {
            data: self.data().to_owned(),
            origin: Some(ORIGIN.to_owned()),
            arbiter_key: None,
            store: StoreOptions::default(),
        }
    }

    fn open(&self) -> Result<Committer<FjallWriter>, StartError> {
        patiently(|| engine::open(&self.options()))
    }

    /// Opens, and says which seed signs, and that a command can be committed by it.
    fn opens_with(&self, seed: [u8; 32]) {
        let mut committer = self.open().unwrap();
        committer
            .commit_one(api_key(seed[0]), Actor::Owner, &SystemClock)
            .unwrap();
        let head = committer.reader().head().unwrap();
        let key = SigningKey::from_seed(ORIGIN, seed).unwrap();
        Checkpoint::open(&head.checkpoint, ORIGIN, &[key.verifying_key()]).unwrap();
        committer.close().unwrap();
        assert_eq!(keyfile::read(&self.key()).unwrap(), Some(seed));
    }

    fn is_finished(&self) {
        let retired = keyfile::retired_path(&self.key(), 1);
        assert_eq!(keyfile::read(&retired).unwrap(), Some(OLD));
        assert!(!keyfile::next_path(&self.key()).exists());
    }
}

/// Something to commit.
fn api_key(number: u8) -> Command {
    Command::Keys(keys::Command::IssueApiKey(keys::ApiKeyIssued {
        agent: None,
        hash: blake3::hash(&[number]).to_hex().to_string(),
        key: KeyId::parse(&format!("k_{number:016x}")).unwrap(),
        label: "any".to_owned(),
        scopes: vec![keys::Scope::Agent],
    }))
}

fn vkey(seed: [u8; 32]) -> String {
    SigningKey::from_seed(ORIGIN, seed).unwrap().vkey()
}

/// Commits the rotation and crashes: whether it held, and how the store failed.
fn commit_then_crash(log: &TestLog, fault: Fault) {
    keyfile::write_next(&log.key(), &NEW).unwrap();
    let (writer, reader) = open_store(log.data());
    let mut committer = Committer::recover(Parts {
        writer: FaultWriter::new(writer, move |_| fault),
        reader,
        seed: OLD,
        origin: None,
        entropy: Entropy::from_os().unwrap(),
    })
    .unwrap();
    let done = committer.rotate(NEW, &SystemClock);
    assert_eq!(done.is_ok(), fault == Fault::None);
}

#[test]
fn a_crash_before_the_new_key_is_whole_leaves_the_old_one() {
    let log = TestLog::new();
    std::fs::write(log.data().join("arbiter.key.next.partial"), [2; 7]).unwrap();
    log.opens_with(OLD);
    assert_eq!(rotate(log.data())["was_interrupted"], false);
    log.is_finished();
    assert!(!log.data().join("arbiter.key.next.partial").exists());
}

#[test]
fn a_crash_before_the_commit_leaves_the_old_key_and_a_rotation_to_finish() {
    for crash in [false, true] {
        let log = TestLog::new();
        if crash {
            commit_then_crash(&log, Fault::FailNotPersisted);
        } else {
            keyfile::write_next(&log.key(), &NEW).unwrap();
        }
        log.opens_with(OLD);
        let rotated = rotate(log.data());
        assert_eq!(rotated["vkey"], vkey(NEW));
        assert_eq!(rotated["was_interrupted"], true);
        log.is_finished();
        log.opens_with(NEW);
    }
}

#[test]
fn a_crash_after_the_commit_is_finished_by_opening() {
    for fault in [Fault::None, Fault::FailButPersisted] {
        for is_moved in [false, true] {
            let log = TestLog::new();
            commit_then_crash(&log, fault);
            if is_moved {
                let retired = keyfile::retired_path(&log.key(), 1);
                std::fs::rename(log.key(), retired).unwrap();
            }
            log.opens_with(NEW);
            log.is_finished();
        }
    }
}

#[test]
fn a_rotation_that_opening_finishes_is_not_done_twice() {
    let log = TestLog::new();
    commit_then_crash(&log, Fault::FailButPersisted);
    let rotated = rotate(log.data());
    assert_eq!(rotated["vkey"], vkey(NEW));
    assert_eq!((&rotated["epoch"], &rotated["seq"]), (&2.into(), &2.into()));
    assert_eq!(rotated["was_interrupted"], true);
    log.opens_with(NEW);
}

#[test]
fn a_key_that_was_given_up_is_refused_by_name_before_anything_is_built() {
    let log = TestLog::new();
    rotate(log.data());
    let new = keyfile::read(&log.key()).unwrap().unwrap();
    // Projections that a start would have to build first.
    let (writer, reader) = open_store(log.data());
    let meta = reader.space(META_SPACE).unwrap();
    let row = RowOp {
        space: meta,
        key: b"projection/rooms".to_vec(),
        value: None,
    };
    let maintenance = minutebook_eventlog::store::LogWriter::maintenance(&writer);
    maintenance.append_rows(vec![row]).unwrap();
    drop((writer, reader, maintenance));

    std::fs::copy(keyfile::retired_path(&log.key(), 1), log.key()).unwrap();
    let error = log.open().unwrap_err();
    let StartError::Recover(RecoverError::WrongKey { given, expected }) = &error else {
        panic!("{error}");
    };
    assert_eq!((given, expected), (&vkey(OLD), &vkey(new)));
    let mut elsewhere = log.options();
    elsewhere.origin = Some("other.example/log".to_owned());
    let error = patiently(|| engine::open(&elsewhere)).unwrap_err();
    let is_origin = matches!(error, StartError::Recover(RecoverError::WrongOrigin { .. }));
    assert!(is_origin, "{error}");

    let (_writer, reader) = open_store(log.data());
    let meta = reader.space(META_SPACE).unwrap();
    assert_eq!(reader.get(meta, b"projection/rooms").unwrap(), None);
}

#[test]
fn a_rotation_never_shares_a_commit() {
    let log = TestLog::new();
    let mut committer = log.open().unwrap();
    let (old, new) = (
        SigningKey::from_seed(ORIGIN, OLD).unwrap(),
        SigningKey::from_seed(ORIGIN, NEW).unwrap(),
    );
    let rotated = keys::KeyRotated {
        cert: certify(&old, ORIGIN, 2, new.verifying_key()).unwrap(),
        epoch: 2,
        prev_vkey: old.vkey(),
        vkey: new.vkey(),
    };
    let submission = |actor, command: Command| Submission {
        command: command.check().unwrap(),
        actor,
        idempotency: None,
        cause: None,
    };
    let rotation = Command::Keys(keys::Command::RotateKey(rotated));
    let batch = vec![
        submission(Actor::Arbiter, rotation),
        submission(Actor::Owner, api_key(1)),
    ];
    let written = committer.commit(batch, SystemClock.now(), true).unwrap();
    let refused = matches!(written.outcomes[..], [Err(SubmitError::Offline), Ok(_)]);
    assert!(refused, "{:?}", written.outcomes);
    let head = committer.reader().head().unwrap();
    assert_eq!(head.seq, 2);
    Checkpoint::open(&head.checkpoint, ORIGIN, &[old.verifying_key()]).unwrap();
}

/// What a refused rotation says; it must leave everything as it was.
fn refused(log: &TestLog, args: &[&str]) -> String {
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(log.data())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = files();
    let (code, out, err) = ran(log.data(), &[&["keys", "rotate"], args].concat());
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert_eq!(files(), before);
    err
}

#[test]
fn a_key_that_cannot_be_next_is_refused_by_its_file() {
    let log = TestLog::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, seed: [u8; 32]| {
        let path = folder.path().join(name);
        keyfile::create(&path, &seed).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let missing = folder.path().join("missing");
    let told = refused(&log, &["--new-key", missing.to_str().unwrap()]);
    assert!(told.contains("there is no key file"), "{told}");
    let same = at("same", OLD);
    let told = refused(&log, &["--new-key", &same]);
    assert!(told.contains(&format!("{same} cannot be")), "{told}");

    let new = at("new", NEW);
    keyfile::write_next(&log.key(), &[9; 32]).unwrap();
    let told = refused(&log, &["--new-key", &new]);
    assert!(told.contains("arbiter.key.next holds"), "{told}");
    std::fs::remove_file(keyfile::next_path(&log.key())).unwrap();

    let retired = keyfile::retired_path(&log.key(), 1);
    keyfile::create(&retired, &[9; 32]).unwrap();
    let told = refused(&log, &[]);
    assert!(told.contains("retired-1 holds another key"), "{told}");
    std::fs::remove_file(retired).unwrap();

    run(log.data(), &["keys", "rotate", "--new-key", &new]);
    log.opens_with(NEW);
    let told = refused(&log, &["--new-key", &same]);
    assert!(told.contains("was the log's before"), "{told}");
}

#[test]
fn a_key_behind_a_link_is_not_rotated() {
    let log = TestLog::new();
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real.key");
    std::fs::rename(log.key(), &real).unwrap();
    std::os::unix::fs::symlink(&real, log.key()).unwrap();
    let told = refused(&log, &[]);
    assert!(told.contains("is not a regular file"), "{told}");
    let arbiter = ["--arbiter-key", real.to_str().unwrap()];
    run(log.data(), &[&["keys", "rotate"], &arbiter[..]].concat());
    assert!(folder.path().join("real.key.retired-1").exists());
}

#[test]
fn a_running_server_keeps_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = support::start(folder.path());
    let (code, _, err) = ran(folder.path(), &["keys", "rotate"]);
    assert_eq!(code, 69, "{err}");
    assert!(err.contains(&server.pid().to_string()), "{err}");
    assert!(!folder.path().join("arbiter.key.next").exists());
}

#[test]
fn the_rules_and_the_format_certify_the_same_text() {
    let seed = [3; 32];
    for (origin, epoch) in [("example.org/log", 2), ("a", u64::MAX)] {
        let key = SigningKey::from_seed(origin, seed).unwrap();
        let new = key.verifying_key();
        assert_eq!(
            minutebook_domain::keys::certificate_text(origin, epoch, &new.vkey()),
            minutebook_eventlog::format::epoch::certificate_text(origin, epoch, new),
        );
    }
}
