//! Reading skills.

use uuid::Uuid;

use super::{BytesRow, SkillRow, bytes_key, skill_key};
use crate::{ProjectionError, Rows, row};

/// The skills over the rows of one generation.
#[derive(Clone, Copy)]
pub struct SkillsView<'a> {
    rows: &'a dyn Rows,
}

impl<'a> SkillsView<'a> {
    /// A view of these rows.
    pub fn new(rows: &'a dyn Rows) -> Self {
        Self { rows }
    }

    /// A skill; none if it was never published or was withdrawn.
    pub fn skill(&self, id: &Uuid) -> Result<Option<SkillRow>, ProjectionError> {
        let value = self.rows.get(&skill_key(id))?;
        value.map(|value| row::decode(&value)).transpose()
    }

    /// Whose bytes these are; none if they were never published.
    pub fn bytes(&self, sha256: &[u8; 32]) -> Result<Option<BytesRow>, ProjectionError> {
        let value = self.rows.get(&bytes_key(sha256))?;
        value.map(|value| row::decode(&value)).transpose()
    }

    /// The skill with these bytes; none if they were never published or were withdrawn.
    pub fn by_sha256(&self, sha256: &[u8; 32]) -> Result<Option<SkillRow>, ProjectionError> {
        match self.bytes(sha256)? {
            Some(bytes) => self.skill(&bytes.id),
            None => Ok(None),
        }
    }
}
