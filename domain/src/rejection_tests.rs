//! Every refusal can be reached, and says something.

use std::collections::BTreeSet;

use super::Rejection;
use crate::{keys, room, skills, testing::Then, text};

/// The tables of all commands and texts, and the refusals that no row can reach.
#[test]
fn all_codes_are_reached() {
    let rows = room::all_rows()
        .into_iter()
        .chain(keys::all_rows())
        .chain(skills::all_rows());
    let mut reached: BTreeSet<&str> = rows
        .filter_map(|row| match row.then {
            Then::Refused(rejection) => Some(rejection.code()),
            Then::Makes(_) | Then::Accepted => None,
        })
        .collect();
    reached.extend(
        text::tests::refusals()
            .iter()
            .map(|(_, rejection)| rejection.code()),
    );
    // See `keys::open_log::tests::a_log_is_opened_first` and the bounds of `keys`.
    reached.extend(["log_opened_late", "log_not_opened", "keys_full"]);
    // See `room::claims::bounds_tests`.
    reached.extend([
        "discrepancies_full",
        "handshakes_full",
        "rereadings_full",
        "revisions_full",
        "signers_full",
        "threads_full",
    ]);
    // See the bound of `skills::publish`.
    reached.extend(["skills_full"]);
    assert_eq!(reached, Rejection::ALL_CODES.iter().copied().collect());
}

#[test]
fn codes_are_unique() {
    let unique: BTreeSet<_> = Rejection::ALL_CODES.iter().collect();
    assert_eq!(unique.len(), Rejection::ALL_CODES.len());
}

#[test]
fn messages_end_without_a_full_stop() {
    let rows = room::all_rows()
        .into_iter()
        .chain(keys::all_rows())
        .chain(skills::all_rows());
    for row in rows {
        if let Then::Refused(rejection) = row.then {
            let message = rejection.to_string();
            assert!(!message.is_empty() && !message.ends_with('.'), "{message}");
        }
    }
}
