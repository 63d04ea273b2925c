//! From what is stored to a committer that may go on. Start-up folds the log with the same
//! `evolve` the writer uses; there is no second loader.

use std::sync::Arc;

use minutebook_domain::time::Timestamp;
use minutebook_domain::{State, evolve};
use minutebook_eventlog::format::checkpoint::Checkpoint;
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::format::hash::{Hash, body_commitment, chain_hash};
use minutebook_eventlog::format::key::{SigningKey, VerifyingKey};
use minutebook_eventlog::format::record::Record;
use minutebook_eventlog::store::{Head, LogReader, LogWriter, StoreError};

use super::chain::{Chain, Links};
use super::clock::Entropy;
use super::commit::Committer;
use super::snapshot::Snapshot;
use super::tiles::Tree;
use crate::generations::{Live, OwnedFact};

/// Records read at a time.
const PAGE: usize = 4096;

/// What a committer is made of.
pub struct Parts<W> {
    /// The log's writing half.
    pub writer: W,
    /// Its reading half.
    pub reader: Arc<dyn LogReader>,
    /// The arbiter's seed.
    pub seed: [u8; 32],
    /// The origin for a new log, or the one expected.
    pub origin: Option<String>,
    /// Salts and ids.
    pub entropy: Entropy,
}

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored record does not follow from the ones before.
    #[error("the log is damaged at seq {seq}: {reason}; run minutebook-verify on an export")]
    Damaged {
        /// Where.
        seq: u64,
        /// What is wrong.
        reason: String,
    },
    /// The newest checkpoint does not fit the log.
    #[error("the newest checkpoint does not fit the log: {0}")]
    Checkpoint(String),
    /// The key is not the one the log was signed with.
    #[error(
        "the arbiter key is {given}, but the log's current key is {expected}; put the log's own \
         key back (arbiter.key in its directory, or --arbiter-key FILE)"
    )]
    WrongKey {
        /// vkey of the key file.
        given: String,
        /// vkey of the log's newest epoch.
        expected: String,
    },
    /// The origin is not the log's.
    #[error("--origin {given} does not match the log's origin {expected}")]
    WrongOrigin {
        /// What was asked for.
        given: String,
        /// What the log says.
        expected: String,
    },
    /// The key or origin cannot be used.
    #[error("{0}")]
    Key(String),
    /// A projection cannot be brought up.
    #[error("projections: {0}")]
    Views(String),
}

/// State, chain and time, folded up to the head.
struct Folded {
    state: State,
    chain: Chain,
    last_at: Timestamp,
    snapshot: u64,
}

impl<W: LogWriter> Committer<W> {
    /// Brings a committer up from the store.
    ///
    /// 1. Load the newest snapshot of the state, or begin with the empty one.
    /// 2. Fold every record after it, checking links and commitments on the way.
    /// 3. Rebuild the tree's right edge and compare its root with the newest checkpoint.
    /// 4. Check that checkpoint's signature, and that the key at hand is the log's current one.
    /// 5. Open the live projections, which must be at the head.
    pub fn recover(parts: Parts<W>) -> Result<Self, RecoverError> {
        let Parts {
            writer,
            reader,
            seed,
            origin,
            mut entropy,
        } = parts;
        let head = reader.head()?;
        let folded = fold(&*reader, &head)?;
        let origin = settle_origin(origin.as_deref(), &folded.state, &mut entropy)?;
        let key = SigningKey::from_seed(&origin, seed)
            .map_err(|error| RecoverError::Key(error.to_string()))?;
        let tree = Tree::restore(&*reader, head.seq)
            .map_err(|error| RecoverError::Checkpoint(error.to_string()))?;
        if head.seq > 0 {
            check_key(&folded.state, key.verifying_key())?;
            check_head(&head, &origin, &tree.root(), key.verifying_key())?;
        }
        let views = Live::open(&*reader, head.seq)
            .map_err(|error| RecoverError::Views(error.to_string()))?;
        let meta = reader.space("meta")?;
        let Folded {
            state,
            chain,
            last_at,
            snapshot,
        } = folded;
        Ok(Self {
            writer,
            reader,
            key,
            next_key: None,
            origin,
            state,
            chain,
            tree,
            views,
            entropy,
            last_at,
            judged: Arc::default(),
            last_snapshot: snapshot,
            meta,
            last_store: std::time::Duration::ZERO,
        })
    }
}

fn fold(reader: &dyn LogReader, head: &Head) -> Result<Folded, RecoverError> {
    let meta = reader.space("meta")?;
    let (state, chain, last_at) = Snapshot::load(reader, meta)?.map_or_else(
        || {
            (
                State::default(),
                Chain::default(),
                Timestamp::from_micros(0),
            )
        },
        Snapshot::restore,
    );
    let snapshot = chain.seq;
    let mut folded = Folded {
        state,
        chain,
        last_at,
        snapshot,
    };
    while folded.chain.seq < head.seq {
        let page = reader.read(folded.chain.seq + 1, PAGE)?;
        if page.is_empty() {
            let seq = folded.chain.seq + 1;
            return Err(RecoverError::Damaged {
                seq,
                reason: "the record is missing".to_owned(),
            });
        }
        for (seq, record) in page {
            folded
                .step(&record)
                .map_err(|reason| RecoverError::Damaged { seq, reason })?;
        }
    }
    if folded.chain.hash != head.hash {
        let reason = "the last envelope is not the head's".to_owned();
        return Err(RecoverError::Damaged {
            seq: head.seq,
            reason,
        });
    }
    Ok(folded)
}

