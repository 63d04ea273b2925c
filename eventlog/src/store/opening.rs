//! The three-case table: what the head file says against where the log ends.
//!
//! | head file | log | |
//! |---|---|---|
//! | seq N, hash h | ends at N with h | go |
//! | seq N, hash h | goes on after N, and N has h | go; the head file is advanced |
//! | seq N | ends before N | refuse: acknowledged events are missing |
//! | seq N, hash h | N has another hash | refuse: this is another history |
//! | missing | empty | go: a new log |
//! | missing | not empty | refuse unless told to accept |

use super::{Head, StoreError};
use crate::format::hash::Hash;

/// Decides. `hash_at` looks a record's hash up in the log.
pub(super) fn compare(
    saved: Option<&Head>,
    log: &Head,
    hash_at: impl FnOnce(u64) -> Result<Hash, StoreError>,
) -> Result<(), StoreError> {
    let Some(saved) = saved else {
        return Ok(());
    };
    if saved.seq > log.seq {
        return Err(StoreError::HeadAhead {
            head: saved.seq,
            log: log.seq,
            missing: saved.seq - log.seq,
            path: String::new(),
            kept: String::new(),
        });
    }
    let found = match saved.seq {
        0 => Hash::ZERO,
        seq if seq == log.seq => log.hash,
        seq => hash_at(seq)?,
    };
    if found != saved.hash {
        return Err(StoreError::Damaged(format!(
            "the head file says event {} is {}, in the log it is {found}: this is another history",
            saved.seq, saved.hash
        )));
    }
    Ok(())
}
