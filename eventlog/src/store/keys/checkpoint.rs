//! `checkpoints`: 8-byte size → note text. One per commit, at the seq of its last record.

use super::{super::StoreError, KeyKind, damaged, deser_seq_key};

pub(in crate::store) use super::seq_key as ser_key;

pub(in crate::store) fn deser_key(bytes: &[u8]) -> Result<u64, StoreError> {
    deser_seq_key(KeyKind::Checkpoint, bytes)
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<String, StoreError> {
    String::from_utf8(bytes.to_vec())
        .map_err(|_| damaged(KeyKind::Checkpoint, "value that is not text", bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{deser_key, deser_value, ser_key};

    proptest! {
        #[test]
        fn rows_round_trip(size: u64, note in ".*") {
            prop_assert_eq!(deser_key(&ser_key(size)).unwrap(), size);
            prop_assert_eq!(deser_value(note.as_bytes()).unwrap(), note);
        }
    }

    #[test]
    fn what_is_not_text_is_refused() {
        assert!(deser_value(&[0xff]).is_err());
    }
}