impl Folded {
    fn step(&mut self, record: &Record) -> Result<(), String> {
        let fact = OwnedFact::decode(record)?;
        let links = self.chain.next(fact.stream);
        check_links(record, &links)?;
        evolve(&mut self.state, &fact.fact());
        self.chain
            .advance(fact.stream, links, chain_hash(&record.envelope));
        self.last_at = self.last_at.max(fact.at);
        Ok(())
    }
}

fn check_links(record: &Record, links: &Links) -> Result<(), String> {
    let envelope = Envelope::parse(&record.envelope).map_err(|error| error.to_string())?;
    let found = (envelope.seq, envelope.prev, envelope.sseq, envelope.sprev);
    if found != (links.seq, links.prev, links.sseq, links.sprev) {
        return Err("its links do not continue the chain".to_owned());
    }
    let body = record.body.as_ref();
    if body.is_some_and(|body| body_commitment(&body.salt, &body.bytes) != envelope.body) {
        return Err("its body is not the one committed to".to_owned());
    }
    Ok(())
}

/// The log's origin if it has one, else the one asked for, else a fresh one.
fn settle_origin(
    asked: Option<&str>,
    state: &State,
    entropy: &mut Entropy,
) -> Result<String, RecoverError> {
    let vkey = state.keys().current_epoch().map(|epoch| &*epoch.vkey);
    Ok(origin_of(asked, vkey)?.unwrap_or_else(|| default_origin(entropy)))
}

/// The origin that the log's key is named after, which must be the one asked for; on a new log
/// that one; or none.
pub(super) fn origin_of(
    asked: Option<&str>,
    vkey: Option<&str>,
) -> Result<Option<String>, RecoverError> {
    let known = vkey.and_then(|vkey| VerifyingKey::parse(vkey).ok());
    match (asked, known.as_ref().map(VerifyingKey::name)) {
        (Some(given), Some(expected)) if given != expected => Err(RecoverError::WrongOrigin {
            given: given.to_owned(),
            expected: expected.to_owned(),
        }),
        (asked, known) => Ok(known.or(asked).map(str::to_owned)),
    }
}

/// Chance, and nothing of the key: with one key in two directories, an origin made from the key
/// would make two logs that claim to be one, which is what a fork is.
fn default_origin(entropy: &mut Entropy) -> String {
    let salt = entropy.salt();
    let (id, _) = salt.split_at(16);
    format!("minutebook.local/{}", hex::encode(id))
}

fn check_key(state: &State, key: &VerifyingKey) -> Result<(), RecoverError> {
    let given = key.vkey();
    let expected = state
        .keys()
        .current_epoch()
        .map(|epoch| epoch.vkey.clone())
        .unwrap_or_default();
    if given == expected {
        Ok(())
    } else {
        Err(RecoverError::WrongKey { given, expected })
    }
}

fn check_head(
    head: &Head,
    origin: &str,
    root: &Hash,
    key: &VerifyingKey,
) -> Result<(), RecoverError> {
    let opened = Checkpoint::open(&head.checkpoint, origin, &[key])
        .map_err(|error| RecoverError::Checkpoint(error.to_string()))?;
    let checkpoint = opened.checkpoint;
    let (size, records) = (checkpoint.size, head.seq);
    let reason = if size != records {
        format!("it is of size {size}, but the log has {records} records")
    } else if checkpoint.root != *root {
        format!(
            "its root is {}, but that of the log's {records} records is {root}",
            checkpoint.root
        )
    } else {
        return Ok(());
    };
    Err(RecoverError::Checkpoint(reason))
}

#[cfg(test)]
mod tests {
    use minutebook_eventlog::store::memory::MemoryStore;

    use super::*;
    use crate::engine::SystemClock;

    fn open(store: &MemoryStore, chance: u8, origin: Option<&str>) -> String {
        let (writer, reader) = store.open().unwrap();
        let mut committer = Committer::recover(Parts {
            writer,
            reader,
            seed: [5; 32],
            origin: origin.map(str::to_owned),
            entropy: Entropy::from_seed([chance; 32]),
        })
        .unwrap();
        committer.found(&SystemClock).unwrap();
        committer.origin
    }

    #[test]
    fn one_key_in_two_directories_makes_two_logs_of_two_origins() {
        let (first, second) = (MemoryStore::new(), MemoryStore::new());
        let origins = [open(&first, 1, None), open(&second, 2, None)];
        assert_ne!(origins[0], origins[1]);
        for origin in &origins {
            assert!(origin.starts_with("minutebook.local/"), "{origin}");
        }
        // Later starts read it from the log.
        assert_eq!(open(&first, 3, None), origins[0]);
        assert_eq!(open(&first, 4, Some(&origins[0])), origins[0]);
    }

    #[test]
    fn an_origin_asked_for_is_taken_as_it_is() {
        let store = MemoryStore::new();
        let asked = Some("example.org/log");
        assert_eq!(open(&store, 1, asked), "example.org/log");
        assert_eq!(open(&store, 2, None), "example.org/log");
    }
}
