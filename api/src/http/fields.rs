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
mod tests {
    use super::super::json;
    use super::*;

    fn check(body: &str, read: impl Fn(&Fields<'_, '_>) -> Result<String, Invalid>) -> String {
        let document = json::parse(body.as_bytes()).unwrap();
        match Fields::of(&document).and_then(|fields| read(&fields)) {
            Ok(seen) => seen,
            Err(invalid) => invalid.to_string(),
        }
    }

    fn text(body: &str) -> String {
        check(body, |fields| fields.text("text", 1, 3).map(str::to_owned))
    }

    #[test]
    fn strings_are_checked_with_the_peers_texts() {
        assert_eq!(text("{}"), "text: Field required");
        assert_eq!(text(r#"{"Text":"a"}"#), "text: Field required");
        for other in ["1", "null", "[]", "{}", "true", "1.5"] {
            let body = format!("{{\"text\":{other}}}");
            assert_eq!(text(&body), "text: Input should be a valid string");
        }
        assert_eq!(
            text(r#"{"text":""}"#),
            "text: String should have at least 1 character"
        );
        assert_eq!(text(r#"{"text":"🧱🧱🧱"}"#), "🧱🧱🧱");
        assert_eq!(
            text(r#"{"text":"éééé"}"#),
            "text: String should have at most 3 characters"
        );
        let lone =
            "text: Input should be a valid string, unable to parse raw data as a unicode string";
        assert_eq!(text(r#"{"text":"\ud800"}"#), lone);
        assert_eq!(text("[]"), NOT_AN_OBJECT);
        assert_eq!(text("null"), NOT_AN_OBJECT);
    }

    #[test]
    fn null_and_absent_optional_strings_are_none() {
        let read = |body: &str| {
            check(body, |f| {
                f.optional_text("d", 2).map(|text| format!("{text:?}"))
            })
        };
        assert_eq!(read("{}"), "None");
        assert_eq!(read(r#"{"d":null}"#), "None");
        assert_eq!(read(r#"{"d":""}"#), "Some(\"\")");
        assert_eq!(
            read(r#"{"d":"abc"}"#),
            "d: String should have at most 2 characters"
        );
    }

    #[test]
    fn bools_are_coerced_as_the_peer_does() {
        let read = |v: &str| {
            check(&format!("{{\"b\":{v}}}"), |f| {
                f.flag("b").map(|b| b.to_string())
            })
        };
        for yes in [
            "true", "1", "1.0", "1e0", "\"yes\"", "\"YES\"", "\"On\"", "\"t\"", "\"y\"", "\"1\"",
        ] {
            assert_eq!(read(yes), "true", "{yes}");
        }
        for no in [
            "false", "0", "0.0", "-0", "-0.0", "\"off\"", "\"f\"", "\"n\"", "\"0\"", "\"No\"",
        ] {
            assert_eq!(read(no), "false", "{no}");
        }
        for unclear in ["2", "-1", "\"\"", "\" true \"", "\"x\"", "\"1.0\""] {
            assert_eq!(read(unclear), format!("b: {UNCLEAR_BOOL}"), "{unclear}");
        }
        for other in ["null", "0.5", "[]", "{}", "99999999999999999999999"] {
            assert_eq!(read(other), format!("b: {NOT_A_BOOL}"), "{other}");
        }
    }

    #[test]
    fn choices_name_their_pattern() {
        let read = |v: &str| {
            let body = format!("{{\"m\":{v}}}");
            check(&body, |f| {
                f.choice("m", ["standard", "premium"])
                    .map(|i| i.to_string())
            })
        };
        let pattern = "m: String should match pattern '^(standard|premium)$'";
        assert_eq!(read("\"premium\""), "1");
        assert_eq!(read("\"Premium\""), pattern);
        assert_eq!(read("\"standard\\n\""), pattern);
        assert_eq!(read("\"\""), pattern);
        assert_eq!(read("null"), "m: Input should be a valid string");
    }

    #[test]
    fn lists_hold_strings_up_to_their_limit() {
        let read = |v: &str| {
            check(&format!("{{\"l\":{v}}}"), |f| {
                f.words("l").map(|w| w.join("+"))
            })
        };
        assert_eq!(read("[\"a\",\"b\"]"), "a+b");
        assert_eq!(read("\"a\""), "l: Input should be a valid list");
        assert_eq!(read("[1]"), "l: Input should be a valid string");
        let long = format!("[{}]", vec!["\"a\""; LIST_ITEMS_MAX + 1].join(","));
        assert_eq!(read(&long), "l: List should have at most 64 items");
    }
}
