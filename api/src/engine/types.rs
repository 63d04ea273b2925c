//! What goes into the engine and what comes out.

use minutebook_domain::time::Timestamp;
use minutebook_domain::{
    CheckedCommand, Command, Event, Rejection,
    actor::Actor,
    ids::StreamId,
    room::{self, claims},
};

/// What a submission takes without its text: command, envelope, rows, answer.
const SUBMISSION_BYTES: usize = 2048;

/// A command on its way to the writer.
#[derive(Debug)]
pub struct Submission {
    /// What is asked.
    pub command: CheckedCommand,
    /// Who asks, as authenticated.
    pub actor: Actor,
    /// The client's idempotency key, if it sent one.
    pub idempotency: Option<Idempotency>,
    /// Seq of the event that led to this command.
    pub cause: Option<u64>,
}

/// Subject, value and quote of a claim at their longest, four bytes a code point; a skill's texts
/// are shorter.
const SHORT_TEXTS_BYTES_MAX: usize = 4 * (200 + 500 + 300);

impl Submission {
    /// How much memory it takes until it is answered, roughly: only texts make a difference.
    pub(super) fn weight(&self) -> usize {
        let text = match self.command.get() {
            Command::Room(_, room::Command::PostMessage(message)) => message.text.as_str().len(),
            Command::Room(_, room::Command::Claim(claims::Command::ExtractContext(reading))) => {
                let answer = reading.answer.as_ref().map_or(0, String::len);
                answer + reading.proposals.len() * SHORT_TEXTS_BYTES_MAX
            }
            Command::Room(_, room::Command::Claim(_)) | Command::Skills(_) => SHORT_TEXTS_BYTES_MAX,
            Command::Room(
                _,
                room::Command::Open(_)
                | room::Command::Rename(_)
                | room::Command::Join(_)
                | room::Command::Leave(_)
                | room::Command::EraseBodies(_)
                | room::Command::Close(_)
                | room::Command::Erase(_),
            )
            | Command::Keys(_) => 0,
        };
        // The text is held three times: in the command, in the record and in a row.
        SUBMISSION_BYTES + 3 * text
    }
}

/// A client's promise that a repeat is the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The client's key, 1 to 200 visible ASCII characters.
    pub key: String,
    /// What tells askers apart who are one actor, such as all who come without an API key: only
    /// the one who sent the key first is answered again. Empty when the actor says it all.
    pub asker: String,
    /// First half of the BLAKE3 of the request (method, path, body).
    pub request: [u8; 16],
}

/// What a command did, all of it durable.
#[derive(Debug)]
pub struct Committed {
    /// The events, in order; at least one.
    pub events: Vec<CommittedEvent>,
    /// Whether this is the answer to an earlier, equal request.
    pub replayed: bool,
}

/// One durable event.
#[derive(Debug)]
pub struct CommittedEvent {
    /// Position in the log.
    pub seq: u64,
    /// Its stream.
    pub stream: StreamId,
    /// Position in the stream.
    pub sseq: u64,
    /// When.
    pub at: Timestamp,
    /// The event; none when a replayed answer's body has been erased since.
    pub event: Option<Event>,
}

/// Why a submission has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The caller must act.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The same idempotency key came with another request before.
    #[error("this Idempotency-Key was used for another request (log seq {first})")]
    KeyConflict {
        /// First seq of what it was used for.
        first: u64,
    },
    /// The queue is full: try again in a moment.
    #[error("the server is busy, try again")]
    Busy,
    /// The log's key changes between two runs of the server, in a commit of its own.
    #[error("the arbiter's key is rotated with minutebook keys rotate, while no server runs")]
    Offline,
    /// The engine has stopped: shutting down, or its disk failed. The outcome of what was in
    /// flight is unknown; a retry with the same idempotency key is safe.
    #[error("the log is not writable right now, try again later")]
    Stopped,
}
