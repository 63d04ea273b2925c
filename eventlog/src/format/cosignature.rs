//! C2SP cosignature/v1: a witness says when it saw a checkpoint as the largest.

use super::{
    checkpoint::{Checkpoint, CheckpointError},
    key::{Algorithm, SigningKey, VerifyingKey},
    limits::TREE_SIZE_MAX,
    note::{Note, signature_line},
};

/// What a witness signs: a header, its time, and the checkpoint's text with any extension lines.
fn message(text: &str, time: u64) -> Vec<u8> {
    format!("cosignature/v1\ntime {time}\n{text}").into_bytes()
}

/// The time of a cosignature that verifies.
pub(crate) fn verify(text: &str, blob: &[u8], key: &VerifyingKey) -> Option<u64> {
    let (time, signature) = blob.split_first_chunk::<8>()?;
    let time = u64::from_be_bytes(*time);
    // C2SP bounds the time by 2^63 - 1, as we bound sizes.
    if time > TREE_SIZE_MAX || key.algorithm() != Algorithm::CosignatureV1 {
        return None;
    }
    let signature = signature.try_into().ok()?;
    key.verifies(&message(text, time), signature)
        .then_some(time)
}

/// Adds a witness's signature to a checkpoint note. The witness must already have verified that
/// the checkpoint is consistent with every earlier one it signed, and stored it.
pub fn cosign(note: &str, time: u64, key: &SigningKey) -> Result<String, CheckpointError> {
    let text = Note::parse(note)?.text();
    Checkpoint::parse_text(text)?;
    let signature = key.sign(&message(text, time));
    let blob = [&time.to_be_bytes()[..], &signature].concat();
    Ok(format!(
        "{note}{}",
        signature_line(key.verifying_key(), &blob)
    ))
}
