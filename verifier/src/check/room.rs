//! One room's bundle: the room's records, the log's key epochs, and receipts that tie both to one
//! signed checkpoint.
//!
//! Invariants
//! * The last room record is proven to be in the tree; each record names the hash of the one
//!   before it in the room; so the whole room is.
//! * Every key epoch is proven on its own, against the same checkpoint.
//! * `prev` is compared where two of the room's records are neighbours in the log too. Elsewhere it
//!   and roots cannot be recomputed: other rooms' records are not in the bundle.

use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_eventlog::format::hash::Hash;

use super::{
    core::Core,
    receipts::Held,
    sequence::{Of, Sequence, Step},
};
use crate::{
    evidence::{Anchor, OutsideReceipt},
    finding::{Code, Finding},
    policy::Policy,
    prepare::{Leaf, Prepared},
    report::{AnchorResult, WitnessResult},
    signed::{Receipt, Signed},
};

/// Streams of a room bundle are judged by their own sequence; the core need not report again.
const EXPLAINED: u64 = u64::MAX;

/// Unreadable lines in a row that get a place; more are reported by line alone.
const BAD_MAX: usize = 64;

/// A record that waits for its receipt.
#[derive(Clone, Debug)]
struct Waiting {
    seq: u64,
    line: u64,
    leaf: Leaf,
    chain: Hash,
}

/// The state of the check.
#[derive(Debug)]
pub(crate) struct RoomCheck<'a> {
    pub(crate) core: Core,
    pub(crate) newest: Option<Signed>,
    pub(crate) witnesses: Vec<WitnessResult>,
    pub(crate) witnessed: Option<(u64, u64)>,
    pub(crate) results: Vec<AnchorResult>,
    pub(crate) anchored: Option<u64>,
    pub(super) policy: &'a Policy,
    room: StreamId,
    room_id: RoomId,
    pub(crate) origin: String,
    log: Sequence,
    records: Sequence,
    /// An epoch record whose receipt must be the next line.
    epoch: Option<Waiting>,
    /// The last room record, whose receipt ends the room's part.
    last: Option<Waiting>,
    sealed: bool,
    /// The note all receipts hold, and the checkpoint line must be.
    note: Option<Signed>,
    ended: bool,
    /// Lines that could not be read since the last record.
    bad: Vec<Finding>,
    pub(super) receipts: Vec<Held>,
    pub(super) anchors: Vec<Anchor>,
}

impl<'a> RoomCheck<'a> {
    pub(crate) fn new(
        room: RoomId,
        origin: &str,
        policy: &'a Policy,
        anchors: &[Anchor],
        receipts: &[OutsideReceipt],
    ) -> Self {
        let mut core = Core::default();
        core.epochs.set_origin(origin);
        Self {
            core,
            newest: None,
            witnesses: Vec::new(),
            witnessed: None,
            results: Vec::new(),
            anchored: None,
            policy,
            room: StreamId::Room(room),
            room_id: room,
            origin: origin.to_owned(),
            log: Sequence::new(Of::Stream),
            records: Sequence::new(Of::Stream),
            epoch: None,
            last: None,
            sealed: false,
            note: None,
            ended: false,
            bad: Vec::new(),
            receipts: receipts.iter().cloned().map(Held::new).collect(),
            anchors: anchors.to_vec(),
        }
    }

    pub(crate) fn room_id(&self) -> RoomId {
        self.room_id
    }

    /// Position of the last record in the room.
    pub(crate) fn position(&self) -> u64 {
        self.records.next() - 1
    }

    /// Takes a record of the log's key epochs or of the room.
    pub(crate) fn record(&mut self, record: &Prepared, line: u64) {
        self.place_bad(record.seq);
        self.epoch_unproven();
        self.core.problems(record, line);
        let Some(stream) = record.place.as_ref().map(|place| place.stream) else {
            return self.records.unreadable();
        };
        let is_epoch = stream == StreamId::Log && self.last.is_none();
        if self.sealed || self.ended || !(is_epoch || stream == self.room) {
            let text = "a record that does not belong here in this room's bundle";
            let finding = Finding::new(Code::LineMisplaced, text).seq(record.seq);
            return self.core.findings.push(finding.stream(stream).line(line));
        }
        let sequence = if is_epoch {
            &mut self.log
        } else {
            &mut self.records
        };
        if sequence.accept(record, line, &mut self.core.findings) == Step::OutOfPlace {
            return;
        }
        let waiting = Waiting {
            seq: record.seq,
            line,
            leaf: record.leaf.clone(),
            chain: record.chain,
        };
        if is_epoch {
            self.epoch = Some(waiting);
            self.core.epoch(record, line);
        } else {
            self.order(record, line);
            self.last = Some(waiting);
            self.outside(record, line);
        }
        self.core.record(record, line, EXPLAINED);
    }

