//! What a bundle line is and is not, and what reading survives.

use super::*;
use crate::format::{
    limits::{BODY_BYTES_MAX, ENVELOPE_BYTES_MAX, LINE_BYTES_MAX},
    record::{Body, Record},
};
use proptest::prelude::*;

fn manifest() -> Manifest {
    Manifest {
        origin: "log.example".into(),
        kind: Kind::Log,
        first: 1,
        last: 2,
        records: 2,
        checkpoints: 1,
    }
}

fn record(body: Option<&str>) -> Record {
    Record {
        envelope: b"{\"actor\":\"x\"}".to_vec(),
        body: body.map(|b| Body {
            salt: [0xab; 32],
            bytes: b.as_bytes().to_vec(),
        }),
    }
}

fn bundle() -> Vec<u8> {
    let mut writer = BundleWriter::new(Vec::new(), &manifest()).unwrap();
    writer
        .record(&record(Some("{\"text\":\"a\\nü\"}")))
        .unwrap();
    writer.record(&record(None)).unwrap();
    writer.receipt("c2sp\n").unwrap();
    writer.checkpoint("o\n2\n").unwrap();
    writer.finish().unwrap()
}

fn lines(bytes: &[u8]) -> Vec<Result<u64, String>> {
    let mut reader = BundleReader::open(bytes).unwrap();
    let mut out = Vec::new();
    while let Some(line) = reader.next_line() {
        out.push(line.map(|(n, _)| n).map_err(|e| e.to_string()));
    }
    out
}

#[test]
fn the_spelling_is_fixed() {
    let expected = format!(
        "{}\n{}\n{}\n{}\n{}\n",
        concat!(
            r#"{"manifest":{"format":"minutebook-bundle/1","kind":"log","origin":"log.example","#,
            r#""first":1,"last":2,"records":2,"checkpoints":1}}"#,
        ),
        r#"{"envelope":"{\"actor\":\"x\"}","salt":"SALT","body":"{\"text\":\"a\\nü\"}"}"#
            .replace("SALT", &"ab".repeat(32)),
        r#"{"envelope":"{\"actor\":\"x\"}"}"#,
        r#"{"receipt":"c2sp\n"}"#,
        r#"{"checkpoint":"o\n2\n"}"#,
    );
    assert_eq!(String::from_utf8(bundle()).unwrap(), expected);
    assert_eq!(lines(&bundle()), [Ok(2), Ok(3), Ok(4), Ok(5)]);
    let room = Manifest {
        kind: Kind::Room("00000000-0000-4000-8000-00000000000a".into()),
        ..manifest()
    };
    let mut out = Vec::new();
    room.write(&mut out);
    assert_eq!(
        parse_line(out.strip_suffix(b"\n").unwrap()),
        Ok(Line::Manifest(room))
    );
}

#[test]
fn lines_give_back_what_was_written() {
    let bytes = bundle();
    let mut reader = BundleReader::open(bytes.as_slice()).unwrap();
    assert_eq!(reader.manifest(), &manifest());
    let mut read = Vec::new();
    while let Some(line) = reader.next_line() {
        match line.unwrap().1 {
            Line::Record(line) => read.push(line.into_record()),
            Line::Receipt(text) => assert_eq!(text, "c2sp\n"),
            Line::Checkpoint(text) => assert_eq!(text, "o\n2\n"),
            Line::Manifest(_) => unreachable!("the reader keeps it"),
        }
    }
    assert_eq!(read, [record(Some("{\"text\":\"a\\nü\"}")), record(None)]);
}

