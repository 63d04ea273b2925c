//! Withdraw a skill: its bytes are served no more.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::SkillsState;
use crate::{Fact, Rejection, text::Reason};

/// `skill.withdrawn` v1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdrawn {
    /// Which.
    pub id: Uuid,
    /// Why.
    pub reason: Reason,
}

pub(super) fn contextual(
    skills: &SkillsState,
    fact: &Fact<'_>,
    event: &Withdrawn,
) -> Result<(), Rejection> {
    fact.actor.may_manage()?;
    match skills.is_withdrawn(&event.id) {
        None => Err(Rejection::SkillNotFound),
        Some(true) => Err(Rejection::SkillWithdrawn),
        Some(false) => Ok(()),
    }
}

pub(super) fn evolve(skills: &mut SkillsState, event: &Withdrawn) {
    if let Some(withdrawn) = skills.by_id.get_mut(&event.id) {
        *withdrawn = true;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{ids::StreamId, keys::Scope, skills::Event, testing::*};

    pub(crate) fn rows() -> Vec<Row> {
        let given = || vec![agent("alice", publish(1))];
        let holding = |scope| [given(), vec![owner(issue(1, None, &[scope]))]].concat();
        rows! {
            "the owner withdraws a skill":
                given() => owner(withdraw(1)) => makes(Event::Withdrawn(withdrawn(1)));
            "a facade too": given() => service(withdraw(1)) => accepted();
            "an operator does": holding(Scope::Operator) => key(1, withdraw(1)) => accepted();
            "not any key":
                holding(Scope::Agent)
                => key(1, withdraw(1))
                => refused(Rejection::KeyLacksScope { needed: Scope::Operator });
            "its publisher, self-asserted, does not":
                given()
                => agent("alice", withdraw(1))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "an unknown one": [] => owner(withdraw(1)) => refused(Rejection::SkillNotFound);
            "not twice":
                [given(), vec![owner(withdraw(1))]].concat()
                => owner(withdraw(1)) => refused(Rejection::SkillWithdrawn);
            "order: the actor before the skill":
                []
                => agent("alice", withdraw(1))
                => refused(Rejection::ActorNotAllowed { actor: "an agent" });
            "it belongs among the skills":
                given()
                => recorded(Event::Withdrawn(withdrawn(1))).in_stream(StreamId::Log)
                => refused(Rejection::WrongStream);
        }
    }

    #[test]
    fn a_skill_is_withdrawn_once_by_who_may_manage() {
        check_all(rows());
    }
}
