//! Ed25519 as all our rules want it: strict, one spelling, no weak keys.

use ed25519_dalek::{Signature, VerifyingKey};

use crate::{hex_text, rejection::Rejection};

/// Reads a public key from 64 lower-case hex digits.
pub(crate) fn public_key(hex: &str) -> Result<VerifyingKey, Rejection> {
    let bytes = hex_text::decode(hex).ok_or(Rejection::PublicKeyMalformed)?;
    public_key_bytes(&bytes)
}

/// Reads a public key: a point in its one encoding, not of small order. With a small-order key
/// one signature can fit many messages.
pub(crate) fn public_key_bytes(bytes: &[u8; 32]) -> Result<VerifyingKey, Rejection> {
    if !is_reduced(bytes) {
        return Err(Rejection::PublicKeyMalformed);
    }
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| Rejection::PublicKeyMalformed)?;
    if key.is_weak() {
        return Err(Rejection::PublicKeyWeak);
    }
    Ok(key)
}

/// Whether the y coordinate is below the field's prime 2^255 - 19: otherwise two byte strings
/// would name one key.
fn is_reduced(bytes: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = bytes;
    let all_ones = middle.iter().all(|byte| *byte == 0xff) && last & 0x7f == 0x7f;
    !(all_ones && *first >= 0xed)
}

/// Whether `hex`, 128 lower-case hex digits, is the key's signature over the message.
/// `None` when it is not even a signature's spelling.
pub(crate) fn verifies(key: &VerifyingKey, message: &[u8], hex: &str) -> Option<bool> {
    let bytes = hex_text::decode(hex)?;
    let signature = Signature::from_bytes(&bytes);
    Some(key.verify_strict(message, &signature).is_ok())
}
