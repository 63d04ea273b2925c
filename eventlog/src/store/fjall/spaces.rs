//! Handles of spaces. A handle is an index into a list that only grows, so that a handle of a
//! dropped space can never mean another one.

use std::collections::BTreeMap;

use fjall::Keyspace;

use super::{Shared, tuning};
use crate::store::{
    META_SPACE, Space, StoreError, check,
    keys::{KeyKind, view},
};

/// The spaces opened so far.
#[derive(Default)]
pub(super) struct Spaces {
    slots: Vec<Option<Keyspace>>,
    by_name: BTreeMap<String, Space>,
}

impl Spaces {
    /// The rows of an open space.
    pub(super) fn keyspace(&self, space: Space) -> Result<&Keyspace, StoreError> {
        self.slots
            .get(usize::from(space.0))
            .and_then(Option::as_ref)
            .ok_or_else(|| StoreError::Refused(format!("space {} is not open", space.0)))
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Keyspace> {
        self.slots.iter().flatten()
    }

    fn add(&mut self, name: &str, keyspace: Keyspace) -> Result<Space, StoreError> {
        if self.slots.len() >= check::MAX_SPACES {
            return Err(StoreError::Refused("too many spaces".to_owned()));
        }
        let slot = u16::try_from(self.slots.len())
            .map_err(|_| StoreError::Refused("too many spaces".to_owned()))?;
        self.slots.push(Some(keyspace));
        self.by_name.insert(name.to_owned(), Space(slot));
        Ok(Space(slot))
    }

    fn remove(&mut self, name: &str) -> Option<Keyspace> {
        let space = self.by_name.remove(name)?;
        self.slots.get_mut(usize::from(space.0))?.take()
    }
}

impl Shared {
    fn create(&self, name: &str) -> Result<Keyspace, StoreError> {
        let kind = if name == META_SPACE {
            KeyKind::Meta
        } else {
            KeyKind::View
        };
        self.keyspace(&view::keyspace_name(name), || {
            tuning::keyspace_options(kind)
        })
    }

    pub(super) fn space(&self, name: &str) -> Result<Space, StoreError> {
        if let Some(space) = self.spaces.read().by_name.get(name) {
            return Ok(*space);
        }
        check::space_name(name)?;
        let mut spaces = self.spaces.write();
        if let Some(space) = spaces.by_name.get(name) {
            return Ok(*space);
        }
        let keyspace = self.create(name)?;
        spaces.add(name, keyspace)
    }

    pub(super) fn space_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .db
            .list_keyspace_names()
            .iter()
            .filter_map(|keyspace| view::space_name(keyspace).map(str::to_owned))
            .collect();
        names.sort_unstable();
        names
    }

    pub(super) fn drop_space(&self, name: &str) -> Result<(), StoreError> {
        if name == META_SPACE {
            return Err(StoreError::Refused("the meta space stays".to_owned()));
        }
        check::space_name(name)?;
        let mut spaces = self.spaces.write();
        let keyspace = match spaces.remove(name) {
            Some(keyspace) => keyspace,
            None if self.db.keyspace_exists(&view::keyspace_name(name)) => self.create(name)?,
            None => return Ok(()),
        };
        self.delete_keyspace(keyspace)
    }
}
