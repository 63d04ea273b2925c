//! A small log made from fixed inputs. Compatibility-sensitive: if anything here makes other
//! bytes than the files in `vectors/log`, every bundle and receipt ever given out is in question.

use std::collections::HashMap;

use minutebook_eventlog::format::{
    bundle::{BundleWriter, Kind, Manifest},
    checkpoint::Checkpoint,
    envelope::Envelope,
    epoch::certify,
    hash::{Hash, body_commitment, chain_hash, leaf_hash},
    note::SigningKey,
    proof::TlogProof,
    record::{Body, Record},
    tree::{Frontier, TileSource, inclusion_proof},
};

/// The log's origin.
pub(crate) const ORIGIN: &str = "log.example/minutes";
/// The room.
pub(crate) const ROOM: &str = "3f0c1d52-7c55-4b1e-9d57-8a6e2f40c9b1";
/// The seq of the record whose body is erased.
pub(crate) const ERASED_SEQ: u64 = 5;
/// The seq of the key rotation.
const ROTATION_SEQ: u64 = 6;

/// The log and what it takes to prove things about it.
pub(crate) struct Golden {
    /// Records 1, 2, 3 …
    pub(crate) records: Vec<Record>,
    leaves: Vec<Hash>,
}

struct Entry {
    stream: String,
    kind: &'static str,
    actor: &'static str,
    cmd: &'static str,
    body: String,
}

/// The key of epoch 1 or 2.
pub(crate) fn key(epoch: u8) -> SigningKey {
    SigningKey::from_seed(ORIGIN, [0x10 + epoch; 32]).unwrap()
}

fn entry(
    stream: &str,
    kind: &'static str,
    actor: &'static str,
    cmd: &'static str,
    body: &str,
) -> Entry {
    Entry {
        stream: stream.into(),
        kind,
        actor,
        cmd,
        body: body.into(),
    }
}

fn entries() -> Vec<Entry> {
    let mut entries = talk();
    entries.insert(0, opening());
    entries.insert(5, rotation());
    entries
}

