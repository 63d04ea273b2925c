//! Enrol an agent's public key: its signatures then count as this agent's.

use serde::{Deserialize, Serialize};

use super::{KeysState, state::AgentKey};
use crate::{
    Fact, Rejection, ed25519,
    limits::{AGENT_KEYS_EVER_MAX, AGENT_KEYS_MAX},
    text::AgentName,
};

/// `keys.agent_key_enrolled` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentKeyEnrolled {
    /// Whose.
    pub agent: AgentName,
    /// Ed25519 public key, 64 lower-case hex digits.
    pub pubkey: String,
}

pub(super) fn intrinsic(event: &AgentKeyEnrolled) -> Result<(), Rejection> {
    ed25519::public_key(&event.pubkey).map(|_| ())
}

pub(super) fn contextual(
    keys: &KeysState,
    fact: &Fact<'_>,
    event: &AgentKeyEnrolled,
) -> Result<(), Rejection> {
    fact.actor.may_manage()?;
    // One key for two agents would let one signature stand for two parties.
    match keys.agent_keys.get(&event.pubkey) {
        Some(key) if key.revoked => return Err(Rejection::AgentKeyRevoked),
        Some(_) => return Err(Rejection::AgentKeyTaken),
        None => {}
    }
    if keys.agent_keys(&event.agent).count() >= AGENT_KEYS_MAX {
        let max = AGENT_KEYS_MAX;
        return Err(Rejection::AgentKeysFull { max });
    }
    if keys.agent_keys.len() >= AGENT_KEYS_EVER_MAX {
        let max = AGENT_KEYS_EVER_MAX;
        return Err(Rejection::KeysFull { max });
    }
    Ok(())
}

pub(super) fn evolve(keys: &mut KeysState, event: &AgentKeyEnrolled) {
    let key = AgentKey {
        agent: event.agent.clone(),
        revoked: false,
    };
    keys.agent_keys.insert(event.pubkey.clone(), key);
    keys.by_agent
        .entry(event.agent.clone())
        .or_default()
        .insert(event.pubkey.clone());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        Command,
        keys::{self, Scope},
        testing::*,
    };

    pub(crate) fn rows() -> Vec<Row> {
        let enrolled = AgentKeyEnrolled {
            agent: name("alice"),
            pubkey: pubkey(7),
        };
        let with = |pubkey: String| {
            let event = AgentKeyEnrolled {
                agent: name("alice"),
                pubkey,
            };
            owner(Command::Keys(keys::Command::EnrolAgentKey(event)))
        };
        let holding = |agent, scope| [owner(issue(1, agent, &[scope]))];
        let many = (100_u8..)
            .take(AGENT_KEYS_MAX)
            .map(|n| owner(enrol("alice", n)));
        let needs = |needed| Rejection::KeyLacksScope { needed };
        rows! {
            "the owner enrols a key":
                [] => owner(enrol("alice", 7)) => makes(keys::Event::AgentKeyEnrolled(enrolled));
            "an agent has several":
                [owner(enrol("alice", 7))] => owner(enrol("alice", 8)) => accepted();
            "an operator enrols":
                holding(None, Scope::Operator) => key(1, enrol("alice", 7)) => accepted();
            "an agent's own API key does":
                holding(Some("alice"), Scope::Agent) => key(1, enrol("alice", 7)) => accepted();
            "but for itself only":
                holding(Some("bob"), Scope::Agent)
                => key(1, enrol("alice", 7)) => refused(needs(Scope::Operator));
            "an operator that is bound to an agent neither for another":
                holding(Some("bob"), Scope::Operator)
                => key(1, enrol("alice", 7))
                => refused(Rejection::KeyBoundToAgent { agent: name("bob") });
            "and only if it is the agent's own":
                holding(None, Scope::Agent)
                => key(1, enrol("alice", 7)) => refused(needs(Scope::Operator));
            "a key is a key": [] => with("00".repeat(31)) => refused(Rejection::PublicKeyMalformed);
            "in lower case":
                [] => with(pubkey(7).to_uppercase()) => refused(Rejection::PublicKeyMalformed);
            "and not weak": [] => with("00".repeat(32)) => refused(Rejection::PublicKeyWeak);
            "a self-asserted agent enrols nothing":
                []
                => agent("alice", enrol("alice", 7))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "not twice":
                [owner(enrol("alice", 7))]
                => owner(enrol("alice", 7)) => refused(Rejection::AgentKeyTaken);
            "not for two":
                [owner(enrol("alice", 7))]
                => owner(enrol("bob", 7)) => refused(Rejection::AgentKeyTaken);
            "not after it was revoked":
                [owner(enrol("alice", 7)), owner(disenrol("alice", 7))]
                => owner(enrol("bob", 7)) => refused(Rejection::AgentKeyRevoked);
            "not too many":
                many.collect::<Vec<_>>()
                => owner(enrol("alice", 7))
                => refused(Rejection::AgentKeysFull { max: AGENT_KEYS_MAX });
            "order: the actor before the key":
                [owner(enrol("alice", 7))]
                => agent("alice", enrol("alice", 7))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
        }
    }

    #[test]
    fn a_public_key_belongs_to_one_agent() {
        check_all(rows());
    }

    #[test]
    fn the_number_of_public_keys_is_bounded() {
        let mut keys = KeysState::default();
        for number in 0..AGENT_KEYS_EVER_MAX {
            let agent = name(&format!("agent-{number}"));
            evolve(
                &mut keys,
                &AgentKeyEnrolled {
                    agent,
                    pubkey: format!("{number:064x}"),
                },
            );
        }
        let next = AgentKeyEnrolled {
            agent: name("alice"),
            pubkey: pubkey(7),
        };
        let event = crate::Event::Keys(keys::Event::AgentKeyEnrolled(next.clone()));
        let fact = Fact {
            seq: 2,
            stream: crate::ids::StreamId::Keys,
            sseq: 1,
            actor: &crate::actor::Actor::Owner,
            at: NOON,
            what: crate::What::Present(&event),
        };
        let full = Rejection::KeysFull {
            max: AGENT_KEYS_EVER_MAX,
        };
        assert_eq!(contextual(&keys, &fact, &next), Err(full));
    }
}
