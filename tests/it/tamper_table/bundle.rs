//! A room's bundle, edited offline.

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::format::{
    bundle::{Kind, Line, Manifest, parse_line, write_record_line},
    envelope::Envelope,
};
use minutebook_verifier::{Options, Policy, Report};

use super::records::{Item, Room};

/// A room's bundle: the room's records, and the lines before and after them.
pub(super) struct Bundle {
    manifest: Manifest,
    before: Vec<u8>,
    pub(super) room: Room,
    after: Vec<u8>,
}

impl Bundle {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap();
        let Ok(Line::Manifest(manifest)) = parse_line(first.trim_ascii_end()) else {
            panic!("no manifest");
        };
        let Kind::Room(id) = &manifest.kind else {
            panic!("not a room's");
        };
        let id = RoomId::parse_canonical(id).unwrap();
        let mut room = Room { id, items: vec![] };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for line in lines {
            let text = line.strip_suffix(b"\n").unwrap();
            if let Line::Record(record) = parse_line(text).unwrap() {
                let (key, record) = (None, record.into_record());
                if Envelope::parse(&record.envelope).unwrap().stream == room.stream() {
                    room.items.push(Item { key, record });
                    continue;
                }
            }
            let side = if room.items.is_empty() {
                &mut before
            } else {
                &mut after
            };
            side.extend_from_slice(line);
        }
        for (key, item) in (0..).zip(&mut room.items) {
            item.key = Some(key);
        }
        Self {
            manifest,
            before,
            room,
            after,
        }
    }

    /// The bundle with these records in the room's place, and a manifest that fits them.
    pub(super) fn with(&self, room: &Room) -> Vec<u8> {
        let mut manifest = self.manifest.clone();
        let gone = self.room.items.len() as u64;
        manifest.records = manifest.records - gone + room.items.len() as u64;
        let last = room.items.last().and_then(Item::envelope);
        manifest.last = last.map_or(manifest.last, |last| last.sseq);
        let mut out = Vec::new();
        manifest.write(&mut out);
        out.extend_from_slice(&self.before);
        for Item { record, .. } in &room.items {
            let body = record.body.as_ref();
            let body = body.map(|body| (&body.salt, body.bytes.as_slice()));
            write_record_line(&record.envelope, body, &mut out).unwrap();
        }
        out.extend_from_slice(&self.after);
        out
    }
}

/// What the verifier says of a bundle, with this key pinned.
pub(super) fn judge(bundle: &[u8], vkey: &str) -> Report {
    let policy = Policy::of_key(vkey).unwrap();
    let judged = minutebook_verifier::verify(bundle, &policy, Options::default());
    judged.unwrap().report
}
