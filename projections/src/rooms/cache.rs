//! Rooms in memory: read once, changed, and written once per batch.
//!
//! Invariant: after a flush the cache holds nothing that the rows do not, so dropping it changes
//! no row.

use std::collections::hash_map::Entry;

use minutebook_domain::ids::RoomId;
use rustc_hash::FxHashMap;

use super::{RoomRow, keys};
use crate::{ProjectionError, Rows, overlay::Overlay};

/// Rooms kept in memory between batches.
const CACHED_ROOMS_MAX: usize = 4096;
#[derive(Default)]
pub(super) struct Cache {
    pub(super) rooms: FxHashMap<RoomId, Cached>,
    changed: Vec<RoomId>,
}

pub(super) struct Cached {
    pub(super) row: RoomRow,
    /// Its key in the listing by activity, as the rows below have it.
    pub(super) listed: Option<Vec<u8>>,
    is_changed: bool,
}

impl Cache {
    /// The room, marked as changed by this fact; none if it was never opened.
    pub(super) fn touch(
        &mut self,
        pending: &Overlay,
        rows: &dyn Rows,
        id: RoomId,
        seq: u64,
    ) -> Result<Option<&mut RoomRow>, ProjectionError> {
        let cached = match self.rooms.entry(id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let Some(row) = pending.get_row::<RoomRow>(rows, &keys::room(id))? else {
                    return Ok(None);
                };
                let listed = row.is_public.then(|| keys::by_activity(&row));
                entry.insert(Cached {
                    row,
                    listed,
                    is_changed: false,
                })
            }
        };
        cached.row.last_seq = seq;
        if !std::mem::replace(&mut cached.is_changed, true) {
            self.changed.push(id);
        }
        Ok(Some(&mut cached.row))
    }

    pub(super) fn open(&mut self, row: RoomRow) {
        self.changed.push(row.id);
        self.rooms.insert(
            row.id,
            Cached {
                row,
                listed: None,
                is_changed: true,
            },
        );
    }

    /// Writes what changed and forgets the rest when there is too much of it.
    pub(super) fn flush(&mut self, pending: &mut Overlay) -> Result<(), ProjectionError> {
        for id in self.changed.drain(..) {
            if let Some(cached) = self.rooms.get_mut(&id) {
                cached.write(pending)?;
            }
        }
        if self.rooms.len() > CACHED_ROOMS_MAX {
            self.rooms.clear();
        }
        Ok(())
    }
}

impl Cached {
    fn write(&mut self, pending: &mut Overlay) -> Result<(), ProjectionError> {
        self.is_changed = false;
        pending.put_row(keys::room(self.row.id), &self.row)?;
        if !self.row.is_public {
            return Ok(());
        }
        let place = keys::by_activity(&self.row);
        if self.listed.as_ref() != Some(&place) {
            let id = self.row.id.uuid().as_bytes().to_vec();
            match self.listed.replace(place.clone()) {
                Some(old) => pending.delete(old),
                None => pending.put(keys::by_creation(&self.row), id.clone()),
            }
            pending.put(place, id);
        }
        Ok(())
    }
}