    /// Room records stand in the log's order, and neighbours in the log are chained there too.
    fn order(&mut self, record: &Prepared, line: u64) {
        let last = self.last.as_ref();
        if last.is_some_and(|last| last.seq >= record.seq) {
            let text = "its position in the log is not after the record before it";
            let finding = Finding::new(Code::SeqRepeated, text).seq(record.seq);
            self.core
                .findings
                .push(finding.stream(self.room).line(line));
        }
        // Where `sprev` does not match either, the sequence says which of the two was changed.
        if let Some(last) = &self.last
            && last.seq + 1 == record.seq
            && last.chain == record.sprev
            && last.chain != record.prev
        {
            let text = "the record right before it in the log is not the one it was chained to";
            let finding = Finding::new(Code::PrevMismatch, text).seq(record.seq);
            let finding = finding.hashes(record.prev, last.chain);
            self.core
                .findings
                .push(finding.stream(self.room).line(line));
        }
        if self.last.is_none() {
            // Times are compared within the room; the epochs before it may be newer.
            self.core.time = None;
            self.core.first = None;
        }
    }

    /// Holds the record against the receipts given from outside.
    fn outside(&mut self, record: &Prepared, line: u64) {
        let its = |held: &&mut Held| held.seq() == record.seq;
        for held in self.receipts.iter_mut().filter(its) {
            held.meet(record.leaf.hash(), line);
        }
    }

    /// Takes a receipt line: of the epoch record right before it, or of the last room record.
    pub(crate) fn receipt(&mut self, receipt_text: &str, line: u64) {
        let waiting = match self.epoch.take() {
            Some(epoch) => Some(epoch),
            None if self.sealed || self.ended => None,
            None => {
                self.sealed = self.last.is_some();
                self.last.clone()
            }
        };
        let Some(waiting) = waiting else {
            let text = "a receipt that belongs to no record before it";
            let mut finding = Finding::new(Code::LineMisplaced, text).line(line);
            if let Ok(receipt) = Receipt::parse(receipt_text.as_bytes()) {
                finding = finding.seq(receipt.index + 1);
            }
            return self.core.findings.push(finding);
        };
        let invalid = |text: String| {
            let finding = Finding::new(Code::ReceiptInvalid, text);
            finding.seq(waiting.seq).line(waiting.line)
        };
        let receipt = match Receipt::parse(receipt_text.as_bytes()) {
            Ok(receipt) => receipt,
            Err(why) => {
                return self
                    .core
                    .findings
                    .push(invalid(format!("its receipt: {why}")));
            }
        };
        if receipt.index + 1 != waiting.seq {
            let other = receipt.index + 1;
            let text = format!("the receipt after it is for record {other}: that one is missing");
            let (first, last) = (waiting.seq.min(other), waiting.seq.max(other));
            return self.core.findings.push(invalid(text).range(first, last));
        }
        match &self.note {
            Some(note) if note.text != receipt.signed.text => {
                let text = "its receipt is against another checkpoint than the bundle's others";
                return self.core.findings.push(invalid(text.to_owned()));
            }
            Some(_) => {}
            None => self.note = Some(receipt.signed.clone()),
        }
        let leaf = waiting.leaf.hash();
        if receipt.proves(&leaf) && receipt.carries_only(&leaf) {
            self.core.counts.receipts += 1;
        } else {
            let text = "its receipt does not prove it: the record, one before it that it hangs on, \
                        or the receipt was changed";
            self.core.findings.push(invalid(text.to_owned()));
        }
    }

    fn epoch_unproven(&mut self) {
        if let Some(epoch) = self.epoch.take() {
            let text = "no receipt proves this key epoch";
            let finding = Finding::new(Code::ReceiptMissing, text).seq(epoch.seq);
            self.core
                .findings
                .push(finding.stream("log").line(epoch.line));
        }
    }

    /// A finding about all records of the bundle.
    fn covered(&self, finding: Finding) -> Finding {
        match &self.last {
            Some(last) => finding.range(1, last.seq),
            None => finding,
        }
    }

