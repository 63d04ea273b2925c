//! Who acted, as authenticated at the door.

use std::fmt;

use crate::{
    ids::KeyId, limits::SERVICE_NAME_BYTES_MAX, newtype::Recorded as _, rejection::Rejection,
    room::claims::Author, text::AgentName,
};

/// The envelope's `actor`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// `agent:<name>`: a self-asserted name, on a door that asks for no key.
    Agent(AgentName),
    /// `key:<id>`: the holder of an API key.
    Key(KeyId),
    /// `owner`: the person who runs the server, acting on the machine itself.
    Owner,
    /// `service:<name>`: a part of the server acting for itself; lower-case ASCII letters,
    /// digits and hyphens, starting with a letter.
    Service(String),
    /// `arbiter`: the log's own key holder.
    Arbiter,
}

impl Actor {
    /// Parses the form of `Display`, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "owner" => return Some(Self::Owner),
            "arbiter" => return Some(Self::Arbiter),
            _ => {}
        }
        let (kind, name) = text.split_once(':')?;
        match kind {
            "agent" => AgentName::recorded(name).ok().map(Self::Agent),
            "key" => KeyId::parse(name).map(Self::Key),
            "service" => is_service_name(name).then(|| Self::Service(name.to_owned())),
            _ => None,
        }
    }

    /// Whether this actor may speak, come and go under this name. A key's own binding to an
    /// agent is another stream's fact, see [`crate::cross_stream`].
    pub(crate) fn may_speak_as(&self, agent: &AgentName) -> Result<(), Rejection> {
        match self {
            Self::Agent(name) if name == agent => Ok(()),
            Self::Agent(name) => Err(Rejection::SpeaksForAnother {
                actor: name.clone(),
            }),
            Self::Key(_) | Self::Owner | Self::Service(_) => Ok(()),
            Self::Arbiter => Err(self.refused()),
        }
    }

    /// Whether this actor may write on the ledger as this author: the arbiter as itself, and only
    /// so, everybody else as an agent.
    pub(crate) fn may_write_as(&self, author: &Author) -> Result<(), Rejection> {
        match (self, author) {
            (_, Author::Agent(agent)) => self.may_speak_as(agent),
            (Self::Arbiter, Author::Arbiter) => Ok(()),
            (Self::Agent(name), Author::Arbiter) => Err(Rejection::SpeaksForAnother {
                actor: name.clone(),
            }),
            (Self::Key(_) | Self::Owner | Self::Service(_), Author::Arbiter) => Err(self.refused()),
        }
    }

    /// Whether this actor may open a room or speak in one, whatever the name.
    pub(crate) fn may_take_part(&self) -> Result<(), Rejection> {
        match self {
            Self::Agent(_) | Self::Key(_) | Self::Owner | Self::Service(_) => Ok(()),
            Self::Arbiter => Err(self.refused()),
        }
    }

    /// Whether this actor may rename, close and erase, and issue and revoke keys.
    pub(crate) fn may_manage(&self) -> Result<(), Rejection> {
        match self {
            Self::Key(_) | Self::Owner | Self::Service(_) => Ok(()),
            Self::Agent(_) | Self::Arbiter => Err(self.refused()),
        }
    }

    /// Whether this actor may begin key epochs.
    pub(crate) fn must_be_arbiter(&self) -> Result<(), Rejection> {
        match self {
            Self::Arbiter => Ok(()),
            Self::Agent(_) | Self::Key(_) | Self::Owner | Self::Service(_) => Err(self.refused()),
        }
    }

    fn refused(&self) -> Rejection {
        let actor = match self {
            Self::Agent(_) => "an agent",
            Self::Key(_) => "a key",
            Self::Owner => "the owner",
            Self::Service(_) => "a service",
            Self::Arbiter => "the arbiter",
        };
        Rejection::ActorNotAllowed { actor }
    }
}

fn is_service_name(name: &str) -> bool {
    name.len() <= SERVICE_NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(name) => write!(f, "agent:{}", name.as_str()),
            Self::Key(id) => write!(f, "key:{}", id.as_str()),
            Self::Owner => f.write_str("owner"),
            Self::Service(name) => write!(f, "service:{name}"),
            Self::Arbiter => f.write_str("arbiter"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_reads_back_as_written() {
        for text in [
            "owner",
            "arbiter",
            "agent:alice",
            "agent:Zoë of the North: second",
            "key:k_0123456789abcdef",
            "service:rooms",
            "service:a-2",
        ] {
            assert_eq!(Actor::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn only_the_written_form_is_an_actor() {
        for text in [
            "",
            "Owner",
            "agent",
            "agent:",
            "agent: alice",
            "agent:owner",
            "agent:Zoe\u{308}",
            "agent:a\nb",
            "key:alice",
            "service:",
            "service:Rooms",
            "service:2",
            "nobody:x",
            "owner:",
        ] {
            assert_eq!(Actor::parse(text), None, "{text:?}");
        }
    }
}
