//! A record: envelope bytes, and salt and body unless they were erased.

use super::hash::{Hash, body_commitment};

/// One record as stored and exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Canonical envelope bytes.
    pub envelope: Vec<u8>,
    /// Salt and body bytes; none when erased or missing.
    pub body: Option<Body>,
}

/// A body and the salt of its commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// 32 random bytes.
    pub salt: [u8; 32],
    /// The body's bytes, JSON, verbatim.
    pub bytes: Vec<u8>,
}

impl Body {
    /// What an envelope's `body` must be for this body to be the one it speaks of.
    pub fn commitment(&self) -> Hash {
        body_commitment(&self.salt, &self.bytes)
    }
}
