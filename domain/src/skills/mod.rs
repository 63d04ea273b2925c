//! Shared skills (stream `skills`): bundles of files that agents offer each other, by the hash of
//! their bytes. One file per command, in the shape described in [`crate::room`].
//!
//! Invariants
//! * The bytes themselves never come here: a skill is what its publisher says of it, the SHA-256
//!   and the size of the bundle.
//! * Bytes are published once, by whoever came first, and what was withdrawn does not come back.
//! * Nothing erases these events; withdrawing takes the bytes away, not the record of them.

mod publish;
mod withdraw;

mod state;

pub use publish::Published;
pub use state::SkillsState;
pub use withdraw::Withdrawn;

use crate::{EventKind, Fact, Rejection, What, text::AgentName};

/// Everything that can happen to shared skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `skill.published`
    Published(Published),
    /// `skill.withdrawn`
    Withdrawn(Withdrawn),
}

/// What can be asked: a command carries the event's facts, which the door prepared.
#[derive(Clone, Debug)]
pub enum Command {
    /// Publish a skill.
    Publish(Published),
    /// Withdraw one.
    Withdraw(Withdrawn),
}

impl Command {
    /// The event it makes, if [`crate::lawful`] agrees.
    pub(crate) fn into_event(self) -> Event {
        match self {
            Self::Publish(event) => Event::Published(event),
            Self::Withdraw(event) => Event::Withdrawn(event),
        }
    }

    /// The rules that need no state.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        match self {
            Self::Publish(event) => publish::intrinsic(event),
            // Its fields' types say it all.
            Self::Withdraw(_) => Ok(()),
        }
    }
}

impl Event {
    /// The event's kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Published(_) => EventKind::SkillPublished,
            Self::Withdrawn(_) => EventKind::SkillWithdrawn,
        }
    }

    /// The agent it speaks for, if any.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Published(event) => Some(&event.agent),
            Self::Withdrawn(_) => None,
        }
    }

    pub(crate) fn intrinsic(&self) -> Result<(), Rejection> {
        match self {
            Self::Published(event) => publish::intrinsic(event),
            Self::Withdrawn(_) => Ok(()),
        }
    }
}

/// Whether this event of the skills may follow this state.
pub(crate) fn contextual(skills: &SkillsState, fact: &Fact<'_>) -> Result<(), Rejection> {
    match event_of(fact).ok_or(Rejection::WrongStream)? {
        Event::Published(event) => publish::contextual(skills, fact, event),
        Event::Withdrawn(event) => withdraw::contextual(skills, fact, event),
    }
}

/// Folds an event of the skills in.
pub(crate) fn evolve(skills: &mut SkillsState, fact: &Fact<'_>) {
    match event_of(fact) {
        Some(Event::Published(event)) => publish::evolve(skills, event),
        Some(Event::Withdrawn(event)) => withdraw::evolve(skills, event),
        None => {}
    }
}

/// Nothing erases the bodies of this stream, so there is no other case.
fn event_of<'a>(fact: &Fact<'a>) -> Option<&'a Event> {
    match fact.what {
        What::Present(crate::Event::Skills(event)) => Some(event),
        What::Present(crate::Event::Keys(_) | crate::Event::Room(_)) | What::Erased(_) => None,
    }
}

/// The tables of all commands.
#[cfg(test)]
pub(crate) fn all_rows() -> Vec<crate::testing::Row> {
    [publish::tests::rows(), withdraw::tests::rows()]
        .into_iter()
        .flatten()
        .collect()
}