    /// Takes the checkpoint line.
    pub(crate) fn checkpoint(&mut self, text: &str, line: u64) {
        self.epoch_unproven();
        if self.ended {
            let finding = Finding::new(Code::LineMisplaced, "a second checkpoint");
            return self.core.findings.push(finding.line(line));
        }
        self.ended = true;
        let signed = match Signed::parse(text.as_bytes()) {
            Ok(signed) => signed,
            Err(why) => {
                let finding = self.covered(Finding::new(Code::CheckpointMalformed, why));
                return self.core.findings.push(finding.line(line));
            }
        };
        let mut good = true;
        let mut report = |core: &mut Core, finding: Finding| {
            good = false;
            core.findings.push(finding.line(line));
        };
        if signed.head.origin != self.origin {
            let finding = Finding::new(Code::OriginMismatch, "a checkpoint of another log");
            let finding = finding.hashes(&self.origin, &signed.head.origin);
            report(&mut self.core, finding);
        }
        if self
            .note
            .as_ref()
            .is_some_and(|note| note.text != signed.text)
        {
            let text = "the checkpoint is not the one the receipts are against";
            let finding = self.covered(Finding::new(Code::ReceiptInvalid, text));
            report(&mut self.core, finding);
        }
        if let Err(finding) = self.core.epochs.check(&signed, self.policy) {
            report(&mut self.core, (*finding).seq(signed.head.size));
        }
        let outcome = self.policy.cosignatures(&signed);
        for name in outcome.invalid {
            let text = format!("the cosignature of witness {name} does not verify");
            report(&mut self.core, Finding::new(Code::CosignatureInvalid, text));
        }
        if outcome.quorum && !outcome.valid.is_empty() {
            let time = outcome.valid.iter().map(|w| w.time).max().unwrap_or(0);
            self.witnessed = Some((signed.head.size, time));
            self.witnesses = outcome.valid;
        }
        if good {
            self.core.counts.checkpoints += 1;
        }
        self.newest = Some(signed);
    }

    /// A line that is no line of a bundle. Which records it may have been is known once the next
    /// one comes.
    pub(crate) fn bad(&mut self, code: Code, why: &str, line: u64) {
        self.records.unreadable();
        let finding = Finding::new(code, why).line(line);
        if self.bad.len() < BAD_MAX {
            self.bad.push(finding);
        } else {
            self.core.findings.push(finding);
        }
    }

    /// Places the lines that could not be read before this record of the log.
    fn place_bad(&mut self, next_seq: u64) {
        let (first, last) = match &self.last {
            Some(last) => (last.seq + 1, next_seq.saturating_sub(1)),
            None if self.log.next() == 1 => (1, 1),
            // A key epoch or the room's first record: it can be any but the log's first.
            None => (
                2,
                self.note.as_ref().map_or(next_seq, |note| note.head.size),
            ),
        };
        for finding in std::mem::take(&mut self.bad) {
            self.core
                .findings
                .push(finding.range(first, last.max(first)));
        }
    }

    /// Ends the check.
    pub(crate) fn finish(&mut self) {
        let known = self.newest.as_ref().or(self.note.as_ref());
        let size = known.map_or(0, |signed| signed.head.size);
        self.place_bad(size + 1);
        self.epoch_unproven();
        self.log.finish(&mut self.core.findings);
        self.records.finish(&mut self.core.findings);
        if let Some(last) = self.last.as_ref().filter(|_| !self.sealed) {
            let text = "no receipt proves the last record of the room";
            let finding = Finding::new(Code::ReceiptMissing, text).seq(last.seq);
            self.core
                .findings
                .push(finding.stream(self.room).line(last.line));
        }
        if !self.ended && (self.last.is_some() || self.core.counts.events > 0) {
            let text = "there is no checkpoint: nobody signed these records";
            let finding = self.covered(Finding::new(Code::CheckpointMissing, text));
            self.core.findings.push(finding);
        }
        if self.log.next() == 1 && self.last.is_some() {
            let text = "the log's first key epoch is not in the bundle";
            self.core
                .findings
                .push(Finding::new(Code::ReceiptMissing, text).seq(1));
        }
        self.compare_anchors();
        if let Some(signed) = &self.newest
            && let Some(finding) = self.core.epochs.untrusted(signed.head.size, self.policy)
        {
            self.core.findings.push(finding);
        }
        if self.policy.demands_quorum() && self.witnessed.is_none() {
            let text = "the checkpoint lacks the cosignatures the policy demands";
            self.core
                .findings
                .push(Finding::new(Code::QuorumNotMet, text));
        }
        self.core.finish();
    }
}
