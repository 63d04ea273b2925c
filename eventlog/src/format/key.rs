//! Named Ed25519 keys: the C2SP vkey and what signs and verifies with it.
//!
//! Invariants
//! * A weak (small-order) public key cannot be held; signatures are checked by `verify_strict`.
//! * A secret key never shows itself: no `Display`, `Debug` prints the name only.
//! * The key id ties name, algorithm and key together; a vkey whose id differs is refused.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ed25519_dalek::Signer as _;
use sha2::{Digest as _, Sha256};

use super::limits::{KEY_NAME_BYTES_MAX, VKEY_BYTES_MAX};

/// What a key's signatures mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Signed-note type 0x01: the signature is over the note's text.
    Ed25519,
    /// Signed-note type 0x04, cosignature/v1: a witness's time and signature over a checkpoint.
    CosignatureV1,
}

impl Algorithm {
    /// The byte that stands for it in key ids and vkeys.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => 0x01,
            Self::CosignatureV1 => 0x04,
        }
    }
}

/// Why a key could not be read or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Names are 1 to 255 bytes without spaces, control characters and plus signs.
    #[error("not a key name: 1 to 255 bytes without spaces, control characters and '+'")]
    Name,
    /// Not `<name>+<8 hex digits>+<base64>`.
    #[error("not a vkey: expected name+id+key")]
    Form,
    /// A type of key that is not verified here.
    #[error("key type {0:#04x} is not supported, only 0x01 (Ed25519) and 0x04 (cosignature/v1)")]
    Unsupported(u8),
    /// The id does not belong to this name and key.
    #[error("the key id {found} does not belong to this name and key, which have {expected}")]
    Id {
        /// What the vkey says.
        found: String,
        /// What it would have to be.
        expected: String,
    },
    /// The 32 bytes are not a point of the curve.
    #[error("not an Ed25519 public key")]
    NotAKey,
    /// A key of small order, for which anybody can make signatures.
    #[error("a weak Ed25519 public key")]
    Weak,
}

/// A public key with its name.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    name: String,
    id: [u8; 4],
    algorithm: Algorithm,
    key: ed25519_dalek::VerifyingKey,
}

impl VerifyingKey {
    /// The key with this name, use and 32 bytes.
    pub fn new(name: &str, algorithm: Algorithm, key: &[u8; 32]) -> Result<Self, KeyError> {
        check_name(name)?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(key).map_err(|_| KeyError::NotAKey)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        let id = key_id(name, algorithm, key.as_bytes());
        Ok(Self {
            name: name.to_owned(),
            id,
            algorithm,
            key,
        })
    }

    /// Reads `<name>+<8 lower-case hex digits of the id>+<base64 of type byte and key>`.
    pub fn parse(vkey: &str) -> Result<Self, KeyError> {
        if vkey.len() > VKEY_BYTES_MAX {
            return Err(KeyError::Form);
        }
        let mut parts = vkey.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(KeyError::Form);
        };
        check_name(name)?;
        let bytes = BASE64.decode(key).map_err(|_| KeyError::Form)?;
        let (kind, key) = bytes.split_first().ok_or(KeyError::Form)?;
        let algorithm = match kind {
            0x01 => Algorithm::Ed25519,
            0x04 => Algorithm::CosignatureV1,
            other => return Err(KeyError::Unsupported(*other)),
        };
        let key = key.try_into().map_err(|_| KeyError::Form)?;
        let expected = hex::encode(key_id(name, algorithm, key));
        if id != expected {
            // The id is shown as found, but never more of it than an id has.
            let found = id.chars().take(8).collect();
            return Err(KeyError::Id { found, expected });
        }
        Self::new(name, algorithm, key)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its key id.
    pub const fn id(&self) -> [u8; 4] {
        self.id
    }

    /// What its signatures mean.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The 32 bytes of the public key.
    pub fn public_key(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// The vkey text.
    pub fn vkey(&self) -> String {
        let mut key = vec![self.algorithm.byte()];
        key.extend_from_slice(self.key.as_bytes());
        format!(
            "{}+{}+{}",
            self.name,
            hex::encode(self.id),
            BASE64.encode(key)
        )
    }

    /// Whether this is the key's signature over these bytes.
    pub fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        self.key.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.vkey())
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.vkey())
    }
}

/// A secret key with its name.
#[derive(Clone)]
pub struct SigningKey {
    secret: ed25519_dalek::SigningKey,
    public: VerifyingKey,
}

