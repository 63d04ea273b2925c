//! Every kind of row there is, one file each with its key and value layout.
//!
//! The keyspace names and the layouts are persisted: they must stay as they are. A new layout is
//! a new kind. Integers are big-endian, so that byte order is number order.

pub(super) mod body;
pub(super) mod checkpoint;
pub(super) mod command;
pub(super) mod envelope;
pub(super) mod head;
pub(super) mod stream;
pub(super) mod tile;
pub(super) mod view;

use super::StoreError;

/// The kinds of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// seq → envelope bytes. Written once.
    Envelope,
    /// seq → salt and body. Written once, deleted by erasure.
    Body,
    /// stream, sseq → seq. Written once.
    Stream,
    /// command index key → what it was answered with. Written once.
    Command,
    /// size → signed note. Written once.
    Checkpoint,
    /// level, index → 256 hashes. Written once.
    Tile,
    /// The caller's small rows, and the store's own head row ([`head`]).
    Meta,
    /// Rows of a projection generation: one keyspace per space.
    View,
}

impl KeyKind {
    /// The keyspace's name; for [`KeyKind::View`] what the name starts with.
    pub(super) const fn keyspace(self) -> &'static str {
        match self {
            Self::Envelope => "envelopes",
            Self::Body => "bodies",
            Self::Stream => "streams",
            Self::Command => "commands",
            Self::Checkpoint => "checkpoints",
            Self::Tile => "tiles",
            Self::Meta => "meta",
            Self::View => "v.",
        }
    }
}

/// The key of what is numbered by seq or size.
pub(super) const fn seq_key(seq: u64) -> [u8; 8] {
    seq.to_be_bytes()
}

fn damaged(kind: KeyKind, what: &str, bytes: &[u8]) -> StoreError {
    StoreError::Damaged(format!(
        "a {what} of {} bytes in {}",
        bytes.len(),
        kind.keyspace()
    ))
}

fn deser_seq_key(kind: KeyKind, bytes: &[u8]) -> Result<u64, StoreError> {
    let key = bytes.try_into().map_err(|_| damaged(kind, "key", bytes))?;
    Ok(u64::from_be_bytes(key))
}

#[cfg(test)]
mod tests {
    use super::KeyKind;

    #[test]
    fn keyspace_names_stay_as_they_are() {
        let kinds = [
            (KeyKind::Envelope, "envelopes"),
            (KeyKind::Body, "bodies"),
            (KeyKind::Stream, "streams"),
            (KeyKind::Command, "commands"),
            (KeyKind::Checkpoint, "checkpoints"),
            (KeyKind::Tile, "tiles"),
            (KeyKind::Meta, "meta"),
            (KeyKind::View, "v."),
        ];
        for (kind, name) in kinds {
            assert_eq!(kind.keyspace(), name);
        }
    }
}
