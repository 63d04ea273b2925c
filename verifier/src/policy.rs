//! Whom the caller trusts: the log's key, and witnesses.
//!
//! A bare key is the policy `log <vkey>` with `quorum none`.

use minutebook_eventlog::format::{
    key::{Algorithm, VerifyingKey},
    policy::Policy as Witnessing,
};

use crate::{error::VerifyError, report::WitnessResult, signed::Signed};

/// Whom to trust.
#[derive(Clone, Debug)]
pub struct Policy {
    inner: Witnessing,
    hash: String,
}

/// What the witnesses say about a checkpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cosignatures {
    pub(crate) valid: Vec<WitnessResult>,
    /// Witnesses whose line does not verify.
    pub(crate) invalid: Vec<String>,
    /// Whether they make the quorum.
    pub(crate) quorum: bool,
}

impl Policy {
    /// Trust in one key, the log's first or a later one.
    pub fn of_key(vkey: &str) -> Result<Self, VerifyError> {
        let key = VerifyingKey::parse(vkey.trim())
            .map_err(|error| VerifyError::Policy(format!("the key: {error}")))?;
        if key.algorithm() != Algorithm::Ed25519 {
            let why = "the key is a witness's, not a log's";
            return Err(VerifyError::Policy(why.to_owned()));
        }
        let text = format!("log {key}\nquorum none\n");
        Ok(Self {
            hash: sha256_hex(text.as_bytes()),
            inner: Witnessing::of_log(key),
        })
    }

    /// A C2SP tlog-policy file.
    pub fn parse(file: &[u8]) -> Result<Self, VerifyError> {
        let inner =
            Witnessing::parse(file).map_err(|error| VerifyError::Policy(error.to_string()))?;
        if inner.logs().is_empty() {
            return Err(VerifyError::Policy("it names no log".to_owned()));
        }
        Ok(Self {
            inner,
            hash: sha256_hex(file),
        })
    }

    /// The trusted keys of this log.
    pub(crate) fn keys_named<'a>(
        &'a self,
        origin: &'a str,
    ) -> impl Iterator<Item = &'a VerifyingKey> + Clone {
        self.inner
            .logs()
            .iter()
            .filter(move |key| key.name() == origin)
    }

    /// Whether this key is trusted by itself.
    pub(crate) fn trusts(&self, key: &VerifyingKey) -> bool {
        self.inner.logs().contains(key)
    }

    /// The trusted keys, for a finding.
    pub(crate) fn describe_keys(&self) -> String {
        let keys: Vec<String> = self.inner.logs().iter().map(VerifyingKey::vkey).collect();
        keys.join(" or ")
    }

    /// SHA-256 of the policy's text.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether cosignatures are demanded.
    pub(crate) fn demands_quorum(&self) -> bool {
        self.inner.needs_witnesses()
    }

    /// What the witnesses say.
    pub(crate) fn cosignatures(&self, signed: &Signed) -> Cosignatures {
        let cosigned = signed.cosigned(&self.inner);
        let valid = cosigned.signers.iter().map(|signer| WitnessResult {
            name: signer.key.name().to_owned(),
            size: signed.head.size,
            time: signer.time.unwrap_or(0),
        });
        Cosignatures {
            valid: valid.collect(),
            quorum: self.inner.quorum_met(&cosigned.signers),
            invalid: cosigned.invalid,
        }
    }
}

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(bytes))
}
