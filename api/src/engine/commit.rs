//! The write path: one synchronous function, driven by the server, the crash tests and the
//! simulator alike.
//!
//! Invariants
//! * State, chain and tree run ahead of the disk only inside [`Committer::commit`]. When the store
//!   fails they are not to be trusted any more and the process stops; opening decides what held.
//! * A checkpoint signed for a commit that failed never leaves this module.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use minutebook_domain::actor::Actor;
use minutebook_domain::ids::StreamId;
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Context, Event, EventKind, Fact, State, What, decide, evolve};
use minutebook_eventlog::format::checkpoint::Checkpoint;
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::format::hash::{body_commitment, chain_hash, leaf_hash};
use minutebook_eventlog::format::key::SigningKey;
use minutebook_eventlog::format::record::{Body, Record};
use minutebook_eventlog::format::tree::Tile;
use minutebook_eventlog::store::{
    CommandRow, Commit, Head, LogReader, LogWriter, NewRecord, Space, StoreError,
};
use minutebook_verifier::Judged;

use super::arbiter::Sealing;
use super::chain::Chain;
use super::clock::Entropy;
use super::erase;
use super::follow::{Keep, News};
use super::janitor;
use super::repeat::{index_key, scope};
use super::replay;
use super::rotate;
use super::tiles::Tree;
use super::types::{Committed, CommittedEvent, Idempotency, Submission, SubmitError};
use crate::generations::{GenerationError, Live};

/// What all events of a command have in common.
#[derive(Clone, Copy)]
struct Act<'a> {
    actor: &'a Actor,
    at: Timestamp,
    cmd: &'a str,
    cause: Option<u64>,
}

/// Commands one commit takes at most.
pub const BATCH_MAX: usize = 1024;

/// After how many records the state is saved, so that a start replays no more than that.
const SNAPSHOT_EVERY: u64 = 50_000;

