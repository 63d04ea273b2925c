//! A fold's own writes of the running batch, laid over the rows below.
//!
//! Kept in key order: the flushed batch is then sorted, which storage engines like, and a scan can
//! merge both sides.

use std::{cell::RefCell, collections::BTreeMap};

use crate::{
    RowOp, Rows,
    error::ProjectionError,
    row::{self, Decoder, Row},
    rows::RowPair,
};

/// About how many bytes a row takes.
const ROW_BYTES: usize = 512;

/// Rows a scan reads at a time.
const SCAN_ROWS: usize = 4096;

/// Pending writes.
#[derive(Default)]
pub(crate) struct Overlay {
    rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// A fold reads a row for most facts.
    decoder: RefCell<Decoder>,
}

impl Overlay {
    pub(crate) fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.rows.insert(key, Some(value));
    }

    pub(crate) fn put_row<R: Row>(&mut self, key: Vec<u8>, row: &R) -> Result<(), ProjectionError> {
        self.put(key, row::encode(row, ROW_BYTES)?);
        Ok(())
    }

    pub(crate) fn delete(&mut self, key: Vec<u8>) {
        self.rows.insert(key, None);
    }

    /// A row's bytes, mine before those below.
    pub(crate) fn get(
        &self,
        rows: &dyn Rows,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, ProjectionError> {
        match self.rows.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(rows.get(key)?),
        }
    }

    pub(crate) fn get_row<R: Row>(
        &self,
        rows: &dyn Rows,
        key: &[u8],
    ) -> Result<Option<R>, ProjectionError> {
        let mut decoder = self.decoder.borrow_mut();
        match self.rows.get(key) {
            Some(Some(value)) => decoder.decode(value).map(Some),
            Some(None) => Ok(None),
            None => {
                let value = rows.get(key)?;
                value.map(|value| decoder.decode(&value)).transpose()
            }
        }
    }

    /// The last row of `from..to`.
    pub(crate) fn last(
        &self,
        rows: &dyn Rows,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<RowPair>, ProjectionError> {
        // Deleted rows are rare and never at the end of a range that is still in use, but a
        // fold must not depend on that: take the whole merge when the quick look is not enough.
        let below = rows.range(from, to, true, 1)?.pop();
        let mine = self.rows.range::<[u8], _>((
            std::ops::Bound::Included(from),
            std::ops::Bound::Excluded(to),
        ));
        let Some((key, value)) = mine.into_iter().next_back() else {
            return Ok(below);
        };
        match value {
            Some(value) if below.as_ref().is_none_or(|(other, _)| other <= key) => {
                Ok(Some((key.clone(), value.clone())))
            }
            _ => Ok(self.scan(rows, from, to)?.pop()),
        }
    }

    /// All rows of `from..to` in key order. For rare events only: it holds them all.
    pub(crate) fn scan(
        &self,
        rows: &dyn Rows,
        from: &[u8],
        to: &[u8],
    ) -> Result<Vec<RowPair>, ProjectionError> {
        let mut merged = BTreeMap::new();
        each_row(rows, from, to, |key, value| {
            merged.insert(key, value);
            Ok(())
        })?;
        for (key, value) in self.rows.range::<[u8], _>((
            std::ops::Bound::Included(from),
            std::ops::Bound::Excluded(to),
        )) {
            match value {
                Some(value) => {
                    merged.insert(key.clone(), value.clone());
                }
                None => {
                    merged.remove(key);
                }
            }
        }
        Ok(merged.into_iter().collect())
    }

    /// Deletes all rows of `from..to`.
    pub(crate) fn delete_range(
        &mut self,
        rows: &dyn Rows,
        from: &[u8],
        to: &[u8],
    ) -> Result<(), ProjectionError> {
        let mut keys = Vec::new();
        each_row(rows, from, to, |key, _| {
            keys.push(key);
            Ok(())
        })?;
        let mine = self.rows.range::<[u8], _>((
            std::ops::Bound::Included(from),
            std::ops::Bound::Excluded(to),
        ));
        keys.extend(mine.map(|(key, _)| key.clone()));
        self.rows.extend(keys.into_iter().map(|key| (key, None)));
        Ok(())
    }

    /// Hands the writes over, in key order.
    pub(crate) fn drain(&mut self, out: &mut Vec<RowOp>) {
        out.extend(
            std::mem::take(&mut self.rows)
                .into_iter()
                .map(|(key, value)| RowOp { key, value }),
        );
    }
}

/// Visits the rows of `from..to` in key order, a page at a time.
pub(crate) fn each_row(
    rows: &dyn Rows,
    from: &[u8],
    to: &[u8],
    mut visit: impl FnMut(Vec<u8>, Vec<u8>) -> Result<(), ProjectionError>,
) -> Result<(), ProjectionError> {
    let mut from = from.to_vec();
    loop {
        let page = rows.range(&from, to, false, SCAN_ROWS)?;
        let complete = page.len() < SCAN_ROWS;
        if let Some((last, _)) = page.last() {
            from.clone_from(last);
            from.push(0);
        }
        for (key, value) in page {
            visit(key, value)?;
        }
        if complete {
            return Ok(());
        }
    }
}
