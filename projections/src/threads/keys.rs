//! The keys of the `threads` rows.

use minutebook_domain::ids::{ClaimId, RoomId};

/// First byte of every key.
const FIRST: u8 = 1;

/// Then a room's id, then the tag.
const ROOM_BYTES: usize = 16;

pub(crate) const LEDGER: u8 = 1;
pub(crate) const THREAD: u8 = 2;
pub(crate) const CLAIM: u8 = 3;
pub(crate) const REVISION: u8 = 4;
pub(crate) const NUMBER: u8 = 5;
pub(crate) const DISCREPANCY: u8 = 6;
pub(crate) const UNRESOLVED: u8 = 7;
pub(crate) const HANDSHAKE: u8 = 8;
pub(crate) const SHOOK: u8 = 9;
pub(crate) const SIGNER: u8 = 10;
pub(crate) const MADE: u8 = 11;
pub(crate) const SUGGESTION: u8 = 12;
pub(crate) const SKIPPED: u8 = 13;

fn key(room: RoomId, tag: u8, rest: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(18 + rest.iter().map(|part| part.len()).sum::<usize>());
    key.push(FIRST);
    key.extend_from_slice(room.uuid().as_bytes());
    key.push(tag);
    for part in rest {
        key.extend_from_slice(part);
    }
    key
}

/// All keys of a room with this tag.
fn tagged(room: RoomId, tag: u8) -> (Vec<u8>, Vec<u8>) {
    (key(room, tag, &[]), key(room, tag + 1, &[]))
}

/// All keys of a room.
pub(crate) fn room(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    (key(room, 0, &[]), key(room, u8::MAX, &[]))
}

pub(crate) fn ledger(room: RoomId) -> Vec<u8> {
    key(room, LEDGER, &[])
}

pub(crate) fn thread(room: RoomId, place: u32) -> Vec<u8> {
    key(room, THREAD, &[&place.to_be_bytes()])
}

pub(crate) fn threads(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, THREAD)
}

pub(crate) fn claim(room: RoomId, claim: ClaimId) -> Vec<u8> {
    key(room, CLAIM, &[claim.uuid().as_bytes()])
}

/// Revision `index` of a thread.
pub(crate) fn revision(room: RoomId, place: u32, index: u32) -> Vec<u8> {
    key(
        room,
        REVISION,
        &[&place.to_be_bytes(), &index.to_be_bytes()],
    )
}

pub(crate) fn number(room: RoomId, id: u64) -> Vec<u8> {
    key(room, NUMBER, &[&id.to_be_bytes()])
}

pub(crate) fn discrepancy(room: RoomId, id: u64) -> Vec<u8> {
    key(room, DISCREPANCY, &[&id.to_be_bytes()])
}

pub(crate) fn unresolved(room: RoomId, id: u64) -> Vec<u8> {
    key(room, UNRESOLVED, &[&(!id).to_be_bytes()])
}

pub(crate) fn all_unresolved(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, UNRESOLVED)
}

/// The discrepancy an [`unresolved`] key names.
pub(crate) fn unresolved_id(key: &[u8]) -> Option<u64> {
    last_number(key).map(|id| !id)
}

pub(crate) fn handshake(room: RoomId, id: u64) -> Vec<u8> {
    key(room, HANDSHAKE, &[&id.to_be_bytes()])
}

pub(crate) fn handshakes(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, HANDSHAKE)
}

/// The number at the end of a key.
pub(crate) fn last_number(key: &[u8]) -> Option<u64> {
    let (_, number) = key.split_last_chunk::<8>()?;
    Some(u64::from_be_bytes(*number))
}

/// `hash`: as recorded; of fixed length, because it was compared with one.
pub(crate) fn shook(room: RoomId, hash: &str, agent: &str) -> Vec<u8> {
    key(room, SHOOK, &[hash.as_bytes(), agent.as_bytes()])
}

/// All who shook hands on this. No agent's name has the byte 255, being UTF-8.
pub(crate) fn all_who_shook(room: RoomId, hash: &str) -> (Vec<u8>, Vec<u8>) {
    let hash = hash.as_bytes();
    (
        key(room, SHOOK, &[hash]),
        key(room, SHOOK, &[hash, &[u8::MAX]]),
    )
}

pub(crate) fn signer(room: RoomId, pubkey: &[u8; 32], agent: &str) -> Vec<u8> {
    key(room, SIGNER, &[pubkey, agent.as_bytes()])
}

pub(crate) fn signers(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, SIGNER)
}

/// What the arbiter made of a message, by the seq of its event.
pub(crate) fn made(room: RoomId, message: u64, seq: u64) -> Vec<u8> {
    key(room, MADE, &[&message.to_be_bytes(), &seq.to_be_bytes()])
}

/// All it made of a message.
pub(crate) fn all_made(room: RoomId, message: u64) -> (Vec<u8>, Vec<u8>) {
    let to = message.saturating_add(1);
    (made(room, message, 0), made(room, to, 0))
}

/// The newest reading first, within it in order.
pub(crate) fn suggestion(room: RoomId, seq: u64, index: u8) -> Vec<u8> {
    key(room, SUGGESTION, &[&(!seq).to_be_bytes(), &[index]])
}

pub(crate) fn suggestions(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, SUGGESTION)
}

/// A message that could not be read.
pub(crate) fn skipped(room: RoomId, message: u64) -> Vec<u8> {
    key(room, SKIPPED, &[&message.to_be_bytes()])
}

pub(crate) fn all_skipped(room: RoomId) -> (Vec<u8>, Vec<u8>) {
    tagged(room, SKIPPED)
}

/// Whether a row is one of those that grow with the ledger and that no fold reads again: an entry,
/// what came of a message, a suggestion.
pub(crate) fn is_only_read(key: &[u8]) -> bool {
    let tag = key.get(1 + ROOM_BYTES);
    matches!(tag, Some(&(REVISION | NUMBER | MADE | SUGGESTION)))
}
