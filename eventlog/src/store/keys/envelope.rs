//! `envelopes`: 8-byte seq → envelope bytes, verbatim.

use super::{super::StoreError, KeyKind, deser_seq_key};

pub(in crate::store) use super::seq_key as ser_key;

pub(in crate::store) fn deser_key(bytes: &[u8]) -> Result<u64, StoreError> {
    deser_seq_key(KeyKind::Envelope, bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{deser_key, ser_key};

    proptest! {
        #[test]
        fn keys_round_trip_in_number_order(a: u64, b: u64) {
            prop_assert_eq!(deser_key(&ser_key(a)).unwrap(), a);
            prop_assert_eq!(ser_key(a).cmp(&ser_key(b)), a.cmp(&b));
        }

        #[test]
        fn other_lengths_are_refused(bytes: Vec<u8>) {
            prop_assume!(bytes.len() != 8);
            prop_assert!(deser_key(&bytes).is_err());
        }
    }
}
