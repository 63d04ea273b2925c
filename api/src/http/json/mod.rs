//! Strict JSON in: one parser for every request body.
//!
//! Invariants
//! * Accepts RFC 8259 text in UTF-8, with or without a byte order mark, and nothing else. `NaN`,
//!   `Infinity`, numbers beyond an `f64`, duplicate keys, nesting over [`DEPTH_MAX`] and trailing
//!   text are refused, so what is stored means the same to every reader.
//! * A syntax error names the position the peer's parser (Python's) names: in code points, after
//!   the byte order mark. Clients match on that text.
//! * A lone surrogate cannot become UTF-8: it parses to [`Value::Unpaired`], which no field takes,
//!   and [`Document::unpaired`] remembers it so that one in an ignored field is refused too.
//! * Nothing here panics or recurses deeper than [`DEPTH_MAX`], whatever the input.

mod parser;

use std::borrow::Cow;

use parser::{Flaw, Kind, Parser};

/// Deepest nesting of arrays and objects.
pub const DEPTH_MAX: usize = 64;

/// A parsed value. Strings borrow from the body unless they held an escape.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction or exponent that fits.
    Int(i64),
    /// A number without fraction or exponent that does not fit an `i64`.
    HugeInt,
    /// Any other number; always finite.
    Float(f64),
    /// A string.
    Str(Cow<'a, str>),
    /// A string with a lone surrogate, which is not text.
    Unpaired,
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object: no key twice, in the order sent.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

/// A whole body.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// What it says.
    pub root: Value<'a>,
    /// Position of the first lone surrogate, in code points.
    pub unpaired: Option<usize>,
}

/// Why a body is not acceptable JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, at this position.
    #[error("{0}: JSON decode error")]
    Syntax(usize),
    /// Not UTF-8.
    #[error("There was an error parsing the body")]
    NotUtf8,
    /// The same key twice in one object.
    #[error("{0}: Duplicate object key")]
    DuplicateKey(usize),
    /// `NaN`, `Infinity` or a number beyond the range of a double.
    #[error("{0}: Number is not finite")]
    NotFinite(usize),
    /// Nested too deep.
    #[error("{0}: Nested deeper than {DEPTH_MAX} levels")]
    TooDeep(usize),
    /// A lone surrogate where no field would report it.
    #[error("{0}: Lone surrogate in a string")]
    Unpaired(usize),
}

/// Parses a body.
pub fn parse(body: &[u8]) -> Result<Document<'_>, JsonError> {
    let text = std::str::from_utf8(body).map_err(|_| JsonError::NotUtf8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser::new(text);
    let parsed = parser.document();
    // Positions count code points; the parser counts bytes, and only errors pay for the difference.
    let chars = |bytes: usize| text.get(..bytes).map_or(bytes, |head| head.chars().count());
    match parsed {
        Ok(root) => Ok(Document {
            root,
            unpaired: parser.unpaired.map(chars),
        }),
        Err(Flaw { kind, at }) => Err(match kind {
            Kind::Syntax => JsonError::Syntax(chars(at)),
            Kind::Duplicate => JsonError::DuplicateKey(chars(at)),
            Kind::NotFinite => JsonError::NotFinite(chars(at)),
            Kind::TooDeep => JsonError::TooDeep(chars(at)),
        }),
    }
}

#[cfg(test)]
mod tests;
