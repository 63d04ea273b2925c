//! The crash matrix: each durable step fails, persisted or not, and the next opening decides.

use std::path::Path;

use crate::store::{
    LogReader, LogWriter,
    conformance::sample_commit,
    fault::{Fault, FaultWriter, Step},
    fjall::{FjallStore, Options},
};

/// Runs commits of one event until the script makes one fail; how many were acknowledged.
fn run(dir: &Path, step: Step, fault: Fault) -> u64 {
    let (writer, reader) = FjallStore::open(dir, &Options::default()).unwrap();
    let script = move |at| if at == step { fault } else { Fault::None };
    let mut writer = FaultWriter::new(writer, script);
    let mut acknowledged = 0;
    for seq in 0..10 {
        if writer.append(sample_commit(seq, 1)).is_err() {
            break;
        }
        acknowledged = seq + 1;
        let mut head = reader.head().unwrap();
        head.seq = seq + 1;
        if writer.record_head(&head).is_err() {
            break;
        }
    }
    assert!(writer.has_failed(), "{step:?} {fault:?}");
    let late = writer.append(sample_commit(acknowledged, 1));
    assert!(
        late.is_err_and(|e| !e.is_refusal()),
        "a failed writer fails for ever"
    );
    acknowledged
}

#[test]
fn whatever_step_fails_every_acknowledged_event_is_there_and_the_log_goes_on() {
    for step in [
        Step::Commit(1),
        Step::Commit(5),
        Step::HeadFile(1),
        Step::HeadFile(5),
    ] {
        for fault in [Fault::FailNotPersisted, Fault::FailButPersisted] {
            let dir = tempfile::tempdir().unwrap();
            let acknowledged = run(dir.path(), step, fault);
            let persisted = match (step, fault) {
                (Step::Commit(seq), Fault::FailButPersisted) => seq,
                _ => acknowledged,
            };
            let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
            let head = reader.head().unwrap().seq;
            assert_eq!(head, persisted, "{step:?} {fault:?}");
            let page = reader.read(1, 100).unwrap();
            assert!(page.iter().map(|(seq, _)| *seq).eq(1..=head));
            writer.append(sample_commit(head, 1)).unwrap();
        }
    }
}
