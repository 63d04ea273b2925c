//! What the rules remember of keys.

use std::collections::{BTreeMap, BTreeSet};

use super::{Scope, Vkey};
use crate::{ids::KeyId, remembered::Remembered, text::AgentName};

/// The log's key epochs, all API keys and all agents' keys.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct KeysState {
    pub(super) epochs: Vec<KeyEpoch>,
    pub(super) api_keys: BTreeMap<KeyId, ApiKey>,
    pub(super) by_hash: BTreeMap<String, KeyId>,
    /// By public key: it belongs to one agent at most.
    pub(super) agent_keys: BTreeMap<String, AgentKey>,
    /// Public keys in force, by agent.
    pub(super) by_agent: BTreeMap<AgentName, BTreeSet<String>>,
}

/// A key of the log and the event since which it signs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct KeyEpoch {
    /// 1, 2, 3 …
    pub epoch: u64,
    /// The log's position at which it began: it signs checkpoints of this size and more.
    pub since: u64,
    /// The key.
    pub vkey: String,
    /// Every entry of every ledger is held against it.
    #[rkyv(with = rkyv::with::Skip)]
    public_key: Remembered<Option<String>>,
}

impl KeyEpoch {
    pub(super) const fn new(epoch: u64, since: u64, vkey: String) -> Self {
        Self {
            epoch,
            since,
            vkey,
            public_key: Remembered::new(),
        }
    }

    /// The public key, 64 lower-case hex digits; none if the key cannot be read.
    pub fn public_key(&self) -> Option<&str> {
        let read = || Vkey::public_key_of(&self.vkey).ok().map(hex::encode);
        self.public_key.get(read).as_deref()
    }
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ApiKey {
    /// Its public name.
    pub id: KeyId,
    /// The only agent it may speak as, or none for any.
    pub agent: Option<AgentName>,
    /// What it is for.
    pub label: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Whether it was revoked.
    pub revoked: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct AgentKey {
    pub(super) agent: AgentName,
    pub(super) revoked: bool,
}

impl ApiKey {
    /// Whether it may do this: it has the scope, or acts as the owner.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Owner)
    }

    /// The scope it needs to look after an agent's public keys: an agent with an API key of its
    /// own does so itself.
    pub fn scope_over(&self, agent: &AgentName) -> Scope {
        if self.agent.as_ref() == Some(agent) {
            Scope::Agent
        } else {
            Scope::Operator
        }
    }
}

impl KeysState {
    /// All key epochs, the first first.
    pub fn epochs(&self) -> &[KeyEpoch] {
        &self.epochs
    }

    /// The key epoch now; none before `log.opened`.
    pub fn current_epoch(&self) -> Option<&KeyEpoch> {
        self.epochs.last()
    }

    /// The key epoch of an event at this position of the log.
    pub fn epoch_at(&self, seq: u64) -> Option<&KeyEpoch> {
        self.epochs.iter().rev().find(|epoch| epoch.since <= seq)
    }

    /// The API key of this public name, revoked or not.
    pub fn api_key(&self, id: &KeyId) -> Option<&ApiKey> {
        self.api_keys.get(id)
    }

    /// The API key whose secret has this BLAKE3 hash (lower-case hex), revoked or not.
    pub fn api_key_by_hash(&self, hash: &str) -> Option<&ApiKey> {
        self.api_keys.get(self.by_hash.get(hash)?)
    }

    /// All API keys, revoked ones too.
    pub fn api_keys(&self) -> impl Iterator<Item = &ApiKey> {
        self.api_keys.values()
    }

    /// Whether this public key is in force for this agent.
    pub fn is_enrolled(&self, agent: &AgentName, pubkey: &str) -> bool {
        self.by_agent
            .get(agent)
            .is_some_and(|keys| keys.contains(pubkey))
    }

    /// The public keys in force for this agent.
    pub fn agent_keys(&self, agent: &AgentName) -> impl Iterator<Item = &str> {
        self.by_agent
            .get(agent)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}
