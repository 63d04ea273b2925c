//! `threads`: the claim threads of each room, their ledger, discrepancies and handshakes.
//!
//! Statuses come from the rules' own fold ([`Thread::revise`]); nothing of it is written twice.
//! All rows of a room stand together. Keys: byte 1, room, and
//!
//! | tag | rest of the key | value |
//! |---|---|---|
//! | 1 | – | [`LedgerRow`]; none while nothing happened and the room needs 2 confirmations |
//! | 2 | thread's place in the room, from 0 | [`ThreadRow`] |
//! | 3 | claim | the thread's place |
//! | 4 | thread's place, revision's place in it, from 0 | [`RevisionRow`] |
//! | 5 | revision's number in the room | both places |
//! | 6 | discrepancy's number | [`DiscrepancyRow`] |
//! | 7 | the same, newest first, of unresolved ones | – |
//! | 8 | handshake's number | [`HandshakeRow`] |
//! | 9 | context hash, agent | [`ShookRow`]: who shook hands on what |
//! | 10 | public key, agent | [`SignerRow`]: who signed with what |
//! | 11 | message, seq | [`MadeRow`]: what the arbiter did because of a message |
//! | 12 | seq of a reading, newest first, place in it | [`SuggestionRow`] |
//! | 13 | message | [`SkippedRow`]: the arbiter could not read it |
//!
//! A revision costs the same number of rows however long its thread is. The context's hash and
//! whether it is sealed are computed by who reads them: they take all threads, as the answer does.

mod fold;
pub(crate) mod keys;
mod of_events;
mod readings;
mod sealed;
mod view;

pub use fold::Threads;
pub use view::{Context, Discrepancy, Handshake, LedgerAct, Place, Skipped, Standing, ThreadsView};

use minutebook_domain::{
    ids::ClaimId,
    room::{
        CONFIRMATIONS_NEEDED,
        claims::{RevisionKind, Thread, Unresolved},
    },
    text::AgentName,
    time::Timestamp,
};

use crate::row::{part, row};

/// Version of the rows: raise it with any change to a row, a key, the fold, or the rules' own
/// [`Thread`] and [`Unresolved`], which are stored as they are.
pub const VERSION: u32 = 3;

row! {
    row ledger, tag 1, version VERSION, inside [ReadingRow];
    /// A room's ledger as a whole.
    pub struct LedgerRow {
        /// Confirmations that make a value agreed.
        pub confirmations_needed: u8,
        /// Threads opened.
        pub threads: u32,
        /// Entries of the ledger: the newest one's number.
        pub revisions: u64,
        /// Handshakes: the newest one's number.
        pub handshakes: u64,
        /// Discrepancies: the newest one's number.
        pub discrepancies: u64,
        /// The newest message the arbiter is done with.
        pub last_extracted_msg_id: u64,
        /// Its newest attempt at a message.
        pub last_reading: Option<ReadingRow>,
        /// Why no model answered, if the newest attempt failed so.
        pub outage: Option<String>,
        /// Messages it could not read, less those it could read later.
        pub skipped: u64,
        /// Seq of the newest event here: changes whenever anything in these rows does.
        pub last_seq: u64,
    }
}

impl Default for LedgerRow {
    fn default() -> Self {
        Self {
            confirmations_needed: CONFIRMATIONS_NEEDED,
            threads: 0,
            revisions: 0,
            handshakes: 0,
            discrepancies: 0,
            last_extracted_msg_id: 0,
            last_reading: None,
            outage: None,
            skipped: 0,
            last_seq: 0,
        }
    }
}

part! {
    /// An attempt of the arbiter's at a message: which model, and what it was given.
    pub struct ReadingRow {
        /// The message.
        pub message: u64,
        /// How the model was reached.
        pub adapter: String,
        /// The model.
        pub model: String,
        /// BLAKE3 of what it was given, hex.
        pub prompt_hash: String,
        /// Seq of its event.
        pub seq: u64,
    }
}

row! {
    row thread, tag 2, version VERSION, inside [];
    /// A thread as it is now.
    pub struct ThreadRow {
        /// What the rules know of it.
        pub thread: Thread,
        /// Principals that confirmed its value, counted at its newest revision.
        pub confirmations: u32,
        /// When it was opened.
        pub created_at: Timestamp,
        /// When it was last revised.
        pub updated_at: Timestamp,
        /// Seq of its newest revision.
        pub last_seq: u64,
        /// Its discrepancies that are not resolved.
        pub(crate) unresolved: Unresolved,
    }
}

impl ThreadRow {
    /// The numbers of its discrepancies that are not resolved.
    pub fn unresolved(&self) -> impl Iterator<Item = u64> {
        self.unresolved.numbers()
    }
}

