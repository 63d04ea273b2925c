//! The crash matrix beyond commits: the snapshot of a clean stop, building and switching of
//! projections, the key file, and a directory that is really read-only.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minutebook::engine::{self, SystemClock, keyfile};
use minutebook::generations::{Access, GenerationError, RebuildOptions, check, ensure_live};
use minutebook_eventlog::store::fault::{Fault, FaultWriter, Step};
use minutebook_eventlog::store::fjall::Options as StoreOptions;
use minutebook_eventlog::store::{LogReader, LogWriter, META_SPACE, RowOp};
use minutebook_projections::Kind;

use crate::crash::{everything, open, work};
use crate::support;

const BOTH: [Fault; 2] = [Fault::FailNotPersisted, Fault::FailButPersisted];

/// Fails at one step of those that are counted.
fn failing_at(
    failing: usize,
    fault: Fault,
    counts: impl Fn(Step) -> bool + Send + 'static,
) -> impl FnMut(Step) -> Fault + Send + 'static {
    let mut seen = 0;
    move |step| {
        seen += usize::from(counts(step));
        if counts(step) && seen == failing {
            fault
        } else {
            Fault::None
        }
    }
}

const fn is_closing(step: Step) -> bool {
    matches!(step, Step::Rows(_) | Step::Persist | Step::Stop)
}

#[test]
fn every_step_of_a_clean_stop_may_fail_in_both_ways() {
    // The snapshot's rows, their sync, the end of the head file.
    for failing in 1..=3 {
        for fault in BOTH {
            let folder = tempfile::tempdir().unwrap();
            let mut engine = open(folder.path(), failing_at(failing, fault, is_closing));
            let answered = work(&mut engine);
            let written = everything(&engine);
            assert!(engine.close().is_err(), "step {failing} did not fail");

            let mut engine = open(folder.path(), |_| Fault::None);
            assert_eq!(everything(&engine), written, "{fault:?} at {failing}");
            assert_eq!(work(&mut engine), answered, "{fault:?} at {failing}");
            engine.close().unwrap();
        }
    }
}

/// A log whose projections have to be built: nothing is live.
fn without_views(data: &Path) {
    let mut engine = open(data, |_| Fault::None);
    work(&mut engine);
    engine.close().unwrap();
    let (mut writer, reader) = support::open_store(data);
    let space = reader.space(META_SPACE).unwrap();
    let rows = Kind::ALL.map(|kind| RowOp {
        space,
        key: format!("projection/{}", kind.name()).into_bytes(),
        value: None,
    });
    let maintenance = writer.maintenance();
    maintenance.append_rows(rows.to_vec()).unwrap();
    writer.stop().unwrap();
}

type Work = fn(&Access) -> Result<(), GenerationError>;

fn build(access: &Access) -> Result<(), GenerationError> {
    ensure_live(access, &mut |_| ControlFlow::Continue(())).map(|_| ())
}

fn rebuild(access: &Access) -> Result<(), GenerationError> {
    let options = RebuildOptions::default();
    let watch = &mut |_| ControlFlow::Continue(());
    minutebook::generations::rebuild(access, &Kind::ALL, options, watch).map(|_| ())
}

/// Does the work under a script and crashes; whether it was done.
fn under(
    data: &Path,
    script: impl FnMut(Step) -> Fault + Send + 'static,
    work: Work,
) -> Result<(), GenerationError> {
    let (writer, reader) = support::open_store(data);
    let reader: Arc<dyn LogReader> = reader;
    let maintenance = FaultWriter::new(writer, script).maintenance();
    work(&Access {
        reader,
        maintenance,
    })
}

/// How many durable steps the work has.
fn steps(data: &Path, work: Work) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&count);
    let script = move |_| {
        counting.fetch_add(1, Ordering::SeqCst);
        Fault::None
    };
    under(data, script, work).unwrap();
    count.load(Ordering::SeqCst)
}

/// After a crash: a start brings everything up, and the rows are those of the log.
fn is_whole(data: &Path, what: &str) {
    under(data, |_| Fault::None, build).unwrap_or_else(|e| panic!("{what}: {e}"));
    let engine = open(data, |_| Fault::None);
    assert_eq!(everything(&engine).len(), 6, "{what}");
    engine.close().unwrap();
    let compared: Work = |access| {
        for (kind, comparison) in check(access, &Kind::ALL, &mut |_| ControlFlow::Continue(()))? {
            let comparison = comparison.expect("a live generation of this version");
            assert!(comparison.is_equal(), "{kind:?}: {comparison:?}");
        }
        Ok(())
    };
    under(data, |_| Fault::None, compared).unwrap_or_else(|e| panic!("{what}: {e}"));
}

