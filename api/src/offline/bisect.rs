//! The first event of a room after which a predicate holds.
//!
//! A predicate may hold, stop holding and hold again, so a search by halves could land on a later
//! beginning. The room's records are folded one after the other instead, which costs what one
//! replay of the room costs.

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::{format::record::Record, store::LogReader};
use minutebook_projections::{Kind, RoomsView};

use super::{
    OfflineError,
    ledger::Ledger,
    moment::Fold,
    predicate::{Moment, Predicate},
    walk::each_record,
};
use crate::generations::GenerationError;

/// What was found.
#[derive(Debug)]
pub struct Bisected {
    /// The first record after which it holds; none if it never does.
    pub found: Option<Record>,
    /// Records of the room that were looked at.
    pub looked_at: u64,
}

/// How the walk ends.
enum End {
    Found(Record),
    Failed(OfflineError),
}

impl From<OfflineError> for End {
    fn from(error: OfflineError) -> Self {
        Self::Failed(error)
    }
}

/// Looks for it up to seq `until`.
pub fn bisect(
    reader: &dyn LogReader,
    room: RoomId,
    until: u64,
    predicate: &Predicate,
) -> Result<Bisected, OfflineError> {
    let mut rooms = Fold::new(Kind::Rooms);
    let mut ledger = Ledger::new(room);
    let mut looked_at = 0;
    let walked = each_record(reader, Some(room), until, |fact, record| {
        looked_at += 1;
        let mut holds = || {
            rooms.apply(fact)?;
            rooms.flush()?;
            ledger.apply(fact)?;
            predicate.holds(&Moment {
                room,
                rooms: RoomsView::new(&rooms.rows),
                ledger: &ledger,
            })
        };
        match holds() {
            Ok(true) => Err(End::Found(record.clone())),
            Ok(false) => Ok(()),
            Err(error) => Err(End::Failed(GenerationError::into(error))),
        }
    });
    let found = match walked {
        Ok(()) => None,
        Err(End::Found(record)) => Some(record),
        Err(End::Failed(error)) => return Err(error),
    };
    if looked_at == 0 {
        return Err(OfflineError::NoRoom(room.to_string()));
    }
    Ok(Bisected { found, looked_at })
}