/// Whether a row is of no use to whoever neither goes on to read entries, nor what came of a
/// message, nor suggestions: no fold reads it again, and such rows grow with the ledger.
pub fn is_only_read(key: &[u8]) -> bool {
    keys::is_only_read(key)
}

row! {
    row revision, tag 4, version VERSION, inside [LedgerSignatureRow];
    /// An entry of the ledger.
    pub struct RevisionRow {
        /// Its number in the room.
        pub id: u64,
        /// How it revises its thread; none of the opening.
        pub kind: Option<RevisionKind>,
        /// Who wrote it.
        pub author: String,
        /// The value it is about, as recorded.
        pub value: String,
        /// The message it was taken from.
        pub source_msg_id: Option<u64>,
        /// Words of that message.
        pub quote: Option<String>,
        /// The agent's signature.
        pub signature: Option<LedgerSignatureRow>,
        /// Its record's time.
        pub at: Timestamp,
        /// Seq of its event.
        pub seq: u64,
        /// The arbiter's public key.
        pub arbiter: String,
        /// The arbiter's signature over the entry's payload.
        pub arbiter_sig: String,
        /// `row_hash` of the entry before.
        pub prev_hash: String,
        /// Its own.
        pub row_hash: String,
    }
}

part! {
    /// An agent's signature over an act of the ledger.
    pub struct LedgerSignatureRow {
        /// Public key, 64 lower-case hex digits.
        pub pubkey: String,
        /// Signature, 128 lower-case hex digits.
        pub sig: String,
        /// Which bytes were signed.
        pub surface: String,
        /// What the signer had read.
        pub position: Option<u64>,
        /// Whether the key was enrolled for this agent then.
        pub is_enrolled: bool,
    }
}

row! {
    row discrepancy, tag 6, version VERSION, inside [];
    /// A contradiction of what was agreed.
    pub struct DiscrepancyRow {
        /// What does not fit, in English.
        pub description: String,
        /// `high`, `medium` or `low`.
        pub severity: String,
        /// The message it was taken from.
        pub message: Option<u64>,
        /// The thread.
        pub claim: Option<ClaimId>,
        /// When.
        pub at: Timestamp,
        /// Seq of its event.
        pub seq: u64,
        /// Whether it is resolved, see [`Unresolved`].
        pub is_resolved: bool,
    }
}

row! {
    row handshake, tag 8, version VERSION, inside [LedgerSignatureRow];
    /// A handshake. Its number is in the key.
    pub struct HandshakeRow {
        /// Who.
        pub agent: String,
        /// On what.
        pub context_hash: String,
        /// The agent's signature.
        pub signature: Option<LedgerSignatureRow>,
        /// Its record's time.
        pub at: Timestamp,
        /// Seq of its event.
        pub seq: u64,
    }
}

row! {
    row shook, tag 9, version VERSION, inside [];
    /// Somebody who shook hands on a context.
    pub struct ShookRow {
        /// Who.
        pub(crate) agent: AgentName,
        /// The newest entry it had read, if its newest handshake on this says so.
        pub(crate) position: Option<u64>,
    }
}

row! {
    row signer, tag 10, version VERSION, inside [];
    /// An agent and a key it signed with.
    pub struct SignerRow {
        /// Who.
        pub(crate) agent: AgentName,
        /// With what.
        pub(crate) key: [u8; 32],
    }
}

row! {
    row made, tag 11, version VERSION, inside [];
    /// Something the arbiter did because of a message: a thread opened or revised, a discrepancy
    /// noted.
    pub struct MadeRow {
        /// The thread, if it is about one.
        pub claim: Option<ClaimId>,
        /// Key of the subject, of a thread opened.
        pub subject_key: Option<String>,
        /// The value of an opening or update, the description of a discrepancy.
        pub text: String,
        /// Whether it is a discrepancy.
        pub is_discrepancy: bool,
        /// Seq of its event.
        pub seq: u64,
    }
}

row! {
    row suggestion, tag 12, version VERSION, inside [];
    /// Something the arbiter heard that only an agent can put on the ledger.
    pub struct SuggestionRow {
        /// The thread.
        pub claim: ClaimId,
        /// What was heard: an update, a confirmation, a contradiction, a withdrawal.
        pub kind: RevisionKind,
        /// The value it is about.
        pub value: String,
        /// Words of the message.
        pub quote: Option<String>,
        /// The message.
        pub message: u64,
        /// Seq of the reading.
        pub seq: u64,
    }
}

row! {
    row skipped, tag 13, version VERSION, inside [];
    /// A message the arbiter could not read.
    pub struct SkippedRow {
        /// Why.
        pub reason: String,
        /// Seq of the event that says so.
        pub seq: u64,
    }
}