#[test]
fn any_other_spelling_of_a_line_is_refused() {
    let good = r#"{"envelope":"e","salt":"SALT","body":"b"}"#.replace("SALT", &"ab".repeat(32));
    assert!(parse_line(good.as_bytes()).is_ok());
    for (from, to) in [
        ("{\"env", "{ \"env"),
        ("\"e\"", "\"e\" "),
        ("\"e\"", "\"\\u0065\""),
        ("\"e\"", "\"\\ud800\""),
        ("\"e\"", "\"\t\""),
        ("\"e\"", "null"),
        ("abab", "ABab"),
        ("abab", "aba"),
        (",\"body\":\"b\"", ""),
        (",\"body\":\"b\"", ",\"body\":\"b\",\"body\":\"b\""),
        (",\"body\":\"b\"", ",\"body\":\"b\",\"more\":1"),
        ("\"body\"", "\"bodi\""),
        ("}", "}\r"),
        ("}", "}}"),
        ("}", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        assert!(parse_line(bad.as_bytes()).is_err(), "{bad}");
    }
    for bad in [
        "",
        "{}",
        "[]",
        "null",
        "{\"checkpoint\":\"a\",\"x\":1}",
        "{\"other\":\"a\"}",
    ] {
        assert!(parse_line(bad.as_bytes()).is_err(), "{bad}");
    }
    let invalid = [b"{\"checkpoint\":\"".as_slice(), &[0xff], b"\"}"].concat();
    assert_eq!(parse_line(&invalid), Err(LineError::Utf8 { offset: 15 }));
}

#[test]
fn a_manifest_says_everything_once_and_in_order() {
    let mut good = Vec::new();
    Manifest {
        kind: Kind::Room("00000000-0000-4000-8000-00000000000a".into()),
        ..manifest()
    }
    .write(&mut good);
    let good = String::from_utf8(good).unwrap();
    for (from, to) in [
        ("bundle/1", "bundle/2"),
        ("\"room\",\"origin", "\"log\",\"origin"),
        ("\"room\",\"origin", "\"list\",\"origin"),
        ("log.example", ""),
        ("\"first\":1", "\"first\":01"),
        ("\"records\":2,", ""),
        ("4000-8", "4000-A"),
        ("4000-8", "40008-"),
        (",\"room\":\"00000000-0000-4000-8000-00000000000a\"", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(parse_line(bad.trim_end().as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn what_is_not_a_bundle_is_told_from_a_bad_line() {
    for bytes in [
        &b""[..],
        b"\n",
        b"hello\n",
        b"{\"checkpoint\":\"o\"}\n",
        &[0xff, b'\n'],
        b"{",
    ] {
        let error = BundleReader::open(bytes).unwrap_err();
        assert!(matches!(error, BundleError::NotABundle(_)), "{error}");
        assert!(error.is_unreadable());
    }
    let long = vec![b'x'; LINE_BYTES_MAX * 2];
    assert!(
        BundleReader::open(long.as_slice())
            .unwrap_err()
            .is_unreadable()
    );
}

#[test]
fn every_bad_line_is_named_and_the_rest_is_read() {
    let text = String::from_utf8(bundle()).unwrap();
    let mut parts: Vec<_> = text.lines().map(str::to_owned).collect();
    parts[2] = "nonsense".into();
    parts.insert(3, String::new());
    parts.insert(4, "x".repeat(LINE_BYTES_MAX + 1));
    parts.insert(5, parts[0].clone());
    let found = lines((parts.join("\n") + "\n").as_bytes());
    let bad: Vec<_> = found.iter().filter_map(|l| l.as_ref().err()).collect();
    assert_eq!(found.iter().filter(|l| l.is_ok()).count(), 3);
    for (error, line) in
        bad.iter()
            .zip(["line 3: ", "line 4: ", "line 5: longer", "line 6: a second"])
    {
        assert!(error.starts_with(line), "{error}");
    }
    assert_eq!(bad.len(), 4);
}

#[test]
fn a_file_cut_in_a_line_is_noticed_even_by_its_last_byte() {
    let whole = bundle();
    let last = lines(&whole[..whole.len() - 1]).pop().unwrap();
    assert_eq!(last, Err("line 5 has no end: the file was cut".to_owned()));
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    let wrapper = "{\"checkpoint\":\"\"}".len();
    for (more, good) in [(0, true), (1, false)] {
        let text = "x".repeat(LINE_BYTES_MAX - wrapper + more);
        let mut out = Vec::new();
        assert_eq!(write_checkpoint_line(&text, &mut out).is_ok(), good);
        let mut bytes = Vec::new();
        manifest().write(&mut bytes);
        bytes.extend(format!("{{\"checkpoint\":\"{text}\"}}\n").as_bytes());
        assert_eq!(lines(&bytes)[0].is_ok(), good);
        // A reader with a small buffer sees the line in pieces.
        let small = std::io::BufReader::with_capacity(7, bytes.as_slice());
        let mut reader = BundleReader::open(small).unwrap();
        assert_eq!(reader.next_line().unwrap().is_ok(), good);
        assert!(reader.next_line().is_none());
    }
}

#[test]
fn the_largest_body_fits_beside_the_largest_envelope() {
    let mut out = Vec::new();
    let body = vec![b'"'; BODY_BYTES_MAX];
    write_record_line(
        &vec![b'"'; ENVELOPE_BYTES_MAX],
        Some((&[0; 32], &body)),
        &mut out,
    )
    .unwrap();
    assert!(out.len() - 1 <= LINE_BYTES_MAX);
}

#[test]
fn a_reader_refuses_a_body_beyond_the_limit() {
    for (len, good) in [(BODY_BYTES_MAX, true), (BODY_BYTES_MAX + 1, false)] {
        let mut out = Vec::new();
        write_record_line(b"{}", Some((&[0; 32], &vec![b'x'; len])), &mut out).unwrap();
        assert_eq!(parse_line(&out[..out.len() - 1]).is_ok(), good, "{len}");
    }
}

#[test]
fn a_writer_refuses_what_a_line_cannot_hold_and_a_manifest_that_lies() {
    let mut writer = BundleWriter::new(Vec::new(), &manifest()).unwrap();
    assert!(writer.record_parts(&[0xff], None).is_err());
    assert!(
        writer
            .record_parts(b"{}", Some((&[0; 32], &[0xff])))
            .is_err()
    );
    assert!(matches!(
        writer.finish(),
        Err(WriteError::Counts { records: 2, .. })
    ));
}

proptest! {
    #[test]
    fn records_round_trip(envelope in "(\\PC|[\u{0}-\u{1f}\"\\\\]){0,80}",
                          body in proptest::option::of("(\\PC|[\u{0}-\u{1f}\"\\\\]){0,80}"),
                          salt: [u8; 32]) {
        let record = Record {
            envelope: envelope.into_bytes(),
            body: body.map(|b| Body { salt, bytes: b.into_bytes() }),
        };
        let mut out = Vec::new();
        let body = record.body.as_ref().map(|b| (&b.salt, b.bytes.as_slice()));
        write_record_line(&record.envelope, body, &mut out).unwrap();
        // An independent JSON reader agrees.
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        prop_assert_eq!(value["envelope"].as_str().unwrap().as_bytes(), &record.envelope);
        match parse_line(out.strip_suffix(b"\n").unwrap()) {
            Ok(Line::Record(line)) => prop_assert_eq!(line.into_record(), record),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_line_that_is_read_would_be_written_the_same(
        number in 0usize..5,
        at: prop::sample::Index,
        byte: u8,
        how in 0..3,
    ) {
        let whole = bundle();
        let line = whole.split(|b| *b == b'\n').nth(number).unwrap();
        let mut line = line.to_vec();
        let at = at.index(line.len());
        match how {
            0 => line[at] = byte,
            1 => line.insert(at, byte),
            _ => { line.remove(at); }
        }
        if let Ok(parsed) = parse_line(&line) {
            let mut out = Vec::new();
            match parsed {
                Line::Manifest(m) => m.write(&mut out),
                Line::Record(r) => {
                    let body = r.body.as_ref().map(|b| (&b.salt, &*b.bytes));
                    write_record_line(&r.envelope, body, &mut out).unwrap();
                }
                Line::Checkpoint(t) => write_checkpoint_line(&t, &mut out).unwrap(),
                Line::Receipt(t) => write_receipt_line(&t, &mut out).unwrap(),
            }
            line.push(b'\n');
            prop_assert_eq!(out, line);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = parse_line(&bytes);
        let _ = BundleReader::open(bytes.as_slice());
    }
}
