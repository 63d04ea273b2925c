//! What is done to a room's records, whatever store they are in.
//!
//! A forger is as careful as [`Care`] says. A store gives its records as a [`Room`] and takes the
//! changed ones back.

use ed25519_dalek::{Signer, SigningKey};
use minutebook_domain::{
    ids::RoomId,
    room::claims::{ClaimOpened, ClaimRevised, ledger::GENESIS},
    signature::surface_roomcomm_v1,
    time::Timestamp,
};
use minutebook_eventlog::format::{
    envelope::Envelope,
    hash::{Hash, chain_hash},
    record::{Body, Record},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Which record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Opening,
    Message(usize),
    Revision(usize),
    Handshake(usize),
    /// What the arbiter made of a message.
    Reading(usize),
    /// A discrepancy it noted.
    Noted(usize),
    /// The room's newest.
    Last,
}

/// What the forger does besides, so that it is not noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    /// Nothing.
    Plain,
    /// Bodies are committed to anew, and all that follows in the room is chained anew.
    Chained,
    /// And the ledger's own hashes are computed down the chain.
    Hashed,
    /// And the ledger is signed with the arbiter's key, from the disk.
    Sealed,
}

/// What is done. A field is named by its path in the body; its new value is JSON, or else a text,
/// or gone if it is empty.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Set(Of, &'static [(&'static str, &'static str)]),
    /// A field's value is taken from another record.
    Taken(Of, &'static str, Of),
    /// A text in the envelope is replaced.
    Head(Of, &'static str, &'static str),
    /// It happened so many microseconds later.
    Later(Of, i64),
    /// The body is gone.
    Emptied(Of),
    /// Two records stand in each other's place.
    Swapped(Of, Of),
    /// Records are gone.
    Deleted(&'static [Of]),
    /// A record and all that follow it are gone.
    Cut(Of),
    /// A revision is gone, and the one before it takes over its `row_hash`, without a seal.
    Bridged(Of, Of),
    /// A field has another value, and the forger's own, real key signs the whole.
    Rekeyed(Of, &'static str, &'static str),
    /// Records are moved to the other room.
    Away(&'static [Of]),
    /// The body is the one of the same act in the other room.
    OfOther(Of),
    /// The record is, as a whole, the one of the same act in the other room.
    FromOther(Of),
    /// It is repeated at the end, under the number that is due there.
    Repeated(Of),
    /// An act of this actor and kind, with this body, is put at the end.
    Forged(&'static str, &'static str, &'static str),
    /// All of these.
    Each(&'static [Self]),
    /// The room's index no longer names the record, which is there: a database's case.
    Unindexed(Of),
}

impl What {
    /// The record it is about, which a finding must name.
    pub(super) fn of(&self) -> Of {
        match *self {
            Self::Set(of, _)
            | Self::Taken(of, ..)
            | Self::Head(of, ..)
            | Self::Later(of, _)
            | Self::Emptied(of)
            | Self::Swapped(of, _)
            | Self::Cut(of)
            | Self::Bridged(_, of)
            | Self::Rekeyed(of, ..)
            | Self::OfOther(of)
            | Self::FromOther(of)
            | Self::Unindexed(of) => of,
            Self::Deleted(all) | Self::Away(all) => all[0],
            Self::Repeated(_) | Self::Forged(..) => Of::Last,
            Self::Each(all) => all[0].of(),
        }
    }
}

/// What a forger has at hand.
pub(super) struct Means<'a> {
    /// Another room, with the same acts.
    pub(super) other: &'a Room,
    /// The log's own key.
    pub(super) arbiter: &'a SigningKey,
}

/// A record and where its store has it: nowhere yet, if it was made up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) key: Option<u64>,
    pub(super) record: Record,
}

impl Item {
    pub(super) fn envelope(&self) -> Option<Envelope<'_>> {
        Envelope::parse(&self.record.envelope).ok()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.record.body.as_ref().unwrap().bytes).unwrap()
    }

    fn set_json(&mut self, value: &Value) {
        self.record.body.as_mut().unwrap().bytes = serde_json::to_vec(value).unwrap();
    }

    fn head(&mut self, edit: impl FnOnce(&mut Envelope<'_>)) {
        let mut envelope = Envelope::parse(&self.record.envelope).unwrap().into_owned();
        edit(&mut envelope);
        self.record.envelope.clear();
        envelope.encode(&mut self.record.envelope);
    }
}

/// A room's records in order.
#[derive(Clone)]
pub(super) struct Room {
    pub(super) id: RoomId,
    pub(super) items: Vec<Item>,
}

impl Room {
    pub(super) fn stream(&self) -> String {
        format!("room/{}", self.id)
    }

    fn place(&self, of: Of) -> usize {
        let (kinds, nth): (&[&str], usize) = match of {
            Of::Opening => (&["room.opened"], 1),
            Of::Message(n) => (&["room.message_posted"], n),
            Of::Revision(n) => (&["room.claim_opened", "room.claim_revised"], n),
            Of::Handshake(n) => (&["room.handshake_made"], n),
            Of::Reading(n) => (&["room.context_extracted"], n),
            Of::Noted(n) => (&["room.discrepancy_recorded"], n),
            Of::Last => return self.items.len() - 1,
        };
        let its = |item: &Item| {
            let envelope = item.envelope();
            envelope.is_some_and(|envelope| kinds.contains(&&*envelope.kind))
        };
        let mut found = (0..self.items.len()).filter(|place| its(&self.items[*place]));
        found.nth(nth - 1).unwrap()
    }

    pub(super) fn at(&self, of: Of) -> &Item {
        &self.items[self.place(of)]
    }

    fn at_mut(&mut self, of: Of) -> &mut Item {
        let place = self.place(of);
        &mut self.items[place]
    }

    /// Its number in the log.
    pub(super) fn seq(&self, of: Of) -> u64 {
        self.at(of).envelope().unwrap().seq
    }

    /// The room as the forger leaves it.
    pub(super) fn tampered(&self, what: What, care: Care, means: &Means<'_>) -> Self {
        let mut room = self.clone();
        room.make(what, self, means);
        let both = self.items.iter().zip(&room.items);
        let is_as_before = |(before, after): &(&Item, &Item)| before == after;
        let first = both.take_while(is_as_before).count();
        if care >= Care::Hashed {
            room.seal(first, (care == Care::Sealed).then_some(means.arbiter));
        }
        if care >= Care::Chained {
            room.chain(first);
        }
        room
    }

    fn make(&mut self, what: What, before: &Self, means: &Means<'_>) {
        match what {
            What::Set(of, fields) => self.edit(of, |body| {
                for (path, value) in fields {
                    set(body, path, value);
                }
            }),
            What::Taken(of, path, from) => {
                let taken = before.at(from).json();
                let taken = path.split('/').fold(&taken, |value, key| &value[key]);
                self.edit(of, |body| set(body, path, &taken.to_string()));
            }
            What::Head(of, from, to) => {
                let envelope = &mut self.at_mut(of).record.envelope;
                let text = String::from_utf8(envelope.clone()).unwrap();
                assert!(text.contains(from), "{from} is not in {text}");
                *envelope = text.replacen(from, to, 1).into_bytes();
            }
            What::Later(of, micros) => self.at_mut(of).head(|envelope| {
                let at = Timestamp::parse(&envelope.at).unwrap().as_micros();
                envelope.at = Timestamp::from_micros(at + micros).to_string().into();
            }),
            What::Emptied(of) => self.at_mut(of).record.body = None,
            What::Swapped(one, other) => self.swap(one, other),
            What::Deleted(all) => {
                let gone: Vec<_> = all.iter().map(|of| before.at(*of).key).collect();
                self.items.retain(|item| !gone.contains(&item.key));
            }
            What::Cut(of) => self.items.truncate(before.place(of)),
            What::Bridged(gone, bridge) => self.bridge(gone, bridge, before),
            What::Rekeyed(of, path, value) => self.rekey(of, path, value),
            What::Away(all) => {
                for of in all {
                    let stream = means.other.stream();
                    self.at_mut(*of)
                        .head(|envelope| envelope.stream = stream.into());
                }
            }
            What::OfOther(of) => {
                let theirs = means.other.at(of).record.body.clone();
                self.at_mut(of).record.body = theirs;
            }
            What::FromOther(of) => self.at_mut(of).record = means.other.at(of).record.clone(),
            What::Repeated(of) => self.append(before.at(of).record.clone(), |_| ()),
            What::Forged(actor, kind, body) => {
                let bytes = body.as_bytes().to_vec();
                let record = Record {
                    envelope: before.at(Of::Last).record.envelope.clone(),
                    body: Some(Body {
                        salt: [7; 32],
                        bytes,
                    }),
                };
                self.append(record, |envelope| {
                    (envelope.actor, envelope.kind) = (actor.into(), kind.into());
                });
            }
            What::Each(all) => {
                for what in all {
                    self.make(*what, before, means);
                }
            }
            What::Unindexed(_) => {}
        }
    }

    fn swap(&mut self, one: Of, other: Of) {
        let (one, other) = (self.place(one), self.place(other));
        self.items.swap(one, other);
        let key = self.items[one].key;
        self.items[one].key = self.items[other].key;
        self.items[other].key = key;
    }

    fn bridge(&mut self, gone: Of, bridge: Of, before: &Self) {
        let hash = before.at(gone).json()["entry"]["row_hash"].to_string();
        self.edit(bridge, |body| {
            set(body, "entry/row_hash", &hash);
            set(body, "entry/arbiter_sig", "null");
        });
        self.items.remove(before.place(gone));
    }

    fn edit(&mut self, of: Of, edit: impl FnOnce(&mut Value)) {
        let item = self.at_mut(of);
        let mut body = item.json();
        edit(&mut body);
        item.set_json(&body);
    }

    /// A record at the end, with the numbers and links that are due there.
    fn append(&mut self, record: Record, edit: impl FnOnce(&mut Envelope<'_>)) {
        let last = self.items.last().unwrap();
        let hash = chain_hash(&last.record.envelope);
        let last = last.envelope().unwrap().into_owned();
        let (seq, sseq) = (last.seq, last.sseq);
        let mut item = Item { key: None, record };
        let commitment = item.record.body.as_ref().map(Body::commitment);
        item.head(|envelope| {
            (envelope.seq, envelope.sseq) = (seq + 1, sseq + 1);
            (envelope.prev, envelope.sprev) = (hash, hash);
            envelope.at = last.at;
            envelope.cmd = format!("forged-{seq}").into();
            envelope.body = commitment.unwrap_or(envelope.body);
            edit(envelope);
        });
        self.items.push(item);
    }

    /// Signs an act with a key of the forger's own, over the seed's bytes.
    fn rekey(&mut self, of: Of, path: &str, value: &str) {
        let key = SigningKey::from_bytes(&[0x5e; 32]);
        let item = self.at(of);
        let mut body = item.json();
        if !path.is_empty() {
            set(&mut body, path, value);
        }
        let text = |key: &str| body[key].as_str().unwrap_or_default();
        let ts = body["signature"]["ts_iso"].as_str().unwrap_or_default();
        let signed = match of {
            Of::Message(_) => surface_roomcomm_v1(text("text"), ts, self.id, None),
            Of::Handshake(_) => text("context_hash").into(),
            Of::Opening | Of::Revision(_) | Of::Reading(_) | Of::Noted(_) | Of::Last => {
                format!("{}|{}|{}", text("claim"), text("kind"), text("value")).into_bytes()
            }
        };
        let sig = hex::encode(key.sign(&signed).to_bytes());
        set(&mut body, "signature/enrolled", "false");
        set(
            &mut body,
            "signature/pubkey",
            &hex::encode(key.verifying_key().to_bytes()),
        );
        set(&mut body, "signature/sig", &sig);
        set(&mut body, "signature/surface", "roomcomm-v1");
        self.at_mut(of).set_json(&body);
    }

    /// Commits to the bodies from this place on, and numbers and chains their envelopes.
    fn chain(&mut self, from: usize) {
        let seqs = self
            .items
            .iter()
            .map(|item| item.envelope().map(|envelope| envelope.seq));
        let mut seqs: Vec<_> = seqs.collect();
        seqs.sort_unstable();
        let mut before: Option<(u64, Hash)> = None;
        for (place, item) in self.items.iter_mut().enumerate() {
            let commitment = item.record.body.as_ref().map(Body::commitment);
            if place >= from && item.envelope().is_some() {
                item.head(|envelope| {
                    envelope.seq = seqs[place].unwrap_or(envelope.seq);
                    envelope.sseq = place as u64 + 1;
                    envelope.body = commitment.unwrap_or(envelope.body);
                    if let Some((last, hash)) = before {
                        envelope.sprev = hash;
                        if last + 1 == envelope.seq {
                            envelope.prev = hash;
                        }
                    }
                });
            }
            let seq = item.envelope().map(|envelope| envelope.seq);
            before = seq.map(|seq| (seq, chain_hash(&item.record.envelope)));
        }
    }

    /// Computes the ledger's hashes from this place on, and signs it with the key, if there is one.
    fn seal(&mut self, from: usize, arbiter: Option<&SigningKey>) {
        let mut prev = GENESIS.to_owned();
        for (place, item) in self.items.iter_mut().enumerate() {
            let Some(envelope) = item.envelope() else {
                continue;
            };
            let is_entry = envelope.kind.starts_with("room.claim_");
            if !is_entry {
                continue;
            }
            let mut body = item.json();
            if place >= from {
                let payload = payload(&envelope, &body, &prev);
                let hash = Sha256::new().chain_update(&prev).chain_update(&payload);
                let hash = hex::encode(hash.finalize());
                set(&mut body, "entry/prev_hash", &prev);
                set(&mut body, "entry/row_hash", &hash);
                if let Some(arbiter) = arbiter {
                    let seal = hex::encode(arbiter.sign(&payload).to_bytes());
                    set(&mut body, "entry/arbiter_sig", &seal);
                }
                item.set_json(&body);
            }
            body["entry"]["row_hash"]
                .as_str()
                .unwrap()
                .clone_into(&mut prev);
        }
    }
}

/// The seed's canonical payload of an entry.
fn payload(envelope: &Envelope<'_>, body: &Value, prev: &str) -> Vec<u8> {
    let at = Timestamp::parse(&envelope.at).unwrap();
    let id = body["entry"]["id"].as_u64().unwrap();
    if envelope.kind == "room.claim_opened" {
        let opened: ClaimOpened = serde_json::from_value(body.clone()).unwrap();
        opened.said(at).in_place(id, prev).payload()
    } else {
        let revised: ClaimRevised = serde_json::from_value(body.clone()).unwrap();
        revised.said(at).in_place(id, prev).payload()
    }
}

fn set(body: &mut Value, path: &str, value: &str) {
    match (path.split_once('/'), value) {
        (Some((first, rest)), _) => set(&mut body[first], rest, value),
        (None, "") => {
            body.as_object_mut().unwrap().remove(path).unwrap();
        }
        (None, _) => {
            let text = || Value::String(value.to_owned());
            body[path] = serde_json::from_str(value).unwrap_or_else(|_| text());
        }
    }
}
