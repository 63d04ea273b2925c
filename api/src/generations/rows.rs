//! The store's spaces as the rows that folds and views know.

use minutebook_eventlog::store::{LogReader, RowOp, Space};
use minutebook_projections::{RowOp as FoldOp, RowPair, Rows, RowsError};

/// The rows of one space.
#[derive(Clone, Copy)]
pub struct SpaceRows<'a> {
    reader: &'a dyn LogReader,
    space: Space,
}

impl<'a> SpaceRows<'a> {
    /// The rows of this space.
    pub fn new(reader: &'a dyn LogReader, space: Space) -> Self {
        Self { reader, space }
    }
}

impl Rows for SpaceRows<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, RowsError> {
        self.reader
            .get(self.space, key)
            .map_err(|error| RowsError(error.to_string()))
    }

    fn range(
        &self,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<RowPair>, RowsError> {
        self.reader
            .range(self.space, from, to, reverse, limit)
            .map_err(|error| RowsError(error.to_string()))
    }

    fn each(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), RowsError> {
        self.reader
            .each_row(self.space, from, to, visit)
            .map_err(|error| RowsError(error.to_string()))
    }
}

/// A fold's writes as the store's.
pub(super) fn store_ops(space: Space, ops: Vec<FoldOp>) -> impl Iterator<Item = RowOp> {
    ops.into_iter()
        .map(move |FoldOp { key, value }| RowOp { space, key, value })
}
