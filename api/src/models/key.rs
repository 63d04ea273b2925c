//! The key of a model's server: sent in one header, and in nothing that is kept.

use reqwest::header::HeaderValue;

use super::openai::EndpointError;

/// Shortest key that is kept out of what a server said.
const SECRET_BYTES_MIN: usize = 8;

/// What stands for a key.
const HUSHED: &str = "[the key]";

/// A key, as it is sent and as it must not come back. It has no `Debug`.
pub(super) struct Key {
    header: HeaderValue,
    secret: String,
}

impl Key {
    pub(super) fn new(secret: &str) -> Result<Self, EndpointError> {
        let header = HeaderValue::from_str(&format!("Bearer {secret}"));
        let mut header = header.map_err(|_| EndpointError::Key)?;
        header.set_sensitive(true);
        Ok(Self {
            header,
            secret: secret.to_owned(),
        })
    }

    /// The value of `Authorization`.
    pub(super) fn header(&self) -> &HeaderValue {
        &self.header
    }

    /// A text without the key in it: what is recorded can be read by others, and a server may say
    /// which key it does not like. A very short one guards nothing, and may be part of any word.
    pub(super) fn hush(&self, text: &str) -> String {
        if self.secret.len() < SECRET_BYTES_MIN {
            return text.to_owned();
        }
        let text = text.replace(&self.secret, HUSHED);
        // As JSON may spell it.
        text.replace(&self.secret.replace('/', "\\/"), HUSHED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_server_repeats_is_not_recorded() {
        let key = Key::new("sk-hush-hush").unwrap();
        let text = "no such key: sk-hush-hush.";
        assert_eq!(key.hush(text), "no such key: [the key].");
        let key = Key::new("sk/ab+cd==").unwrap();
        assert_eq!(key.hush(r"no: sk\/ab+cd=="), "no: [the key]");
        assert_eq!(Key::new("a").unwrap().hush("a man"), "a man");
    }
}
