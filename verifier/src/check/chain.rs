//! One hash chain: each record names the hash of the one before it.
//!
//! When a link does not match, either the record or its predecessor was changed. The *next* link
//! decides: if it vouches for the record, the predecessor is the changed one. So a mismatch is
//! held for one record before it becomes a finding with a place.

use minutebook_eventlog::format::hash::Hash;

use crate::finding::{Code, Finding, Findings};

/// A record's place and hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    pub(crate) line: u64,
    pub(crate) hash: Hash,
}

/// A mismatch that waits for the next link.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    before: Link,
    seq: u64,
    line: u64,
    claimed: Hash,
}

/// The chain so far.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    code: Code,
    last: Option<Link>,
    doubt: Option<Doubt>,
    /// Whether the very first link has been taken: it must name 64 zeros.
    begun: bool,
    broken_until: u64,
}

impl Chain {
    /// A chain from its beginning; its breaks are reported under this code.
    pub(crate) fn new(code: Code) -> Self {
        Self {
            code,
            last: None,
            doubt: None,
            begun: false,
            broken_until: 0,
        }
    }

    /// A chain that goes on after a record known by its hash, or, with none, after an unknown one.
    pub(crate) fn resume(code: Code, last: Option<Link>) -> Self {
        Self {
            last,
            begun: true,
            ..Self::new(code)
        }
    }

    /// Takes the next record.
    pub(crate) fn accept(&mut self, record: Link, claimed: Hash, findings: &mut Findings) {
        let expected = if self.begun {
            self.last.map(|last| last.hash)
        } else {
            Some(Hash::ZERO)
        };
        let matches = expected.is_none_or(|expected| expected == claimed);
        match (self.doubt.take(), matches) {
            (None, true) => {}
            (None, false) => self.mismatch(record, claimed, findings),
            (Some(doubt), true) => {
                let before = doubt.before;
                let text = format!(
                    "record {} is not the one record {} was chained to: it was changed or put in \
                     another's place",
                    before.seq, doubt.seq
                );
                self.report(before.seq, before.line, &doubt, text, findings);
            }
            (Some(doubt), false) => {
                let text = format!(
                    "record {} fits neither the record before it nor the one after it: it was \
                     changed or put in another's place",
                    doubt.seq
                );
                self.report(doubt.seq, doubt.line, &doubt, text, findings);
            }
        }
        self.begun = true;
        self.last = Some(record);
    }

    fn mismatch(&mut self, record: Link, claimed: Hash, findings: &mut Findings) {
        if let Some(before) = self.last {
            self.doubt = Some(Doubt {
                before,
                seq: record.seq,
                line: record.line,
                claimed,
            });
        } else {
            self.broken_until = self.broken_until.max(record.seq);
            findings.push(
                Finding::new(self.code, "the first record names a record before it")
                    .seq(record.seq)
                    .line(record.line)
                    .hashes(Hash::ZERO, claimed),
            );
        }
    }

    fn report(&mut self, seq: u64, line: u64, doubt: &Doubt, text: String, out: &mut Findings) {
        self.broken_until = self.broken_until.max(seq);
        let finding = Finding::new(self.code, text).seq(seq).line(line);
        out.push(finding.hashes(doubt.claimed, doubt.before.hash));
    }

    /// Records are known to be missing or unreadable here: the next link proves nothing.
    pub(crate) fn interrupt(&mut self, until: u64, findings: &mut Findings) {
        self.finish(findings);
        self.last = None;
        self.begun = true;
        self.broken_until = self.broken_until.max(until);
    }

    /// Reports a mismatch that no further link can place.
    pub(crate) fn finish(&mut self, findings: &mut Findings) {
        if let Some(doubt) = self.doubt.take() {
            self.broken_until = self.broken_until.max(doubt.seq);
            let text = format!(
                "record {} was not chained to record {}: one of the two was changed",
                doubt.seq, doubt.before.seq
            );
            let finding = Finding::new(self.code, text)
                .range(doubt.before.seq, doubt.seq)
                .line(doubt.line);
            findings.push(finding.hashes(doubt.claimed, doubt.before.hash));
        }
    }

    /// The last record at or before which this chain is known or suspected to be broken; zero
    /// while it is whole. A mismatch elsewhere that reaches back to it is no news.
    pub(crate) fn broken_until(&self) -> u64 {
        let doubted = self.doubt.map_or(0, |doubt| doubt.seq);
        self.broken_until.max(doubted)
    }

    /// The last record taken.
    pub(crate) fn last(&self) -> Option<Link> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u8) -> Hash {
        Hash::new([n; 32])
    }

    /// Feeds (own hash, claimed previous hash) pairs; answers the findings' first and last seq.
    fn check(links: &[(u8, u8)]) -> Vec<(u64, Option<u64>)> {
        let (mut chain, mut findings) = (Chain::new(Code::PrevMismatch), Findings::default());
        for (seq, (own, claimed)) in (1..).zip(links) {
            let link = Link {
                seq,
                line: seq,
                hash: hash(*own),
            };
            chain.accept(link, hash(*claimed), &mut findings);
        }
        chain.finish(&mut findings);
        let (list, _) = findings.into_parts();
        list.iter().map(|f| (f.seq.unwrap(), f.seq_last)).collect()
    }

    #[test]
    fn a_changed_record_is_named_and_not_its_neighbours() {
        assert_eq!(check(&[(1, 0), (2, 1), (3, 2), (4, 3)]), []);
        // Record 2 has another hash than record 3 says.
        assert_eq!(check(&[(1, 0), (9, 1), (3, 2), (4, 3)]), [(2, None)]);
        // Record 3's own link was changed, which changes its hash too.
        assert_eq!(check(&[(1, 0), (2, 1), (8, 9), (4, 3)]), [(3, None)]);
        assert_eq!(check(&[(1, 7), (2, 1)]), [(1, None)]);
    }

    #[test]
    fn at_the_end_both_neighbours_are_named() {
        assert_eq!(check(&[(1, 0), (2, 1), (3, 9)]), [(2, Some(3))]);
    }
}
