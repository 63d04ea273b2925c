//! The verifier's own memory between runs: what a clean log was, so that the next run judges only
//! what came after.
//!
//! Invariants
//! * Only a CLEAN verification of a whole log is saved.
//! * The file is the caller's, trusted like an anchor. A digest finds damage, not malice.
//! * A saved state never replaces a check that the new bundle's prefix is the same log: the root
//!   and the chain hash at its size are compared, and bodies are matched again.
//! * The file is bound to the program version that wrote it: the rules' state has no promise of
//!   its own across versions. A refused file costs one full verification, nothing else.

use std::io::Read;

use minutebook_domain::{State, ids::StreamId, time::Timestamp};
use minutebook_eventlog::format::{
    bundle::Manifest, hash::Hash, key::VerifyingKey, tree::Frontier,
};
use serde::{Deserialize, Serialize};

use crate::{
    check::{
        commands::{CommandKey, Commands},
        core::Core,
        epochs::{Epoch, Epochs},
        log::LogCheck,
        streams::{Head, Streams},
    },
    error::VerifyError,
};

const MAGIC: &[u8] = b"minutebook-verify state 1\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Longest file read: room for some ten million commands.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Sizes and roots remembered for later anchors.
const CONFIRMED_MAX: usize = 64;

/// A trusted state.
#[derive(Clone, Debug)]
pub struct Saved {
    pub(crate) origin: String,
    pub(crate) size: u64,
    pub(crate) root: Hash,
    /// Hash of the last record.
    pub(crate) chain: Hash,
    pub(crate) frontier: Frontier,
    pub(crate) confirmed: Vec<(u64, Hash)>,
    time: Option<Timestamp>,
    epochs: Vec<Epoch>,
    heads: Vec<(StreamId, Head)>,
    commands: Vec<CommandKey>,
    state: State,
}

/// The part of the file that is JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: String,
    origin: String,
    size: u64,
    root: String,
    chain: String,
    frontier: Vec<String>,
    confirmed: Vec<(u64, String)>,
    time_micros: Option<i64>,
    epochs: Vec<(u64, u64, String)>,
    heads: u64,
    commands: u64,
    state_bytes: u64,
}

impl Saved {
    /// The state of a finished check; none when the log's beginning was unknown.
    pub(crate) fn of(check: &LogCheck<'_>) -> Option<Self> {
        let newest = check.newest.as_ref()?;
        let frontier = check.tree.frontier()?.clone();
        let core = &check.core;
        let mut confirmed: Vec<_> = check.tree.confirmed().collect();
        confirmed.truncate(CONFIRMED_MAX);
        Some(Self {
            origin: newest.head.origin.clone(),
            size: newest.head.size,
            root: newest.head.root,
            chain: check.sequence.last()?.hash,
            frontier,
            confirmed,
            time: core.time,
            epochs: core.epochs.list().to_vec(),
            heads: core
                .streams
                .heads()
                .map(|(id, head)| (*id, *head))
                .collect(),
            commands: core.commands.spent().copied().collect(),
            state: core.state.clone(),
        })
    }

    /// Size of the log it is of.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it can be used with this bundle.
    pub(crate) fn fits(&self, manifest: &Manifest) -> Result<(), VerifyError> {
        if manifest.origin != self.origin {
            let text = format!(
                "it is of log {}, the bundle of {}",
                self.origin, manifest.origin
            );
            return Err(VerifyError::State(text));
        }
        if manifest.first > self.size + 1 {
            let text = format!(
                "it ends at record {}, but the bundle begins at {}: records between are missing",
                self.size, manifest.first
            );
            return Err(VerifyError::State(text));
        }
        Ok(())
    }

    /// Puts the state back into a check.
    pub(crate) fn restore(&self, core: &mut Core) {
        core.epochs = Epochs::resume(self.origin.clone(), self.epochs.clone());
        core.streams = Streams::resume(self.heads.iter().copied());
        core.commands = Commands::resume(self.commands.iter().copied());
        core.state = self.state.clone();
    }

