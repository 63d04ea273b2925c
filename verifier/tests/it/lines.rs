//! What lines hold is checked as their text is, whichever way it comes.

use std::io;

use minutebook_eventlog::format::{
    bundle::{BodyLine, Line, RecordLine, parse_line, write_record_line},
    limits::{BODY_BYTES_MAX, ENVELOPE_BYTES_MAX},
};
use minutebook_verifier::{
    Code, Lines, Options, Policy, Report, Verdict,
    tamper::{Means, Tampering, tamper},
    verify, verify_lines,
};

use crate::support::{Log, eventful};

/// Lines, so many at a time.
struct Given {
    left: Vec<Line<'static>>,
    at_a_time: usize,
}

impl Lines for Given {
    fn next_lines(&mut self) -> io::Result<Option<Vec<Line<'static>>>> {
        let count = self.at_a_time.min(self.left.len());
        let next: Vec<_> = self.left.drain(..count).collect();
        Ok((!next.is_empty()).then_some(next))
    }
}

/// What the lines of a bundle hold; none if there is one that holds nothing.
fn parsed(bundle: &[u8]) -> Option<Vec<Line<'static>>> {
    let text = bundle.strip_suffix(b"\n")?.split(|byte| *byte == b'\n');
    let parsed = text.map(|line| Some(owned(parse_line(line).ok()?)));
    parsed.collect()
}

fn owned(line: Line<'_>) -> Line<'static> {
    match line {
        Line::Manifest(manifest) => Line::Manifest(manifest),
        Line::Record(record) => {
            let record = record.into_record();
            let body = record.body.map(|body| BodyLine {
                salt: body.salt,
                bytes: body.bytes.into(),
            });
            let envelope = record.envelope.into();
            Line::Record(RecordLine { envelope, body })
        }
        Line::Checkpoint(text) => Line::Checkpoint(text.into_owned().into()),
        Line::Receipt(text) => Line::Receipt(text.into_owned().into()),
    }
}

fn of_text(bundle: &[u8], log: &Log) -> Report {
    let policy = Policy::of_key(&log.vkey()).unwrap();
    let outcome = verify(bundle, &policy, Options::default());
    outcome.unwrap().report
}

fn of_lines(left: Vec<Line<'static>>, log: &Log, threads: usize, at_a_time: usize) -> Report {
    let policy = Policy::of_key(&log.vkey()).unwrap();
    let options = Options {
        threads,
        ..Options::default()
    };
    let given = Given { left, at_a_time };
    verify_lines(given, &policy, options).unwrap().report
}

/// All that a report says.
fn all(report: &Report) -> serde_json::Value {
    serde_json::to_value(report).unwrap()
}

fn assert_alike(bundle: &[u8], log: &Log) -> Option<Report> {
    let lines = parsed(bundle)?;
    let of_text = of_text(bundle, log);
    for (threads, at_a_time) in [(1, 1000), (1, 1), (3, 2)] {
        let report = of_lines(lines.clone(), log, threads, at_a_time);
        assert_eq!(all(&report), all(&of_text));
    }
    Some(of_text)
}

#[test]
fn lines_give_the_report_that_their_text_gives() {
    let (log, a, b) = eventful();
    let means = Means {
        seq: None,
        seed: Some([2; 32]),
    };
    let mut refuted = 0;
    for bundle in [log.bundle(), log.room_bundle(a), log.room_bundle(b)] {
        let clean = assert_alike(&bundle, &log).unwrap();
        assert_eq!(clean.verdict, Verdict::Clean);
        for kind in Tampering::ALL {
            let Ok(made) = tamper(kind.name, &bundle, &means) else {
                continue;
            };
            let report = assert_alike(&made.bytes, &log);
            refuted += usize::from(report.is_some_and(|r| r.verdict == Verdict::Refuted));
        }
    }
    assert!(refuted > Tampering::ALL.len(), "only {refuted}");
}

/// The lines of a room with its fourth record, a message, changed.
fn with(log: &Log, change: impl Fn(&mut RecordLine<'static>)) -> Vec<Line<'static>> {
    let (log_lines, mut nth) = (log.bundle(), 0);
    let mut lines = parsed(&log_lines).unwrap();
    for line in &mut lines {
        if let Line::Record(record) = line {
            nth += 1;
            if nth == 4 {
                change(record);
            }
        }
    }
    lines
}

#[test]
fn what_no_line_can_hold_is_refuted() {
    let (log, ..) = eventful();
    let not_text = |record: &mut RecordLine<'static>| {
        record.body.as_mut().unwrap().bytes = vec![0xff].into();
    };
    let no_envelope = |record: &mut RecordLine<'static>| record.envelope = vec![0xff].into();
    let too_long = |record: &mut RecordLine<'static>| {
        record.body.as_mut().unwrap().bytes = vec![1; BODY_BYTES_MAX].into();
    };
    let changes: [&dyn Fn(&mut RecordLine<'static>); 3] = [&not_text, &no_envelope, &too_long];
    for change in changes {
        let lines = with(&log, change);
        let written = lines.iter().filter_map(|line| match line {
            Line::Record(record) => {
                let body = record.body.as_ref().map(|body| (&body.salt, &*body.bytes));
                Some(write_record_line(&record.envelope, body, &mut Vec::new()))
            }
            Line::Manifest(_) | Line::Checkpoint(_) | Line::Receipt(_) => None,
        });
        assert_eq!(written.filter(Result::is_err).count(), 1);
        let report = of_lines(lines, &log, 1, 7);
        assert_eq!(report.verdict, Verdict::Refuted);
        assert_eq!(report.findings[0].name, Code::LineUnreadable);
        assert_eq!(report.first_bad_seq, Some(4));
    }
}

#[test]
fn what_is_written_and_not_read_again_is_refuted_as_its_text_is() {
    let (log, ..) = eventful();
    for (bytes, code) in [
        (BODY_BYTES_MAX + 1, Code::LineUnreadable),
        (BODY_BYTES_MAX, Code::BodyMismatch),
    ] {
        let lines = with(&log, |record| {
            record.body.as_mut().unwrap().bytes = vec![b'x'; bytes].into();
        });
        let mut text = log.bundle();
        let line = text.split(|byte| *byte == b'\n').position(|line| {
            matches!(parse_line(line), Ok(Line::Record(record))
                if record.envelope.windows(8).any(|part| part == b"\"seq\":4,"))
        });
        let Line::Record(record) = &lines[line.unwrap()] else {
            panic!("a record")
        };
        let mut written: Vec<_> = text
            .split_inclusive(|b| *b == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let body = record.body.as_ref().map(|body| (&body.salt, &*body.bytes));
        written[line.unwrap()].clear();
        write_record_line(&record.envelope, body, &mut written[line.unwrap()]).unwrap();
        text = written.concat();
        let report = of_lines(lines, &log, 1, 7);
        assert_eq!(all(&report), all(&of_text(&text, &log)));
        assert_eq!(report.findings[0].name, code);
    }
}

#[test]
fn an_envelope_beyond_its_limit_is_refuted() {
    let (log, ..) = eventful();
    let lines = with(&log, |record| {
        record.envelope = vec![b'x'; ENVELOPE_BYTES_MAX + 1].into();
    });
    let report = of_lines(lines, &log, 1, 7);
    assert_eq!(report.verdict, Verdict::Refuted);
    assert_eq!(report.findings[0].name, Code::EnvelopeMalformed);
}
