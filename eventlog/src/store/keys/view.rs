//! Views: the rows of a space are in the keyspace `v.<name>`; keys and values are the caller's.
//! [`META_SPACE`] is the keyspace `meta` itself, less the store's own keys.

use super::{
    super::{META_SPACE, check},
    KeyKind,
};

/// The keyspace of a space.
pub(in crate::store) fn keyspace_name(space: &str) -> String {
    if space == META_SPACE {
        return KeyKind::Meta.keyspace().to_owned();
    }
    format!("{}{space}", KeyKind::View.keyspace())
}

/// The space of a keyspace, if it is one's.
pub(in crate::store) fn space_name(keyspace: &str) -> Option<&str> {
    if keyspace == KeyKind::Meta.keyspace() {
        return Some(META_SPACE);
    }
    keyspace.strip_prefix(KeyKind::View.keyspace())
}

/// Every key of the store's own comes before this one.
pub(in crate::store) const FIRST_FREE_KEY: &[u8] = &[check::OWN_KEY + 1];

/// Whether a key in [`META_SPACE`] is the store's own.
pub(in crate::store) fn is_own_key(key: &[u8]) -> bool {
    key.first() == Some(&check::OWN_KEY)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{keyspace_name, space_name};

    proptest! {
        #[test]
        fn names_round_trip(name in "[a-z0-9._-]{1,64}") {
            let keyspace = keyspace_name(&name);
            prop_assert_eq!(space_name(&keyspace), Some(name.as_str()));
        }
    }

    #[test]
    fn the_logs_own_keyspaces_are_no_spaces() {
        assert_eq!(space_name("envelopes"), None);
        assert_eq!(keyspace_name("envelopes"), "v.envelopes");
    }
}
