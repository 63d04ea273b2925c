//! Field by field validation of a JSON body, with the peer's texts.
//!
//! Invariants
//! * Fields are checked in the order they are asked for, which is the order the model declares
//!   them, and the first error is the answer.
//! * Unknown fields are ignored, names are compared exactly, lengths count code points.
//! * Coercions are the peer's: a bool may come as 0, 1 or one of a few words, a string as nothing
//!   but a string.

use std::borrow::Cow;

use super::json::{Document, JsonError, Value};
use super::python::{QueryInt, parse_int};

/// Most items of a list.
pub const LIST_ITEMS_MAX: usize = 64;

/// The first thing wrong with a request's body or query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The body is not acceptable JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The body as a whole.
    #[error("{0}")]
    Body(&'static str),
    /// A field, `query.…` for the query's.
    #[error("{field}: {problem}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What is wrong.
        problem: Cow<'static, str>,
    },
}

impl Invalid {
    /// A field's error.
    pub fn field(field: &'static str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::Field {
            field,
            problem: problem.into(),
        }
    }
}

/// No body where one is needed.
pub const NO_BODY: &str = "Field required";
/// A body that is no object, or that its content type does not call JSON.
pub const NOT_AN_OBJECT: &str =
    "Input should be a valid dictionary or object to extract fields from";
const REQUIRED: &str = "Field required";
const NOT_A_STRING: &str = "Input should be a valid string";
const NOT_TEXT: &str =
    "Input should be a valid string, unable to parse raw data as a unicode string";
const NOT_A_BOOL: &str = "Input should be a valid boolean";
const NOT_AN_INTEGER: &str = "Input should be a valid integer";
const FRACTION: &str = "Input should be a valid integer, got a number with a fractional part";
/// A text that is no integer.
pub const UNCLEAR_INTEGER: &str =
    "Input should be a valid integer, unable to parse string as an integer";
const UNCLEAR_BOOL: &str = "Input should be a valid boolean, unable to interpret input";

/// An object's fields.
pub struct Fields<'d, 'a> {
    fields: &'d [(Cow<'a, str>, Value<'a>)],
}

impl<'d, 'a> Fields<'d, 'a> {
    /// The fields of a body, which must be an object.
    pub fn of(document: &'d Document<'a>) -> Result<Self, Invalid> {
        match &document.root {
            Value::Object(fields) => Ok(Self { fields }),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::HugeInt
            | Value::Float(_)
            | Value::Str(_)
            | Value::Unpaired
            | Value::Array(_) => Err(Invalid::Body(NOT_AN_OBJECT)),
        }
    }

    fn get(&self, name: &str) -> Option<&'d Value<'a>> {
        self.fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// A string that must be there, `min` to `max` code points.
    pub fn text(&self, name: &'static str, min: usize, max: usize) -> Result<&'d str, Invalid> {
        let value = self
            .get(name)
            .ok_or_else(|| Invalid::field(name, REQUIRED))?;
        bounded(name, string(name, value)?, min, max)
    }

    /// A string of up to `max` code points, or null, or absent.
    pub fn optional_text(
        &self,
        name: &'static str,
        max: usize,
    ) -> Result<Option<&'d str>, Invalid> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => bounded(name, string(name, value)?, 0, max).map(Some),
        }
    }

    /// One of a few words; the first is the default. Null is not a word.
    pub fn choice<const N: usize>(
        &self,
        name: &'static str,
        words: [&'static str; N],
    ) -> Result<usize, Invalid> {
        let Some(value) = self.get(name) else {
            return Ok(0);
        };
        let text = string(name, value)?;
        let found = words.iter().position(|word| *word == text);
        found.ok_or_else(|| Invalid::field(name, pattern(&words)))
    }

    /// One of a few words that must be there.
    pub fn word<const N: usize>(
        &self,
        name: &'static str,
        words: [&'static str; N],
    ) -> Result<usize, Invalid> {
        if self.get(name).is_none() {
            return Err(Invalid::field(name, REQUIRED));
        }
        self.choice(name, words)
    }

    /// An integer, or null, or absent. What no `i64` holds comes back as its end.
    pub fn optional_integer(&self, name: &'static str) -> Result<Option<i64>, Invalid> {
        let read = match self.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Int(value)) => Ok(*value),
            Some(Value::HugeInt) => Ok(i64::MAX),
            Some(Value::Bool(value)) => Ok(i64::from(*value)),
            Some(Value::Float(value)) => int_of_float(*value),
            Some(Value::Str(text)) => match parse_int(text) {
                Some(QueryInt::Fits(value)) => Ok(value),
                Some(QueryInt::TooBig) => Ok(i64::MAX),
                Some(QueryInt::TooSmall) => Ok(i64::MIN),
                None => Err(UNCLEAR_INTEGER),
            },
            Some(Value::Unpaired) => Err(UNCLEAR_INTEGER),
            Some(Value::Array(_) | Value::Object(_)) => Err(NOT_AN_INTEGER),
        };
        read.map(Some)
            .map_err(|problem| Invalid::field(name, problem))
    }

