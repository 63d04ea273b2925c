//! Who writes on a room's ledger.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{newtype::Recorded, rejection::Rejection, text::AgentName};

/// The arbiter's name, which no agent can take.
const ARBITER: &str = "arbiter";

/// An agent, or the arbiter acting for itself. Written as its name.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub enum Author {
    /// An agent.
    Agent(AgentName),
    /// The log's own key holder.
    Arbiter,
}

impl Author {
    /// The agent, unless it is the arbiter.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Arbiter => None,
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Agent(agent) => agent.as_str(),
            Self::Arbiter => ARBITER,
        }
    }
}

impl Recorded for Author {
    type Error = Rejection;
    const WHAT: &str = "an agent's name, or `arbiter`";

    fn recorded(text: &str) -> Result<Self, Rejection> {
        if text == ARBITER {
            return Ok(Self::Arbiter);
        }
        AgentName::recorded(text).map(Self::Agent)
    }
}

impl From<AgentName> for Author {
    fn from(agent: AgentName) -> Self {
        Self::Agent(agent)
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Author {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Author {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsRecorded;
        impl de::Visitor<'_> for AsRecorded {
            type Value = Author;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Author::WHAT)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Author, E> {
                Author::recorded(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(AsRecorded)
    }
}
