//! The names known in a room, guarded against twins.
//!
//! A name that looks like one known in the room (other case, look-alike letters) is refused, so
//! that nobody passes for somebody else in a transcript. The first spelling wins, for joining and
//! for speaking alike.
//!
//! What honest use pays: an agent that changes its spelling (`Tony`, later `tony`) is refused in
//! rooms where the other spelling is known, and so is one whose name differs from another's only
//! by `1`/`l`/`I` or `0`/`O`. A stranger who speaks as `Alice` first keeps `alice` out of that
//! room; on an open door he could have spoken as `alice` just as well. Rooms do not share names.
//!
//! Bounded: the first [`ROOM_NAMES_GUARDED_MAX`] names are guarded. Later ones may speak, are
//! checked against those, but not against each other; the alternative, refusing newcomers, would
//! let anybody shut a public room by talking under many names.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Rejection,
    limits::ROOM_NAMES_GUARDED_MAX,
    text::{AgentName, Lookalikes},
};

/// Names and what they look like.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub(super) struct Names {
    /// Looked up first: the keys of a name seen before are not computed again.
    spellings: BTreeSet<AgentName>,
    by_key: BTreeMap<String, AgentName>,
}

impl Names {
    /// Whether the name is known or looks like none that is.
    pub(super) fn check(&self, name: &AgentName) -> Result<(), Rejection> {
        if self.spellings.contains(name) {
            return Ok(());
        }
        let keys = Lookalikes::of(name.as_str());
        match keys.iter().find_map(|key| self.by_key.get(key)) {
            None => Ok(()),
            Some(taken) => Err(Rejection::NameTwin {
                taken: taken.clone(),
            }),
        }
    }

    /// Makes a name known.
    pub(super) fn add(&mut self, name: &AgentName) {
        if self.spellings.len() >= ROOM_NAMES_GUARDED_MAX || self.spellings.contains(name) {
            return;
        }
        self.spellings.insert(name.clone());
        for key in Lookalikes::of(name.as_str()).iter() {
            self.by_key
                .entry(key.to_owned())
                .or_insert_with(|| name.clone());
        }
    }
}

impl<'a> FromIterator<&'a AgentName> for Names {
    fn from_iter<I: IntoIterator<Item = &'a AgentName>>(names: I) -> Self {
        let mut known = Self::default();
        for name in names {
            known.add(name);
        }
        known
    }
}
