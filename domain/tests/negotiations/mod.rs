//! What holds for every negotiation, against a model that knows nothing of the rules' own state.

use std::collections::{BTreeMap, BTreeSet};

use minutebook_domain::{
    Event, State, evolve,
    ids::ClaimId,
    lawful,
    room::{
        self,
        claims::{
            self, Author, ClaimOpened, ClaimRevised, EMPTY_CONTEXT_HASH, RevisionKind, Status,
            ledger::GENESIS,
        },
    },
    signature::{LedgerSignature, SURFACE_ROOMCOMM_V1},
};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::histories::{Entry, negotiations, play};

/// Who signed with what so far.
#[derive(Default)]
struct Signers(Vec<(String, String)>);

impl Signers {
    fn learn(&mut self, agent: &str, signature: Option<&LedgerSignature>) {
        let pubkey = signature.map(|signature| signature.pubkey.clone());
        self.0.extend(pubkey.map(|key| (agent.to_owned(), key)));
    }

    /// All names that keys connect with this one.
    fn of(&self, agent: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::from([agent.to_owned()]);
        loop {
            let keys: BTreeSet<_> = self
                .0
                .iter()
                .filter(|(name, _)| names.contains(name))
                .map(|(_, key)| key)
                .collect();
            let more = self.0.iter().filter(|(_, key)| keys.contains(key));
            let size = names.len();
            names.extend(more.map(|(name, _)| name.clone()).collect::<Vec<_>>());
            if names.len() == size {
                return names;
            }
        }
    }
}

/// A thread as a reader of the events alone would keep it.
struct Model {
    opener: String,
    value: String,
    confirmed_by: BTreeSet<String>,
    status: Status,
}

impl Model {
    fn open(event: &ClaimOpened) -> Self {
        Self {
            opener: event.agent.to_string(),
            value: event.value.trimmed().to_owned(),
            confirmed_by: BTreeSet::new(),
            status: Status::Proposed,
        }
    }

    /// How many principals stand behind the value, the opener's left out.
    fn confirmations(&self, signers: &Signers) -> usize {
        let openers = signers.of(&self.opener);
        let others = self.confirmed_by.iter().map(|name| signers.of(name));
        let others: BTreeSet<_> = others.filter(|names| *names != openers).collect();
        others.len()
    }

    fn revise(&mut self, event: &ClaimRevised, signers: &Signers, needed: usize) {
        let agent = event.agent.as_str();
        match (event.kind, self.status) {
            (RevisionKind::Retract, _) => self.status = Status::Cancelled,
            (RevisionKind::Update, status) => {
                event.value.trimmed().clone_into(&mut self.value);
                self.confirmed_by.clear();
                if status == Status::Agreed {
                    self.status = Status::Proposed;
                }
            }
            (RevisionKind::Confirm, Status::Cancelled) => {}
            (RevisionKind::Confirm, _) => {
                if event.value.trimmed() == self.value {
                    self.confirmed_by.insert(agent.to_owned());
                    if self.confirmations(signers) >= needed {
                        self.status = Status::Agreed;
                    }
                }
            }
            (RevisionKind::Contradict, status) => {
                let gone = signers.of(agent);
                self.confirmed_by.retain(|name| !gone.contains(name));
                if status == Status::Agreed {
                    self.status = Status::Disputed;
                }
            }
        }
    }
}

fn ledger(entries: &[Entry]) -> impl Iterator<Item = (&Entry, &claims::Event)> {
    entries.iter().filter_map(|entry| match &entry.event {
        Event::Room(room::Event::Claim(event)) => Some((entry, event)),
        Event::Room(_) | Event::Keys(_) | Event::Skills(_) => None,
    })
}

/// Whether its signature may have been made for another room.
fn is_from_anywhere(event: &claims::Event) -> bool {
    match event {
        claims::Event::HandshakeMade(made) => {
            let signature = made.signature.as_ref();
            made.context_hash == EMPTY_CONTEXT_HASH
                && signature.is_some_and(|signature| signature.surface == SURFACE_ROOMCOMM_V1)
        }
        claims::Event::Opened(_)
        | claims::Event::Revised(_)
        | claims::Event::ContextExtracted(_)
        | claims::Event::DiscrepancyRecorded(_) => false,
    }
}