fn opening() -> Entry {
    let body = format!(r#"{{"origin":"{ORIGIN}","vkey":"{}"}}"#, key(1).vkey());
    entry(
        "log",
        "log.opened",
        "arbiter",
        "0193797f-a200-7000-8000-000000000001",
        &body,
    )
}

fn rotation() -> Entry {
    let (first, second) = (key(1), key(2));
    let cert = certify(&first, ORIGIN, 2, second.verifying_key()).unwrap();
    let body = format!(
        r#"{{"cert":"{cert}","epoch":2,"prev_vkey":"{}","vkey":"{}"}}"#,
        first.vkey(),
        second.vkey()
    );
    entry(
        "log",
        "log.key_rotated",
        "arbiter",
        "0193797f-b588-7000-8000-000000000006",
        &body,
    )
}

/// What happens in the room.
fn talk() -> Vec<Entry> {
    let room = format!("room/{ROOM}");
    let posted = |actor, cmd, body| entry(&room, "room.message_posted", actor, cmd, body);
    let opened = concat!(
        r#"{"description":"Harbour slots for the week","dialect":"rooms","#,
        r#""is_public":false,"message_limit":1000,"protocol_mode":"standard"}"#
    );
    let first = concat!(
        r#"{"agent":"ada","id":"0193797f-a9d0-7000-8000-000000000003","#,
        r#""kind":"chat","n":1,"text":"Is the slot free on Thursday?"}"#
    );
    let second = concat!(
        r#"{"agent":"zoë","id":"0193797f-adb8-7000-8000-000000000004","#,
        r#""kind":"chat","n":2,"text":"Ja – \"frei\" ab 8 h 🚢\n那好"}"#
    );
    let third = concat!(
        r#"{"agent":"ada","id":"0193797f-b1a1-7000-8000-000000000005","#,
        r#""kind":"chat","n":3,"text":"My phone number is 555 0100."}"#
    );
    let erased = r#"{"first":4,"last":4,"reason":"a phone number, erased on request"}"#;
    vec![
        entry(&room, "room.opened", "agent:ada", "idem:open-1", opened),
        posted("agent:ada", "idem:post-1", first),
        posted("agent:zoë", "idem:post-2", second),
        posted("agent:ada", "0193797f-b1a0-7000-8000-000000000005", third),
        entry(&room, "room.bodies_erased", "owner", "idem:erase-1", erased),
    ]
}

impl Golden {
    /// Makes the log.
    pub(crate) fn build() -> Self {
        let mut golden = Self {
            records: Vec::new(),
            leaves: Vec::new(),
        };
        let mut streams: HashMap<String, (u64, Hash)> = HashMap::new();
        let mut prev = Hash::ZERO;
        for (entry, seq) in entries().into_iter().zip(1u8..) {
            let salt = [0xa0 + seq; 32];
            let (sseq, sprev) = streams
                .get(&entry.stream)
                .copied()
                .unwrap_or((0, Hash::ZERO));
            let envelope = Envelope {
                actor: entry.actor.into(),
                at: format!("2026-11-30T12:00:0{seq}.00000{seq}Z").into(),
                body: body_commitment(&salt, entry.body.as_bytes()),
                cause: None,
                cmd: entry.cmd.into(),
                prev,
                seq: seq.into(),
                sprev,
                sseq: sseq + 1,
                stream: entry.stream.clone().into(),
                kind: entry.kind.into(),
                v: 1,
            };
            let mut bytes = Vec::new();
            envelope.encode(&mut bytes);
            prev = chain_hash(&bytes);
            streams.insert(entry.stream, (sseq + 1, prev));
            golden.leaves.push(leaf_hash(&bytes));
            let body = Body {
                salt,
                bytes: entry.body.into_bytes(),
            };
            let body = (u64::from(seq) != ERASED_SEQ).then_some(body);
            golden.records.push(Record {
                envelope: bytes,
                body,
            });
        }
        golden
    }

    /// How many records.
    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.records.len()).unwrap()
    }

    /// Record `seq`.
    pub(crate) fn record(&self, seq: u64) -> &Record {
        &self.records[usize::try_from(seq - 1).unwrap()]
    }

    /// The signed checkpoint at this size.
    pub(crate) fn checkpoint(&self, size: u64) -> String {
        let mut frontier = Frontier::new();
        for leaf in self.leaves.iter().take(usize::try_from(size).unwrap()) {
            frontier.push(*leaf);
        }
        let epoch = if size < ROTATION_SEQ { 1 } else { 2 };
        let checkpoint = Checkpoint {
            origin: ORIGIN.into(),
            size,
            root: frontier.root(),
        };
        checkpoint.sign(&key(epoch))
    }

    /// The receipt of record `seq` against the newest checkpoint.
    pub(crate) fn receipt(&self, seq: u64, with_envelope: bool) -> String {
        let proof = TlogProof {
            extra: with_envelope.then(|| self.record(seq).envelope.clone()),
            index: seq - 1,
            path: inclusion_proof(self, seq - 1, self.size()).unwrap(),
            checkpoint: self.checkpoint(self.size()),
        };
        proof.to_text()
    }

    /// The bundle of the whole log.
    pub(crate) fn log_bundle(&self) -> Vec<u8> {
        let manifest = Manifest {
            origin: ORIGIN.into(),
            kind: Kind::Log,
            first: 1,
            last: self.size(),
            records: self.size(),
            checkpoints: 3,
        };
        let mut writer = BundleWriter::new(Vec::new(), &manifest).unwrap();
        for (record, seq) in self.records.iter().zip(1..) {
            writer.record(record).unwrap();
            if [ROTATION_SEQ - 1, ROTATION_SEQ, self.size()].contains(&seq) {
                writer.checkpoint(&self.checkpoint(seq)).unwrap();
            }
        }
        writer.finish().unwrap()
    }

    /// The bundle of the room.
    pub(crate) fn room_bundle(&self) -> Vec<u8> {
        let manifest = Manifest {
            origin: ORIGIN.into(),
            kind: Kind::Room(ROOM.into()),
            first: 1,
            last: 5,
            records: 7,
            checkpoints: 1,
        };
        let mut writer = BundleWriter::new(Vec::new(), &manifest).unwrap();
        for seq in [1, ROTATION_SEQ] {
            writer.record(self.record(seq)).unwrap();
            writer.receipt(&self.receipt(seq, false)).unwrap();
        }
        for seq in [2, 3, 4, 5, 7] {
            writer.record(self.record(seq)).unwrap();
        }
        writer.receipt(&self.receipt(7, false)).unwrap();
        writer.checkpoint(&self.checkpoint(self.size())).unwrap();
        writer.finish().unwrap()
    }
}

impl TileSource for Golden {
    type Error = std::convert::Infallible;

    fn tile(&self, _: u8, _: u64) -> Result<Option<Vec<u8>>, Self::Error> {
        Ok(None)
    }

    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, Self::Error> {
        let first = usize::try_from(first).unwrap();
        Ok(self.leaves[first..first + usize::from(count)].to_vec())
    }
}
