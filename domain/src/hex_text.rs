//! Lower-case hexadecimal, the only spelling records hold.

/// Whether every byte is a lower-case hex digit.
pub(crate) fn is_lower_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The `N` bytes that exactly `2 * N` lower-case hex digits stand for.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if !is_lower_hex(text) {
        return None;
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}
