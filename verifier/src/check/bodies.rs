//! Bodies that are not there: erased with authority, or missing.
//!
//! A body may be missing only if a later record of the same stream erases it. Until that record
//! comes, the gap is pending; what is pending at the end is a finding. Neighbouring gaps are kept
//! as one range, so a fully erased room costs one entry. Gaps beyond the bound are not followed:
//! whether they are explained stays open, which is no refutation.

use std::collections::BTreeMap;

use minutebook_domain::ids::StreamId;
use rustc_hash::FxHashMap;

use crate::finding::{Code, Finding, Findings};

/// Gaps kept at one time.
const PENDING_MAX: usize = 500_000;

/// A run of records of one stream without bodies.
#[derive(Clone, Copy, Debug)]
struct Gap {
    last: u64,
    first_seq: u64,
    last_seq: u64,
    line: u64,
    /// Whether these are messages: only messages can be erased while the room lives.
    messages: bool,
}

/// A record without a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub(crate) stream: StreamId,
    pub(crate) sseq: u64,
    pub(crate) seq: u64,
    pub(crate) line: u64,
    pub(crate) message: bool,
}

/// The pending gaps, by stream and first stream position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies {
    pending: FxHashMap<StreamId, BTreeMap<u64, Gap>>,
    gaps: usize,
    erased: u64,
    /// First and last record of the gaps that are not followed.
    beyond: Option<(u64, u64)>,
}

impl Bodies {
    /// Takes a record without a body.
    pub(crate) fn missing(&mut self, record: &Missing) {
        let gaps = self.pending.entry(record.stream).or_default();
        let gap = Gap {
            last: record.sseq,
            first_seq: record.seq,
            last_seq: record.seq,
            line: record.line,
            messages: record.message,
        };
        if let Some((_, before)) = gaps.last_key_value().map(|(k, v)| (*k, *v))
            && before.last.checked_add(1) == Some(record.sseq)
            && before.messages == record.message
        {
            if let Some(mut entry) = gaps.last_entry() {
                entry.get_mut().last = record.sseq;
                entry.get_mut().last_seq = record.seq;
            }
        } else {
            self.keep(record.stream, record.sseq, gap);
        }
    }

    /// Follows a gap from here on, if there is room.
    fn keep(&mut self, stream: StreamId, at: u64, gap: Gap) {
        if self.gaps >= PENDING_MAX {
            let (first, last) = self.beyond.unwrap_or((gap.first_seq, gap.last_seq));
            self.beyond = Some((first.min(gap.first_seq), last.max(gap.last_seq)));
        } else if (self.pending.entry(stream).or_default())
            .insert(at, gap)
            .is_none()
        {
            self.gaps += 1;
        }
    }

    /// `room.bodies_erased`: messages in the range were erased with authority.
    pub(crate) fn erase_messages(&mut self, stream: StreamId, first: u64, last: u64) {
        let Some(gaps) = self.pending.get_mut(&stream) else {
            return;
        };
        let hit: Vec<(u64, Gap)> = gaps
            .range(..=last)
            .rev()
            .take_while(|(_, gap)| gap.last >= first)
            .filter(|(_, gap)| gap.messages)
            .map(|(at, gap)| (*at, *gap))
            .collect();
        for (at, _) in &hit {
            gaps.remove(at);
        }
        self.gaps -= hit.len();
        for (at, gap) in hit {
            self.erased += gap.last.min(last) - at.max(first) + 1;
            if at < first {
                let before = Gap {
                    last: first - 1,
                    ..gap
                };
                self.keep(stream, at, before);
            }
            if gap.last > last {
                self.keep(stream, last + 1, gap);
            }
        }
    }

    /// `room.erased`: every body of the stream so far was erased with authority.
    pub(crate) fn erase_all(&mut self, stream: StreamId) {
        if let Some(gaps) = self.pending.remove(&stream) {
            self.gaps -= gaps.len();
            self.erased += gaps.iter().map(|(at, gap)| gap.last - at + 1).sum::<u64>();
        }
    }

    /// Reports what is still pending.
    pub(crate) fn finish(&mut self, findings: &mut Findings) {
        for (stream, gaps) in std::mem::take(&mut self.pending) {
            for gap in gaps.values() {
                report(stream, gap, findings);
            }
        }
        if let Some((first, last)) = self.beyond.take() {
            let text = format!(
                "more than {PENDING_MAX} runs of bodies were missing at one time: whether later \
                 records erased the others was not checked"
            );
            findings.push(Finding::new(Code::ErasuresBeyondCheck, text).range(first, last));
        }
    }

    /// Bodies erased with authority so far.
    pub(crate) fn erased(&self) -> u64 {
        self.erased
    }
}

fn report(stream: StreamId, gap: &Gap, findings: &mut Findings) {
    let text = "the body is not there and no later record of its stream erased it";
    findings.push(
        Finding::new(Code::BodyMissing, text)
            .range(gap.first_seq, gap.last_seq)
            .stream(stream)
            .line(gap.line),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(seqs: &[(u64, bool)]) -> Bodies {
        let mut bodies = Bodies::default();
        for (seq, message) in seqs {
            let record = Missing {
                stream: StreamId::Log,
                sseq: *seq,
                seq: *seq,
                line: *seq,
                message: *message,
            };
            bodies.missing(&record);
        }
        bodies
    }

    fn left(mut bodies: Bodies) -> Vec<(u64, Option<u64>)> {
        let mut findings = Findings::default();
        bodies.finish(&mut findings);
        let list = findings.into_parts().0;
        list.iter().map(|f| (f.seq.unwrap(), f.seq_last)).collect()
    }

    #[test]
    fn an_erasure_covers_messages_in_its_range_and_nothing_else() {
        let mut bodies = gaps(&[
            (2, true),
            (3, true),
            (4, true),
            (5, false),
            (6, true),
            (9, true),
        ]);
        bodies.erase_messages(StreamId::Log, 3, 3);
        bodies.erase_messages(StreamId::Log, 5, 6);
        bodies.erase_messages(StreamId::Keys, 1, 99);
        assert_eq!(bodies.erased(), 2);
        assert_eq!(bodies.gaps, 4);
        assert_eq!(left(bodies).len(), 4, "2, 4, 5 and 9");
    }

    #[test]
    fn more_gaps_than_are_kept_leave_the_check_incomplete_and_refute_nothing() {
        let seqs: Vec<_> = (1..=PENDING_MAX as u64 + 2)
            .map(|n| (2 * n, true))
            .collect();
        let mut findings = Findings::default();
        let mut bodies = gaps(&seqs);
        bodies.erase_messages(StreamId::Log, 1, u64::MAX);
        bodies.finish(&mut findings);
        assert_eq!(findings.verdict(), crate::report::Verdict::Inconclusive);
        let (list, beyond) = findings.into_parts();
        assert_eq!((list.len(), beyond), (1, 0));
        assert_eq!(list[0].name, Code::ErasuresBeyondCheck);
        let last = 2 * (PENDING_MAX as u64 + 2);
        assert_eq!(
            (list[0].seq, list[0].seq_last),
            (Some(last - 2), Some(last))
        );
    }

    #[test]
    fn erasing_the_room_covers_every_body_before_it() {
        let mut bodies = gaps(&[(1, false), (2, true), (3, true)]);
        assert_eq!(left(bodies.clone()), [(1, None), (2, Some(3))]);
        bodies.erase_all(StreamId::Log);
        assert_eq!((bodies.erased(), bodies.gaps), (3, 0));
        assert_eq!(left(bodies), []);
    }
}
