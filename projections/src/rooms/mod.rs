//! `rooms`: the directory, who is in which room, and the public listing in both orders.
//!
//! Keys begin with a tag byte; numbers in keys are big-endian, inverted where the newest comes
//! first.
//!
//! | tag | key | value |
//! |---|---|---|
//! | 0 | – | how many public rooms there are |
//! | 1 | room | [`RoomRow`] |
//! | 2 | has messages, time, opening seq | room: the listing by activity |
//! | 3 | room, agent name | [`AgentRow`] |
//! | 4 | opening seq | room: the listing by creation |
//! | 5 | room name | room |
//! | 6 | room, page of stream positions | [`PostedPage`]: who posted when, without the text |
//! | 7 | room | [`ErasedRoomRow`]: what is left of an erased room |
//!
//! `PostedPage` exists for erasure alone: after it, the number of agents and the time of the last
//! message must be what the remaining messages say. The newest page lives in the room's row, so a
//! message costs no row of its own here.

mod cache;
mod erasure;
mod fold;
pub(crate) mod keys;
mod posted;
mod view;

pub use fold::Rooms;
pub use view::{PublicPage, RoomsView, Sort};

use minutebook_domain::{
    ids::RoomId,
    room::{Dialect, ProtocolMode},
    time::Timestamp,
};

use crate::row::{part, row};

/// Version of the rows: raise it with any change to a row, a key or the fold.
pub const VERSION: u32 = 2;

row! {
    row room, tag 1, version VERSION, inside [Posted];
    /// A room as the directory shows it.
    pub struct RoomRow {
        /// Its UUID.
        pub id: RoomId,
        /// Its unique name.
        pub name: Option<String>,
        /// What it is for.
        pub description: String,
        /// The facade it was opened through.
        pub dialect: Dialect,
        /// When the arbiter reads it.
        pub mode: ProtocolMode,
        /// Whether the directory lists it.
        pub is_public: bool,
        /// Whether it takes no more messages.
        pub is_closed: bool,
        /// Whether the opening's own body was erased, so that the fields above are only
        /// placeholders. Seen in replays to a moment before the room itself was erased.
        pub is_blank: bool,
        /// When it was opened.
        pub created_at: Timestamp,
        /// Seq of the opening.
        pub opened_seq: u64,
        /// Seq of its newest event: changes whenever the room does.
        pub last_seq: u64,
        /// Messages posted, erased ones included: the `n` of the newest.
        pub message_count: u64,
        /// Messages it takes.
        pub message_limit: Option<u64>,
        /// Confirmations by others that make a thread's value agreed.
        pub confirmations_needed: u8,
        /// The latest time of a message, as its dialect shows times (a signed message has the
        /// time that was signed).
        pub last_message_at: Option<Timestamp>,
        /// Different agents who posted.
        pub agent_count: u64,
        /// Agents who joined and have not left.
        pub member_count: u64,
        /// The newest page of who posted.
        pub(crate) tail: Vec<Posted>,
    }
}

part! {
    /// A message without its text.
    pub struct Posted {
        /// Its position in the room's stream.
        pub(crate) sseq: u64,
        /// Its time as its dialect shows it.
        pub(crate) at: Timestamp,
        /// Its record's time.
        pub(crate) recorded_at: Timestamp,
        /// Who posted it: first 16 bytes of BLAKE3 of the name, zeros once erased.
        pub(crate) author: [u8; 16],
    }
}

row! {
    row agent, tag 3, version VERSION, inside [];
    /// An agent in a room.
    pub struct AgentRow {
        /// Its name.
        pub agent: String,
        /// When it joined, if it is a member now.
        pub member_since: Option<Timestamp>,
        /// Whether it posted a message that is not erased.
        pub has_posted: bool,
    }
}

row! {
    row posted_page, tag 6, version VERSION, inside [Posted];
    /// Who posted in a page of stream positions.
    pub struct PostedPage {
        /// In order of position.
        pub(crate) posted: Vec<Posted>,
    }
}

row! {
    row erased_room, tag 7, version VERSION, inside [];
    /// What is left of an erased room.
    pub struct ErasedRoomRow {
        /// When it was opened.
        pub created_at: Timestamp,
        /// When it was erased.
        pub erased_at: Timestamp,
        /// Seq of the erasure.
        pub erased_seq: u64,
        /// Messages it had.
        pub message_count: u64,
    }
}
