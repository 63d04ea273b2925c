//! Revoke an API key, for ever.

use serde::{Deserialize, Serialize};

use super::KeysState;
use crate::{Fact, Rejection, ids::KeyId, text::Reason};

/// `keys.api_key_revoked` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKeyRevoked {
    /// Which.
    pub key: KeyId,
    /// Why.
    pub reason: Reason,
}

pub(super) fn contextual(
    keys: &KeysState,
    fact: &Fact<'_>,
    event: &ApiKeyRevoked,
) -> Result<(), Rejection> {
    fact.actor.may_manage()?;
    let key = keys.api_key(&event.key).ok_or(Rejection::KeyNotFound)?;
    if key.revoked {
        return Err(Rejection::KeyRevoked);
    }
    Ok(())
}

pub(super) fn evolve(keys: &mut KeysState, event: &ApiKeyRevoked) {
    if let Some(key) = keys.api_keys.get_mut(&event.key) {
        key.revoked = true;
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
        let given = |scopes: &[Scope]| {
            [
                owner(issue(1, None, &[Scope::Operator])),
                owner(issue(2, None, scopes)),
            ]
        };
        let agents = || given(&[Scope::Agent]);
        let revoked = ApiKeyRevoked {
            key: key_id(2),
            reason: because(),
        };
        rows! {
            "the owner revokes a key":
                agents() => owner(revoke(2)) => makes(keys::Event::ApiKeyRevoked(revoked));
            "an operator does": agents() => key(1, revoke(2)) => accepted();
            "also his own": agents() => key(1, revoke(1)) => accepted();
            "but not the owner's":
                given(&[Scope::Owner])
                => key(1, revoke(2)) => refused(Rejection::KeyLacksScope { needed: Scope::Owner });
            "an agent does not":
                agents()
                => agent("alice", revoke(2))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "a key nobody issued": [] => owner(revoke(2)) => refused(Rejection::KeyNotFound);
            "not twice":
                [owner(issue(2, None, &[Scope::Agent])), owner(revoke(2))]
                => owner(revoke(2)) => refused(Rejection::KeyRevoked);
            "order: the actor before the key":
                []
                => agent("alice", revoke(2))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
        }
    }

    #[test]
    fn a_key_is_revoked_once() {
        check_all(rows());
    }
}
