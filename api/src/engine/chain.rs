//! Where the chains end: the log's and each stream's. The next envelope's links come from here.

use std::collections::BTreeMap;

use minutebook_domain::ids::StreamId;
use minutebook_eventlog::format::hash::Hash;

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHead {
    /// Position of its last record.
    pub sseq: u64,
    /// Chain hash of its last envelope.
    pub hash: Hash,
}

impl StreamHead {
    const EMPTY: Self = Self {
        sseq: 0,
        hash: Hash::ZERO,
    };
}

/// The ends of all chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Seq of the last record.
    pub seq: u64,
    /// Chain hash of the last envelope.
    pub hash: Hash,
    /// The end of every stream.
    pub streams: BTreeMap<StreamId, StreamHead>,
}

/// The links of the next envelope.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// Its seq.
    pub seq: u64,
    /// Hash of the envelope before.
    pub prev: Hash,
    /// Its position in the stream.
    pub sseq: u64,
    /// Hash of the envelope before in the stream.
    pub sprev: Hash,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            seq: 0,
            hash: Hash::ZERO,
            streams: BTreeMap::new(),
        }
    }
}

impl Chain {
    /// The links the next envelope of this stream must carry.
    pub fn next(&self, stream: StreamId) -> Links {
        let head = self
            .streams
            .get(&stream)
            .copied()
            .unwrap_or(StreamHead::EMPTY);
        Links {
            seq: self.seq + 1,
            prev: self.hash,
            sseq: head.sseq + 1,
            sprev: head.hash,
        }
    }

    /// Moves both ends to an envelope that carried those links.
    pub fn advance(&mut self, stream: StreamId, links: Links, hash: Hash) {
        self.seq = links.seq;
        self.hash = hash;
        self.streams.insert(
            stream,
            StreamHead {
                sseq: links.sseq,
                hash,
            },
        );
    }
}