    /// Time of the last record, for a bundle that begins right after it.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, VerifyError> {
        let failed = |why: String| VerifyError::State(why);
        let state = self
            .state
            .to_snapshot()
            .map_err(|error| failed(error.to_string()))?;
        let header = serde_json::to_vec(&self.header(state.len() as u64))
            .map_err(|error| failed(error.to_string()))?;
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&(header.len() as u64).to_le_bytes());
        out.extend_from_slice(&header);
        for (stream, head) in &self.heads {
            let name = stream.to_string();
            out.push(u8::try_from(name.len()).map_err(|error| failed(error.to_string()))?);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&head.sseq.to_le_bytes());
            out.extend_from_slice(&head.seq.to_le_bytes());
            out.extend_from_slice(head.hash.as_bytes());
        }
        for key in &self.commands {
            out.extend_from_slice(&key.to_le_bytes());
        }
        out.extend_from_slice(&state);
        let digest = *blake3::hash(&out).as_bytes();
        out.extend_from_slice(&digest);
        Ok(out)
    }

    fn header(&self, state_bytes: u64) -> Header {
        Header {
            version: VERSION.to_owned(),
            origin: self.origin.clone(),
            size: self.size,
            root: self.root.to_string(),
            chain: self.chain.to_string(),
            frontier: self.frontier.hashes().iter().map(Hash::to_string).collect(),
            confirmed: self
                .confirmed
                .iter()
                .map(|(size, root)| (*size, root.to_string()))
                .collect(),
            time_micros: self.time.map(Timestamp::as_micros),
            epochs: self
                .epochs
                .iter()
                .map(|epoch| (epoch.number, epoch.first_seq, epoch.key.vkey()))
                .collect(),
            heads: self.heads.len() as u64,
            commands: self.commands.len() as u64,
            state_bytes,
        }
    }

    /// Reads a file made by [`Self::to_bytes`].
    pub fn read(reader: impl Read) -> Result<Self, VerifyError> {
        let mut bytes = Vec::new();
        reader.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes).map_err(|why| VerifyError::State(why.to_owned()))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let damaged = "the file is damaged; delete it and verify from the beginning";
        let (content, digest) = bytes.split_last_chunk::<32>().ok_or(damaged)?;
        if blake3::hash(content).as_bytes() != digest {
            return Err(damaged);
        }
        let mut rest = content
            .strip_prefix(MAGIC)
            .ok_or("not a saved state of version 1")?;
        let header_bytes = take_u64(&mut rest).ok_or(damaged)?;
        let header = take(&mut rest, header_bytes).ok_or(damaged)?;
        let header: Header = serde_json::from_slice(header).map_err(|_| damaged)?;
        if header.version != VERSION {
            return Err("another version of this program wrote it; verify from the beginning");
        }
        let mut heads = Vec::new();
        for _ in 0..header.heads {
            heads.push(take_head(&mut rest).ok_or(damaged)?);
        }
        let mut commands = Vec::new();
        for _ in 0..header.commands {
            let (key, tail) = rest.split_first_chunk::<16>().ok_or(damaged)?;
            commands.push(CommandKey::from_le_bytes(*key));
            rest = tail;
        }
        let state = take(&mut rest, header.state_bytes).ok_or(damaged)?;
        let state = State::from_snapshot(state).map_err(|_| damaged)?;
        header.into_saved(heads, commands, state).ok_or(damaged)
    }
}

impl Header {
    fn into_saved(
        self,
        heads: Vec<(StreamId, Head)>,
        commands: Vec<CommandKey>,
        state: State,
    ) -> Option<Saved> {
        let hash = |text: &String| Hash::parse_hex(text.as_bytes()).ok();
        let frontier = self.frontier.iter().map(hash).collect::<Option<Vec<_>>>()?;
        let confirmed = self
            .confirmed
            .iter()
            .map(|(size, root)| Some((*size, hash(root)?)));
        let epochs = self.epochs.iter().map(|(number, first_seq, vkey)| {
            Some(Epoch {
                number: *number,
                key: VerifyingKey::parse(vkey).ok()?,
                first_seq: *first_seq,
            })
        });
        Some(Saved {
            size: self.size,
            root: hash(&self.root)?,
            chain: hash(&self.chain)?,
            frontier: Frontier::restore(self.size, frontier)?,
            confirmed: confirmed.collect::<Option<_>>()?,
            time: self.time_micros.map(Timestamp::from_micros),
            epochs: epochs.collect::<Option<_>>()?,
            origin: self.origin,
            heads,
            commands,
            state,
        })
    }
}

fn take<'a>(rest: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = tail;
    Some(head)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}

fn take_head(rest: &mut &[u8]) -> Option<(StreamId, Head)> {
    let (len, tail) = rest.split_first()?;
    *rest = tail;
    let name = std::str::from_utf8(take(rest, u64::from(*len))?).ok()?;
    let stream = StreamId::parse(name)?;
    let head = Head {
        sseq: take_u64(rest)?,
        seq: take_u64(rest)?,
        hash: Hash::from_slice(take(rest, 32)?)?,
        broken: false,
    };
    Some((stream, head))
}
