//! The rows a fold makes, for comparing and for the fold itself to read.
//!
//! Most rows of a long ledger are written once and never read by the fold. They are put in order
//! when all are there: a map that is in order at any time would cost more than the comparison.

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

/// Rows.
#[derive(Default)]
pub(super) struct Expected {
    rows: BTreeMap<Vec<u8>, Held>,
    /// Final rows, as they came; in key order after [`Self::sort`].
    finals: Vec<(Vec<u8>, Held)>,
    whole_bytes: usize,
}

impl Expected {
    /// Takes a fold's writes. `is_final`: whether the fold neither reads nor deletes this row
    /// before all rows are cleared.
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
                    self.finals.push((key, held));
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

    /// Puts the final rows in order; of one that was written twice the last stays.
    pub(super) fn sort(&mut self) {
        // What a fold flushes is sorted, so this has runs to merge.
        self.finals.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.finals.reverse();
        self.finals.dedup_by(|(one, _), (other, _)| one == other);
        self.finals.reverse();
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

    /// Rows with `from <= key < to`, once they are sorted.
    pub(super) fn within<'r>(
        &'r self,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = (&'r Vec<u8>, &'r Held)> + use<'r> {
        let first = self.finals.partition_point(|(key, _)| &**key < from);
        let finals = self.finals.get(first..).unwrap_or_default();
        let finals = finals.partition_point(|(key, _)| &**key < to);
        let finals = self.finals.iter().skip(first).take(finals);
        let mut finals = finals.map(|(key, held)| (key, held)).peekable();
        let mut others = self.others(from, to).peekable();
        std::iter::from_fn(move || match (finals.peek(), others.peek()) {
            (Some((one, _)), Some((other, _))) if one > other => others.next(),
            (Some(_), _) => finals.next(),
            (None, _) => others.next(),
        })
    }

    fn others<'r>(
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

/// What a fold sees: all but the final rows.
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
            .others(from, to)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn op(key: &[u8], value: Option<&[u8]>) -> RowOp {
        let (key, value) = (key.to_vec(), value.map(<[u8]>::to_vec));
        RowOp { key, value }
    }

    fn rows(expected: &Expected, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let rows = expected.within(from, to);
        rows.map(|(key, held)| (key.clone(), held.whole().unwrap().to_vec()))
            .collect()
    }

    #[test]
    fn final_rows_stand_among_the_others_and_the_last_one_written_stays() {
        let mut expected = Expected::default();
        let is_final = |key: &[u8]| key.first() == Some(&2);
        expected.write(
            [
                op(&[1], Some(b"a")),
                op(&[2, 1], Some(b"old")),
                op(&[2, 3], Some(b"c")),
                op(&[3], Some(b"d")),
            ],
            is_final,
        );
        expected.write(
            [
                op(&[2, 1], Some(b"b")),
                op(&[4], Some(b"e")),
                op(&[3], None),
            ],
            is_final,
        );
        expected.sort();
        let all = [
            (vec![1], b"a".to_vec()),
            (vec![2, 1], b"b".to_vec()),
            (vec![2, 3], b"c".to_vec()),
            (vec![4], b"e".to_vec()),
        ];
        assert_eq!(rows(&expected, &[], &[9]), all);
        assert_eq!(rows(&expected, &[2], &[2, 3]), all[1..2]);
        assert_eq!(rows(&expected, &[2, 2], &[5]), all[2..]);
        assert_eq!(rows(&expected, &[2, 3], &[2, 3]), []);
        assert_eq!(rows(&expected, &[4], &[1]), []);
    }
}
