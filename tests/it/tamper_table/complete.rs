//! The table has every row on every store, or says why not.

use super::cases::{CASES, NO_BUNDLE};
use super::shown;

/// Where a room is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    Database,
    Bundle,
    Rows,
}
use Store::{Bundle, Database, Rows};

const FOLLOWS: &str =
    "no record has it: it follows from the ledger, whose entries are rows 1 and 2";

/// Rows that a store has nothing for.
const NOT_THERE: &[(u8, Store, &str)] = &[
    (
        24,
        Rows,
        "no row is believed for its seal: signed or not, the edit is row 23",
    ),
    (30, Database, FOLLOWS),
    (30, Bundle, FOLLOWS),
    (31, Database, FOLLOWS),
    (31, Bundle, FOLLOWS),
];

fn has(store: Store, row: u8) -> bool {
    let mut records = CASES.iter().filter(|case| case.row == row);
    match store {
        Database => records.next().is_some(),
        Bundle => records.any(|case| case.bundle != NO_BUNDLE),
        Rows => shown::CASES.iter().any(|case| case.row == row),
    }
}

#[test]
fn every_row_of_the_table_is_made_on_every_store_or_is_not_there() {
    for row in 1..=50 {
        for store in [Database, Bundle, Rows] {
            let mut reasons = NOT_THERE
                .iter()
                .filter(|(r, s, _)| (*r, *s) == (row, store));
            let reason = reasons.next().map(|(_, _, reason)| reason);
            let is_made = has(store, row);
            assert_ne!(
                is_made,
                reason.is_some(),
                "row {row} on {store:?}: {reason:?}"
            );
        }
    }
}
