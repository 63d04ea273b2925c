//! What the rules remember of a room's ledger.
//!
//! Bounded: threads, entries, handshakes, signers and what a thread remembers each have a limit;
//! used signatures are as many as the acts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::{
    Author, ClaimOpened, ClaimRevised, Entry, HandshakeMade, Principals, Thread, context_hash,
    ledger::GENESIS,
};
use crate::{
    Rejection,
    ids::ClaimId,
    limits::{ROOM_HANDSHAKES_MAX, ROOM_REREADINGS_MAX, ROOM_REVISIONS_MAX, ROOM_THREADS_MAX},
    remembered::Remembered,
    signature::LedgerSignature,
    text::AgentName,
};

/// A room's threads, their ledger and its handshakes.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Claims {
    /// In the order they were opened.
    threads: Vec<Thread>,
    by_id: BTreeMap<ClaimId, u32>,
    /// The newest entry's number.
    pub(super) revisions: u64,
    /// The newest entry's `row_hash`; empty before the first.
    tail: String,
    pub(super) handshakes: u64,
    discrepancies: u64,
    /// The newest message the arbiter is done with.
    extracted: u64,
    /// Readings that did not bring it further.
    rereadings: u64,
    pub(super) principals: Principals,
    /// Of every signature used here: a ledger act is signed for once and all, so no time frees it.
    used: BTreeSet<[u8; 16]>,
    /// Hashing thousands of threads for each of many handshakes would hold up the writer.
    #[rkyv(with = rkyv::with::Skip)]
    context: Remembered<String>,
}

impl Claims {
    pub(in crate::room) const fn new() -> Self {
        Self {
            threads: Vec::new(),
            by_id: BTreeMap::new(),
            revisions: 0,
            tail: String::new(),
            handshakes: 0,
            discrepancies: 0,
            extracted: 0,
            rereadings: 0,
            principals: Principals::new(),
            used: BTreeSet::new(),
            context: Remembered::new(),
        }
    }

    /// All threads, in the order they were opened, cancelled ones too.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The thread of this id.
    pub fn thread(&self, id: ClaimId) -> Option<&Thread> {
        self.threads.get(self.index(id)?)
    }

    /// Number of the newest entry, 0 before the first.
    pub fn revisions(&self) -> u64 {
        self.revisions
    }

    /// The newest entry's `row_hash`, or [`GENESIS`].
    pub fn tail(&self) -> &str {
        if self.tail.is_empty() {
            GENESIS
        } else {
            &self.tail
        }
    }

    /// Number of the newest handshake, 0 before the first.
    pub fn handshakes(&self) -> u64 {
        self.handshakes
    }

    /// Number of the newest discrepancy, 0 before the first.
    pub fn discrepancies(&self) -> u64 {
        self.discrepancies
    }

    /// The newest message the arbiter is done with, 0 before the first.
    pub fn extracted(&self) -> u64 {
        self.extracted
    }

    /// Who signed with what.
    pub fn principals(&self) -> &Principals {
        &self.principals
    }

    /// The context's hash now.
    pub fn context_hash(&self) -> &str {
        let threads = self.threads.iter().filter_map(Thread::in_context);
        self.context.get(|| context_hash(threads))
    }

    /// Agents the ledger knows by name: openers, confirmers and signers.
    pub(in crate::room) fn agents(&self) -> impl Iterator<Item = &AgentName> {
        let threads = self.threads.iter().flat_map(Thread::agents);
        threads.chain(self.principals.agents())
    }

    fn index(&self, id: ClaimId) -> Option<usize> {
        usize::try_from(*self.by_id.get(&id)?).ok()
    }

    /// Whether this entry comes next.
    pub(super) fn check_entry(&self, entry: &Entry) -> Result<(), Rejection> {
        let expected = self.next_entry();
        if entry.id != expected {
            let found = entry.id;
            return Err(Rejection::LedgerOutOfOrder { expected, found });
        }
        if entry.prev_hash != self.tail() {
            return Err(Rejection::LedgerChainBroken);
        }
        Ok(())
    }

    pub(super) fn next_entry(&self) -> u64 {
        self.revisions.saturating_add(1)
    }

