//! How folds and views reach rows, without knowing what keeps them.

use std::collections::BTreeMap;

/// A key and its value.
pub type RowPair = (Vec<u8>, Vec<u8>);

/// Rows read at a time where all are wanted: a message's may be large.
const EACH_ROWS: usize = 256;

/// The store below could not answer; its own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RowsError(pub String);

/// The rows of one generation of one projection.
pub trait Rows {
    /// One row.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RowsError>;

    /// Rows with `from <= key < to`, in key order or reversed, up to `limit`.
    fn range(
        &self,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<RowPair>, RowsError>;

    /// Shows all rows with `from <= key < to`, in key order, without handing them over.
    fn each(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), RowsError> {
        let mut from = from.to_vec();
        loop {
            let page = self.range(&from, to, false, EACH_ROWS)?;
            for (key, value) in &page {
                visit(key, value);
            }
            match page.last() {
                Some((last, _)) if page.len() == EACH_ROWS => {
                    from.clone_from(last);
                    from.push(0);
                }
                Some(_) | None => return Ok(()),
            }
        }
    }
}

/// One change to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOp {
    /// Key.
    pub key: Vec<u8>,
    /// New value, or none to delete.
    pub value: Option<Vec<u8>>,
}

/// Rows in memory: for replays to a moment, for tests, and for the verifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryRows(BTreeMap<Vec<u8>, Vec<u8>>);

impl MemoryRows {
    /// Applies a batch.
    pub fn write(&mut self, ops: impl IntoIterator<Item = RowOp>) {
        for RowOp { key, value } in ops {
            match value {
                Some(value) => {
                    self.0.insert(key, value);
                }
                None => {
                    self.0.remove(&key);
                }
            }
        }
    }

    /// All rows in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Rows for MemoryRows {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RowsError> {
        Ok(self.0.get(key).cloned())
    }

    fn range(
        &self,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<RowPair>, RowsError> {
        if from >= to {
            return Ok(Vec::new());
        }
        let rows = self.0.range::<[u8], _>((
            std::ops::Bound::Included(from),
            std::ops::Bound::Excluded(to),
        ));
        let owned = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        Ok(if reverse {
            rows.rev().take(limit).map(owned).collect()
        } else {
            rows.take(limit).map(owned).collect()
        })
    }
}