impl SigningKey {
    /// A log's key (type 0x01) from its 32-byte seed.
    pub fn from_seed(name: &str, seed: [u8; 32]) -> Result<Self, KeyError> {
        Self::with_algorithm(name, Algorithm::Ed25519, seed)
    }

    /// A witness's key (type 0x04) from its 32-byte seed.
    pub fn witness_from_seed(name: &str, seed: [u8; 32]) -> Result<Self, KeyError> {
        Self::with_algorithm(name, Algorithm::CosignatureV1, seed)
    }

    fn with_algorithm(name: &str, algorithm: Algorithm, seed: [u8; 32]) -> Result<Self, KeyError> {
        let secret = ed25519_dalek::SigningKey::from_bytes(&seed);
        let public = VerifyingKey::new(name, algorithm, secret.verifying_key().as_bytes())?;
        Ok(Self { secret, public })
    }

    /// The public half.
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// The public half as a vkey text.
    pub fn vkey(&self) -> String {
        self.public.vkey()
    }

    /// The key's signature over these bytes. What is signed must be unmistakable: callers sign
    /// note texts, cosignature messages, certificate texts and entries of a room's ledger, nothing
    /// else. An entry is JSON on one line; the others have several lines.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.secret.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public.name)
    }
}

/// Names are part of signature lines, which split at spaces, and of vkeys, which split at plus.
pub(crate) fn check_name(name: &str) -> Result<(), KeyError> {
    let refused = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    if name.is_empty() || name.len() > KEY_NAME_BYTES_MAX || name.contains(refused) {
        return Err(KeyError::Name);
    }
    Ok(())
}

fn key_id(name: &str, algorithm: Algorithm, key: &[u8; 32]) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::new()
        .chain_update(name)
        .chain_update([b'\n', algorithm.byte()])
        .chain_update(key)
        .finalize()
        .into();
    let [a, b, c, d, ..] = digest;
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG_VKEY: &str =
        "log.example/room-1+79e3d95e+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
    const WITNESS_VKEY: &str =
        "witness.example/w1+df1c0a35+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU";

    #[test]
    fn seeds_give_the_published_vkeys() {
        let log = SigningKey::from_seed("log.example/room-1", [1; 32]).unwrap();
        assert_eq!(log.vkey(), LOG_VKEY);
        let witness = SigningKey::witness_from_seed("witness.example/w1", [2; 32]).unwrap();
        assert_eq!(witness.vkey(), WITNESS_VKEY);
        for vkey in [LOG_VKEY, WITNESS_VKEY] {
            assert_eq!(VerifyingKey::parse(vkey).unwrap().vkey(), vkey);
        }
    }

    #[test]
    fn what_is_not_exactly_a_vkey_is_refused() {
        let weak = [&[1][..], &[1], &[0; 31]].concat();
        let weak = format!("w+{}+{}", hex::encode(weak_id()), BASE64.encode(weak));
        assert_eq!(VerifyingKey::parse(&weak), Err(KeyError::Weak));
        for (from, to) in [
            ("79e3d95e", "79E3D95E"),
            ("79e3d95e", "79e3d95f"),
            ("79e3d95e", "79e3d95"),
            ("room-1", "room-2"),
            ("room-1", "room 1"),
            ("room-1", "room+1"),
            ("room-1", "room\u{a0}1"),
            ("log.example/room-1", ""),
            ("+AYqI", "+BYqI"),
            ("D29c", "D29"),
            ("D29c", "D29c="),
            ("D29c", "D29c\n"),
            ("AYqI", "BgqI"),
        ] {
            let bad = LOG_VKEY.replacen(from, to, 1);
            assert!(VerifyingKey::parse(&bad).is_err(), "{bad}");
        }
        for bad in ["", "+", "++", "a+b", &"x".repeat(5000)] {
            assert!(VerifyingKey::parse(bad).is_err(), "{bad}");
        }
    }

    fn weak_id() -> [u8; 4] {
        let mut key = [0; 32];
        key[0] = 1;
        key_id("w", Algorithm::Ed25519, &key)
    }

    #[test]
    fn a_secret_does_not_print_itself() {
        let key = SigningKey::from_seed("log.example", [1; 32]).unwrap();
        assert_eq!(format!("{key:?}"), "SigningKey(log.example)");
    }
}
