//! A short ASCII name for what a thread is about.

use crate::{
    limits::SUBJECT_KEY_BYTES_MAX,
    newtype::{Recorded, recorded_text},
    rejection::Rejection,
};

recorded_text! {
    /// Lower-case ASCII letters, digits and single hyphens, 1 to [`SUBJECT_KEY_BYTES_MAX`] bytes,
    /// no hyphen in front. It ends with one only where it was cut. Threads may share one.
    SubjectKey
}

impl SubjectKey {
    /// Makes one of any text as the peer does (seed 003): lower case, every run of other
    /// characters one hyphen, none at either end, cut; `thread` if nothing is left.
    pub fn derive(text: &str) -> Self {
        let mut key = String::new();
        let mut gap = false;
        for c in text.chars().flat_map(char::to_lowercase) {
            if !c.is_ascii_alphanumeric() {
                gap = true;
                continue;
            }
            if gap && !key.is_empty() {
                key.push('-');
            }
            gap = false;
            key.push(c);
            if key.len() >= SUBJECT_KEY_BYTES_MAX {
                break;
            }
        }
        key.truncate(SUBJECT_KEY_BYTES_MAX);
        if key.is_empty() {
            key.push_str("thread");
        }
        Self(key)
    }
}

impl Recorded for SubjectKey {
    type Error = Rejection;
    const WHAT: &str = "subject_key";

    fn recorded(text: &str) -> Result<Self, Rejection> {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let cut = text.len() == SUBJECT_KEY_BYTES_MAX;
        let good = (1..=SUBJECT_KEY_BYTES_MAX).contains(&text.len())
            && text.bytes().all(|byte| letter(byte) || byte == b'-')
            && !text.starts_with('-')
            && !text.contains("--")
            && (cut || !text.ends_with('-'));
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(Rejection::TextNotCanonical { what: Self::WHAT })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_as_the_peer_makes_it() {
        let a59 = "a".repeat(59);
        for (text, key) in [
            ("Café Délai №7 — Price/kg!!", "caf-d-lai-7-price-kg"),
            ("Привет мир", "thread"),
            ("A_B  C", "a-b-c"),
            ("İstanbul", "i-stanbul"),
            ("   ", "thread"),
            ("", "thread"),
            ("--a--b--", "a-b"),
            ("\u{212a}elvin", "kelvin"),
            (&format!("{a59} b c"), &format!("{a59}-")),
            (&format!("{a59} "), &a59),
            (&"b".repeat(100), &"b".repeat(60)),
        ] {
            let derived = SubjectKey::derive(text);
            assert_eq!(derived.as_str(), key, "{text}");
            assert_eq!(SubjectKey::recorded(key), Ok(derived), "{key}");
        }
    }

    #[test]
    fn only_what_can_be_made_is_recorded() {
        let long = "a".repeat(61);
        for text in ["", "A", "a b", "-a", "a-", "a--b", "ä", &long] {
            assert!(SubjectKey::recorded(text).is_err(), "{text:?}");
        }
    }
}
