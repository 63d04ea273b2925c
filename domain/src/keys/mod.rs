//! Keys: the log's key epochs (stream `log`), API keys and agents' keys (stream `keys`). One file
//! per command, in the shape described in [`crate::room`].
//!
//! Invariants
//! * Secrets never come here: an API key is its public id and the hash of its secret.
//! * Nothing is forgotten: a revoked key stays known, so that it cannot come back.

mod open_log;
mod rotate_key;

mod issue_api_key;
mod revoke_api_key;

mod enrol_agent_key;
mod revoke_agent_key;

mod state;
mod vkey;

pub use enrol_agent_key::AgentKeyEnrolled;
pub use issue_api_key::{ApiKeyIssued, Scope};
pub use open_log::LogOpened;
pub use revoke_agent_key::AgentKeyRevoked;
pub use revoke_api_key::ApiKeyRevoked;
pub use rotate_key::{KeyRotated, certificate_text};
pub use state::{ApiKey, KeyEpoch, KeysState};
pub use vkey::Vkey;
#[cfg(test)]
pub(crate) use vkey::vkey_text;

use crate::{EventKind, Fact, Rejection, What};

/// Everything that can happen to keys and to the log itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `log.opened`
    LogOpened(LogOpened),
    /// `log.key_rotated`
    KeyRotated(KeyRotated),
    /// `keys.api_key_issued`
    ApiKeyIssued(ApiKeyIssued),
    /// `keys.api_key_revoked`
    ApiKeyRevoked(ApiKeyRevoked),
    /// `keys.agent_key_enrolled`
    AgentKeyEnrolled(AgentKeyEnrolled),
    /// `keys.agent_key_revoked`
    AgentKeyRevoked(AgentKeyRevoked),
}

/// What can be asked: a key command carries the event's facts, which the door prepared.
#[derive(Clone, Debug)]
pub enum Command {
    /// First command of every log.
    OpenLog(LogOpened),
    /// Begin the next key epoch.
    RotateKey(KeyRotated),
    /// Issue an API key.
    IssueApiKey(ApiKeyIssued),
    /// Revoke one.
    RevokeApiKey(ApiKeyRevoked),
    /// Enrol an agent's key.
    EnrolAgentKey(AgentKeyEnrolled),
    /// Revoke one.
    RevokeAgentKey(AgentKeyRevoked),
}

impl Command {
    /// The event it makes, if [`crate::lawful`] agrees.
    pub(crate) fn into_event(self) -> Event {
        match self {
            Self::OpenLog(event) => Event::LogOpened(event),
            Self::RotateKey(event) => Event::KeyRotated(event),
            Self::IssueApiKey(event) => Event::ApiKeyIssued(event),
            Self::RevokeApiKey(event) => Event::ApiKeyRevoked(event),
            Self::EnrolAgentKey(event) => Event::AgentKeyEnrolled(event),
            Self::RevokeAgentKey(event) => Event::AgentKeyRevoked(event),
        }
    }

    /// The rules that need no state.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        match self {
            Self::OpenLog(event) => open_log::intrinsic(event),
            Self::RotateKey(event) => rotate_key::intrinsic(event),
            Self::IssueApiKey(event) => issue_api_key::intrinsic(event),
            Self::EnrolAgentKey(event) => enrol_agent_key::intrinsic(event),
            // Their fields' types say it all, or the state does.
            Self::RevokeApiKey(_) | Self::RevokeAgentKey(_) => Ok(()),
        }
    }
}

impl Event {
    /// The event's kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::LogOpened(_) => EventKind::LogOpened,
            Self::KeyRotated(_) => EventKind::KeyRotated,
            Self::ApiKeyIssued(_) => EventKind::ApiKeyIssued,
            Self::ApiKeyRevoked(_) => EventKind::ApiKeyRevoked,
            Self::AgentKeyEnrolled(_) => EventKind::AgentKeyEnrolled,
            Self::AgentKeyRevoked(_) => EventKind::AgentKeyRevoked,
        }
    }

    pub(crate) fn intrinsic(&self) -> Result<(), Rejection> {
        match self {
            Self::LogOpened(event) => open_log::intrinsic(event),
            Self::KeyRotated(event) => rotate_key::intrinsic(event),
            Self::ApiKeyIssued(event) => issue_api_key::intrinsic(event),
            Self::AgentKeyEnrolled(event) => enrol_agent_key::intrinsic(event),
            Self::ApiKeyRevoked(_) | Self::AgentKeyRevoked(_) => Ok(()),
        }
    }
}

/// Whether this event of the log or its keys may follow this state.
pub(crate) fn contextual(keys: &KeysState, fact: &Fact<'_>) -> Result<(), Rejection> {
    let Some(event) = event_of(fact) else {
        return Err(Rejection::WrongStream);
    };
    match event {
        Event::LogOpened(_) => open_log::contextual(keys, fact),
        Event::KeyRotated(event) => rotate_key::contextual(keys, fact, event),
        Event::ApiKeyIssued(event) => issue_api_key::contextual(keys, fact, event),
        Event::ApiKeyRevoked(event) => revoke_api_key::contextual(keys, fact, event),
        Event::AgentKeyEnrolled(event) => enrol_agent_key::contextual(keys, fact, event),
        Event::AgentKeyRevoked(event) => revoke_agent_key::contextual(keys, fact, event),
    }
}

/// Folds an event of the log or its keys in.
pub(crate) fn evolve(keys: &mut KeysState, fact: &Fact<'_>) {
    let Some(event) = event_of(fact) else {
        return;
    };
    match event {
        Event::LogOpened(event) => open_log::evolve(keys, fact, event),
        Event::KeyRotated(event) => rotate_key::evolve(keys, fact, event),
        Event::ApiKeyIssued(event) => issue_api_key::evolve(keys, event),
        Event::ApiKeyRevoked(event) => revoke_api_key::evolve(keys, event),
        Event::AgentKeyEnrolled(event) => enrol_agent_key::evolve(keys, event),
        Event::AgentKeyRevoked(event) => revoke_agent_key::evolve(keys, event),
    }
}

/// Nothing erases the bodies of these streams, so there is no other case.
fn event_of<'a>(fact: &Fact<'a>) -> Option<&'a Event> {
    match fact.what {
        What::Present(crate::Event::Keys(event)) => Some(event),
        What::Present(crate::Event::Room(_) | crate::Event::Skills(_)) | What::Erased(_) => None,
    }
}

/// The tables of all commands.
#[cfg(test)]
pub(crate) fn all_rows() -> Vec<crate::testing::Row> {
    [
        open_log::tests::rows(),
        rotate_key::tests::rows(),
        issue_api_key::tests::rows(),
        revoke_api_key::tests::rows(),
        enrol_agent_key::tests::rows(),
        revoke_agent_key::tests::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
