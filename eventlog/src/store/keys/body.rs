//! `bodies`: 8-byte seq → 32-byte salt ‖ body bytes. Erasure deletes the row, salt and all.

use super::{super::StoreError, KeyKind, damaged, deser_seq_key};
use crate::format::record::Body;

pub(in crate::store) use super::seq_key as ser_key;

const SALT: usize = 32;

pub(in crate::store) fn deser_key(bytes: &[u8]) -> Result<u64, StoreError> {
    deser_seq_key(KeyKind::Body, bytes)
}

pub(in crate::store) fn ser_value(body: &Body) -> Vec<u8> {
    let mut value = Vec::with_capacity(SALT + body.bytes.len());
    value.extend_from_slice(&body.salt);
    value.extend_from_slice(&body.bytes);
    value
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<Body, StoreError> {
    let (salt, body) = bytes
        .split_first_chunk::<SALT>()
        .ok_or_else(|| damaged(KeyKind::Body, "value", bytes))?;
    Ok(Body {
        salt: *salt,
        bytes: body.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{deser_value, ser_value};
    use crate::format::record::Body;

    proptest! {
        #[test]
        fn values_round_trip(salt: [u8; 32], bytes: Vec<u8>) {
            let body = Body { salt, bytes };
            prop_assert_eq!(deser_value(&ser_value(&body)).unwrap(), body);
        }

        #[test]
        fn a_cut_salt_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..32)) {
            prop_assert!(deser_value(&bytes).is_err());
        }
    }
}
