//! C2SP verifier keys of type Ed25519: `<name>+<key id, 8 hex digits>+<base64 of 0x01 and key>`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

use crate::{ed25519, limits::ORIGIN_BYTES_MAX, rejection::Rejection};

/// The signature type byte of plain Ed25519.
const ED25519: u8 = 0x01;

/// A verifier key, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vkey {
    name: String,
    key: VerifyingKey,
}

impl Vkey {
    /// Reads the text form; the key id must be the one that name and key give.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let (name, key) = parts(text)?;
        let key = ed25519::public_key_bytes(&key)?;
        let name = name.to_owned();
        Ok(Self { name, key })
    }

    /// The public key's bytes of a text that was parsed before: whether they are a point of the
    /// curve, which is the expensive part, is not asked again.
    pub fn public_key_of(text: &str) -> Result<[u8; 32], Rejection> {
        parts(text).map(|(_, key)| key)
    }

    /// The key's name: for a log's key, its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The public key's 32 bytes.
    pub fn public_key(&self) -> [u8; 32] {
        self.key.to_bytes()
    }

    pub(super) fn key(&self) -> &VerifyingKey {
        &self.key
    }
}

/// Name and key of the text form.
fn parts(text: &str) -> Result<(&str, [u8; 32]), Rejection> {
    let malformed = Rejection::VkeyMalformed;
    let mut parts = text.splitn(3, '+');
    let (Some(name), Some(id), Some(data)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(malformed);
    };
    if !is_key_name(name) || data.len() > 64 {
        return Err(malformed);
    }
    let data = STANDARD.decode(data).map_err(|_| malformed.clone())?;
    let Some((&ED25519, key)) = data.split_first() else {
        return Err(malformed);
    };
    let key: [u8; 32] = key.try_into().map_err(|_| malformed.clone())?;
    if id != key_id(name, &key) {
        return Err(malformed);
    }
    Ok((name, key))
}

/// Whether a text can be a key's name, and so a log's origin: not empty, no blank, no `+`, and
/// nothing that a terminal or a line-based note could misread.
pub(super) fn is_key_name(name: &str) -> bool {
    let bad = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    !name.is_empty() && name.len() <= ORIGIN_BYTES_MAX && !name.contains(bad)
}

/// First four bytes of SHA-256(name ‖ LF ‖ type ‖ key), in hex.
fn key_id(name: &str, key: &[u8; 32]) -> String {
    let mut hash = Sha256::new();
    hash.update(name);
    hash.update([b'\n', ED25519]);
    hash.update(key);
    let mut id = hex::encode(hash.finalize());
    id.truncate(8);
    id
}

/// The text form of a key: for tests, which make keys.
#[cfg(test)]
pub(crate) fn vkey_text(name: &str, key: &VerifyingKey) -> String {
    let mut data = vec![ED25519];
    data.extend(key.as_bytes());
    let id = key_id(name, key.as_bytes());
    format!("{name}+{id}+{}", STANDARD.encode(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the C2SP signed-note specification's example.
    const EXAMPLE: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    #[test]
    fn a_published_key_is_read() {
        let vkey = Vkey::parse(EXAMPLE).unwrap();
        assert_eq!(vkey.name(), "PeterNeumann");
        assert_eq!(vkey_text(vkey.name(), vkey.key()), EXAMPLE);
    }

    #[test]
    fn a_key_has_one_spelling() {
        for (from, to) in [
            ("PeterNeumann", "PeterNeuman"),
            ("PeterNeumann", ""),
            ("PeterNeumann", "Peter Neumann"),
            ("PeterNeumann", "Peter+Neumann"),
            ("c74f20a3", "C74F20A3"),
            ("c74f20a3", "c74f20a4"),
            ("c74f20a3+", ""),
            ("+AR", "+AB"),
            ("0TW", "0TX"),
            ("0TW", "0TW="),
            ("0TW", "0TW\n"),
            ("0TW", "0"),
        ] {
            let text = EXAMPLE.replacen(from, to, 1);
            assert_eq!(Vkey::parse(&text), Err(Rejection::VkeyMalformed), "{text}");
        }
    }
}
