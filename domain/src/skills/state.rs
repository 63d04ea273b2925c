//! What the rules remember of shared skills.

use std::collections::BTreeMap;

use uuid::Uuid;

/// All skills ever published.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct SkillsState {
    /// Whether a skill was withdrawn.
    pub(super) by_id: BTreeMap<Uuid, bool>,
    /// Which skill has these bytes.
    pub(super) by_sha256: BTreeMap<[u8; 32], Uuid>,
}

impl SkillsState {
    /// How many skills were ever published.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether none ever was.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All of them, and whether each was withdrawn.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, bool)> {
        self.by_id.iter().map(|(id, withdrawn)| (*id, *withdrawn))
    }

    /// The skill with these bytes and whether it was withdrawn.
    pub fn by_sha256(&self, sha256: &[u8; 32]) -> Option<(Uuid, bool)> {
        let id = self.by_sha256.get(sha256)?;
        self.by_id.get(id).map(|withdrawn| (*id, *withdrawn))
    }

    /// Whether this skill was withdrawn; none if it was never published.
    pub fn is_withdrawn(&self, id: &Uuid) -> Option<bool> {
        self.by_id.get(id).copied()
    }
}
