//! The database of a stopped server, and what is done to it.

use std::collections::BTreeMap;
use std::path::Path;

use minutebook_domain::time::Timestamp;
use minutebook_eventlog::format::{
    envelope::Envelope,
    hash::{Hash, body_commitment, chain_hash},
};
use minutebook_eventlog::store::Row;
use minutebook_eventlog::store::fjall::tamper::Disk;

use super::cases::{ANY, Edit, Of};
use crate::support::patiently;

fn replace(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes
        .windows(from.len().max(1))
        .position(|window| window == from.as_bytes());
    let Some(at) = at else {
        // Nothing named: the last byte.
        assert_eq!(
            from,
            "",
            "{from} is not in {}",
            String::from_utf8_lossy(bytes)
        );
        let mut bytes = bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        return bytes;
    };
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

/// A room's records by kind, as their seqs.
pub(super) struct Places(Vec<(u64, String)>);

impl Places {
    pub(super) fn of(envelopes: &[Row], room: &str) -> Self {
        let stream = format!("room/{room}");
        let its = envelopes.iter().filter_map(|(_, bytes)| {
            let envelope = Envelope::parse(bytes).ok()?;
            (envelope.stream == stream).then(|| (envelope.seq, envelope.kind.into_owned()))
        });
        Self(its.collect())
    }

    pub(super) fn seq(&self, of: Of) -> u64 {
        let (kinds, nth): (&[&str], usize) = match of {
            Of::Opening => (&["room.opened"], 1),
            Of::Message(n) => (&["room.message_posted"], n),
            Of::Revision(n) => (&["room.claim_opened", "room.claim_revised"], n),
            Of::Handshake(n) => (&["room.handshake_made"], n),
        };
        let mut its = self
            .0
            .iter()
            .filter(|(_, kind)| kinds.contains(&kind.as_str()));
        its.nth(nth - 1).unwrap().0
    }
}

/// The database, with what the edits read before any of them was made.
pub(super) struct Stopped {
    disk: Disk,
    pub(super) envelopes: Vec<Row>,
    bodies: BTreeMap<Vec<u8>, Vec<u8>>,
    streams: Vec<Row>,
    rows: BTreeMap<&'static str, Vec<Row>>,
}

impl Stopped {
    pub(super) fn open(data: &Path) -> Self {
        let disk = patiently(|| Disk::open(data)).unwrap();
        let rows = ["rooms", "history", "threads"];
        Self {
            envelopes: disk.rows("envelopes").unwrap(),
            streams: disk.rows("streams").unwrap(),
            bodies: disk.rows("bodies").unwrap().into_iter().collect(),
            rows: rows
                .map(|name| (name, disk.rows(&format!("v.{name}.g1")).unwrap()))
                .into(),
            disk,
        }
    }

    fn envelope(&self, seq: u64) -> &[u8] {
        let key = seq.to_be_bytes();
        let found = self.envelopes.iter().find(|(at, _)| at[..] == key);
        &found.unwrap().1
    }

    fn body(&self, seq: u64) -> &[u8] {
        &self.bodies[&seq.to_be_bytes()[..]]
    }

    pub(super) fn put(&self, table: &str, seq: u64, value: Option<&[u8]>) {
        self.disk.put(table, &seq.to_be_bytes(), value).unwrap();
    }

    /// A room's rows with this tag; `ANY`: all of them.
    fn its(&self, name: &str, tag: u8, room: &str) -> Vec<Row> {
        let room = uuid::Uuid::parse_str(room).unwrap();
        let its = self.rows[name].iter().filter(|(key, _)| {
            key.get(1..17) == Some(&room.as_bytes()[..])
                && (tag == ANY || key.get(17) == Some(&tag))
        });
        its.cloned().collect()
    }

    pub(super) fn make(&self, edit: Edit, room: &str) {
        let places = Places::of(&self.envelopes, room);
        match edit {
            Edit::Body(of, from, to) => {
                let seq = places.seq(of);
                self.put("bodies", seq, Some(&replace(self.body(seq), from, to)));
            }
            Edit::Envelope(of, from, to) => {
                let seq = places.seq(of);
                self.put(
                    "envelopes",
                    seq,
                    Some(&replace(self.envelope(seq), from, to)),
                );
            }
            Edit::Later(of) => {
                let seq = places.seq(of);
                let mut envelope = Envelope::parse(self.envelope(seq)).unwrap();
                let at = Timestamp::parse(&envelope.at).unwrap();
                let at = Timestamp::from_micros(at.as_micros() + 1);
                envelope.at = at.to_string().into();
                let mut bytes = Vec::new();
                envelope.encode(&mut bytes);
                self.put("envelopes", seq, Some(&bytes));
            }
            Edit::DropBody(of) => self.put("bodies", places.seq(of), None),
            Edit::DropIndex(of) => {
                let seq = places.seq(of).to_be_bytes();
                let mut names = self.streams.iter().filter(|(_, value)| value[..] == seq);
                self.disk
                    .put("streams", &names.next().unwrap().0, None)
                    .unwrap();
            }
            Edit::SwapBodies(a, b) => {
                let (a, b) = (places.seq(a), places.seq(b));
                self.put("bodies", a, Some(self.body(b)));
                self.put("bodies", b, Some(self.body(a)));
            }
            Edit::SwapRecords(a, b) => {
                let (first, second) = (places.seq(a), places.seq(b));
                self.put("envelopes", first, Some(self.envelope(second)));
                self.put("envelopes", second, Some(self.envelope(first)));
                self.make(Edit::SwapBodies(a, b), room);
            }
            Edit::Chained(of, from, to) => self.chain(&places, places.seq(of), from, to),
            Edit::Row(name, tag, nth, from, to) => {
                let (key, value) = self.its(name, tag, room).swap_remove(nth);
                self.put_row(name, &key, Some(&replace(&value, from, to)));
            }
            Edit::DropRow(name, tag, nth) => {
                self.put_row(name, &self.its(name, tag, room)[nth].0, None);
            }
            Edit::CopyRow(name, tag, nth, last) => {
                let (mut key, value) = self.its(name, tag, room).swap_remove(nth);
                *key.last_mut().unwrap() = last;
                self.put_row(name, &key, Some(&value));
            }
            Edit::MoveRows(name) => {
                for (mut key, value) in self.its(name, ANY, room) {
                    self.put_row(name, &key, None);
                    key[16] ^= 0xff;
                    self.put_row(name, &key, Some(&value));
                }
            }
        }
    }

    fn put_row(&self, name: &str, key: &[u8], value: Option<&[u8]>) {
        self.disk.put(&format!("v.{name}.g1"), key, value).unwrap();
    }

    /// Changes a body, commits to it, and chains the rest of the room to it.
    fn chain(&self, places: &Places, changed: u64, from: &str, to: &str) {
        let mut before: Option<(u64, Hash)> = None;
        for (seq, _) in places.0.iter().filter(|(seq, _)| *seq >= changed) {
            let mut envelope = Envelope::parse(self.envelope(*seq)).unwrap();
            if *seq == changed {
                let body = replace(self.body(*seq), from, to);
                let (salt, text) = body.split_first_chunk::<32>().unwrap();
                envelope.body = body_commitment(salt, text);
                self.put("bodies", *seq, Some(&body));
            }
            if let Some((last, hash)) = before {
                envelope.sprev = hash;
                if last + 1 == *seq {
                    envelope.prev = hash;
                }
            }
            let mut bytes = Vec::new();
            envelope.encode(&mut bytes);
            self.put("envelopes", *seq, Some(&bytes));
            before = Some((*seq, chain_hash(&bytes)));
        }
    }
}
