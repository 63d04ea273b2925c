//! Receipts: that a record is in the log of a certain checkpoint.

use minutebook_eventlog::{
    format::{proof::TlogProof, tree::inclusion_proof},
    store::{Head, LogReader},
};

use super::OfflineError;
use crate::engine::StoreTiles;

/// The receipt of a record against a head that includes it. `envelope`: the record's, when the
/// receipt shall stand alone; inside a bundle the record precedes it.
pub fn receipt(
    reader: &dyn LogReader,
    seq: u64,
    envelope: Option<Vec<u8>>,
    head: &Head,
) -> Result<TlogProof, OfflineError> {
    let Some(index) = seq.checked_sub(1).filter(|_| seq <= head.seq) else {
        return Err(OfflineError::NoRecord {
            seq,
            head: head.seq,
        });
    };
    let path = inclusion_proof(&StoreTiles(reader), index, head.seq)?;
    let checkpoint = head.checkpoint.clone();
    Ok(TlogProof {
        extra: envelope,
        index,
        path,
        checkpoint,
    })
}
