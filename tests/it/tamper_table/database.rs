//! The database of a stopped server: its records and its rows.

use std::path::Path;

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::format::{
    envelope::Envelope,
    record::{Body, Record},
};
use minutebook_eventlog::store::Row;
use minutebook_eventlog::store::fjall::tamper::Disk;

use super::records::{Item, Of, Room};
use super::rows::Table;
use crate::support::patiently;

/// The database, with what was in it before anything was done.
pub(super) struct Database {
    disk: Disk,
    records: Vec<(u64, Record)>,
    streams: Vec<Row>,
    tables: [Vec<Row>; 3],
}

impl Database {
    pub(super) fn open(data: &Path) -> Self {
        let disk = patiently(|| Disk::open(data)).unwrap();
        let bodies = disk.rows("bodies").unwrap();
        let body = |key: &[u8]| {
            let place = bodies.binary_search_by(|(at, _)| at[..].cmp(key)).ok()?;
            let (salt, bytes) = bodies[place].1.split_first_chunk::<32>().unwrap();
            let (salt, bytes) = (*salt, bytes.to_vec());
            Some(Body { salt, bytes })
        };
        let envelopes = disk.rows("envelopes").unwrap();
        let records = envelopes.into_iter().map(|(key, envelope)| {
            let body = body(&key);
            let seq = u64::from_be_bytes(key.as_slice().try_into().unwrap());
            (seq, Record { envelope, body })
        });
        Self {
            records: records.collect(),
            streams: disk.rows("streams").unwrap(),
            tables: Table::ALL.map(|table| disk.rows(table.space()).unwrap()),
            disk,
        }
    }

    /// A room's records.
    pub(super) fn room(&self, id: RoomId) -> Room {
        let mut room = Room { id, items: vec![] };
        let stream = room.stream();
        let its = self.records.iter().filter(|(_, record)| {
            let envelope = Envelope::parse(&record.envelope);
            envelope.is_ok_and(|envelope| envelope.stream == stream)
        });
        room.items.extend(its.map(|(seq, record)| Item {
            key: Some(*seq),
            record: record.clone(),
        }));
        room
    }

    /// Puts a room's records in the place of what they were.
    pub(super) fn put_room(&self, before: &Room, after: &Room) {
        let mut end = self.records.last().unwrap().0;
        for item in &before.items {
            if after.items.iter().all(|other| other.key != item.key) {
                self.put_record(item.key.unwrap(), None);
            }
        }
        for item in &after.items {
            let seq = item.key.unwrap_or_else(|| {
                end += 1;
                end
            });
            if !before.items.contains(item) {
                self.put_record(seq, Some(&item.record));
            }
        }
    }

    fn put_record(&self, seq: u64, record: Option<&Record>) {
        let key = seq.to_be_bytes();
        let envelope = record.map(|record| record.envelope.as_slice());
        let body = record.and_then(|record| record.body.as_ref());
        let body = body.map(|body| [&body.salt, body.bytes.as_slice()].concat());
        self.disk.put("envelopes", &key, envelope).unwrap();
        self.disk.put("bodies", &key, body.as_deref()).unwrap();
    }

    /// Takes a record out of its room's index.
    pub(super) fn unindex(&self, room: &Room, of: Of) {
        let seq = room.seq(of).to_be_bytes();
        let mut names = self.streams.iter().filter(|(_, value)| value[..] == seq);
        let key = &names.next().unwrap().0;
        self.disk.put("streams", key, None).unwrap();
    }

    /// A room's rows of a table, in key order.
    pub(super) fn rows(&self, table: Table, room: RoomId) -> Vec<Row> {
        let rows = Table::ALL.into_iter().zip(&self.tables);
        let mut found = rows.filter(|(other, _)| *other == table);
        let all = found.next().unwrap().1.iter();
        let is_its = |key: &[u8]| key.get(1..17) == Some(&room.uuid().as_bytes()[..]);
        all.filter(|(key, _)| is_its(key)).cloned().collect()
    }

    pub(super) fn put_row(&self, table: Table, key: &[u8], value: Option<&[u8]>) {
        self.disk.put(table.space(), key, value).unwrap();
    }
}