/// The peer's canonical text of a string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Among them: no thread is agreed whose value lacks confirmations of that very value, and
    /// two names of one key count once.
    #[test]
    fn a_thread_stands_where_its_revisions_put_it(asks in negotiations()) {
        let (_, entries) = play(asks);
        let mut state = State::default();
        let mut signers = Signers::default();
        let mut threads: BTreeMap<ClaimId, Model> = BTreeMap::new();
        for entry in &entries {
            prop_assert_eq!(lawful(&state, &entry.fact()), Ok(()));
            evolve(&mut state, &entry.fact());
            let Event::Room(room::Event::Claim(event)) = &entry.event else {
                continue;
            };
            let (_, room) = state.rooms().next().unwrap();
            let agent = event.agent().map(|agent| agent.as_str().to_owned());
            if !is_from_anywhere(event) {
                signers.learn(&agent.unwrap_or_default(), event.signature());
            }
            match event {
                claims::Event::Opened(event) => {
                    threads.insert(event.claim, Model::open(event));
                }
                claims::Event::Revised(event) => {
                    let needed = usize::from(room.confirmations_needed());
                    let thread = threads.get_mut(&event.claim).unwrap();
                    let before = thread.status;
                    thread.revise(event, &signers, needed);
                    if before != Status::Agreed && thread.status == Status::Agreed {
                        prop_assert!(thread.confirmations(&signers) >= needed);
                    }
                }
                claims::Event::HandshakeMade(_)
                | claims::Event::ContextExtracted(_)
                | claims::Event::DiscrepancyRecorded(_) => {}
            }
            for thread in room.claims().threads() {
                let model = &threads[&thread.id()];
                prop_assert_eq!(thread.status(), model.status);
                prop_assert_eq!(thread.value(), &model.value);
                let confirmations = thread.confirmations(room.claims().principals());
                prop_assert!(
                    thread.status() == Status::Cancelled
                        || confirmations == model.confirmations(&signers)
                );
            }
        }
    }

    #[test]
    fn the_ledger_is_one_chain_that_anybody_can_recompute(asks in negotiations()) {
        let (_, entries) = play(asks);
        let mut tail = GENESIS.to_owned();
        let mut id = 0;
        for (record, event) in ledger(&entries) {
            let (claim, kind, source, value) = match event {
                claims::Event::Opened(e) => (e.claim, "propose", e.source_msg_id, &e.value),
                claims::Event::Revised(e) => (e.claim, e.kind.name(), e.source_msg_id, &e.value),
                claims::Event::HandshakeMade(_)
                | claims::Event::ContextExtracted(_)
                | claims::Event::DiscrepancyRecorded(_) => continue,
            };
            let entry = event.entry().unwrap();
            id += 1;
            prop_assert_eq!(entry.id, id);
            prop_assert_eq!(&entry.prev_hash, &tail);
            let author = event.agent().map_or("arbiter", |agent| agent.as_str());
            let payload = format!(
                "{{\"author_agent_id\":{},\"claim_id\":\"{claim}\",\"created_at\":\"{}\",\
                 \"kind\":\"{kind}\",\"prev_hash\":\"{tail}\",\"revision_id\":{id},\
                 \"source_msg_id\":{},\"value\":{}}}",
                quoted(author),
                record.at,
                source.map_or("null".to_owned(), |n| n.to_string()),
                quoted(value.as_str()),
            );
            let hash = hex::encode(Sha256::digest(format!("{tail}{payload}")));
            prop_assert_eq!(&entry.row_hash, &hash);
            tail = hash;
        }
    }

    #[test]
    fn the_context_is_hashed_as_the_peer_does(asks in negotiations()) {
        let (state, _) = play(asks);
        let (_, room) = state.rooms().next().unwrap();
        let threads: Vec<_> = room
            .claims()
            .threads()
            .iter()
            .filter(|thread| thread.status() != Status::Cancelled)
            .map(|thread| {
                format!(
                    "{{\"current_value\": {}, \"id\": \"{}\", \"status\": \"{}\", \
                     \"subject\": {}, \"subject_key\": \"{}\"}}",
                    quoted(thread.value()),
                    thread.id(),
                    thread.status().name(),
                    quoted(thread.subject()),
                    thread.subject_key()
                )
            })
            .collect();
        let text = format!("[{}]", threads.join(", "));
        prop_assert_eq!(room.claims().context_hash(), hex::encode(Sha256::digest(text)));
    }

    #[test]
    fn a_signature_is_used_once(asks in negotiations()) {
        let (_, entries) = play(asks);
        let mut used = BTreeSet::new();
        for (_, event) in ledger(&entries) {
            if let Some(signature) = event.signature() {
                prop_assert!(used.insert(signature.sig.clone()));
            }
        }
    }

    #[test]
    fn the_arbiter_neither_agrees_nor_speaks_for_others(asks in negotiations()) {
        let (_, entries) = play(asks);
        for (entry, event) in ledger(&entries) {
            let by_arbiter = entry.actor == minutebook_domain::actor::Actor::Arbiter;
            match event {
                claims::Event::Opened(e) => {
                    prop_assert_eq!(by_arbiter, e.agent == Author::Arbiter);
                }
                claims::Event::Revised(e) => {
                    prop_assert_eq!(by_arbiter, e.agent == Author::Arbiter);
                    let judges = matches!(e.kind, RevisionKind::Confirm | RevisionKind::Contradict);
                    prop_assert!(!(by_arbiter && judges));
                }
                claims::Event::HandshakeMade(_) => prop_assert!(!by_arbiter),
                claims::Event::ContextExtracted(_) | claims::Event::DiscrepancyRecorded(_) => {
                    prop_assert!(by_arbiter);
                }
            }
        }
    }
}
