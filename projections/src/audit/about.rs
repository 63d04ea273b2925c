//! What a row shows, in the words of who reads the room.

use std::fmt;

use minutebook_domain::ids::{ClaimId, RoomId};

use crate::{
    Kind,
    history::n_of_key,
    row,
    threads::{RevisionRow, ThreadRow, keys},
};

/// What a row shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The room itself.
    Room,
    /// The room's place in the directory.
    Listing,
    /// An agent in the room.
    Agent(String),
    /// When and by whom messages were posted.
    Posted,
    /// A message, by its number.
    Message(u64),
    /// The room's ledger as a whole.
    Ledger,
    /// A thread.
    Thread(ClaimId),
    /// A thread that only its place tells, from 0.
    ThreadAt(u32),
    /// An entry of the ledger, by its number.
    Revision(u64),
    /// An entry of which only the places tell: the thread's, and its own in it, from 0.
    RevisionAt(u32, u32),
    /// A handshake, by its number.
    Handshake(u64),
    /// A discrepancy, by its number.
    Discrepancy(u64),
    /// Who shook hands on what.
    Hands,
    /// Who signed with what.
    Signers,
    /// What the arbiter read, heard and did.
    Readings,
    /// A key that no row of the room has.
    Nothing,
}

impl About {
    /// `values`: the row as it must be and as it is.
    pub(super) fn of(kind: Kind, room: RoomId, key: &[u8], values: [Option<&[u8]>; 2]) -> Self {
        match kind {
            Kind::Rooms => of_rooms(key),
            Kind::History => n_of_key(key).map_or(Self::Nothing, Self::Message),
            Kind::Threads => of_threads(room, key, values).unwrap_or(Self::Nothing),
            Kind::Skills => Self::Nothing,
        }
    }
}

fn of_rooms(key: &[u8]) -> About {
    match key.first() {
        Some(1 | 7) => About::Room,
        Some(2 | 4 | 5) => About::Listing,
        Some(3) => {
            let name = key.get(17..).unwrap_or_default();
            About::Agent(String::from_utf8_lossy(name).into_owned())
        }
        Some(6) => About::Posted,
        Some(_) | None => About::Nothing,
    }
}

fn of_threads(room: RoomId, key: &[u8], values: [Option<&[u8]>; 2]) -> Option<About> {
    let (from, _) = keys::room(room);
    let place = key.get(from.len() - 1..)?;
    let (tag, rest) = place.split_first()?;
    let number = || Some(u64::from_be_bytes(rest.try_into().ok()?));
    let values = || values.into_iter().flatten();
    Some(match *tag {
        keys::LEDGER => About::Ledger,
        keys::THREAD => {
            let mut rows = values().filter_map(|value| row::decode::<ThreadRow>(value).ok());
            match rows.next() {
                Some(row) => About::Thread(row.thread.id()),
                None => About::ThreadAt(u32::from_be_bytes(rest.try_into().ok()?)),
            }
        }
        keys::CLAIM => About::Thread(ClaimId::new(uuid::Uuid::from_slice(rest).ok()?)),
        keys::REVISION => {
            let mut rows = values().filter_map(|value| row::decode::<RevisionRow>(value).ok());
            let known = rows.next().map(|row| About::Revision(row.id));
            known.or_else(|| revision_at(rest))?
        }
        keys::NUMBER => About::Revision(number()?),
        keys::DISCREPANCY => About::Discrepancy(number()?),
        keys::UNRESOLVED => About::Discrepancy(!number()?),
        keys::HANDSHAKE => About::Handshake(number()?),
        keys::SHOOK => About::Hands,
        keys::SIGNER => About::Signers,
        keys::MADE | keys::SUGGESTION | keys::SKIPPED => About::Readings,
        _ => return None,
    })
}

fn revision_at(places: &[u8]) -> Option<About> {
    let (thread, index) = places.split_first_chunk::<4>()?;
    let index = u32::from_be_bytes(index.try_into().ok()?);
    Some(About::RevisionAt(u32::from_be_bytes(*thread), index))
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room => f.write_str("the room itself"),
            Self::Listing => f.write_str("its place in the directory"),
            Self::Agent(name) => write!(f, "agent {name:?}"),
            Self::Posted => f.write_str("who posted when"),
            Self::Message(n) => write!(f, "message {n}"),
            Self::Ledger => f.write_str("the ledger as a whole"),
            Self::Thread(claim) => write!(f, "thread {claim}"),
            Self::ThreadAt(place) => write!(f, "the room's thread {}", place.saturating_add(1)),
            Self::Revision(id) => write!(f, "revision {id}"),
            Self::RevisionAt(thread, index) => write!(
                f,
                "revision {} of the room's thread {}",
                index.saturating_add(1),
                thread.saturating_add(1)
            ),
            Self::Handshake(id) => write!(f, "handshake {id}"),
            Self::Discrepancy(id) => write!(f, "discrepancy {id}"),
            Self::Hands => f.write_str("who shook hands"),
            Self::Signers => f.write_str("who signed with which key"),
            Self::Readings => f.write_str("what the arbiter read"),
            Self::Nothing => f.write_str("nothing known"),
        }
    }
}
