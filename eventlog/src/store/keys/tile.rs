//! `tiles`: 1-byte level ‖ 8-byte index → 256 hashes of 32 bytes.

use super::{
    super::{StoreError, TILE_BYTES},
    KeyKind, damaged,
};

pub(in crate::store) fn ser_key(level: u8, index: u64) -> [u8; 9] {
    let mut key = [level; 9];
    let (_, number) = key.split_at_mut(1);
    number.copy_from_slice(&index.to_be_bytes());
    key
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    if bytes.len() == TILE_BYTES {
        Ok(bytes.to_vec())
    } else {
        Err(damaged(KeyKind::Tile, "value", bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{deser_value, ser_key};

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_level_and_index(a: (u8, u64), b: (u8, u64)) {
            prop_assert_eq!(ser_key(a.0, a.1).cmp(&ser_key(b.0, b.1)), a.cmp(&b));
        }
    }

    #[test]
    fn only_a_whole_tile_is_accepted() {
        assert!(deser_value(&[7; 8192]).is_ok());
        assert!(deser_value(&[7; 8160]).is_err());
    }
}