/// Every step of the work, from a directory that `prepare` makes, fails in both ways.
fn every_step_may_fail(prepare: fn(&Path), work: Work) {
    let counted = tempfile::tempdir().unwrap();
    prepare(counted.path());
    let steps = steps(counted.path(), work);
    assert!(steps >= 3, "only {steps} steps");
    for failing in 1..=steps {
        for fault in BOTH {
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path());
            let script = failing_at(failing, fault, |_| true);
            let what = format!("{fault:?} at step {failing} of {steps}");
            assert!(under(folder.path(), script, work).is_err(), "{what}");
            is_whole(folder.path(), &what);
            // And the same work, undisturbed, is done.
            under(folder.path(), |_| Fault::None, work).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

#[test]
fn every_step_of_building_projections_may_fail_in_both_ways() {
    every_step_may_fail(without_views, build);
}

#[test]
fn every_step_of_switching_generations_may_fail_in_both_ways() {
    let prepare = |data: &Path| {
        let mut engine = open(data, |_| Fault::None);
        work(&mut engine);
        engine.close().unwrap();
    };
    every_step_may_fail(prepare, rebuild);
}

fn start(data: &Path) -> [u8; 32] {
    let options = engine::Options {
        data: data.to_owned(),
        origin: None,
        arbiter_key: None,
        store: StoreOptions::default(),
    };
    let committer = support::patiently(|| engine::open(&options)).unwrap();
    committer.close().unwrap();
    keyfile::read(&options.key_file()).unwrap().unwrap()
}

#[test]
fn a_crash_at_any_step_of_making_the_key_leaves_a_directory_that_starts() {
    let seed = [6; 32];
    let states: [fn(&Path, &Path); 4] = [
        |draft, _| std::fs::write(draft, "").unwrap(),
        |draft, _| std::fs::write(draft, [6; 12]).unwrap(),
        |draft, _| keyfile::create(draft, &[6; 32]).unwrap(),
        |draft, key| {
            keyfile::create(key, &[6; 32]).unwrap();
            std::fs::hard_link(key, draft).unwrap();
        },
    ];
    for (at, crash) in states.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("arbiter.key");
        crash(&folder.path().join("arbiter.key.partial-1"), &key);
        let had_one = key.exists();
        let first = start(folder.path());
        assert_eq!(first == seed, had_one, "state {at}");
        assert_eq!(start(folder.path()), first, "state {at}");
    }
}

#[test]
fn a_crash_between_the_key_and_the_first_record_keeps_the_key() {
    for fault in BOTH {
        let folder = tempfile::tempdir().unwrap();
        // The key the engine below signs with.
        keyfile::create(&folder.path().join("arbiter.key"), &[5; 32]).unwrap();
        let mut engine = open(folder.path(), failing_at(1, fault, |_| true));
        assert!(engine.found(&SystemClock).is_err());
        drop(engine);
        assert_eq!(start(folder.path()), [5; 32], "{fault:?}");
    }
}

#[test]
fn a_key_is_never_put_in_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("arbiter.key");
    keyfile::create(&key, &[1; 32]).unwrap();
    assert!(keyfile::create(&key, &[2; 32]).is_err());
    assert_eq!(keyfile::read(&key).unwrap(), Some([1; 32]));
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "a draft was left");
}

/// Runs a program with a directory it cannot write to, whatever user this is: on a read-only
/// mount of its own, or, where that is not allowed, made immutable, or with its write bits off.
struct ReadOnly {
    dir: PathBuf,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Mount,
    Immutable,
    Mode,
}

impl ReadOnly {
    fn new(dir: &Path) -> Self {
        let dir = dir.to_owned();
        for how in [How::Mount, How::Immutable, How::Mode] {
            let one = Self {
                dir: dir.clone(),
                how,
            };
            one.set(true);
            let probe = dir.join("probe");
            let probing = one.command(Path::new("touch")).arg(&probe).output();
            if probing.is_ok_and(|output| {
                !output.status.success()
                    && String::from_utf8_lossy(&output.stderr).contains("touch:")
            }) && !probe.exists()
            {
                return one;
            }
            one.set(false);
            drop(std::fs::remove_file(probe));
        }
        panic!("nothing on this machine makes a directory read-only");
    }

    fn set(&self, read_only: bool) {
        let (program, argument) = match (self.how, read_only) {
            (How::Mount, _) => return,
            (How::Immutable, true) => ("chattr", "+i"),
            (How::Immutable, false) => ("chattr", "-i"),
            (How::Mode, true) => ("chmod", "0500"),
            (How::Mode, false) => ("chmod", "0700"),
        };
        drop(Command::new(program).arg(argument).arg(&self.dir).output());
    }

    fn command(&self, program: &Path) -> Command {
        if self.how != How::Mount {
            return Command::new(program);
        }
        // As root of a user namespace where this is somebody else.
        let script = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]);
        command.arg(&self.dir).arg(program);
        command
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        self.set(false);
    }
}

#[test]
fn a_directory_that_is_read_only_is_named_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, full) = (folder.path().join("empty"), folder.path().join("full"));
    std::fs::create_dir(&empty).unwrap();
    let server = support::start(&full);
    let room = server.open_room("before it was read-only").unwrap();
    assert_eq!(
        server.post(&room, "alice", "still here").unwrap().status,
        201
    );
    assert!(server.terminate().unwrap().success());
    for data in [&empty, &full] {
        let read_only = ReadOnly::new(data);
        let output = read_only
            .command(Path::new(env!("CARGO_BIN_EXE_mb-server")))
            .args(["serve", "--http", "127.0.0.1:0", "--data"])
            .arg(data)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        println!("by {:?}: {told}", read_only.how);
        assert!(!output.status.success(), "{told}");
        assert_eq!(output.stdout, b"", "no ready line");
        assert!(told.contains(data.to_str().unwrap()), "{told}");
        assert!(told.contains("cannot be written"), "{told}");
    }
    let server = support::start(&full);
    let path = format!("/api/rooms/{room}/messages");
    let messages = server.json("GET", &path, None).unwrap().json();
    assert_eq!(messages["messages"][0]["text"], "still here");
}
