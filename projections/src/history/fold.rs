//! The fold of `history`.

use minutebook_domain::{
    Event, EventKind, Fact, What,
    ids::{RoomId, StreamId},
    room::{self, BodiesErased, MessageKind, MessagePosted},
    time::Timestamp,
};
use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::{MessageRow, SignatureRow, end, key, n_of_key};
use crate::{Kind, Projection, ProjectionError, RowOp, Rows, message_time, overlay::Overlay, row};

/// Bytes of a row besides its texts.
const ROW_BYTES: usize = 160;

/// Rooms whose last `n` is kept in memory between batches.
const CACHED_ROOMS_MAX: usize = 65_536;

/// Folds messages into rows.
#[derive(Default)]
pub struct History {
    pending: Overlay,
    /// The last `n` of rooms, for erased messages, whose bodies no longer say it.
    last: FxHashMap<RoomId, u64>,
}

impl Projection for History {
    fn kind(&self) -> Kind {
        Kind::History
    }

    fn apply(&mut self, rows: &dyn Rows, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        let StreamId::Room(room) = fact.stream else {
            return Ok(());
        };
        match fact.what {
            What::Present(Event::Room(event)) => self.apply_present(rows, fact, room, event),
            What::Present(Event::Keys(_) | Event::Skills(_)) => Ok(()),
            What::Erased(kind) => self.apply_erased(rows, fact, room, kind),
        }
    }

    fn flush(&mut self, out: &mut Vec<RowOp>) -> Result<(), ProjectionError> {
        self.pending.drain(out);
        if self.last.len() > CACHED_ROOMS_MAX {
            self.last.clear();
        }
        Ok(())
    }
}

impl History {
    fn apply_present(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        room: RoomId,
        event: &room::Event,
    ) -> Result<(), ProjectionError> {
        match event {
            room::Event::MessagePosted(message) => {
                self.last.insert(room, message.n);
                let row = posted_row(fact, message);
                let bytes = row::encode(&row, ROW_BYTES + row.text.len() + row.agent.len())?;
                self.pending.put(key(room, message.n), bytes);
                Ok(())
            }
            room::Event::BodiesErased(range) => self.erase_bodies(rows, room, range),
            room::Event::Erased(_) => self.erase(rows, room),
            room::Event::Opened(_)
            | room::Event::Renamed(_)
            | room::Event::Joined(_)
            | room::Event::Left(_)
            | room::Event::Closed(_)
            | room::Event::Claim(_) => Ok(()),
        }
    }

    fn apply_erased(
        &mut self,
        rows: &dyn Rows,
        fact: &Fact<'_>,
        room: RoomId,
        kind: EventKind,
    ) -> Result<(), ProjectionError> {
        match kind {
            EventKind::MessagePosted => {
                let n = self.last_n(rows, room)? + 1;
                self.last.insert(room, n);
                let row = erased_row((fact.seq, fact.sseq), fact.at);
                self.pending.put_row(key(room, n), &row)
            }
            EventKind::RoomErased => self.erase(rows, room),
            EventKind::RoomOpened
            | EventKind::RoomOpenedV2
            | EventKind::ClaimOpened
            | EventKind::ClaimRevised
            | EventKind::HandshakeMade
            | EventKind::ContextExtracted
            | EventKind::DiscrepancyRecorded
            | EventKind::RoomRenamed
            | EventKind::RoomJoined
            | EventKind::RoomLeft
            | EventKind::BodiesErased
            | EventKind::RoomClosed
            | EventKind::LogOpened
            | EventKind::KeyRotated
            | EventKind::ApiKeyIssued
            | EventKind::ApiKeyRevoked
            | EventKind::AgentKeyEnrolled
            | EventKind::AgentKeyRevoked
            | EventKind::SkillPublished
            | EventKind::SkillWithdrawn => Ok(()),
        }
    }

    fn last_n(&self, rows: &dyn Rows, room: RoomId) -> Result<u64, ProjectionError> {
        if let Some(n) = self.last.get(&room) {
            return Ok(*n);
        }
        let last = self.pending.last(rows, &key(room, 0), &end(room))?;
        Ok(last.and_then(|(key, _)| n_of_key(&key)).unwrap_or(0))
    }

    fn erase_bodies(
        &mut self,
        rows: &dyn Rows,
        room: RoomId,
        range: &BodiesErased,
    ) -> Result<(), ProjectionError> {
        let last = self.last_n(rows, room)?;
        for n in self.first_at(rows, room, last, range.first)?..=last {
            let Some(row) = self.pending.get_row::<MessageRow>(rows, &key(room, n))? else {
                continue;
            };
            if row.sseq > range.last {
                break;
            }
            let row = erased_row((row.seq, row.sseq), row.recorded_at);
            self.pending.put_row(key(room, n), &row)?;
        }
        Ok(())
    }

    /// The first `n` whose event stands at stream position `sseq` or after it, by bisection:
    /// both only grow.
    fn first_at(
        &self,
        rows: &dyn Rows,
        room: RoomId,
        last: u64,
        sseq: u64,
    ) -> Result<u64, ProjectionError> {
        let (mut low, mut high) = (1, last.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let row = self
                .pending
                .get_row::<MessageRow>(rows, &key(room, middle))?;
            if row.is_none_or(|row| row.sseq >= sseq) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    fn erase(&mut self, rows: &dyn Rows, room: RoomId) -> Result<(), ProjectionError> {
        for (key, _) in self.pending.scan(rows, &key(room, 0), &end(room))? {
            self.pending.delete(key);
        }
        self.last.remove(&room);
        Ok(())
    }
}

fn posted_row(fact: &Fact<'_>, message: &MessagePosted) -> MessageRow {
    MessageRow {
        id: message.id,
        seq: fact.seq,
        sseq: fact.sseq,
        at: message_time(fact.at, message),
        recorded_at: fact.at,
        kind: message.kind,
        is_erased: false,
        agent: message.agent.as_str().to_owned(),
        text: message.text.as_str().to_owned(),
        memory_root: message.memory_root.clone(),
        signature: message.signature.as_ref().map(|signature| SignatureRow {
            pubkey: signature.pubkey.clone(),
            sig: signature.sig.clone(),
            surface: signature.surface.clone(),
            ts_iso: signature.ts_iso.clone(),
            is_enrolled: signature.enrolled,
        }),
    }
}

/// `place`: seq and position in the stream.
fn erased_row(place: (u64, u64), recorded_at: Timestamp) -> MessageRow {
    MessageRow {
        id: Uuid::nil(),
        seq: place.0,
        sseq: place.1,
        at: recorded_at,
        recorded_at,
        kind: MessageKind::Chat,
        is_erased: true,
        agent: String::new(),
        text: String::new(),
        memory_root: None,
        signature: None,
    }
}