    /// A bool, false when absent. Null is none.
    pub fn flag(&self, name: &'static str) -> Result<bool, Invalid> {
        let read = match self.get(name) {
            None | Some(Value::Int(0)) => Ok(false),
            Some(Value::Int(1)) => Ok(true),
            Some(Value::Bool(value)) => Ok(*value),
            // A float counts when it is an integer that counts.
            Some(Value::Float(value)) => bool_of_float(*value),
            Some(Value::Str(text)) => parse_bool(text).ok_or(UNCLEAR_BOOL),
            Some(Value::Int(_) | Value::Unpaired) => Err(UNCLEAR_BOOL),
            Some(Value::Null | Value::HugeInt | Value::Array(_) | Value::Object(_)) => {
                Err(NOT_A_BOOL)
            }
        };
        read.map_err(|problem| Invalid::field(name, problem))
    }

    /// A list of short strings that must be there.
    pub fn words(&self, name: &'static str) -> Result<Vec<&'d str>, Invalid> {
        match self.get(name) {
            None => Err(Invalid::field(name, REQUIRED)),
            Some(Value::Array(items)) if items.len() <= LIST_ITEMS_MAX => {
                items.iter().map(|item| string(name, item)).collect()
            }
            Some(Value::Array(_)) => Err(Invalid::field(
                name,
                format!("List should have at most {LIST_ITEMS_MAX} items"),
            )),
            Some(_) => Err(Invalid::field(name, "Input should be a valid list")),
        }
    }
}

/// Refuses a lone surrogate that no field has reported: call after the fields.
pub fn refuse_unpaired(document: &Document<'_>) -> Result<(), Invalid> {
    document
        .unpaired
        .map_or(Ok(()), |at| Err(JsonError::Unpaired(at).into()))
}

/// A float counts when it is an integer; beyond any `i64` it is its end.
#[expect(
    clippy::cast_possible_truncation,
    reason = "saturates, which is what is wanted"
)]
fn int_of_float(value: f64) -> Result<i64, &'static str> {
    if value.fract() == 0.0 {
        Ok(value as i64)
    } else {
        Err(FRACTION)
    }
}

fn bool_of_float(value: f64) -> Result<bool, &'static str> {
    if value.fract() != 0.0 || value.abs() >= 9.2e18 {
        return Err(NOT_A_BOOL);
    }
    // An integer between -0.5 and 0.5 is 0, one between 0.5 and 1.5 is 1.
    match value {
        0.5..1.5 => Ok(true),
        -0.5..0.5 => Ok(false),
        _ => Err(UNCLEAR_BOOL),
    }
}

/// The peer's words for a bool, in any case.
fn parse_bool(text: &str) -> Option<bool> {
    let any = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if any(["1", "on", "t", "true", "y", "yes"]) {
        return Some(true);
    }
    any(["0", "off", "f", "false", "n", "no"]).then_some(false)
}

fn string<'d>(name: &'static str, value: &'d Value<'_>) -> Result<&'d str, Invalid> {
    match value {
        Value::Str(text) => Ok(text),
        Value::Unpaired => Err(Invalid::field(name, NOT_TEXT)),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::HugeInt
        | Value::Float(_)
        | Value::Array(_)
        | Value::Object(_) => Err(Invalid::field(name, NOT_A_STRING)),
    }
}

fn bounded<'d>(
    name: &'static str,
    text: &'d str,
    min: usize,
    max: usize,
) -> Result<&'d str, Invalid> {
    let characters = |n: usize| if n == 1 { "character" } else { "characters" };
    // Bytes bound code points from above, so most texts are not counted.
    let length = if text.len() <= max {
        text.len()
    } else {
        text.chars().count()
    };
    if length > max {
        let problem = format!("String should have at most {max} {}", characters(max));
        return Err(Invalid::field(name, problem));
    }
    if length < min {
        let problem = format!("String should have at least {min} {}", characters(min));
        return Err(Invalid::field(name, problem));
    }
    Ok(text)
}

/// The text of a value that is none of a few words.
pub fn pattern(words: &[&str]) -> String {
    format!("String should match pattern '^({})$'", words.join("|"))
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
