//! Bounded texts: private field, one constructor each.
//!
//! Invariants
//! * A name is NFC, trimmed, not empty, visible, and free of control, format (Cf) and line
//!   separator characters; an agent's name is not reserved. So two names are the same exactly
//!   when their bytes are. Format characters are refused rather than dropped, which also refuses
//!   emoji joined by U+200D.
//! * Message text, and a thread's subject, value and quote, are kept exactly as sent. A
//!   description and a reason are trimmed, no more.
//! * A text in a recorded event must already be in the form its constructor makes.

mod skeleton;
pub mod unicode;

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::{
    limits,
    newtype::{Recorded, recorded_text},
    rejection::Rejection,
};

pub(crate) use skeleton::Lookalikes;
pub use unicode::strip;

macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        recorded_text! {
            $(#[$doc])*
            $name
        }

        impl Recorded for $name {
            type Error = Rejection;
            const WHAT: &str = $what;

            fn recorded(text: &str) -> Result<Self, Rejection> {
                let parsed = Self::parse(text)?;
                if parsed.0 != text {
                    return Err(Rejection::TextNotCanonical { what: Self::WHAT });
                }
                Ok(parsed)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Rejection;
            fn try_from(text: String) -> Result<Self, Rejection> {
                Self::parse(&text)
            }
        }
    };
}

bounded_text! {
    /// An agent's name: 1 to [`crate::limits::AGENT_NAME_CHARS_MAX`] code points, not reserved.
    AgentName, "agent name"
}
bounded_text! {
    /// A room's unique name or slug: 1 to [`crate::limits::ROOM_NAME_CHARS_MAX`] code points,
    /// and nothing that reads as a UUID, which is how rooms are addressed otherwise.
    RoomName, "room name"
}
bounded_text! {
    /// A room's description: up to [`crate::limits::ROOM_DESCRIPTION_CHARS_MAX`] code points,
    /// line breaks allowed.
    Description, "description"
}
bounded_text! {
    /// A message's text: 1 to [`crate::limits::MESSAGE_TEXT_BYTES_MAX`] bytes, kept as sent.
    MessageText, "message text"
}
bounded_text! {
    /// Why something was closed, revoked or erased: 1 to [`crate::limits::REASON_CHARS_MAX`]
    /// code points, line breaks allowed.
    Reason, "reason"
}

bounded_text! {
    /// A shared skill's name: 1 to [`crate::limits::SKILL_NAME_CHARS_MAX`] code points.
    SkillName, "skill name"
}
bounded_text! {
    /// A shared skill's version: 1 to [`crate::limits::SKILL_VERSION_CHARS_MAX`] code points.
    SkillVersion, "skill version"
}

bounded_text! {
    /// What a thread is about: 1 to [`crate::limits::SUBJECT_CHARS_MAX`] code points, not blank,
    /// kept as sent.
    Subject, "subject"
}
bounded_text! {
    /// A thread's value as somebody puts it: 1 to [`crate::limits::CLAIM_VALUE_CHARS_MAX`] code
    /// points, not blank, kept as sent.
    ClaimValue, "value"
}
bounded_text! {
    /// What does not fit: 1 to [`crate::limits::DISCREPANCY_CHARS_MAX`] code points, trimmed.
    DiscrepancyText, "description of a discrepancy"
}
bounded_text! {
    /// A model's name, or of the way to it: 1 to [`crate::limits::MODEL_NAME_CHARS_MAX`] code
    /// points.
    ModelName, "model name"
}
bounded_text! {
    /// Words quoted from a message: 1 to [`crate::limits::QUOTE_CHARS_MAX`] code points, kept as
    /// sent.
    Quote, "quote"
}

impl AgentName {
    /// Normalises, trims and checks a name.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let name = name(text, Self::WHAT, limits::AGENT_NAME_CHARS_MAX)?;
        if skeleton::is_reserved(&name) {
            return Err(Rejection::NameReserved);
        }
        Ok(Self(name.into_owned()))
    }
}

impl RoomName {
    /// Normalises, trims and checks a name.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let name = name(text, Self::WHAT, limits::ROOM_NAME_CHARS_MAX)?;
        if uuid::Uuid::try_parse(&name).is_ok() {
            return Err(Rejection::RoomNameLooksLikeId);
        }
        Ok(Self(name.into_owned()))
    }
}

impl SkillName {
    /// Normalises, trims and checks a name.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let name = name(text, Self::WHAT, limits::SKILL_NAME_CHARS_MAX)?;
        Ok(Self(name.into_owned()))
    }
}

impl SkillVersion {
    /// Normalises, trims and checks a version.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let version = name(text, Self::WHAT, limits::SKILL_VERSION_CHARS_MAX)?;
        Ok(Self(version.into_owned()))
    }
}