    /// Whether a signature may be used: not before, not by too many, and with one of the entries up
    /// to which the signer should have read.
    pub(super) fn check_signature(
        &self,
        author: &Author,
        signature: Option<&LedgerSignature>,
        read: &RangeInclusive<u64>,
    ) -> Result<(), Rejection> {
        let (Author::Agent(agent), Some(signature)) = (author, signature) else {
            return Ok(());
        };
        if self.used.contains(&digest(signature)) {
            return Err(Rejection::SignatureReplayed);
        }
        if signature.position.is_some_and(|seen| !read.contains(&seen)) {
            let current = *read.end();
            return Err(Rejection::SignaturePositionStale { current });
        }
        self.principals.check(agent, signature)
    }

    /// So many threads, of which only the number counts.
    #[cfg(test)]
    pub(super) fn fill(&mut self, threads: usize) {
        if let Some(one) = self.threads.first().cloned() {
            self.threads.resize(threads, one);
        }
    }

    pub(super) fn check_thread_room(&self) -> Result<(), Rejection> {
        let max = ROOM_THREADS_MAX;
        if self.threads.len() >= max {
            return Err(Rejection::ThreadsFull { max });
        }
        Ok(())
    }

    pub(super) fn check_entry_room(&self) -> Result<(), Rejection> {
        let max = ROOM_REVISIONS_MAX;
        if self.revisions >= max {
            return Err(Rejection::RevisionsFull { max });
        }
        Ok(())
    }

    pub(super) fn check_handshake_room(&self) -> Result<(), Rejection> {
        let max = ROOM_HANDSHAKES_MAX;
        if self.handshakes >= max {
            return Err(Rejection::HandshakesFull { max });
        }
        Ok(())
    }

    pub(super) fn open(&mut self, event: &ClaimOpened) {
        self.append(&event.entry, &event.agent, event.signature.as_deref());
        let index = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        self.by_id.insert(event.claim, index);
        self.threads.push(Thread::open(event));
    }

    pub(super) fn revise(&mut self, event: &ClaimRevised, needed: u8) {
        self.append(&event.entry, &event.agent, event.signature.as_deref());
        let index = self.index(event.claim);
        let Some(thread) = index.and_then(|index| self.threads.get_mut(index)) else {
            return;
        };
        if thread.revise(event, &self.principals, needed).disputes() {
            self.discrepancies = self.discrepancies.saturating_add(1);
        }
    }

    pub(super) fn shake_hands(&mut self, event: &HandshakeMade) {
        self.handshakes = self.handshakes.saturating_add(1);
        if let Some(signature) = event.signature.as_deref() {
            self.used.insert(digest(signature));
            if event.is_of_this_room() {
                let author = Author::Agent(event.agent.clone());
                self.principals.learn(&author, Some(signature));
            }
        }
    }

    /// Whether a reading brings the arbiter further, or may be one more that does not.
    pub(super) fn check_reading(&self, message: u64, is_final: bool) -> Result<(), Rejection> {
        let max = ROOM_REREADINGS_MAX;
        let is_further = is_final && message > self.extracted;
        if !is_further && self.rereadings >= max {
            return Err(Rejection::RereadingsFull { max });
        }
        Ok(())
    }

    pub(super) fn extract(&mut self, message: u64, is_final: bool) {
        if is_final && message > self.extracted {
            self.extracted = message;
        } else {
            self.rereadings = self.rereadings.saturating_add(1);
        }
    }

    pub(super) fn record_discrepancy(&mut self) {
        self.discrepancies = self.discrepancies.saturating_add(1);
    }

    fn append(&mut self, entry: &Entry, author: &Author, signature: Option<&LedgerSignature>) {
        self.revisions = self.revisions.saturating_add(1);
        self.tail.clone_from(&entry.row_hash);
        self.context = Remembered::new();
        self.learn(author, signature);
    }

    fn learn(&mut self, author: &Author, signature: Option<&LedgerSignature>) {
        self.principals.learn(author, signature);
        if let Some(signature) = signature {
            self.used.insert(digest(signature));
        }
    }
}

fn digest(signature: &LedgerSignature) -> [u8; 16] {
    let hash = blake3::hash(signature.sig.as_bytes());
    let mut digest = [0; 16];
    for (to, from) in digest.iter_mut().zip(hash.as_bytes()) {
        *to = *from;
    }
    digest
}
