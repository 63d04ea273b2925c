//! Whether rows come one by one or in a scan makes no difference to who reads them.

use tempfile::TempDir;

use super::*;
use crate::store::{
    Commit, LogWriter, RowOp,
    conformance::sample,
    fjall::{FjallStore, FjallWriter, Options},
    memory::MemoryStore,
};

const RECORDS: u64 = 60;
const IT: &str = "room/it";
const ERASED: [u64; 4] = [12, 24, 36, 60];

/// A log in which every so many-th record is of the stream that is read, and its tables.
struct Log {
    reader: Arc<FjallReader>,
    _writer: FjallWriter,
    _dir: TempDir,
}

impl Log {
    /// `damage` is done to the tables before the last commit, and so seen after it.
    fn new(one_in: u64, damage: impl FnOnce(&Shared)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (mut writer, reader) = FjallStore::open(dir.path(), &Options::default()).unwrap();
        let records = (1..=RECORDS).map(|seq| match seq % one_in {
            0 => sample(seq, IT, seq / one_in),
            _ => sample(seq, "room/other", seq),
        });
        let commit = Commit {
            records: records.collect(),
            checkpoint: "checkpoint\n".to_owned(),
            ..Commit::default()
        };
        writer.append(commit).unwrap();
        damage(&reader.shared);
        let erasure = Commit {
            expected_seq: RECORDS,
            records: vec![sample(RECORDS + 1, "room/last", 1)],
            checkpoint: "checkpoint\n".to_owned(),
            erase: ERASED.to_vec(),
            ..Commit::default()
        };
        writer.append(erasure).unwrap();
        Self {
            reader,
            _writer: writer,
            _dir: dir,
        }
    }

    fn read(&self, sseq: u64, limit: usize) -> Result<Page, StoreError> {
        self.reader.read_stream(IT, sseq, limit)
    }
}

fn expected(one_in: u64, sseq: u64, limit: usize) -> Page {
    let record = |seq| {
        let Record { envelope, body } = sample(seq, IT, seq / one_in).record;
        let body = body.filter(|_| !ERASED.contains(&seq));
        (seq, Record { envelope, body })
    };
    let seqs = (sseq..).map(|sseq| sseq * one_in);
    let seqs = seqs.take_while(|seq| *seq <= RECORDS).take(limit);
    seqs.map(record).collect()
}

#[test]
fn a_stream_is_read_the_same_however_thinly_it_is_spread() {
    for one_in in 1..=6 {
        let log = Log::new(one_in, |_| ());
        for sseq in 1..=RECORDS / one_in + 1 {
            for limit in [0, 1, 4, 5, 6, 20, 1000] {
                let page = log.read(sseq, limit).unwrap();
                let due = expected(one_in, sseq, limit);
                assert_eq!(page, due, "{one_in} {sseq} {limit}");
            }
        }
    }
}

#[test]
fn a_missing_record_is_named_however_it_is_read() {
    for one_in in [1, 2, 3, 5, 6] {
        let log = Log::new(one_in, |shared| {
            let key = envelope::ser_key(RECORDS / 2);
            shared.tables.envelopes.remove(key).unwrap();
        });
        let error = log.read(1, 1000).unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("event 30 is missing"), "{error}");
        let before = usize::try_from(RECORDS / 2 / one_in - 1).unwrap();
        assert_eq!(log.read(1, before).unwrap(), expected(one_in, 1, before));
    }
}

#[test]
fn an_index_that_is_out_of_order_is_followed() {
    let log = Log::new(2, |shared| {
        let key = |sseq| stream::ser_key(stream::prefix(IT), sseq);
        let other = shared.tables.streams.get(key(11)).unwrap().unwrap();
        shared.tables.streams.insert(key(1), other).unwrap();
    });
    let page = log.read(1, 1000).unwrap();
    let seqs: Vec<_> = page.iter().map(|(seq, _)| *seq).take(3).collect();
    assert_eq!(seqs, [22, 4, 6]);
    assert_eq!(page.first(), page.get(10));
}

#[test]
fn rows_are_shown_as_they_are_handed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, on_disk) = FjallStore::open(dir.path(), &Options::default()).unwrap();
    let (mut other, in_memory) = MemoryStore::new().open().unwrap();
    let readers: [&dyn LogReader; 2] = [&*on_disk, &*in_memory];
    let writers: [&mut dyn LogWriter; 2] = [&mut writer, &mut other];
    for (reader, writer) in readers.into_iter().zip(writers) {
        let space = reader.space("threads.g1").unwrap();
        let rows = (0..600_u16).map(|n| RowOp {
            space,
            key: [&[1], &n.to_be_bytes()[..]].concat(),
            value: Some(n.to_le_bytes().to_vec()),
        });
        let commit = Commit {
            records: vec![sample(1, IT, 1)],
            checkpoint: "checkpoint\n".to_owned(),
            rows: rows.collect(),
            ..Commit::default()
        };
        writer.append(commit).unwrap();
        for (from, to) in [
            (&[1][..], &[2][..]),
            (&[1, 0, 3], &[1, 2, 0]),
            (&[1, 0, 3], &[1, 1, 3]),
            (&[2], &[3]),
            (&[2], &[1]),
            (&[1], &[1]),
        ] {
            let mut shown = Vec::new();
            let mut show = |key: &[u8], value: &[u8]| shown.push((key.to_vec(), value.to_vec()));
            reader.each_row(space, from, to, &mut show).unwrap();
            let all = reader.range(space, from, to, false, usize::MAX).unwrap();
            assert_eq!(shown, all, "{from:?} {to:?}");
        }
    }
}
