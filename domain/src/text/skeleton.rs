//! Which names look alike.
//!
//! Two names look alike when they differ only in case, or when their UTS #39 skeletons do. One
//! key cannot say both: `I` has the skeleton `l`, so lower-casing first hides that `paypaI` looks
//! like `paypal`, and lower-casing last hides that `Iris` is `iris`. So a name has one or two keys,
//! and two names look alike when they share one.

use unicode_security::confusable_detection::skeleton;

/// The keys of a name; the second is absent when it equals the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lookalikes {
    /// Case first, then shape.
    pub(crate) by_case: String,
    /// Shape first, then case.
    pub(crate) by_shape: Option<String>,
}

impl Lookalikes {
    /// The keys of this name.
    pub(crate) fn of(name: &str) -> Self {
        let (by_case, by_shape) = if name.is_ascii() {
            let by_case = ascii_shape(&name.to_ascii_lowercase());
            (
                by_case.to_ascii_lowercase(),
                ascii_shape(name).to_ascii_lowercase(),
            )
        } else {
            let by_case = shape(lower(name.chars()).as_str());
            (lower(by_case.chars()), lower(shape(name).chars()))
        };
        let by_shape = (by_shape != by_case).then_some(by_shape);
        Self { by_case, by_shape }
    }

    /// All keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.by_case.as_str()).chain(self.by_shape.as_deref())
    }
}

/// The keys of every name that means a part of the server or the person who runs it, written in
/// lower case and in upper case: `admin`, `administrator`, `arbiter`, `minutebook`, `owner`,
/// `root`, `sentry`, `service`, `system`. A test derives them again.
const RESERVED_KEYS: [&str; 15] = [
    "admln",
    "admlnlstrator",
    "adrnin",
    "adrninistrator",
    "arbiter",
    "arblter",
    "mlnutebook",
    "owner",
    "rninutebook",
    "root",
    "sentry",
    "service",
    "servlce",
    "system",
    "systern",
];

/// Whether a name is, or looks like, a reserved one. Runs for every name that is read from a
/// record, so it makes no key: it stops at the first letter that no reserved key has there.
pub(super) fn is_reserved(name: &str) -> bool {
    if name.is_ascii() {
        let by_case = name.chars().map(|c| c.to_ascii_lowercase());
        let by_case = by_case.flat_map(|c| ascii_prototype(c).chars());
        let by_shape = name.chars().flat_map(|c| ascii_prototype(c).chars());
        return is_reserved_key(by_case.map(|c| c.to_ascii_lowercase()))
            || is_reserved_key(by_shape.map(|c| c.to_ascii_lowercase()));
    }
    let lower = lower(name.chars());
    is_reserved_key(skeleton(&lower).flat_map(char::to_lowercase))
        || is_reserved_key(skeleton(name).flat_map(char::to_lowercase))
}

fn is_reserved_key(key: impl Iterator<Item = char>) -> bool {
    // The reserved keys are sorted: those that begin alike stand together, the shortest first.
    let mut left = RESERVED_KEYS.as_slice();
    let mut len = 0;
    for c in key {
        let goes_on = |key: &&str| key.as_bytes().get(len).is_some_and(|b| char::from(*b) == c);
        let Some(first) = left.iter().position(goes_on) else {
            return false;
        };
        left = left.get(first..).unwrap_or(&[]);
        let count = left.iter().take_while(|key| goes_on(key)).count();
        left = left.get(..count).unwrap_or(&[]);
        len += 1;
    }
    left.first().is_some_and(|key| key.len() == len)
}

/// Whether anything of the name can be seen: a Hangul filler alone cannot.
pub(super) fn is_visible(name: &str) -> bool {
    name.is_ascii() || skeleton(name).next().is_some()
}

fn shape(text: &str) -> String {
    skeleton(text).collect()
}

/// Lower-cases each character by itself, so that the result does not depend on its neighbours.
fn lower(text: impl Iterator<Item = char>) -> String {
    text.flat_map(char::to_lowercase).collect()
}

