//! Revoke an agent's public key, for ever.

use serde::{Deserialize, Serialize};

use super::KeysState;
use crate::{
    Fact, Rejection,
    text::{AgentName, Reason},
};

/// `keys.agent_key_revoked` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentKeyRevoked {
    /// Whose.
    pub agent: AgentName,
    /// Which.
    pub pubkey: String,
    /// Why.
    pub reason: Reason,
}

pub(super) fn contextual(
    keys: &KeysState,
    fact: &Fact<'_>,
    event: &AgentKeyRevoked,
) -> Result<(), Rejection> {
    fact.actor.may_manage()?;
    match keys.agent_keys.get(&event.pubkey) {
        Some(key) if key.agent != event.agent => Err(Rejection::AgentKeyNotFound),
        Some(key) if key.revoked => Err(Rejection::AgentKeyRevoked),
        Some(_) => Ok(()),
        None => Err(Rejection::AgentKeyNotFound),
    }
}

pub(super) fn evolve(keys: &mut KeysState, event: &AgentKeyRevoked) {
    if let Some(key) = keys.agent_keys.get_mut(&event.pubkey) {
        key.revoked = true;
    }
    if let Some(pubkeys) = keys.by_agent.get_mut(&event.agent) {
        pubkeys.remove(&event.pubkey);
        if pubkeys.is_empty() {
            keys.by_agent.remove(&event.agent);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        keys::{self, Scope},
        testing::*,
    };

    pub(crate) fn rows() -> Vec<Row> {
        let given = || vec![owner(enrol("alice", 7))];
        let holding =
            |agent| [given(), vec![owner(issue(1, Some(agent), &[Scope::Agent]))]].concat();
        let revoked = AgentKeyRevoked {
            agent: name("alice"),
            pubkey: pubkey(7),
            reason: because(),
        };
        rows! {
            "the owner revokes a public key":
                given()
                => owner(disenrol("alice", 7)) => makes(keys::Event::AgentKeyRevoked(revoked));
            "an agent's own API key does":
                holding("alice") => key(1, disenrol("alice", 7)) => accepted();
            "another agent's does not":
                holding("bob")
                => key(1, disenrol("alice", 7))
                => refused(Rejection::KeyLacksScope { needed: Scope::Operator });
            "a self-asserted agent does not":
                given()
                => agent("alice", disenrol("alice", 7))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "an unknown one":
                [] => owner(disenrol("alice", 7)) => refused(Rejection::AgentKeyNotFound);
            "another agent's":
                given() => owner(disenrol("bob", 7)) => refused(Rejection::AgentKeyNotFound);
            "not twice":
                [given(), vec![owner(disenrol("alice", 7))]].concat()
                => owner(disenrol("alice", 7)) => refused(Rejection::AgentKeyRevoked);
            "order: the actor before the key":
                []
                => agent("alice", disenrol("alice", 7))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
        }
    }

    #[test]
    fn a_public_key_is_revoked_once() {
        check_all(rows());
    }

    #[test]
    fn a_revoked_key_is_not_enrolled() {
        let mut keys = KeysState::default();
        let (agent, pubkey) = (name("alice"), pubkey(7));
        let event = keys::AgentKeyEnrolled {
            agent: agent.clone(),
            pubkey: pubkey.clone(),
        };
        super::super::enrol_agent_key::evolve(&mut keys, &event);
        assert!(keys.is_enrolled(&agent, &pubkey));
        assert_eq!(
            keys.agent_keys(&agent).collect::<Vec<_>>(),
            [pubkey.as_str()]
        );
        let reason = because();
        evolve(
            &mut keys,
            &AgentKeyRevoked {
                agent: agent.clone(),
                pubkey: pubkey.clone(),
                reason,
            },
        );
        assert!(!keys.is_enrolled(&agent, &pubkey));
        assert_eq!(keys.agent_keys(&agent).count(), 0);
    }
}
