//! `commands`: 16-byte index key → 16-byte request hash ‖ 8-byte first seq ‖ 4-byte count.

use super::{
    super::{CommandRow, StoreError},
    KeyKind, damaged,
};

const VALUE: usize = 16 + 8 + 4;

pub(in crate::store) fn ser_value(row: &CommandRow) -> [u8; VALUE] {
    let mut value = [0; VALUE];
    let (request, rest) = value.split_at_mut(16);
    let (first, count) = rest.split_at_mut(8);
    request.copy_from_slice(&row.request);
    first.copy_from_slice(&row.first.to_be_bytes());
    count.copy_from_slice(&row.count.to_be_bytes());
    value
}

pub(in crate::store) fn deser_value(bytes: &[u8]) -> Result<CommandRow, StoreError> {
    let wrong = || damaged(KeyKind::Command, "value", bytes);
    let (request, rest) = bytes.split_first_chunk::<16>().ok_or_else(wrong)?;
    let (first, rest) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
    let count = rest.try_into().map_err(|_| wrong())?;
    Ok(CommandRow {
        request: *request,
        first: u64::from_be_bytes(*first),
        count: u32::from_be_bytes(count),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CommandRow, deser_value, ser_value};

    proptest! {
        #[test]
        fn values_round_trip(request: [u8; 16], first: u64, count: u32) {
            let row = CommandRow { request, first, count };
            prop_assert_eq!(deser_value(&ser_value(&row)).unwrap(), row);
        }

        #[test]
        fn other_lengths_are_refused(bytes: Vec<u8>) {
            prop_assume!(bytes.len() != 28);
            prop_assert!(deser_value(&bytes).is_err());
        }
    }
}
