//! Threads and handshakes in the small world. A fold decides nothing, so hashes and signatures
//! need not hold.

use minutebook_domain::{
    EventKind,
    ids::ClaimId,
    room::{
        self,
        claims::{
            self, Author, ClaimOpened, ClaimRevised, EMPTY_CONTEXT_HASH, Entry, HandshakeMade,
            RevisionKind, SubjectKey,
        },
    },
    signature::LedgerSignature,
    text::{AgentName, ClaimValue, Quote, Subject},
};
use uuid::Uuid;

use crate::world::World;

pub(crate) fn claim_id(room: usize, claim: usize) -> ClaimId {
    ClaimId::new(Uuid::from_u128(
        0xc000_0000_0000_4000_8000_0000_0000_0000 + ((room as u128) << 32) + claim as u128,
    ))
}

fn author(agent: &str) -> Author {
    match agent {
        "arbiter" => Author::Arbiter,
        _ => Author::Agent(AgentName::parse(agent).unwrap()),
    }
}

/// A signature by one of a few keys; no two are alike.
fn signature(key: Option<u8>, act: u64) -> Option<Box<LedgerSignature>> {
    Some(Box::new(LedgerSignature {
        enrolled: false,
        position: Some(act),
        pubkey: format!("{:064x}", key?),
        sig: format!("{act:0128x}"),
        surface: "minutebook-v2".to_owned(),
    }))
}

impl World {
    fn entry(&mut self, room: usize) -> Entry {
        let (_, id, _) = &mut self.rooms[room].ledger;
        *id += 1;
        Entry {
            arbiter: "ab".repeat(32),
            arbiter_sig: "cd".repeat(64),
            id: *id,
            prev_hash: format!("{:064x}", *id - 1),
            row_hash: format!("{id:064x}"),
        }
    }

    /// Opens a thread and returns its place.
    pub(crate) fn open_claim(
        &mut self,
        room: usize,
        agent: &str,
        subject: &str,
        value: &str,
        key: Option<u8>,
    ) -> usize {
        let entry = self.entry(room);
        let place = self.rooms[room].ledger.0;
        self.rooms[room].ledger.0 += 1;
        let opened = ClaimOpened {
            agent: author(agent),
            claim: claim_id(room, place),
            signature: signature(key, entry.id),
            entry: Box::new(entry),
            quote: Some(Quote::parse("words").unwrap()),
            source_msg_id: None,
            subject: Subject::parse(subject).unwrap(),
            subject_key: SubjectKey::derive(subject),
            value: ClaimValue::parse(value).unwrap(),
        };
        let event = room::Event::Claim(claims::Event::Opened(opened));
        self.push(room, EventKind::ClaimOpened, event);
        place
    }

    /// Revises a thread; one that was never opened is none.
    pub(crate) fn revise(
        &mut self,
        room: usize,
        claim: usize,
        agent: &str,
        kind: RevisionKind,
        value: &str,
        key: Option<u8>,
    ) {
        if claim >= self.rooms[room].ledger.0 {
            return;
        }
        let entry = self.entry(room);
        let revised = ClaimRevised {
            agent: author(agent),
            claim: claim_id(room, claim),
            signature: signature(key, entry.id),
            entry: Box::new(entry),
            kind,
            quote: None,
            source_msg_id: Some(1),
            value: ClaimValue::parse(value).unwrap(),
        };
        let event = room::Event::Claim(claims::Event::Revised(revised));
        self.push(room, EventKind::ClaimRevised, event);
    }

    /// Shakes hands on nothing.
    pub(crate) fn shake_hands(&mut self, room: usize, agent: &str, key: Option<u8>) {
        self.shake_hands_on(room, agent, EMPTY_CONTEXT_HASH, key);
    }

    pub(crate) fn shake_hands_on(&mut self, room: usize, agent: &str, hash: &str, key: Option<u8>) {
        let (_, _, id) = &mut self.rooms[room].ledger;
        *id += 1;
        let made = HandshakeMade {
            agent: AgentName::parse(agent).unwrap(),
            context_hash: hash.to_owned(),
            id: *id,
            signature: signature(key, 1_000_000 + *id),
        };
        self.push_handshake(room, made);
    }

    /// Shakes hands, having read up to this entry.
    pub(crate) fn shake_hands_at(
        &mut self,
        room: usize,
        agent: &str,
        hash: &str,
        (key, read): (u8, u64),
    ) {
        let (_, _, id) = &mut self.rooms[room].ledger;
        *id += 1;
        let mut signature = signature(Some(key), 2_000_000 + *id).unwrap();
        signature.position = Some(read);
        let made = HandshakeMade {
            agent: AgentName::parse(agent).unwrap(),
            context_hash: hash.to_owned(),
            id: *id,
            signature: Some(signature),
        };
        self.push_handshake(room, made);
    }

    fn push_handshake(&mut self, room: usize, made: HandshakeMade) {
        let event = room::Event::Claim(claims::Event::HandshakeMade(made));
        self.push(room, EventKind::HandshakeMade, event);
    }
}
