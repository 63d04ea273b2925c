//! 32-byte hashes, their one text form, and the functions that make them.
//!
//! Invariants
//! * Text is 64 lower-case hex digits; parsing accepts nothing else.
//! * Two families that never mix: plain BLAKE3 for the chain and for bodies (so that `b3sum` can
//!   check them), RFC 6962 SHA-256 with its prefix byte for the tree.

use std::fmt;

use sha2::{Digest, Sha256};

/// A 32-byte hash, shown as 64 lower-case hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

/// Text that is not 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 64 lower-case hex digits")]
pub struct HexError;

impl Hash {
    /// 64 zeros: what comes before the first record.
    pub const ZERO: Self = Self([0; 32]);

    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash with these bytes, if there are 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lower-case hex digits and nothing else.
    pub fn parse_hex(text: &[u8]) -> Result<Self, HexError> {
        let text: &[u8; 64] = text.try_into().map_err(|_| HexError)?;
        decode_hex(text).map(Self).ok_or(HexError)
    }

    /// Its 64 hex digits, without an allocation.
    pub fn to_hex(&self) -> [u8; 64] {
        encode_hex(&self.0)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.to_hex();
        f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Hash {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        Self::parse_hex(text.as_bytes())
    }
}

/// The chain hash of an envelope: plain BLAKE3 of its bytes, so that `b3sum` can check it.
pub fn chain_hash(envelope: &[u8]) -> Hash {
    Hash(*blake3::hash(envelope).as_bytes())
}

/// The body commitment: plain BLAKE3 of salt then body.
pub fn body_commitment(salt: &[u8; 32], body: &[u8]) -> Hash {
    if let Some(hash) = together(salt, body, |input| *blake3::hash(input).as_bytes()) {
        return hash;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt);
    hasher.update(body);
    Hash(*hasher.finalize().as_bytes())
}

/// The RFC 6962 leaf hash of an envelope: SHA-256 of a zero byte and its bytes.
pub fn leaf_hash(envelope: &[u8]) -> Hash {
    if let Some(hash) = together(&[0], envelope, |input| Sha256::digest(input).into()) {
        return hash;
    }
    Hash(
        Sha256::new()
            .chain_update([0])
            .chain_update(envelope)
            .finalize()
            .into(),
    )
}

/// Hashes two parts as one input, if they are small: a copy on the stack is cheaper than what
/// hashers do to put two parts together.
fn together(head: &[u8], tail: &[u8], hash: impl Fn(&[u8]) -> [u8; 32]) -> Option<Hash> {
    const TOGETHER_MAX: usize = 1024;
    let mut together = [0; TOGETHER_MAX];
    let input = together.get_mut(..head.len() + tail.len())?;
    let (first, second) = input.split_at_mut(head.len());
    first.copy_from_slice(head);
    second.copy_from_slice(tail);
    Some(Hash(hash(input)))
}

/// The RFC 6962 node hash: SHA-256 of a one byte, left and right.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut input = [1; 65];
    if let Some((_, children)) = input.split_first_mut() {
        let (l, r) = children.split_at_mut(32);
        l.copy_from_slice(&left.0);
        r.copy_from_slice(&right.0);
    }
    Hash(Sha256::digest(input).into())
}

/// The root of the empty tree: SHA-256 of nothing.
pub fn empty_root() -> Hash {
    Hash(Sha256::digest([]).into())
}

const ONES: u64 = u64::MAX / 255;

/// Eight hex digits at a time, in the bytes of a `u64`.
fn nibbles_to_digits(nibbles: u64) -> u64 {
    let letters = ((nibbles + ONES * 6) >> 4) & ONES;
    nibbles + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'0' - 10)
}

fn encode_hex(bytes: &[u8; 32]) -> [u8; 64] {
    let mut out = [0; 64];
    let (groups, _) = bytes.as_chunks::<4>();
    let (digits, _) = out.as_chunks_mut::<8>();
    for (group, digits) in groups.iter().zip(digits) {
        let mut x = u64::from(u32::from_le_bytes(*group));
        x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
        x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
        let nibbles = ((x >> 4) & 0x000f_000f_000f_000f) | ((x & 0x000f_000f_000f_000f) << 8);
        *digits = nibbles_to_digits(nibbles).to_le_bytes();
    }
    out
}

fn decode_hex(text: &[u8; 64]) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    let mut bad = 0;
    let (groups, _) = text.as_chunks::<8>();
    let (bytes, _) = out.as_chunks_mut::<4>();
    for (group, bytes) in groups.iter().zip(bytes) {
        let digits = u64::from_le_bytes(*group);
        // A letter's bit 6 is set and its low nibble is 9 short of its value. What is not a
        // digit we would write ourselves fails the comparison.
        let nibbles = (digits & (ONES * 15)) + ((digits >> 6) & ONES) * 9;
        bad |= nibbles & (ONES * 0xf0);
        bad |= nibbles_to_digits(nibbles & (ONES * 15)) ^ digits;
        let mut x = ((nibbles << 4) | (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
        x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
        x = (x | (x >> 16)) & 0x0000_0000_ffff_ffff;
        if let Some((low, _)) = x.to_le_bytes().split_first_chunk::<4>() {
            *bytes = *low;
        }
    }
    (bad == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hex_is_lower_case_and_complete() {
        let hash = Hash::new(std::array::from_fn(|i| u8::try_from(i * 7 + 3).unwrap()));
        let text = hash.to_string();
        assert_eq!(text, hex::encode(hash.as_bytes()));
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(
            Hash::parse_hex(text.to_uppercase().as_bytes()),
            Err(HexError)
        );
        assert_eq!(Hash::parse_hex(&text.as_bytes()[1..]), Err(HexError));
        assert_eq!(Hash::parse_hex(b""), Err(HexError));
    }

    #[test]
    fn every_byte_but_sixteen_is_refused_as_a_digit() {
        for byte in 0..=u8::MAX {
            for at in 0..64 {
                let mut text = [b'7'; 64];
                text[at] = byte;
                let good = byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                assert_eq!(Hash::parse_hex(&text).is_ok(), good, "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn a_commitment_is_plain_blake3_of_salt_and_body_at_every_length() {
        for len in [0, 1, 991, 992, 993, 5000] {
            let body = vec![b'x'; len];
            let together = [&[9; 32][..], &body].concat();
            assert_eq!(body_commitment(&[9; 32], &body), chain_hash(&together));
        }
    }

    proptest! {
        #[test]
        fn hex_round_trips(bytes: [u8; 32]) {
            let hash = Hash::new(bytes);
            prop_assert_eq!(hash.to_string(), hex::encode(bytes));
            prop_assert_eq!(Hash::parse_hex(&hash.to_hex()), Ok(hash));
        }
    }
}
