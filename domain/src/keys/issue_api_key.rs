//! Issue an API key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ApiKey, KeysState};
use crate::{
    Fact, Rejection, hex_text,
    ids::KeyId,
    limits::API_KEYS_MAX,
    text::{self, AgentName},
};

/// `keys.api_key_issued` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKeyIssued {
    /// The only agent the key may speak as, or none for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// BLAKE3 of the secret, 64 hex digits. The secret itself is shown once and never stored.
    pub hash: String,
    /// Its public name.
    pub key: KeyId,
    /// What it is for.
    pub label: String,
    /// What it may do; sorted, at least one.
    pub scopes: Vec<Scope>,
}

/// What an API key may do.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Act in rooms.
    Agent,
    /// Read the whole log.
    Auditor,
    /// Issue and revoke keys, close and erase rooms.
    Operator,
    /// Act as the owner.
    Owner,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Auditor => "auditor",
            Self::Operator => "operator",
            Self::Owner => "owner",
        })
    }
}

pub(super) fn intrinsic(event: &ApiKeyIssued) -> Result<(), Rejection> {
    if event.hash.len() != 64 || !hex_text::is_lower_hex(&event.hash) {
        return Err(Rejection::KeyHashMalformed);
    }
    text::check_label(&event.label)?;
    if event.scopes.is_empty() || !event.scopes.is_sorted_by(|a, b| a < b) {
        return Err(Rejection::KeyScopesMalformed);
    }
    Ok(())
}

pub(super) fn contextual(
    keys: &KeysState,
    fact: &Fact<'_>,
    event: &ApiKeyIssued,
) -> Result<(), Rejection> {
    fact.actor.may_manage()?;
    if keys.api_keys.len() >= API_KEYS_MAX {
        let max = API_KEYS_MAX;
        return Err(Rejection::KeysFull { max });
    }
    if keys.api_keys.contains_key(&event.key) {
        return Err(Rejection::KeyIdTaken);
    }
    if keys.by_hash.contains_key(&event.hash) {
        return Err(Rejection::KeyHashTaken);
    }
    Ok(())
}

