//! The conformance suite over both stores.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::store::{
    LogReader, LogWriter, RowOp, StoreError,
    conformance::{self, Halves},
    fjall::{FjallStore, Options},
    memory::MemoryStore,
};

#[test]
fn the_store_in_memory_keeps_every_rule() {
    let store = MemoryStore::new();
    let mut open = || -> Result<Halves, StoreError> {
        let (writer, reader) = store.open()?;
        Ok((
            Box::new(writer) as Box<dyn LogWriter>,
            reader as Arc<dyn LogReader>,
        ))
    };
    conformance::run(&mut open).unwrap();
}

#[test]
fn the_store_on_disk_keeps_every_rule() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = || -> Result<Halves, StoreError> {
        let (writer, reader) = FjallStore::open(dir.path(), &Options::default())?;
        Ok((
            Box::new(writer) as Box<dyn LogWriter>,
            reader as Arc<dyn LogReader>,
        ))
    };
    conformance::run(&mut open).unwrap();
}

#[test]
fn a_reader_sees_whole_commits_only_while_rows_are_written_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let space = reader.space("pairs").unwrap();
    let put = |key: &[u8], n: u64| RowOp {
        space,
        key: key.to_vec(),
        value: Some(n.to_be_bytes().to_vec()),
    };
    let bulk = writer.maintenance();
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut n = 0;
            while !done.load(Ordering::Relaxed) {
                n += 1;
                bulk.append_rows(vec![put(b"c", n), put(b"d", n)]).unwrap();
            }
        });
        threads.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let head = reader.head().unwrap().seq;
                assert!(head >= last, "the head never goes back");
                last = head;
                let rows = reader.range(space, b"a", b"e", false, 9).unwrap();
                let pairs: Vec<_> = rows.iter().map(|(_, value)| value).collect();
                assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]), "{rows:?}");
                let page = reader.read(head.max(1), 9).unwrap();
                assert!(head == 0 || !page.is_empty(), "the head can be read");
            }
        });
        for seq in 0..300 {
            let mut commit = conformance::sample_commit(seq, 1);
            commit.rows = vec![put(b"a", seq), put(b"b", seq)];
            writer.append(commit).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let stats = reader.stats();
    assert_eq!(stats.commits.count, 300);
    assert!(stats.journals == 1 && stats.disk_bytes > 0 && stats.memtable_bytes > 0);
}
