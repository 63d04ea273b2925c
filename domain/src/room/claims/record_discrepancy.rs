//! Write down that something said does not fit what is proposed or agreed. The arbiter does.
//!
//! Contradictions of agreed values make discrepancies by themselves; both share one numbering.

use serde::{Deserialize, Serialize};

use super::{super::RoomState, Severity, check_source};
use crate::{Fact, Rejection, ids::ClaimId, limits::ROOM_DISCREPANCIES_MAX, text::DiscrepancyText};

/// Write a discrepancy down.
#[derive(Clone, Debug)]
pub struct RecordDiscrepancy {
    /// The thread it is about.
    pub claim: Option<ClaimId>,
    /// What does not fit, in English.
    pub description: DiscrepancyText,
    /// How much it matters.
    pub severity: Severity,
    /// The message it was seen in, by its number in the room.
    pub source_msg_id: Option<u64>,
}

/// `room.discrepancy_recorded` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscrepancyRecorded {
    /// The thread it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimId>,
    /// What does not fit, in English.
    pub description: DiscrepancyText,
    /// Its number in the room: 1, 2, 3 …
    pub id: u64,
    /// How much it matters.
    pub severity: Severity,
    /// The message it was seen in, by its number in the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_msg_id: Option<u64>,
}

pub(super) fn decide(room: Option<&RoomState>, command: RecordDiscrepancy) -> DiscrepancyRecorded {
    DiscrepancyRecorded {
        claim: command.claim,
        description: command.description,
        id: next_id(room),
        severity: command.severity,
        source_msg_id: command.source_msg_id,
    }
}

fn next_id(room: Option<&RoomState>) -> u64 {
    room.map_or(0, |room| room.claims().discrepancies())
        .saturating_add(1)
}

pub(super) fn contextual(
    room: &RoomState,
    fact: &Fact<'_>,
    event: &DiscrepancyRecorded,
) -> Result<(), Rejection> {
    fact.actor.must_be_arbiter()?;
    check_source(room, event.source_msg_id)?;
    if room.gaps.others {
        return Ok(());
    }
    let claims = room.claims();
    if let Some(claim) = event.claim
        && claims.thread(claim).is_none()
    {
        return Err(Rejection::ClaimNotFound);
    }
    if claims.discrepancies() >= ROOM_DISCREPANCIES_MAX {
        let max = ROOM_DISCREPANCIES_MAX;
        return Err(Rejection::DiscrepanciesFull { max });
    }
    let expected = next_id(Some(room));
    if event.id != expected {
        let found = event.id;
        return Err(Rejection::DiscrepancyOutOfOrder { expected, found });
    }
    Ok(())
}

pub(super) fn evolve(room: &mut RoomState) {
    room.claims_mut().record_discrepancy();
}

#[cfg(test)]
#[path = "record_discrepancy_tests.rs"]
pub(super) mod tests;