pub(super) fn evolve(keys: &mut KeysState, event: &ApiKeyIssued) {
    let key = ApiKey {
        id: event.key.clone(),
        agent: event.agent.clone(),
        label: event.label.clone(),
        scopes: event.scopes.clone(),
        revoked: false,
    };
    keys.by_hash.insert(event.hash.clone(), event.key.clone());
    keys.api_keys.insert(event.key.clone(), key);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Command, keys, testing::*};

    fn ask(event: ApiKeyIssued) -> Command {
        Command::Keys(keys::Command::IssueApiKey(event))
    }

    const OPERATOR: &[Scope] = &[Scope::Operator];
    const OWNER: &[Scope] = &[Scope::Owner];
    const AGENT: &[Scope] = &[Scope::Agent];

    pub(crate) fn rows() -> Vec<Row> {
        [
            body_rows(),
            state_rows(),
            scope_rows(),
            binding_rows(),
            acting_rows(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn body_rows() -> Vec<Row> {
        let with = |change: fn(&mut ApiKeyIssued)| {
            let mut event = issued(1, None, AGENT);
            change(&mut event);
            owner(ask(event))
        };
        let hash = || Rejection::KeyHashMalformed;
        let scopes = || Rejection::KeyScopesMalformed;
        let (what, max, unit) = ("key label", 100, "characters");
        let too_long = Rejection::TextTooLong { what, max, unit };
        rows! {
            "the owner issues a key":
                []
                => owner(issue(1, Some("alice"), AGENT))
                => makes(keys::Event::ApiKeyIssued(issued(1, Some("alice"), AGENT)));
            "a hash has 64 digits": [] => with(|e| e.hash.truncate(63)) => refused(hash());
            "in lower case": [] => with(|e| e.hash.replace_range(..1, "A")) => refused(hash());
            "a label is short":
                []
                => with(|e| e.label = "é".repeat(101))
                => refused(too_long);
            "on one line":
                []
                => with(|e| e.label = "a\nb".to_owned())
                => refused(Rejection::TextUnprintable { what: "key label", code_point: 10 });
            "and trimmed":
                []
                => with(|e| e.label = " a".to_owned())
                => refused(Rejection::TextNotCanonical { what: "key label" });
            "a key may do something": [] => with(|e| e.scopes.clear()) => refused(scopes());
            "said once":
                [] => with(|e| e.scopes = vec![Scope::Agent, Scope::Agent]) => refused(scopes());
            "in order":
                [] => with(|e| e.scopes = vec![Scope::Owner, Scope::Agent]) => refused(scopes());
        }
    }

    fn state_rows() -> Vec<Row> {
        let given = || [owner(issue(1, None, AGENT))];
        let same_hash = ApiKeyIssued {
            hash: issued(1, None, AGENT).hash,
            ..issued(2, None, AGENT)
        };
        let not_agent = || Rejection::ActorNotAllowed { actor: "an agent" };
        rows! {
            "a facade issues one": [] => service(issue(1, None, AGENT)) => accepted();
            "an agent does not":
                [] => agent("alice", issue(1, None, AGENT)) => refused(not_agent());
            "nor the arbiter":
                []
                => arbiter(issue(1, None, AGENT))
                => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
            "an id is used once":
                given() => owner(issue(1, None, OWNER)) => refused(Rejection::KeyIdTaken);
            "also after it was revoked":
                [owner(issue(1, None, AGENT)), owner(revoke(1))]
                => owner(issue(1, None, AGENT)) => refused(Rejection::KeyIdTaken);
            "a secret too": given() => owner(ask(same_hash)) => refused(Rejection::KeyHashTaken);
            "order: the actor before the id":
                given() => agent("alice", issue(1, None, AGENT)) => refused(not_agent());
        }
    }

    /// Who may issue: nobody hands out more than he has.
    fn scope_rows() -> Vec<Row> {
        let holding = |scopes: &[Scope]| [owner(issue(1, None, scopes))];
        let needs = |needed| Rejection::KeyLacksScope { needed };
        rows! {
            "an operator issues":
                holding(OPERATOR) => key(1, issue(2, None, OPERATOR)) => accepted();
            "the owner's key issues": holding(OWNER) => key(1, issue(2, None, OWNER)) => accepted();
            "an agent's key does not":
                holding(AGENT) => key(1, issue(2, None, AGENT)) => refused(needs(Scope::Operator));
            "but an operator no agent's":
                holding(OPERATOR) => key(1, issue(2, None, AGENT)) => refused(needs(Scope::Agent));
            "nor an auditor's":
                holding(&[Scope::Agent, Scope::Operator])
                => key(1, issue(2, None, &[Scope::Agent, Scope::Auditor]))
                => refused(needs(Scope::Auditor));
            "all of what he has, or part of it":
                holding(&[Scope::Agent, Scope::Auditor, Scope::Operator])
                => key(1, issue(2, None, &[Scope::Agent, Scope::Auditor])) => accepted();
            "the owner's key hands out anything":
                holding(OWNER)
                => key(1, issue(2, None, &[Scope::Agent, Scope::Auditor])) => accepted();
            "a part of the server too":
                []
                => service(issue(2, None, &[Scope::Agent, Scope::Auditor])) => accepted();
            "an operator makes no owner":
                holding(OPERATOR)
                => key(1, issue(2, None, &[Scope::Agent, Scope::Owner]))
                => refused(needs(Scope::Owner));
            "an unknown key":
                [] => key(1, issue(2, None, AGENT)) => refused(Rejection::KeyNotFound);
            "a revoked key":
                [owner(issue(1, None, OPERATOR)), owner(revoke(1))]
                => key(1, issue(2, None, AGENT)) => refused(Rejection::KeyRevoked);
            "order: the key's own stream before its scope":
                holding(AGENT) => key(1, issue(1, None, AGENT)) => refused(Rejection::KeyIdTaken);
        }
    }

    /// Whose keys a bound key may issue: nobody hands out another's name either.
    fn binding_rows() -> Vec<Row> {
        let bound = |scopes: &[Scope]| [owner(issue(1, Some("alice"), scopes))];
        let refusal = || Rejection::KeyBoundToAgent {
            agent: name("alice"),
        };
        let both = &[Scope::Agent, Scope::Operator];
        rows! {
            "a bound operator issues keys for its agent":
                bound(both) => key(1, issue(2, Some("alice"), AGENT)) => accepted();
            "not for another":
                bound(both) => key(1, issue(2, Some("bob"), AGENT)) => refused(refusal());
            "nor for anybody": bound(both) => key(1, issue(2, None, AGENT)) => refused(refusal());
            "whatever the key may do":
                bound(OPERATOR) => key(1, issue(2, None, OPERATOR)) => refused(refusal());
            "the owner's scope does not unbind":
                bound(OWNER) => key(1, issue(2, None, OWNER)) => refused(refusal());
            "an unbound operator binds to anybody":
                [owner(issue(1, None, both))]
                => key(1, issue(2, Some("bob"), AGENT)) => accepted();
            "order: the scope before the binding":
                bound(AGENT) => key(1, issue(2, None, AGENT))
                => refused(Rejection::KeyLacksScope { needed: Scope::Operator });
        }
    }

    /// What a key may do in rooms.
    fn acting_rows() -> Vec<Row> {
        let holding = |agent, scopes: &[Scope]| vec![owner(issue(1, agent, scopes)), owner(open())];
        let needs = |needed| Rejection::KeyLacksScope { needed };
        let bound = || Rejection::KeyBoundToAgent {
            agent: name("alice"),
        };
        let mut rows = rows! {
            "a key speaks as anybody": holding(None, AGENT) => key(1, say("alice")) => accepted();
            "or as its agent": holding(Some("alice"), AGENT) => key(1, say("alice")) => accepted();
            "the owner's key speaks": holding(None, OWNER) => key(1, say("alice")) => accepted();
            "not as another":
                holding(Some("alice"), AGENT) => key(1, say("bob")) => refused(bound());
            "nor joins": holding(Some("alice"), AGENT) => key(1, join("bob")) => refused(bound());
            "a key revoked is a key no more":
                [holding(None, AGENT), vec![owner(revoke(1))]].concat()
                => key(1, say("alice")) => refused(Rejection::KeyRevoked);
            "an auditor reads":
                holding(None, &[Scope::Auditor])
                => key(1, say("alice")) => refused(needs(Scope::Agent));
            "an operator does not speak":
                holding(None, OPERATOR) => key(1, say("alice")) => refused(needs(Scope::Agent));
        };
        for command in [rename(Some("lobby")), close(), erase(), erase_bodies(1, 1)] {
            rows.extend(rows! {
                "an operator manages rooms":
                    holding(None, OPERATOR) => key(1, command.clone()) => accepted();
                "an agent's key does not":
                    holding(None, AGENT) => key(1, command)
                    => refused(needs(Scope::Operator));
            });
        }
        rows
    }

    #[test]
    fn a_key_is_issued_once_and_does_what_its_scopes_say() {
        check_all(rows());
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let mut keys = KeysState::default();
        for number in 0..API_KEYS_MAX as u64 {
            evolve(&mut keys, &issued(number, None, AGENT));
        }
        let next = issued(u64::MAX, None, AGENT);
        let event = crate::Event::Keys(keys::Event::ApiKeyIssued(next.clone()));
        let fact = Fact {
            seq: 2,
            stream: crate::ids::StreamId::Keys,
            sseq: 1,
            actor: &crate::actor::Actor::Owner,
            at: NOON,
            what: crate::What::Present(&event),
        };
        let full = Rejection::KeysFull { max: API_KEYS_MAX };
        assert_eq!(contextual(&keys, &fact, &next), Err(full));
    }
}