/// The process must stop.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// The store failed; whether the newest commit is durable is unknown.
    #[error("the log could not be written: {0}")]
    Store(#[from] StoreError),
    /// A bug in the write path.
    #[error("the writer panicked; its last words are above")]
    Panicked,
    /// A command of the engine's own was refused.
    #[error("refused: {0}")]
    Refused(String),
    /// A projection cannot follow.
    #[error("a projection failed: {0}")]
    Views(#[from] GenerationError),
}

/// The outcome of one command of a batch.
pub type Outcome = Result<Committed, SubmitError>;

/// Owner of the state and the log's writing half.
pub struct Committer<W> {
    pub(super) writer: W,
    pub(super) reader: Arc<dyn LogReader>,
    pub(super) key: SigningKey,
    /// The key of the epoch that the commit in the making begins: it signs that commit itself.
    pub(super) next_key: Option<SigningKey>,
    pub(super) origin: String,
    pub(super) state: State,
    pub(super) chain: Chain,
    pub(super) tree: Tree,
    pub(super) views: Live,
    pub(super) meta: Space,
    pub(super) entropy: Entropy,
    pub(super) last_at: Timestamp,
    pub(super) judged: Arc<Judged>,
    pub(super) last_snapshot: u64,
    /// How long the store took for the newest commit, fsync included.
    pub(super) last_store: Duration,
}

/// What a commit wrote, for publishing.
#[derive(Debug, Default)]
pub struct Written {
    /// Answers, in the order of the submissions.
    pub outcomes: Vec<Outcome>,
    /// What there is for followers.
    pub news: News,
    /// Whether keys changed.
    pub keys_changed: bool,
    /// Whether anything was erased.
    pub erased: bool,
}

/// What happened to one command before the commit.
enum Verdict {
    Fresh(Vec<CommittedEvent>),
    Repeat { first: u64, count: u32 },
    Refused(SubmitError),
}

/// A commit in the making.
#[derive(Default)]
struct Draft {
    commit: Commit,
    in_batch: HashMap<[u8; 16], CommandRow>,
    tiles: Vec<Tile>,
    /// Stream and kind of every record.
    kinds: Vec<(StreamId, EventKind)>,
    keys_changed: bool,
    erased: bool,
}

impl<W> Committer<W> {
    /// The log as far as it is durable.
    pub fn reader(&self) -> &Arc<dyn LogReader> {
        &self.reader
    }
}

impl<W: LogWriter> Committer<W> {
    /// Commits a batch of at most [`BATCH_MAX`] commands at this moment.
    ///
    /// 1. Look the command id up: the same request gets the same answer, another is a conflict.
    /// 2. `decide` builds events; `lawful` has passed every one of them.
    /// 3. `evolve` the state, so that the next command in the batch sees it.
    /// 4. Encode, chain, and push onto the tree; after the last, sign one checkpoint.
    /// 5. One store commit with records, indexes, checkpoint and projection rows.
    ///    **This is the commit point.**
    /// 6. Only now: return the answers and what to publish.
    ///
    /// `keep` says what is followed, so that nobody pays for copies in vain.
    pub fn commit<'a>(
        &mut self,
        batch: Vec<Submission>,
        now: Timestamp,
        keep: impl Into<Keep<'a>>,
    ) -> Result<Written, Fatal> {
        let at = now.max(self.last_at);
        self.last_at = at;
        let mut draft = Draft::default();
        draft.commit.expected_seq = self.chain.seq;
        let mut verdicts = Vec::with_capacity(batch.len());
        for submission in batch {
            verdicts.push(self.take(submission, at, &mut draft)?);
        }
        let news = keep.into().news(&draft.commit.records, &draft.kinds);
        let (keys_changed, erased) = (draft.keys_changed, draft.erased);
        if !draft.commit.records.is_empty() {
            self.seal(draft)?;
        }
        let outcomes = verdicts
            .into_iter()
            .map(|verdict| self.answer(verdict))
            .collect();
        Ok(Written {
            outcomes,
            news,
            keys_changed,
            erased,
        })
    }

    /// Steps 1 to 4 for one command.
    fn take(
        &mut self,
        submission: Submission,
        at: Timestamp,
        draft: &mut Draft,
    ) -> Result<Verdict, Fatal> {
        if rotate::is_rotation(submission.command.get()) && self.next_key.is_none() {
            return Ok(Verdict::Refused(SubmitError::Offline));
        }
        let index = submission
            .idempotency
            .as_ref()
            .map(|id| index_key(&submission.actor, &scope(submission.command.get()), id));
        if let (Some(key), Some(id)) = (index, &submission.idempotency)
            && let Some(row) = self.find(key, draft)?
        {
            return Ok(repeat_or_conflict(row, id));
        }
        let Submission {
            command,
            actor,
            idempotency,
            cause,
        } = submission;
        let context = Context {
            actor: actor.clone(),
            at,
            fresh: self.entropy.uuid(at),
            arbiter: &Sealing(&self.key),
        };
        let events = match decide(&self.state, command, &context) {
            Ok(events) => events,
            Err(rejection) => return Ok(Verdict::Refused(SubmitError::Rejected(rejection))),
        };
        let cmd = idempotency.as_ref().map_or_else(
            || self.entropy.uuid(at).to_string(),
            |id| format!("idem:{}", id.key),
        );
        let first = self.chain.seq + 1;
        let mut done = Vec::with_capacity(events.len());
        let act = Act {
            actor: &actor,
            at,
            cmd: &cmd,
            cause,
        };
        for (stream, event) in events {
            done.push(self.record(stream, event, act, draft)?);
        }
        if let (Some(key), Some(id)) = (index, idempotency) {
            let count = u32::try_from(done.len()).unwrap_or(u32::MAX);
            let row = CommandRow {
                request: id.request,
                first,
                count,
            };
            draft.in_batch.insert(key, row);
            draft.commit.commands.push((key, row));
        }
        Ok(Verdict::Fresh(done))
    }

    fn find(&self, key: [u8; 16], draft: &Draft) -> Result<Option<CommandRow>, StoreError> {
        match draft.in_batch.get(&key) {
            Some(row) => Ok(Some(*row)),
            None => self.reader.command(&key),
        }
    }

    /// Steps 3 and 4 for one event.
    fn record(
        &mut self,
        stream: StreamId,
        event: Event,
        act: Act<'_>,
        draft: &mut Draft,
    ) -> Result<CommittedEvent, Fatal> {
        let Act {
            actor,
            at,
            cmd,
            cause,
        } = act;
        let links = self.chain.next(stream);
        let fact = Fact {
            seq: links.seq,
            stream,
            sseq: links.sseq,
            actor,
            at,
            what: What::Present(&event),
        };
        erase::collect(&*self.reader, &fact, &mut draft.commit)?;
        if matches!(
            event.kind(),
            EventKind::BodiesErased | EventKind::RoomErased
        ) {
            draft.erased = true;
            draft
                .commit
                .rows
                .push(janitor::pending(self.meta, links.seq));
        }
        evolve(&mut self.state, &fact);
        self.views.apply(&*self.reader, &fact)?;
        draft.keys_changed |= matches!(event, Event::Keys(_));

        let mut body = Vec::with_capacity(512);
        event.encode_body(&mut body);
        let salt = self.entropy.salt();
        let kind = event.kind();
        let stream_name = stream.to_string();
        let mut envelope = Vec::with_capacity(512);
        Envelope {
            actor: actor.to_string().into(),
            at: at.to_string().into(),
            body: body_commitment(&salt, &body),
            cause,
            cmd: cmd.into(),
            prev: links.prev,
            seq: links.seq,
            sprev: links.sprev,
            sseq: links.sseq,
            stream: stream_name.as_str().into(),
            kind: kind.name().into(),
            v: kind.version(),
        }
        .encode(&mut envelope);
        let chain = self.judged.made(&event, chain_hash(&envelope));
        self.chain.advance(stream, links, chain);
        self.tree.push(leaf_hash(&envelope), &mut draft.tiles);
        draft.kinds.push((stream, kind));
        draft.commit.records.push(NewRecord {
            record: Record {
                envelope,
                body: Some(Body { salt, bytes: body }),
            },
            seq: links.seq,
            stream: stream_name,
            sseq: links.sseq,
        });
        Ok(CommittedEvent {
            seq: links.seq,
            stream,
            sseq: links.sseq,
            at,
            event: Some(event),
        })
    }

    /// The end of step 4, and step 5.
    fn seal(&mut self, draft: Draft) -> Result<(), Fatal> {
        let Draft {
            mut commit,
            tiles,
            erased,
            ..
        } = draft;
        commit.tiles = tiles
            .into_iter()
            .map(|tile| (tile.level, tile.index, tile.bytes))
            .collect();
        if let Some(key) = self.next_key.take() {
            self.key = key;
        }
        let checkpoint = Checkpoint {
            origin: self.origin.clone(),
            size: self.chain.seq,
            root: self.tree.root(),
        };
        commit.checkpoint = checkpoint.sign(&self.key);
        self.views.flush(self.chain.seq, &mut commit.rows)?;
        // What an erased signature was spent on cannot be folded again: the state must remember it.
        if erased || self.chain.seq - self.last_snapshot >= SNAPSHOT_EVERY {
            commit.rows.extend(self.snapshot()?);
            self.last_snapshot = self.chain.seq;
        }
        let head = Head {
            seq: self.chain.seq,
            hash: self.chain.hash,
            checkpoint: commit.checkpoint.clone(),
        };
        let started = Instant::now();
        self.writer.append(commit)?;
        self.last_store = started.elapsed();
        self.writer.record_head(&head)?;
        Ok(())
    }

    /// Step 6 for one command.
    fn answer(&self, verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Fresh(events) => Ok(Committed {
                events,
                replayed: false,
            }),
            Verdict::Refused(error) => Err(error),
            Verdict::Repeat { first, count } => replay::committed(&*self.reader, first, count),
        }
    }
}

fn repeat_or_conflict(row: CommandRow, id: &Idempotency) -> Verdict {
    if row.request == id.request {
        Verdict::Repeat {
            first: row.first,
            count: row.count,
        }
    } else {
        Verdict::Refused(SubmitError::KeyConflict { first: row.first })
    }
}

impl<W> std::fmt::Debug for Committer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Committer")
            .field("seq", &self.chain.seq)
            .finish_non_exhaustive()
    }
}
