//! `history`: the messages of each room by their position `n`.
//!
//! Key: tag 1, room, `n` big-endian. Value: [`MessageRow`]. A message costs one blind put.

mod fold;
mod view;

pub use fold::History;
pub use view::{HistoryView, Message, MessagePage};

use minutebook_domain::{ids::RoomId, room::MessageKind, time::Timestamp};
use uuid::Uuid;

use crate::row::{part, row};

/// Version of the rows: raise it with any change to a row, a key or the fold.
pub const VERSION: u32 = 2;

row! {
    row message, tag 1, version VERSION, inside [SignatureRow];
    /// A message. Its `n` is in the key.
    pub struct MessageRow {
        /// Its UUID; nil once erased.
        pub id: Uuid,
        /// Seq of its event.
        pub seq: u64,
        /// Position of its event in the room's stream.
        pub sseq: u64,
        /// Its time as its dialect shows it: the signed time, or the record's.
        pub at: Timestamp,
        /// Its record's time.
        pub recorded_at: Timestamp,
        /// What kind of message.
        pub kind: MessageKind,
        /// Whether its body was erased: then id, agent, text and the rest are empty.
        pub is_erased: bool,
        /// Who spoke.
        pub agent: String,
        /// What, exactly as sent.
        pub text: String,
        /// The agent's own commitment to its memory.
        pub memory_root: Option<String>,
        /// The agent's signature.
        pub signature: Option<SignatureRow>,
    }
}

part! {
    /// An agent's signature over its message.
    pub struct SignatureRow {
        /// Public key, 64 lower-case hex digits.
        pub pubkey: String,
        /// Signature, 128 lower-case hex digits.
        pub sig: String,
        /// Which bytes were signed.
        pub surface: String,
        /// The time signed, exactly as sent.
        pub ts_iso: String,
        /// Whether the key was enrolled for this agent when the message was taken.
        pub is_enrolled: bool,
    }
}

/// The key of a room's message `n`.
pub(crate) fn key(room: RoomId, n: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(25);
    key.push(1);
    key.extend_from_slice(room.uuid().as_bytes());
    key.extend_from_slice(&n.to_be_bytes());
    key
}

/// The `n` in a key.
pub(crate) fn n_of_key(key: &[u8]) -> Option<u64> {
    let (room, n) = key.split_last_chunk::<8>()?;
    (room.len() == 17).then(|| u64::from_be_bytes(*n))
}

/// The end of a room's keys. No room has a message `u64::MAX`: every message has a seq of its own.
pub(crate) fn end(room: RoomId) -> Vec<u8> {
    key(room, u64::MAX)
}