/// The UTS #39 skeleton of ASCII text.
fn ascii_shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len() + 4);
    shape.extend(text.chars().flat_map(|c| ascii_prototype(c).chars()));
    shape
}

/// What an ASCII character looks like, in UTS #39. A test compares it with the table.
fn ascii_prototype(c: char) -> Prototype {
    match c {
        '"' => Prototype::Several("''"),
        '%' => Prototype::Several("\u{b0}/\u{2080}"),
        '`' => Prototype::One('\''),
        '0' => Prototype::One('O'),
        '1' | 'I' | '|' => Prototype::One('l'),
        'm' => Prototype::Several("rn"),
        other => Prototype::One(other),
    }
}

enum Prototype {
    One(char),
    Several(&'static str),
}

impl Prototype {
    fn chars(self) -> impl Iterator<Item = char> {
        let (one, several) = match self {
            Self::One(c) => (Some(c), ""),
            Self::Several(text) => (None, text),
        };
        one.into_iter().chain(several.chars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ascii_shortcut_agrees_with_the_table() {
        for c in (0_u8..0x80).map(char::from) {
            let text = format!("a{c}Z");
            assert_eq!(ascii_shape(&text), shape(&text), "{c:?}");
        }
    }

    #[test]
    fn the_reserved_keys_are_those_of_the_reserved_words() {
        let words = [
            "admin",
            "administrator",
            "arbiter",
            "minutebook",
            "owner",
            "root",
            "sentry",
            "service",
            "system",
        ];
        let mut keys: Vec<String> = Vec::new();
        for word in words {
            keys.push(Lookalikes::of(word).by_case);
            keys.extend(Lookalikes::of(&word.to_uppercase()).by_shape);
        }
        keys.sort();
        keys.dedup();
        assert_eq!(keys, RESERVED_KEYS);
    }

    #[test]
    fn reserved_names_are_found_in_every_disguise() {
        for name in [
            "owner",
            "Owner",
            "OWNER",
            "0wner",
            "\u{43e}wner",
            "ow\u{578}er",
            "\u{ff2f}\u{ff37}\u{ff2e}\u{ff25}\u{ff32}",
            "sentry",
            "Sentry",
            "SENTRY",
            "systern",
            "SYSTEM",
            "ARBlTER",
            "arb1ter",
            "ADMIN",
            "admin",
            "r00t",
            "Minutebook",
            "rninutebook",
            "\u{405}ystem",
            "ow\u{fe0f}ner",
            "ow\u{34f}ner",
        ] {
            assert!(is_reserved(name), "{name}");
        }
        for name in [
            "owners",
            "the owner",
            "alice",
            "moderator",
            "auditor",
            "operator",
            "assistant",
            "ow\u{144}er",
            "arbiter-2",
        ] {
            assert!(!is_reserved(name), "{name}");
        }
    }

    #[test]
    fn names_look_alike_by_case_and_by_shape() {
        let alike = |a: &str, b: &str| {
            let (a, b) = (Lookalikes::of(a), Lookalikes::of(b));
            a.iter().any(|key| b.iter().any(|other| key == other))
        };
        for (a, b) in [
            ("alice", "Alice"),
            ("Iris", "iris"),
            ("paypal", "paypaI"),
            ("bob0", "bobo"),
            ("alice", "\u{430}lice"),
            ("alice", "\u{410}lice"),
            ("modern", "modem"),
            ("Zo\u{eb}", "ZO\u{cb}"),
        ] {
            assert!(alike(a, b), "{a} {b}");
            assert!(alike(b, a), "{b} {a}");
        }
        for (a, b) in [
            ("alice", "bob"),
            ("agent-1", "agent-2"),
            ("eli", "ell"),
            ("agent1", "agent11"),
            ("zoe", "zo\u{eb}"),
        ] {
            assert!(!alike(a, b), "{a} {b}");
        }
    }
}
