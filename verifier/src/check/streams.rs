//! The chain of each stream: a room's records prove their own completeness.

use minutebook_domain::ids::StreamId;
use minutebook_eventlog::format::hash::Hash;
use rustc_hash::FxHashMap;

use crate::{
    finding::{Code, Finding, Findings},
    prepare::Prepared,
};

/// The newest record of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) sseq: u64,
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    /// Whether records of the stream are known to be missing or changed: what the rules say about
    /// later ones may be no more than a consequence.
    pub(crate) broken: bool,
}

/// All streams' heads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams(FxHashMap<StreamId, Head>);

impl Streams {
    /// Takes a stream's next record; true if the stream is whole, so that rules can be applied.
    /// `explained_until`: breaks that reach back to this record of
    /// the log or before are consequences of one already known.
    pub(crate) fn accept(
        &mut self,
        stream: StreamId,
        record: &Prepared,
        line: u64,
        explained_until: u64,
        findings: &mut Findings,
    ) -> bool {
        let head = self.0.entry(stream).or_insert(Head {
            sseq: 0,
            seq: 0,
            hash: Hash::ZERO,
            broken: false,
        });
        let explained = head.seq <= explained_until && explained_until > 0;
        let at = |finding: Finding| finding.seq(record.seq).stream(stream).line(line);
        if record.sseq != head.sseq + 1 {
            head.broken = true;
            if !explained {
                let text = format!(
                    "it is number {} in its stream, but the one before it is number {}",
                    record.sseq, head.sseq
                );
                findings.push(at(Finding::new(Code::StreamSeqWrong, text)));
            }
        } else if record.sprev != head.hash {
            head.broken |= explained;
            if !explained {
                let text = "it was not chained to the record before it in its stream";
                let finding = Finding::new(Code::StreamPrevMismatch, text);
                findings.push(at(finding.hashes(record.sprev, head.hash)));
            }
        }
        head.sseq = record.sseq;
        head.seq = record.seq;
        head.hash = record.chain;
        !head.broken
    }

    /// Takes the first record of a stream whose beginning is not in the bundle on its word.
    pub(crate) fn begin_anywhere(&mut self, stream: StreamId, record: &Prepared) {
        self.0.entry(stream).or_insert(Head {
            sseq: record.sseq - 1,
            seq: record.seq - 1,
            hash: record.sprev,
            broken: true,
        });
    }

    /// Marks a stream as one whose state is not to be trusted.
    pub(crate) fn set_broken(&mut self, stream: StreamId) {
        if let Some(head) = self.0.get_mut(&stream) {
            head.broken = true;
        }
    }

    /// Rooms seen.
    pub(crate) fn rooms(&self) -> u64 {
        let is_room = |id: &&StreamId| matches!(id, StreamId::Room(_));
        self.0.keys().filter(is_room).count() as u64
    }

    /// All heads, for the saved state.
    pub(crate) fn heads(&self) -> impl ExactSizeIterator<Item = (&StreamId, &Head)> {
        self.0.iter()
    }

    /// Streams that go on from these heads.
    pub(crate) fn resume(heads: impl IntoIterator<Item = (StreamId, Head)>) -> Self {
        Self(heads.into_iter().collect())
    }
}
