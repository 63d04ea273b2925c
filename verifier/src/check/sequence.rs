//! Numbers and links of a run of records: of the whole log (`seq`, `prev`) or of one stream in a
//! room bundle (`sseq`, `sprev`).
//!
//! A wrong number has three causes: records before it are missing, the record was copied or moved
//! here, or the number itself was changed. The link tells the last from the other two.

use minutebook_eventlog::format::hash::Hash;

use super::chain::{Chain, Link};
use crate::{
    finding::{Code, Finding, Findings},
    prepare::Prepared,
    render::counted,
};

/// Which number and link are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The whole log.
    Log,
    /// One stream alone.
    Stream,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Where it should: judge it.
    InPlace,
    /// In its place, but its number was changed: it counts, and cannot be judged.
    Renumbered,
    /// Records before it are missing or unreadable.
    AfterGap,
    /// It does not belong here: it counts for nothing.
    OutOfPlace,
}

/// The run so far.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    of: Of,
    chain: Chain,
    next: u64,
    last_seq: u64,
    /// Lines since the last good record that could not be read and may have been records.
    unreadable: u64,
}

impl Sequence {
    /// A run from its beginning.
    pub(crate) fn new(of: Of) -> Self {
        let code = match of {
            Of::Log => Code::PrevMismatch,
            Of::Stream => Code::StreamPrevMismatch,
        };
        Self {
            of,
            chain: Chain::new(code),
            next: 1,
            last_seq: 0,
            unreadable: 0,
        }
    }

    /// A log that goes on at this number, after a record known by its hash or unknown.
    pub(crate) fn resume(next: u64, hash: Option<Hash>) -> Self {
        let last = hash.map(|hash| Link {
            seq: next - 1,
            line: 1,
            hash,
        });
        Self {
            chain: Chain::resume(Code::PrevMismatch, last),
            next,
            last_seq: next - 1,
            ..Self::new(Of::Log)
        }
    }

    /// The number the next record must have.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The last record's hash.
    pub(crate) fn last(&self) -> Option<Link> {
        self.chain.last()
    }

    /// See [`Chain::broken_until`].
    pub(crate) fn broken_until(&self) -> u64 {
        self.chain.broken_until()
    }

    /// A line that could not be read stands where a record may have been.
    pub(crate) fn unreadable(&mut self) {
        self.unreadable += 1;
    }

    /// Takes the next record.
    pub(crate) fn accept(&mut self, record: &Prepared, line: u64, out: &mut Findings) -> Step {
        let (number, claimed) = match self.of {
            Of::Log => (record.seq, record.prev),
            Of::Stream => (record.sseq, record.sprev),
        };
        let linked = self.chain.last().map_or(Hash::ZERO, |link| link.hash) == claimed
            && (self.chain.last().is_some() || self.next == 1);
        let step = if number == self.next {
            Step::InPlace
        } else if linked {
            self.wrong_number(number, record, line, out);
            Step::Renumbered
        } else if number > self.next {
            self.gap(number, record, line, out);
            Step::AfterGap
        } else {
            self.repeated(number, record, line, out);
            return Step::OutOfPlace;
        };
        let position = match (step, self.of) {
            (Step::Renumbered, _) => self.next,
            (_, _) => number,
        };
        let seq = match self.of {
            Of::Log => position,
            Of::Stream => record.seq,
        };
        let taken = Link {
            seq,
            line,
            hash: record.chain,
        };
        self.chain.accept(taken, claimed, out);
        self.next = position + 1;
        self.last_seq = seq;
        self.unreadable = 0;
        step
    }

    fn wrong_number(&self, number: u64, record: &Prepared, line: u64, out: &mut Findings) {
        let code = match self.of {
            Of::Stream => Code::StreamSeqWrong,
            Of::Log if number > self.next => Code::SeqGap,
            Of::Log => Code::SeqRepeated,
        };
        let seq = match self.of {
            Of::Log => self.next,
            Of::Stream => record.seq,
        };
        let text = format!("number {} is due, but the record says {number}", self.next);
        let finding = Finding::new(code, text).seq(seq).line(line);
        out.push(finding.hashes(self.next, number));
    }

    fn gap(&mut self, number: u64, record: &Prepared, line: u64, out: &mut Findings) {
        let missing = number - self.next;
        if missing > self.unreadable {
            let code = match self.of {
                Of::Log => Code::SeqGap,
                Of::Stream => Code::StreamSeqWrong,
            };
            let text = counted(missing, "record is", "records are") + " missing before this line";
            let first = self.last_seq + 1;
            let finding = Finding::new(code, text).range(first, record.seq.max(first + 1) - 1);
            out.push(finding.line(line).hashes(self.next, number));
        }
        self.chain.interrupt(record.seq, out);
    }

    fn repeated(&self, number: u64, record: &Prepared, line: u64, out: &mut Findings) {
        let code = match self.of {
            Of::Log => Code::SeqRepeated,
            Of::Stream => Code::StreamSeqWrong,
        };
        let text = "a record of this number, or a later one, came before: it was copied, moved or \
                    put in";
        let finding = Finding::new(code, text).seq(record.seq).line(line);
        out.push(finding.hashes(self.next, number));
    }

    /// Ends the run.
    pub(crate) fn finish(&mut self, findings: &mut Findings) {
        self.chain.finish(findings);
    }
}
