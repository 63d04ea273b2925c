//! The store's own row in `meta`: where the log ends, to hold the other keyspaces against.
//!
//! Key: `00` "head". Value: 8-byte seq ‖ 32-byte envelope hash ‖ 24-byte key of the record in
//! `streams` ‖ 1 byte: whether the record has a body.

use super::{super::StoreError, KeyKind, damaged, stream};
use crate::format::hash::Hash;

/// The row's key.
pub(in crate::store) const KEY: &[u8] = b"\0head";
const VALUE: usize = 8 + 32 + stream::KEY + 1;

/// The last record's place in every keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct HeadRow {
    pub(in crate::store) seq: u64,
    pub(in crate::store) hash: Hash,
    pub(in crate::store) stream_key: [u8; stream::KEY],
    pub(in crate::store) has_body: bool,
}

pub(in crate::store) fn ser_value(row: &HeadRow) -> Vec<u8> {
    let mut value = Vec::with_capacity(VALUE);
    value.extend_from_slice(&row.seq.to_be_bytes());
    value.extend_from_slice(row.hash.as_bytes());
    value.extend_from_slice(&row.stream_key);
    value.push(u8::from(row.has_body));
    value
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<HeadRow, StoreError> {
    let wrong = || damaged(KeyKind::Meta, "head row", bytes);
    let (seq, rest) = bytes.split_first_chunk::<8>().ok_or_else(wrong)?;
    let (hash, rest) = rest.split_first_chunk::<32>().ok_or_else(wrong)?;
    let (stream_key, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
    let has_body = match rest {
        [0] => false,
        [1] => true,
        _ => return Err(wrong()),
    };
    Ok(HeadRow {
        seq: u64::from_be_bytes(*seq),
        hash: Hash::new(*hash),
        stream_key: *stream_key,
        has_body,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Hash, HeadRow, deser_value, ser_value};

    proptest! {
        #[test]
        fn values_round_trip(seq: u64, hash: [u8; 32], stream_key: [u8; 24], has_body: bool) {
            let row = HeadRow { seq, hash: Hash::new(hash), stream_key, has_body };
            prop_assert_eq!(deser_value(&ser_value(&row)).unwrap(), row);
        }

        #[test]
        fn other_lengths_are_refused(bytes: Vec<u8>) {
            prop_assume!(bytes.len() != 65);
            prop_assert!(deser_value(&bytes).is_err());
        }
    }
}
