//! The rows a fold makes, for comparing and for the fold itself to read.

use std::{collections::BTreeMap, ops::Bound};

use crate::{RowOp, RowPair, Rows, RowsError};

/// Bytes of write-once rows that are kept whole; later ones are kept as digests.
pub(super) const WHOLE_BYTES_MAX: usize = 16 << 20;

/// A row as it must be.
pub(super) enum Held {
    Whole(Vec<u8>),
    Digest(blake3::Hash),
}

impl Held {
    pub(super) fn is(&self, value: &[u8]) -> bool {
        match self {
            Self::Whole(whole) => whole == value,
            Self::Digest(digest) => *digest == blake3::hash(value),
        }
    }

    pub(super) fn whole(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(whole) => Some(whole),
            Self::Digest(_) => None,
        }
    }
}

/// Rows in key order.
#[derive(Default)]
pub(super) struct Expected {
    rows: BTreeMap<Vec<u8>, Held>,
    whole_bytes: usize,
}

impl Expected {
    /// Takes a fold's writes. `is_final`: whether the fold never reads this row again.
    pub(super) fn write(
        &mut self,
        ops: impl IntoIterator<Item = RowOp>,
        is_final: impl Fn(&[u8]) -> bool,
    ) {
        for RowOp { key, value } in ops {
            match value {
                Some(value) if is_final(&key) => {
                    self.whole_bytes += value.len();
                    let held = if self.whole_bytes > WHOLE_BYTES_MAX {
                        Held::Digest(blake3::hash(&value))
                    } else {
                        Held::Whole(value)
                    };
                    self.rows.insert(key, held);
                }
                Some(value) => {
                    self.rows.insert(key, Held::Whole(value));
                }
                None => {
                    self.rows.remove(&key);
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn last_key(&self) -> Option<&Vec<u8>> {
        self.rows.last_key_value().map(|(key, _)| key)
    }

    pub(super) fn find(&self, key: &[u8]) -> Option<&Held> {
        self.rows.get(key)
    }

    /// Rows with `from <= key < to`.
    pub(super) fn within<'r>(
        &'r self,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = (&'r Vec<u8>, &'r Held)> + use<'r> {
        let to = to.max(from);
        let bounds = (Bound::Included(from), Bound::Excluded(to));
        // An empty range with one bound excluded is no panic, but two equal ones are not asked for.
        let rows = (from < to).then(|| self.rows.range::<[u8], _>(bounds));
        rows.into_iter().flatten()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Vec<u8>, &Held)> {
        self.rows.iter()
    }
}

/// What a fold sees. Rows kept as digests are ones it only deletes.
impl Rows for Expected {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RowsError> {
        let held = self.rows.get(key).and_then(Held::whole);
        Ok(held.map(<[u8]>::to_vec))
    }

    fn range(
        &self,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<RowPair>, RowsError> {
        let whole = |held: &Held| held.whole().unwrap_or_default().to_vec();
        let mut rows: Vec<RowPair> = self
            .within(from, to)
            .take(if reverse { usize::MAX } else { limit })
            .map(|(key, held)| (key.clone(), whole(held)))
            .collect();
        if reverse {
            rows.reverse();
            rows.truncate(limit);
        }
        Ok(rows)
    }
}
