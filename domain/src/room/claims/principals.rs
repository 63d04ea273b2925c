//! Who counts as one: agents that signed with one key.
//!
//! Names are free to take where no key is asked for, so a name proves nothing; a key that signed
//! under two names proves that both are one. Agents connected by keys, over all signed acts of a
//! room's ledger, are one principal; an agent that never signed is one by itself.
//! One kind of signature teaches nothing: see [`super::HandshakeMade::is_of_this_room`].
//!
//! Bounded: [`ROOM_SIGNERS_MAX`] pairs of an agent and a key. Beyond, a signed act by a new pair
//! is refused ([`Rejection::SignersFull`]), not taken without learning from it: a key that cannot
//! be remembered could count twice. Unsigned acts and known pairs go on.

use std::collections::{BTreeMap, BTreeSet};

use super::Author;
use crate::{
    Rejection, hex_text, limits::ROOM_SIGNERS_MAX, signature::LedgerSignature, text::AgentName,
};

/// What a room knows of who signed with what.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Principals {
    /// Groups by agent and by key; both hold indices of `groups`.
    by_agent: BTreeMap<AgentName, u32>,
    by_key: BTreeMap<[u8; 32], u32>,
    /// The group's present name: groups that became one have the same.
    groups: Vec<u32>,
    pairs: BTreeSet<(AgentName, [u8; 32])>,
}

/// One principal; equal for agents that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Principal<'a> {
    /// Connected by keys.
    Group(u32),
    /// Never signed.
    Alone(&'a AgentName),
}

impl Principals {
    pub(super) const fn new() -> Self {
        Self {
            by_agent: BTreeMap::new(),
            by_key: BTreeMap::new(),
            groups: Vec::new(),
            pairs: BTreeSet::new(),
        }
    }

    /// The principal behind this name.
    pub fn of<'a>(&self, agent: &'a AgentName) -> Principal<'a> {
        let group = self.by_agent.get(agent).and_then(|at| self.group(*at));
        group.map_or(Principal::Alone(agent), Principal::Group)
    }

    /// Whether an act signed so can be remembered.
    pub(super) fn check(
        &self,
        agent: &AgentName,
        signature: &LedgerSignature,
    ) -> Result<(), Rejection> {
        let known = hex_text::decode(&signature.pubkey)
            .is_some_and(|key| self.pairs.contains(&(agent.clone(), key)));
        if known || self.pairs.len() < ROOM_SIGNERS_MAX {
            return Ok(());
        }
        let max = ROOM_SIGNERS_MAX;
        Err(Rejection::SignersFull { max })
    }

    /// Learns from an act of the ledger who signed with what; answers the key if the pair is new.
    pub fn learn(
        &mut self,
        author: &Author,
        signature: Option<&LedgerSignature>,
    ) -> Option<[u8; 32]> {
        let key = hex_text::decode(&signature?.pubkey)?;
        self.learn_pair(author.agent()?, key).then_some(key)
    }

    /// Learns a pair of an agent and a key it signed with; answers whether it is new.
    pub fn learn_pair(&mut self, agent: &AgentName, key: [u8; 32]) -> bool {
        if !self.pairs.insert((agent.clone(), key)) {
            return false;
        }
        let by_agent = self.by_agent.get(agent).and_then(|at| self.group(*at));
        let by_key = self.by_key.get(&key).and_then(|at| self.group(*at));
        let group = match (by_agent, by_key) {
            (None, None) => self.begin(),
            (Some(group), None) | (None, Some(group)) => group,
            (Some(one), Some(other)) => self.join(one, other),
        };
        self.by_agent.insert(agent.clone(), group);
        self.by_key.insert(key, group);
        true
    }

    /// The agents that signed.
    pub(super) fn agents(&self) -> impl Iterator<Item = &AgentName> {
        self.by_agent.keys()
    }

    fn group(&self, at: u32) -> Option<u32> {
        self.groups.get(usize::try_from(at).ok()?).copied()
    }

    fn begin(&mut self) -> u32 {
        let group = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        self.groups.push(group);
        group
    }

    /// Makes one group of two; the older gives its name.
    fn join(&mut self, one: u32, other: u32) -> u32 {
        let (kept, gone) = (one.min(other), one.max(other));
        for group in self.groups.iter_mut().filter(|group| **group == gone) {
            *group = kept;
        }
        kept
    }
}
