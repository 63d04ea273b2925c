//! Texts with a private field and one spelling.
//!
//! Invariant: a text that comes out of a record went through [`Recorded::recorded`], so it is in
//! the one form its constructor makes.

use std::fmt;

/// A text that has one lawful form in a record.
pub(crate) trait Recorded: Sized {
    /// Why a text is not in that form.
    type Error: fmt::Display;

    /// What it is, for errors.
    const WHAT: &str;

    /// Takes a text from a record: it must be as the constructor would have made it.
    fn recorded(text: &str) -> Result<Self, Self::Error>;
}

/// Declares a text: how it is kept, shown, written and read. What is lawful says its own
/// [`Recorded`].
macro_rules! recorded_text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        #[rkyv(derive(PartialEq, Eq, PartialOrd, Ord))]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct AsRecorded;
                impl serde::de::Visitor<'_> for AsRecorded {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(<$name as $crate::newtype::Recorded>::WHAT)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        <$name as $crate::newtype::Recorded>::recorded(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(AsRecorded)
            }
        }
    };
}

pub(crate) use recorded_text;
