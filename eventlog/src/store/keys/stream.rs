//! `streams`: first 16 bytes of BLAKE3(stream name) ‖ 8-byte sseq → 8-byte seq.
//!
//! Names are hashed so that keys have one length; 16 bytes are enough that no two of any number
//! of streams ever meet.

use super::{super::StoreError, KeyKind, deser_seq_key};

pub(in crate::store) use super::seq_key as ser_value;

const PREFIX: usize = 16;
/// Bytes of a key.
pub(in crate::store) const KEY: usize = PREFIX + 8;

pub(in crate::store) fn prefix(stream: &str) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    let hash = blake3::hash(stream.as_bytes());
    for (to, from) in prefix.iter_mut().zip(hash.as_bytes()) {
        *to = *from;
    }
    prefix
}

pub(in crate::store) fn ser_key(prefix: [u8; PREFIX], sseq: u64) -> [u8; KEY] {
    let mut key = [0; KEY];
    let (stream, number) = key.split_at_mut(PREFIX);
    stream.copy_from_slice(&prefix);
    number.copy_from_slice(&sseq.to_be_bytes());
    key
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<u64, StoreError> {
    deser_seq_key(KeyKind::Stream, bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{deser_value, prefix, ser_key, ser_value};

    /// Nobody asks a key what it was made of but this test.
    fn deser_key(bytes: &[u8]) -> Option<([u8; 16], u64)> {
        let (prefix, sseq) = bytes.split_first_chunk()?;
        Some((*prefix, u64::from_be_bytes(sseq.try_into().ok()?)))
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_a_stream_is_in_order(name in ".+", a: u64, b: u64) {
            let stream = prefix(&name);
            prop_assert_eq!(deser_key(&ser_key(stream, a)).unwrap(), (stream, a));
            prop_assert_eq!(deser_value(&ser_value(a)).unwrap(), a);
            prop_assert_eq!(ser_key(stream, a).cmp(&ser_key(stream, b)), a.cmp(&b));
        }
    }

    #[test]
    fn a_seq_of_another_length_is_refused() {
        assert!(deser_value(&[0; 7]).is_err());
        assert!(deser_value(&[0; 9]).is_err());
    }
}
