//! What is computed once from a part of the state that does not change under it.
//!
//! Invariant: it is no part of the state it is computed from: equal to all others, hashed as
//! nothing, and not archived.

use std::{
    hash::{Hash, Hasher},
    sync::OnceLock,
};

/// A value, once somebody asked for it.
#[derive(Clone, Debug)]
pub(crate) struct Remembered<T>(OnceLock<T>);

impl<T> Remembered<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value; `compute` gives the same for as long as this is.
    pub(crate) fn get(&self, compute: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(compute)
    }
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> PartialEq for Remembered<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Remembered<T> {}

impl<T> Hash for Remembered<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
