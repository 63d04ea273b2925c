//! The saved state of the writer, so that a start replays only what came after it.
//!
//! Invariants
//! * A snapshot describes the log at exactly one seq. It is written in that commit's own batch, or
//!   by a clean stop in a batch of its own, and in one batch either way: with its header, all its
//!   pieces, and the end of surplus pieces of a bigger one before.
//! * It is a cache: anything odd about it (version, digest, archive, chain) and it is ignored,
//!   and the state is folded from seq 1 again.
//! * The archive is rkyv, which does not notice a changed layout; `VERSION` must go up with any
//!   change to the archived types, and a golden test fails until it does.

use minutebook_domain::State;
use minutebook_domain::ids::StreamId;
use minutebook_domain::time::Timestamp;
use minutebook_eventlog::format::hash::{Hash, chain_hash};
use minutebook_eventlog::store::{LogReader, LogWriter, RowOp, Space, StoreError};
use rkyv::rancor;
use rkyv::util::AlignedVec;
use rkyv::with::Inline;

use super::chain::{Chain, StreamHead};
use super::commit::{Committer, Fatal};

/// Version of the archived layout.
const VERSION: u32 = 4;
/// BLAKE3 of a fixed state in that layout.
#[cfg(test)]
const LAYOUT: &str = "b06c448f05779598ae967a4b4cc3bb8e0b0065d0b43321b57a81dfaa4fcefaa3";
/// Values in the store stay small; a big state is cut into pieces.
const CHUNK_BYTES: usize = 4 << 20;
/// First bytes of the header row.
const MAGIC: &[u8; 8] = b"mbstate\n";
const HEADER_KEY: &[u8] = b"state/header";

/// What the writer remembers, at one seq.
#[derive(Clone, Debug, rkyv::Archive, rkyv::Deserialize)]
pub struct Snapshot {
    state: State,
    seq: u64,
    hash: [u8; 32],
    streams: Vec<(StreamId, u64, [u8; 32])>,
    last_at: Timestamp,
}

/// The same, borrowed from the writer: a big state is not copied to be saved.
#[derive(rkyv::Archive, rkyv::Serialize)]
#[rkyv(as = ArchivedSnapshot, serialize_bounds(State: rkyv::Serialize<__S>))]
struct View<'a> {
    #[rkyv(with = Inline, omit_bounds)]
    state: &'a State,
    seq: u64,
    hash: [u8; 32],
    streams: Vec<(StreamId, u64, [u8; 32])>,
    last_at: Timestamp,
}

impl<'a> View<'a> {
    fn new(state: &'a State, chain: &Chain, last_at: Timestamp) -> Self {
        let streams = chain.streams.iter();
        let streams = streams
            .map(|(id, head)| (*id, head.sseq, *head.hash.as_bytes()))
            .collect();
        let (seq, hash) = (chain.seq, *chain.hash.as_bytes());
        Self {
            state,
            seq,
            hash,
            streams,
            last_at,
        }
    }

    fn archive(&self) -> Result<AlignedVec, StoreError> {
        rkyv::to_bytes::<rancor::Error>(self)
            .map_err(|error| StoreError::Io(format!("the state does not archive: {error}")))
    }
}

impl<W: LogWriter> Committer<W> {
    /// The rows that save the state as it is now.
    pub(super) fn snapshot(&self) -> Result<Vec<RowOp>, StoreError> {
        let bytes = View::new(&self.state, &self.chain, self.last_at).archive()?;
        rows(&bytes, &*self.reader, self.meta)
    }

    /// A clean stop: saves the state, so that the next start folds nothing.
    pub fn close(mut self) -> Result<(), Fatal> {
        if self.chain.seq > self.last_snapshot {
            let rows = self.snapshot()?;
            let maintenance = self.writer.maintenance();
            maintenance.append_rows(rows)?;
            maintenance.persist()?;
        }
        Ok(self.writer.stop()?)
    }
}

fn rows(bytes: &[u8], reader: &dyn LogReader, meta: Space) -> Result<Vec<RowOp>, StoreError> {
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_be_bytes());
    header.extend((bytes.len() as u64).to_be_bytes());
    header.extend(blake3::hash(bytes).as_bytes());
    let mut rows = vec![put(meta, HEADER_KEY.to_vec(), header)];
    let chunks = bytes.chunks(CHUNK_BYTES).enumerate();
    rows.extend(chunks.map(|(index, chunk)| put(meta, chunk_key(index), chunk.to_vec())));
    let mut surplus = bytes.len().div_ceil(CHUNK_BYTES);
    while reader.get(meta, &chunk_key(surplus))?.is_some() {
        rows.push(RowOp {
            space: meta,
            key: chunk_key(surplus),
            value: None,
        });
        surplus += 1;
    }
    Ok(rows)
}

impl Snapshot {
    /// What was saved.
    pub fn restore(self) -> (State, Chain, Timestamp) {
        let heads = self.streams.into_iter();
        let heads = heads.map(|(id, sseq, hash)| {
            (
                id,
                StreamHead {
                    sseq,
                    hash: Hash::new(hash),
                },
            )
        });
        let chain = Chain {
            seq: self.seq,
            hash: Hash::new(self.hash),
            streams: heads.collect(),
        };
        (self.state, chain, self.last_at)
    }

    /// The newest snapshot, if it is whole and belongs to this log.
    pub fn load(reader: &dyn LogReader, meta: Space) -> Result<Option<Self>, StoreError> {
        let Some(header) = reader.get(meta, HEADER_KEY)? else {
            return Ok(None);
        };
        let Some((length, digest)) = parse_header(&header) else {
            return Ok(None);
        };
        let mut bytes = AlignedVec::<16>::new();
        for index in 0..length.div_ceil(CHUNK_BYTES) {
            let Some(chunk) = reader.get(meta, &chunk_key(index))? else {
                return Ok(None);
            };
            bytes.extend_from_slice(&chunk);
        }
        if bytes.len() != length || blake3::hash(&bytes).as_bytes() != digest {
            return Ok(None);
        }
        let Ok(snapshot) = rkyv::from_bytes::<Self, rancor::Error>(&bytes) else {
            return Ok(None);
        };
        Ok(snapshot.belongs(reader)?.then_some(snapshot))
    }

    fn belongs(&self, reader: &dyn LogReader) -> Result<bool, StoreError> {
        let page = reader.read(self.seq, 1)?;
        let record = page.first().filter(|(seq, _)| *seq == self.seq);
        Ok(record.is_some_and(|(_, r)| chain_hash(&r.envelope).as_bytes() == &self.hash))
    }
}

fn put(space: Space, key: Vec<u8>, value: Vec<u8>) -> RowOp {
    RowOp {
        space,
        key,
        value: Some(value),
    }
}

fn chunk_key(index: usize) -> Vec<u8> {
    format!("state/chunk/{index:08}").into_bytes()
}

fn parse_header(header: &[u8]) -> Option<(usize, &[u8])> {
    let rest = header.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(4)?;
    let (length, digest) = rest.split_at_checked(8)?;
    let length = u64::from_be_bytes(length.try_into().ok()?);
    (version == VERSION.to_be_bytes()).then_some((usize::try_from(length).ok()?, digest))
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
