//! The rules every store is held to, whatever it is made of. A test passes a way to open the
//! store (again and again: what was appended must still be there) and gets the first rule broken.

use std::sync::Arc;

use super::{
    CommandRow, Commit, Head, LogReader, LogWriter, META_SPACE, NewRecord, RowOp, Space, StoreError,
};
use crate::format::{
    hash::{Hash, chain_hash},
    record::{Body, Record},
};

/// Both halves of an open store.
pub type Halves = (Box<dyn LogWriter>, Arc<dyn LogReader>);
/// A way to open the same store again.
pub type Open<'a> = &'a mut dyn FnMut() -> Result<Halves, StoreError>;

/// The rule that was broken, or the error that came where none should.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// A rule.
    #[error("broken: {0}")]
    Rule(&'static str),
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn rule(kept: bool, rule: &'static str) -> Result<(), Broken> {
    if kept {
        Ok(())
    } else {
        Err(Broken::Rule(rule))
    }
}

/// A record for tests: the envelope and body are recognisable, not canonical.
pub fn sample(seq: u64, stream: &str, place: u64) -> NewRecord {
    NewRecord {
        record: Record {
            envelope: format!("envelope {seq} of {stream}").into_bytes(),
            body: Some(Body {
                salt: [u8::try_from(seq % 251).unwrap_or(0); 32],
                bytes: format!("body {seq}").into_bytes(),
            }),
        },
        seq,
        stream: stream.to_owned(),
        sseq: place,
    }
}

/// A commit of `count` sample records after `seq`, all in one stream named like their seq's parity.
pub fn sample_commit(seq: u64, count: u64) -> Commit {
    let records = (seq + 1..=seq + count).map(|seq| {
        let stream = if seq % 2 == 0 {
            "room/even"
        } else {
            "room/odd"
        };
        sample(seq, stream, seq.div_ceil(2))
    });
    Commit {
        expected_seq: seq,
        records: records.collect(),
        checkpoint: format!("checkpoint {}\n", seq + count),
        ..Commit::default()
    }
}

/// Holds a store to every rule. It must be empty.
pub fn run(open: Open<'_>) -> Result<(), Broken> {
    starts_empty(open)?;
    commits_are_read_back(open)?;
    refusals_change_nothing(open)?;
    streams_are_read_in_order(open)?;
    indexes_are_read_back(open)?;
    rows_follow_their_commit(open)?;
    erasure_takes_bodies_only(open)?;
    spaces_come_and_go(open)?;
    rows_can_be_written_beside_the_writer(open)?;
    a_stopped_writer_refuses(open)
}

fn starts_empty(open: Open<'_>) -> Result<(), Broken> {
    let (_writer, reader) = open()?;
    let head = reader.head()?;
    rule(
        head.seq == 0 && head.hash == Hash::ZERO,
        "a new log is empty",
    )?;
    rule(head.checkpoint.is_empty(), "an empty log has no checkpoint")?;
    rule(
        reader.read(1, 10)?.is_empty(),
        "nothing is read from an empty log",
    )?;
    let found = reader.checkpoint_at_or_after(0)?;
    rule(found.is_none(), "an empty log has no checkpoint to find")?;
    rule(
        open().is_err_and(|e| matches!(e, StoreError::Locked { .. })),
        "a second opener waits",
    )
}

fn commits_are_read_back(open: Open<'_>) -> Result<(), Broken> {
    for (seq, count) in [(0, 1), (1, 9), (10, 90)] {
        let (mut writer, reader) = open()?;
        writer.append(sample_commit(seq, count))?;
        let head = reader.head()?;
        rule(
            head.seq == seq + count,
            "readers see a commit when append returns",
        )?;
        writer.record_head(&head)?;
    }
    let (_writer, reader) = open()?;
    let last = sample(100, "room/even", 50).record;
    let head = Head {
        seq: 100,
        hash: chain_hash(&last.envelope),
        checkpoint: "checkpoint 100\n".to_owned(),
    };
    rule(
        reader.head()? == head,
        "the head is there after opening again",
    )?;
    let page = reader.read(1, 1000)?;
    rule(page.len() == 100, "every record is there")?;
    let good = page.iter().zip(1..).all(|((seq, record), expected)| {
        let stream = if expected % 2 == 0 {
            "room/even"
        } else {
            "room/odd"
        };
        *seq == expected && *record == sample(expected, stream, expected.div_ceil(2)).record
    });
    rule(good, "records are read back as they were written, in order")?;
    pages(&*reader)
}

fn pages(reader: &dyn LogReader) -> Result<(), Broken> {
    for (seq, limit, first, count) in [
        (0, 3, 1, 3),
        (98, 2, 98, 2),
        (98, 10, 98, 3),
        (5, 50, 5, 50),
        (101, 10, 0, 0),
        (1, 0, 0, 0),
        (u64::MAX, usize::MAX, 0, 0),
        (100, usize::MAX, 100, 1),
    ] {
        let page = reader.read(seq, limit)?;
        rule(
            page.len() == count,
            "a page has as many records as asked for and there",
        )?;
        let starts = page.first().is_none_or(|(seq, _)| *seq == first);
        rule(starts, "a page starts where asked")?;
    }
    Ok(())
}

fn refusals_change_nothing(open: Open<'_>) -> Result<(), Broken> {
    let (mut writer, reader) = open()?;
    let space = reader.space("refusals")?;
    let before = reader.head()?;
    let mut gap = sample_commit(100, 2);
    gap.records.pop();
    gap.records.push(sample(103, "room/even", 51));
    let mut unsigned = sample_commit(100, 1);
    unsigned.checkpoint.clear();
    let mut future = sample_commit(100, 1);
    future.erase.push(101);
    let mut long = sample_commit(100, 1);
    long.rows
        .push(put(space, &[7; super::MAX_KEY_BYTES + 1], b"x"));
    let mut nowhere = sample_commit(100, 1);
    nowhere.rows.push(put(Space(999), b"k", b"x"));
    let mut own = sample_commit(100, 1);
    own.rows
        .push(put(reader.space(META_SPACE)?, b"\0head", b"x"));
    let mut tile = sample_commit(100, 1);
    tile.tiles.push((0, 0, vec![1, 2, 3]));
    for commit in [gap, unsigned, future, long, nowhere, own, tile] {
        let refused = writer.append(commit);
        rule(
            matches!(refused, Err(StoreError::Refused(_))),
            "a wrong commit is refused",
        )?;
    }
    let fenced = writer.append(sample_commit(99, 1));
    let fenced = matches!(
        fenced,
        Err(StoreError::Fenced {
            expected: 99,
            found: 100
        })
    );
    rule(fenced, "a commit on another head is fenced off")?;
    rule(reader.head()? == before, "a refusal changes nothing")
}

fn streams_are_read_in_order(open: Open<'_>) -> Result<(), Broken> {
    let (_writer, reader) = open()?;
    let page = reader.read_stream("room/odd", 1, 1000)?;
    let good = page.iter().map(|(seq, _)| *seq).eq((1..100).step_by(2));
    rule(good, "a stream has its own records, in order")?;
    let page = reader.read_stream("room/even", 49, 1)?;
    let good = page.iter().map(|(seq, _)| *seq).eq([98]);
    rule(good, "a stream is read from a position up to a limit")?;
    let none = reader.read_stream("room/none", 0, 10)?;
    rule(none.is_empty(), "an unknown stream is empty")
}

fn indexes_are_read_back(open: Open<'_>) -> Result<(), Broken> {
    let answer = CommandRow {
        request: [9; 16],
        first: 101,
        count: 3,
    };
    {
        let (mut writer, _reader) = open()?;
        let mut commit = sample_commit(100, 3);
        commit.commands.push(([5; 16], answer));
        commit.tiles.push((0, 0, vec![6; super::TILE_BYTES]));
        writer.append(commit)?;
    }
    let (_writer, reader) = open()?;
    rule(
        reader.command(&[5; 16])? == Some(answer),
        "a command's answer is kept",
    )?;
    rule(
        reader.command(&[6; 16])?.is_none(),
        "an unknown command has no answer",
    )?;
    let tile = reader.tile(0, 0)?;
    rule(tile == Some(vec![6; super::TILE_BYTES]), "a tile is kept")?;
    rule(reader.tile(1, 0)?.is_none(), "an unknown tile is not there")?;
    for (size, found) in [
        (0, Some(1)),
        (2, Some(10)),
        (100, Some(100)),
        (101, Some(103)),
        (104, None),
    ] {
        let checkpoint = reader.checkpoint_at_or_after(size)?;
        let expected = found.map(|size| (size, format!("checkpoint {size}\n")));
        rule(
            checkpoint == expected,
            "the checkpoint of the smallest commit that covers is found",
        )?;
    }
    Ok(())
}

fn put(space: Space, key: &[u8], value: &[u8]) -> RowOp {
    RowOp {
        space,
        key: key.to_vec(),
        value: Some(value.to_vec()),
    }
}

fn rows_follow_their_commit(open: Open<'_>) -> Result<(), Broken> {
    {
        let (mut writer, reader) = open()?;
        let space = reader.space("rows")?;
        let mut commit = sample_commit(103, 1);
        commit.rows = [b"a", b"b", b"c", b"d"]
            .map(|key| put(space, key, key))
            .into();
        commit.rows.push(RowOp {
            space,
            key: b"c".to_vec(),
            value: None,
        });
        commit
            .rows
            .push(put(reader.space(META_SPACE)?, b"position", b"104"));
        writer.append(commit)?;
    }
    let (mut writer, reader) = open()?;
    let space = reader.space("rows")?;
    let keys = |from: &[u8], to: &[u8], reverse, limit| -> Result<Vec<u8>, StoreError> {
        let rows = reader.range(space, from, to, reverse, limit)?;
        Ok(rows.into_iter().flat_map(|(key, _)| key).collect())
    };
    rule(
        keys(b"a", b"z", false, 9)? == b"abd",
        "rows are in key order",
    )?;
    rule(
        keys(b"a", b"d", true, 9)? == b"ba",
        "the end is not in a range, and it can be reversed",
    )?;
    rule(
        keys(b"a", b"z", true, 1)? == b"d",
        "a range ends at its limit",
    )?;
    rule(
        keys(b"z", b"a", false, 9)?.is_empty(),
        "a backward range is empty",
    )?;
    rule(reader.get(space, b"c")?.is_none(), "a deleted row is gone")?;
    let meta = reader.space(META_SPACE)?;
    let position = reader.get(meta, b"position")?;
    rule(
        position.as_deref() == Some(b"104"),
        "meta is a space like any other",
    )?;
    rule(
        reader.get(meta, b"\0head")?.is_none(),
        "the store's own rows are not shown",
    )?;
    let all = reader.range(meta, b"", &[0xff; 4], false, 9)?;
    rule(all.len() == 1, "the store's own rows are not in a range")?;
    let rows_only = Commit {
        expected_seq: 104,
        rows: vec![put(space, b"e", b"e")],
        ..Commit::default()
    };
    writer.append(rows_only)?;
    rule(reader.head()?.seq == 104, "rows alone do not move the head")?;
    rule(
        keys(b"a", b"z", false, 9)? == b"abde",
        "rows alone can be committed",
    )
}

fn erasure_takes_bodies_only(open: Open<'_>) -> Result<(), Broken> {
    {
        let (mut writer, _reader) = open()?;
        let mut commit = sample_commit(104, 1);
        commit.erase = vec![2, 104, 50, 50];
        writer.append(commit)?;
        writer.maintenance().compact_erased(&[])?;
    }
    let (_writer, reader) = open()?;
    for (seq, record) in reader.read(1, 1000)? {
        let erased = [2, 50, 104].contains(&seq);
        rule(
            record.body.is_none() == erased,
            "erasure takes the bodies named and no other",
        )?;
        rule(!record.envelope.is_empty(), "erasure leaves the envelope")?;
    }
    let one = reader.read(2, 1)?;
    let gone = one.first().is_some_and(|(_, record)| record.body.is_none());
    rule(gone, "an erased body is gone for a single read, too")
}

fn spaces_come_and_go(open: Open<'_>) -> Result<(), Broken> {
    let (mut writer, reader) = open()?;
    let old = reader.space("generation-1")?;
    rule(
        reader.space("generation-1")? == old,
        "a space keeps its handle",
    )?;
    writer
        .maintenance()
        .append_rows(vec![put(old, b"k", b"old")])?;
    let names = reader.spaces()?;
    let there = |name: &str| names.iter().any(|n| n == name);
    rule(
        there("generation-1") && there(META_SPACE),
        "spaces are listed",
    )?;
    rule(names.is_sorted(), "spaces are listed in order")?;
    writer.maintenance().drop_space("generation-1")?;
    writer.maintenance().drop_space("never-there")?;
    rule(
        reader.get(old, b"k").is_err(),
        "a dropped space's handle is refused",
    )?;
    let mut commit = sample_commit(105, 1);
    commit.rows.push(put(old, b"k", b"late"));
    rule(
        writer.append(commit).is_err_and(|e| e.is_refusal()),
        "and so are its rows",
    )?;
    let new = reader.space("generation-1")?;
    rule(new != old, "a handle never means another space")?;
    rule(
        reader.get(new, b"k")?.is_none(),
        "a space made anew is empty",
    )?;
    for name in ["", "UPPER", "a/b", "a b", "\u{e4}"] {
        rule(
            reader.space(name).is_err_and(|e| e.is_refusal()),
            "a bad name is refused",
        )?;
    }
    let kept = writer.maintenance().drop_space(META_SPACE);
    rule(
        kept.is_err_and(|e| e.is_refusal()),
        "meta cannot be dropped",
    )
}

fn rows_can_be_written_beside_the_writer(open: Open<'_>) -> Result<(), Broken> {
    {
        let (writer, reader) = open()?;
        let space = reader.space("bulk")?;
        let bulk = writer.maintenance();
        for n in 0..100_u32 {
            bulk.append_rows(vec![put(space, &n.to_be_bytes(), b"row")])?;
        }
        let rows = reader.range(space, &[0], &[0xff], false, 1000)?;
        rule(rows.len() == 100, "bulk rows are seen at once")?;
        bulk.persist()?;
        let filled = reader.space("filled")?;
        bulk.fill_space(vec![put(filled, b"a", b"1"), put(filled, b"b", b"1")])?;
        let gone = RowOp {
            value: None,
            ..put(filled, b"a", b"")
        };
        bulk.fill_space(vec![gone, put(filled, b"c", b"2")])?;
        let disorder = bulk.fill_space(vec![put(filled, b"e", b""), put(filled, b"d", b"")]);
        rule(
            disorder.is_err_and(|e| e.is_refusal()),
            "a space is filled in order",
        )?;
        let mixed = bulk.fill_space(vec![put(filled, b"d", b""), put(space, b"e", b"")]);
        rule(
            mixed.is_err_and(|e| e.is_refusal()),
            "a space is filled alone",
        )?;
        rule(is_filled(&*reader)?, "what fills a space is seen at once")?;
    }
    let (_writer, reader) = open()?;
    let rows = reader.range(reader.space("bulk")?, &[0], &[0xff], false, 1000)?;
    rule(rows.len() == 100, "bulk rows are there after opening again")?;
    rule(is_filled(&*reader)?, "and what filled a space too")
}

fn is_filled(reader: &dyn LogReader) -> Result<bool, StoreError> {
    let rows = reader.range(reader.space("filled")?, &[0], &[0xff], false, 9)?;
    let expected = [(b"b", b"1"), (b"c", b"2")];
    Ok(rows == expected.map(|(key, value)| (key.to_vec(), value.to_vec())))
}

fn a_stopped_writer_refuses(open: Open<'_>) -> Result<(), Broken> {
    {
        let (mut writer, _reader) = open()?;
        writer.stop()?;
        let late = writer.append(sample_commit(105, 1));
        rule(
            late.is_err_and(|e| !e.is_refusal()),
            "a stopped writer fails",
        )?;
    }
    let (mut writer, reader) = open()?;
    rule(reader.head()?.seq == 105, "a clean stop keeps the log")?;
    writer.append(sample_commit(105, 1))?;
    rule(reader.head()?.seq == 106, "and the next writer goes on")
}
