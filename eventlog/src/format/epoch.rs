//! Key epochs: the key before certifies the next, so that one pinned key is enough for ever.
//!
//! Invariants
//! * What a certificate signs cannot be a checkpoint of any log: its first line has spaces, which
//!   no key name has.
//! * A certificate is for one origin, one epoch and one new key.

use super::key::{Algorithm, SigningKey, VerifyingKey};

/// Why a key epoch was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpochError {
    /// Epoch 1 is the log's opening; certified epochs begin at 2.
    #[error("epoch {0} has no certificate, certified epochs begin at 2")]
    Number(u64),
    /// A log's keys are named like its origin and of type 0x01.
    #[error("the new key is not a log key named like the origin")]
    Name,
    /// A rotation to the same key is none.
    #[error("the new key is the one before")]
    SameKey,
    /// Not 128 lower-case hex digits.
    #[error("the certificate is not 128 lower-case hex digits")]
    Hex,
    /// The key before did not sign this.
    #[error("the certificate is not a signature by the key before")]
    Signature,
}

/// What a certificate signs.
pub fn certificate_text(origin: &str, epoch: u64, new: &VerifyingKey) -> String {
    format!(
        "minutebook key epoch v1\n{origin}\n{epoch}\n{}\n",
        new.vkey()
    )
}

/// Certifies the next key by the one before: 128 lower-case hex digits.
pub fn certify(
    before: &SigningKey,
    origin: &str,
    epoch: u64,
    new: &VerifyingKey,
) -> Result<String, EpochError> {
    check(before.verifying_key(), origin, epoch, new)?;
    Ok(hex::encode(
        before.sign(certificate_text(origin, epoch, new).as_bytes()),
    ))
}

/// Verifies a certificate of the next key by the one before.
pub fn verify_certificate(
    before: &VerifyingKey,
    origin: &str,
    epoch: u64,
    new: &VerifyingKey,
    certificate: &str,
) -> Result<(), EpochError> {
    check(before, origin, epoch, new)?;
    let mut signature = [0; 64];
    hex::decode_to_slice(certificate, &mut signature).map_err(|_| EpochError::Hex)?;
    if certificate.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(EpochError::Hex);
    }
    let text = certificate_text(origin, epoch, new);
    if before.verifies(text.as_bytes(), &signature) {
        Ok(())
    } else {
        Err(EpochError::Signature)
    }
}

fn check(
    before: &VerifyingKey,
    origin: &str,
    epoch: u64,
    new: &VerifyingKey,
) -> Result<(), EpochError> {
    if epoch < 2 {
        return Err(EpochError::Number(epoch));
    }
    if new.name() != origin || new.algorithm() != Algorithm::Ed25519 {
        return Err(EpochError::Name);
    }
    if new.public_key() == before.public_key() {
        Err(EpochError::SameKey)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, seed: u8) -> SigningKey {
        SigningKey::from_seed(name, [seed; 32]).unwrap()
    }

    #[test]
    fn a_certificate_holds_for_one_origin_epoch_and_key_only() {
        let (before, new, other) = (key("log", 1), key("log", 2), key("log", 3));
        let (public, new) = (before.verifying_key(), new.verifying_key());
        let cert = certify(&before, "log", 2, new).unwrap();
        assert_eq!(cert.len(), 128);
        assert_eq!(verify_certificate(public, "log", 2, new, &cert), Ok(()));
        let verify = |origin, epoch, key: &SigningKey| {
            verify_certificate(public, origin, epoch, key.verifying_key(), &cert)
        };
        assert_eq!(verify("log", 3, &key("log", 2)), Err(EpochError::Signature));
        assert_eq!(verify("log", 2, &other), Err(EpochError::Signature));
        assert_eq!(verify("lag", 2, &key("lag", 2)), Err(EpochError::Signature));
        assert_eq!(verify("lag", 2, &key("log", 2)), Err(EpochError::Name));
        assert_eq!(verify("log", 1, &key("log", 2)), Err(EpochError::Number(1)));
        assert_eq!(verify("log", 2, &before), Err(EpochError::SameKey));
        let by_other = certify(&other, "log", 2, new).unwrap();
        let refused = verify_certificate(public, "log", 2, new, &by_other);
        assert_eq!(refused, Err(EpochError::Signature));
        for bad in [
            cert.to_uppercase(),
            cert[1..].to_owned(),
            String::new(),
            "é".repeat(64),
        ] {
            assert_eq!(
                verify_certificate(public, "log", 2, new, &bad),
                Err(EpochError::Hex)
            );
        }
    }

    #[test]
    fn the_text_is_what_the_format_says() {
        let text = certificate_text("log", 2, key("log", 2).verifying_key());
        let vkey = key("log", 2).vkey();
        assert_eq!(text, format!("minutebook key epoch v1\nlog\n2\n{vkey}\n"));
    }
}