impl Description {
    /// Trims and checks a text.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let text = strip(text);
        at_most(text, Self::WHAT, limits::ROOM_DESCRIPTION_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl Reason {
    /// Trims and checks a text.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let text = strip(text);
        if text.is_empty() {
            return Err(Rejection::TextEmpty { what: Self::WHAT });
        }
        at_most(text, Self::WHAT, limits::REASON_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl Subject {
    /// Checks a text and takes it as it is.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        not_blank(text, Self::WHAT, limits::SUBJECT_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }

    /// Without the white space around it.
    pub fn trimmed(&self) -> &str {
        strip(&self.0)
    }

    /// The same, without the white space around it.
    pub(crate) fn into_trimmed(self) -> Self {
        Self(self.trimmed().to_owned())
    }
}

impl ClaimValue {
    /// Checks a text and takes it as it is.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        not_blank(text, Self::WHAT, limits::CLAIM_VALUE_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }

    /// Without the white space around it.
    pub fn trimmed(&self) -> &str {
        strip(&self.0)
    }

    /// The same, without the white space around it.
    pub(crate) fn into_trimmed(self) -> Self {
        Self(self.trimmed().to_owned())
    }
}

impl DiscrepancyText {
    /// Trims and checks a text.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let text = strip(text);
        not_blank(text, Self::WHAT, limits::DISCREPANCY_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl ModelName {
    /// Normalises, trims and checks a name.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let name = name(text, Self::WHAT, limits::MODEL_NAME_CHARS_MAX)?;
        Ok(Self(name.into_owned()))
    }
}

impl Quote {
    /// Checks the size of a text and takes it as it is.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        if text.is_empty() {
            return Err(Rejection::TextEmpty { what: Self::WHAT });
        }
        at_most(text, Self::WHAT, limits::QUOTE_CHARS_MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl MessageText {
    /// Checks the size of a text and takes it as it is.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        if text.is_empty() {
            return Err(Rejection::TextEmpty { what: Self::WHAT });
        }
        if text.len() > limits::MESSAGE_TEXT_BYTES_MAX {
            return Err(Rejection::TextTooLong {
                what: Self::WHAT,
                max: limits::MESSAGE_TEXT_BYTES_MAX,
                unit: "bytes",
            });
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether a key's label is one line in its one form: checked, not changed.
pub(crate) fn check_label(label: &str) -> Result<(), Rejection> {
    let what = "key label";
    if strip(label) != label {
        return Err(Rejection::TextNotCanonical { what });
    }
    at_most(label, what, limits::KEY_LABEL_CHARS_MAX)?;
    printable(label, what)
}

/// Whether a text kept as sent says something and is short enough.
fn not_blank(text: &str, what: &'static str, max: usize) -> Result<(), Rejection> {
    at_most(text, what, max)?;
    if strip(text).is_empty() {
        return Err(Rejection::TextEmpty { what });
    }
    Ok(())
}

/// Whether an opaque text (kept as sent) is short enough.
pub(crate) fn at_most(text: &str, what: &'static str, max: usize) -> Result<(), Rejection> {
    // A code point has at most four bytes, so most texts need no counting.
    if text.len() > max && (text.len() > max * 4 || text.chars().count() > max) {
        let unit = "characters";
        return Err(Rejection::TextTooLong { what, max, unit });
    }
    Ok(())
}

/// The rules of all names.
fn name<'a>(text: &'a str, what: &'static str, max: usize) -> Result<Cow<'a, str>, Rejection> {
    if is_plain(text) && text.len() <= max {
        return Ok(Cow::Borrowed(text));
    }
    // Normalising may shrink a text (three code points to one is the most), but a name never
    // needs more than this; so nobody makes us normalise a megabyte.
    at_most(text, what, max * 4)?;
    let name = match nfc(text) {
        Cow::Borrowed(text) => Cow::Borrowed(strip(text)),
        Cow::Owned(text) => Cow::Owned(strip(&text).to_owned()),
    };
    if name.is_empty() {
        return Err(Rejection::TextEmpty { what });
    }
    at_most(&name, what, max)?;
    printable(&name, what)?;
    if !skeleton::is_visible(&name) {
        return Err(Rejection::TextEmpty { what });
    }
    Ok(name)
}

/// The usual case, for which nothing else needs checking: visible ASCII, trimmed, not empty.
fn is_plain(text: &str) -> bool {
    let visible = |byte: &u8| byte.is_ascii_graphic();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(visible)
        && bytes.last().is_some_and(visible)
        && bytes.iter().all(|byte| visible(byte) || *byte == b' ')
}

fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

fn printable(text: &str, what: &'static str) -> Result<(), Rejection> {
    match text.chars().find(|c| unicode::is_barred_from_names(*c)) {
        None => Ok(()),
        Some(c) => Err(Rejection::TextUnprintable {
            what,
            code_point: u32::from(c),
        }),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
pub(crate) mod tests;
