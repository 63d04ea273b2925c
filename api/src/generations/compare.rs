//! Two generations row by row: equal, or where they first differ.

use std::vec::IntoIter;

use minutebook_eventlog::store::{LogReader, Space};
use minutebook_projections::{
    Kind, RowPair,
    digest::{Digest, digest as digest_of},
};

use super::{GenerationError, SpaceRows};

/// Rows read at a time.
const PAGE_ROWS: usize = 4096;

/// After any key.
const END: [u8; 8] = [0xff; 8];

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Which projection.
    pub kind: Kind,
    /// Digest of the live rows.
    pub live: Digest,
    /// Digest of the rows built anew.
    pub rebuilt: Digest,
    /// Rows that differ or are on one side only.
    pub differing: u64,
    /// Key of the first of them.
    pub first_difference: Option<Vec<u8>>,
}

impl Comparison {
    /// Whether both hold the same rows.
    pub fn is_equal(&self) -> bool {
        self.live == self.rebuilt
    }
}

/// Compares the rows of two spaces: by digest, both at the same time, and row by row only when
/// the digests differ.
pub fn compare(
    reader: &dyn LogReader,
    kind: Kind,
    live: Space,
    rebuilt: Space,
) -> Result<Comparison, GenerationError> {
    let (live_digest, rebuilt_digest) = std::thread::scope(|scope| {
        let other = scope.spawn(move || digest(reader, kind, rebuilt));
        let mine = digest(reader, kind, live);
        let other = other.join().unwrap_or_else(|_| {
            let reason = "the comparing thread failed".to_owned();
            Err(GenerationError::NotReady { kind, reason })
        });
        (mine, other)
    });
    let (live_digest, rebuilt_digest) = (live_digest?, rebuilt_digest?);
    let (differing, first_difference) = if live_digest == rebuilt_digest {
        (0, None)
    } else {
        differences(reader, live, rebuilt)?
    };
    Ok(Comparison {
        kind,
        live: live_digest,
        rebuilt: rebuilt_digest,
        differing,
        first_difference,
    })
}

fn digest(reader: &dyn LogReader, kind: Kind, space: Space) -> Result<Digest, GenerationError> {
    let rows = SpaceRows::new(reader, space);
    digest_of(&rows).map_err(|source| GenerationError::Rows { kind, source })
}

/// How many rows differ or are on one side only, and the key of the first.
fn differences(
    reader: &dyn LogReader,
    live: Space,
    rebuilt: Space,
) -> Result<(u64, Option<Vec<u8>>), GenerationError> {
    let mut left = Cursor::new(reader, live)?;
    let mut right = Cursor::new(reader, rebuilt)?;
    let (mut differing, mut first) = (0, None);
    loop {
        let (take_left, take_right) = match (&left.row, &right.row) {
            (None, None) => return Ok((differing, first)),
            (Some(_), None) => (true, false),
            (None, Some(_)) => (false, true),
            (Some((a, _)), Some((b, _))) => (a <= b, b <= a),
        };
        if !(take_left && take_right && left.row == right.row) {
            differing += 1;
            let row = if take_left { &left.row } else { &right.row };
            first = first.or_else(|| row.as_ref().map(|(key, _)| key.clone()));
        }
        if take_left {
            left.advance()?;
        }
        if take_right {
            right.advance()?;
        }
    }
}

/// A space's rows in key order.
struct Cursor<'a> {
    reader: &'a dyn LogReader,
    space: Space,
    page: IntoIter<RowPair>,
    /// The row it stands on.
    row: Option<RowPair>,
}

impl<'a> Cursor<'a> {
    fn new(reader: &'a dyn LogReader, space: Space) -> Result<Self, GenerationError> {
        let mut page = reader
            .range(space, &[], &END, false, PAGE_ROWS)?
            .into_iter();
        let row = page.next();
        Ok(Self {
            reader,
            space,
            page,
            row,
        })
    }

    fn advance(&mut self) -> Result<(), GenerationError> {
        let Some((mut key, _)) = self.row.take() else {
            return Ok(());
        };
        self.row = self.page.next();
        if self.row.is_none() {
            key.push(0);
            let page = self
                .reader
                .range(self.space, &key, &END, false, PAGE_ROWS)?;
            self.page = page.into_iter();
            self.row = self.page.next();
        }
        Ok(())
    }
}
