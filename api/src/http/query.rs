//! The query string, as the peer's framework reads it.
//!
//! Invariants
//! * Pairs are separated by `&` only; the last of several values counts; unknown names are ignored,
//!   but for the routes that are ours alone, which refuse both.
//! * What does not decode to UTF-8 becomes U+FFFD, which no parameter takes.

use std::borrow::Cow;

use minutebook_domain::ids::RoomId;

use super::app::parse_room_id;
use super::fields::{Invalid, UNCLEAR_INTEGER as NOT_AN_INTEGER, pattern};
use super::python::{QueryInt, parse_int};
use crate::error::{ApiError, ErrorCode};

/// Most of an unknown parameter's name that is shown.
const NAME_CHARS_SHOWN: usize = 40;

/// A raw query.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    /// The query of a URI.
    pub fn of(uri: &'a axum::http::Uri) -> Self {
        Self(uri.query().unwrap_or_default())
    }

    /// The fields of a form, which are spelled like a query.
    pub fn of_form(body: &'a str) -> Self {
        Self(body)
    }

    /// The last value of a parameter, decoded.
    pub fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        self.0
            .split('&')
            .rev()
            .filter(|pair| !pair.is_empty())
            .find_map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(key) == name).then(|| decode(value))
            })
    }

    /// Refuses what is not among these names, and a name that comes twice.
    pub fn only(&self, known: &[String]) -> Result<(), ApiError> {
        let mut seen = Vec::with_capacity(known.len());
        for pair in self.0.split('&').filter(|pair| !pair.is_empty()) {
            let name = decode(pair.split_once('=').map_or(pair, |(name, _)| name));
            if !known.iter().any(|one| *one == name) {
                let name: String = name.chars().take(NAME_CHARS_SHOWN).collect();
                let known = match known {
                    [] => "this route takes none".to_owned(),
                    known => format!("this route takes {}", known.join(", ")),
                };
                return Err(refused(&name, &format!("Unknown parameter; {known}")));
            }
            if seen.contains(&name) {
                return Err(refused(&name, "Given more than once"));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// The room a query of our own routes names, as `room_id` or `room`.
    pub fn room(&self) -> Result<Option<RoomId>, ApiError> {
        let text = match (self.get("room_id"), self.get("room")) {
            (Some(_), Some(_)) => return Err(refused("room", "Give room_id or room, not both")),
            (text, None) | (None, text) => text,
        };
        text.map(|text| parse_room_id(&text)).transpose()
    }

    /// An integer from `min` to `max`; `field` is its name with `query.` before it.
    pub fn integer(&self, field: &'static str, min: i64, max: i64) -> Result<Option<i64>, Invalid> {
        let value = self.read(field, min)?;
        if value.is_some_and(|value| value > i128::from(max)) {
            let problem = format!("Input should be less than or equal to {max}");
            return Err(Invalid::field(field, problem));
        }
        Ok(value.and_then(|value| i64::try_from(value).ok()))
    }

    /// An integer from 1 on, of which no more than `max` counts.
    pub fn up_to(&self, field: &'static str, default: usize, max: usize) -> Result<usize, Invalid> {
        let value = self.read(field, 1)?;
        let capped = value.map(|value| usize::try_from(value).unwrap_or(max).min(max));
        Ok(capped.unwrap_or(default))
    }

    /// An integer of any size from `min` on; what no `i64` holds comes back as just beyond it.
    fn read(&self, field: &'static str, min: i64) -> Result<Option<i128>, Invalid> {
        let name = field.strip_prefix("query.").unwrap_or(field);
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let value = match parse_int(&text) {
            Some(QueryInt::Fits(value)) => i128::from(value),
            Some(QueryInt::TooBig) => i128::from(i64::MAX) + 1,
            Some(QueryInt::TooSmall) => i128::from(i64::MIN) - 1,
            None => return Err(Invalid::field(field, NOT_AN_INTEGER)),
        };
        if value < i128::from(min) {
            let problem = format!("Input should be greater than or equal to {min}");
            return Err(Invalid::field(field, problem));
        }
        Ok(Some(value))
    }

    /// Whether something holds, in any of the peer's spellings.
    pub fn truth(&self, field: &'static str) -> Result<Option<bool>, Invalid> {
        let name = field.strip_prefix("query.").unwrap_or(field);
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let is = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is(["1", "on", "t", "true", "y", "yes"]) {
            return Ok(Some(true));
        }
        if is(["0", "off", "f", "false", "n", "no"]) {
            return Ok(Some(false));
        }
        let problem = "Input should be a valid boolean, unable to interpret input";
        Err(Invalid::field(field, problem))
    }

    /// One of a few words; the first is the default.
    pub fn choice<const N: usize>(
        &self,
        field: &'static str,
        words: [&'static str; N],
    ) -> Result<usize, Invalid> {
        let name = field.strip_prefix("query.").unwrap_or(field);
        let Some(text) = self.get(name) else {
            return Ok(0);
        };
        let found = words.iter().position(|word| *word == text);
        found.ok_or_else(|| Invalid::field(field, pattern(&words)))
    }
}

fn refused(name: &str, problem: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidRequest,
        format!("query.{name}: {problem}"),
    )
}

/// Percent-decoding with `+` as a blank. A `%` that starts no escape stands for itself.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|b| b == b'%' || b == b'+') {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let escape = tail.first_chunk::<2>().and_then(|[high, low]| {
            let digit = |b: u8| char::from(b).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        });
        match (byte, escape) {
            (b'%', Some(decoded)) => {
                out.push(decoded);
                rest = tail.get(2..).unwrap_or_default();
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(raw: &str) -> String {
        match Query(raw).integer("query.since", 0, i64::MAX) {
            Ok(value) => format!("{value:?}"),
            Err(invalid) => invalid.to_string(),
        }
    }

    #[test]
    fn the_last_value_counts_and_unknown_names_do_not() {
        assert_eq!(since("since=1&since=2"), "Some(2)");
        assert_eq!(since("x=1&SINCE=9"), "None");
        assert_eq!(since("&&since=3&"), "Some(3)");
        assert_eq!(since("%73ince=4"), "Some(4)");
        assert_eq!(since("since=%201+"), "Some(1)");
    }

    #[test]
    fn bad_integers_get_the_peers_texts() {
        let bad = format!("query.since: {NOT_AN_INTEGER}");
        for raw in [
            "since",
            "since=",
            "since=abc",
            "since=%zz",
            "since=%ff",
            "since=1;limit=2",
        ] {
            assert_eq!(since(raw), bad, "{raw}");
        }
        let low = "query.since: Input should be greater than or equal to 0";
        assert_eq!(since("since=-1"), low);
        assert_eq!(since("since=-99999999999999999999999"), low);
        let limit = Query("limit=201").integer("query.limit", 1, 200);
        let high = "query.limit: Input should be less than or equal to 200";
        assert_eq!(limit.unwrap_err().to_string(), high);
        let huge = "query.since: Input should be less than or equal to 9223372036854775807";
        assert_eq!(
            since("since=9223372036854775807"),
            "Some(9223372036854775807)"
        );
        assert_eq!(since("since=9223372036854775808"), huge);
    }

    #[test]
    fn a_page_size_is_capped_in_silence() {
        let size = |raw| {
            Query(raw)
                .up_to("query.limit", 100, 500)
                .map_err(|e| e.to_string())
        };
        assert_eq!(size(""), Ok(100));
        assert_eq!(size("limit=7"), Ok(7));
        assert_eq!(size("limit=501"), Ok(500));
        assert_eq!(size("limit=999999999999999999999999"), Ok(500));
        let low = "query.limit: Input should be greater than or equal to 1".to_owned();
        assert_eq!(size("limit=0"), Err(low));
    }

    #[test]
    fn a_strict_query_holds_known_names_once() {
        let known = ["room_id".to_owned(), "since".to_owned()];
        let only = |raw, known: &[String]| {
            let refused = Query(raw).only(known).map_err(|error| error.detail);
            refused.map_err(std::borrow::Cow::into_owned)
        };
        for good in ["", "&", "room_id=a&since=1", "%72oom_id=a", "since"] {
            assert_eq!(only(good, &known), Ok(()), "{good}");
        }
        let unknown = "query.rom: Unknown parameter; this route takes room_id, since".to_owned();
        assert_eq!(only("since=1&rom=a", &known), Err(unknown));
        let none = "query.x: Unknown parameter; this route takes none".to_owned();
        assert_eq!(only("x", &[]), Err(none));
        let twice = "query.since: Given more than once".to_owned();
        assert_eq!(only("since=1&%73ince=1", &known), Err(twice));
        let long: &'static str = Box::leak("é".repeat(9000).into_boxed_str());
        assert!(only(long, &known).unwrap_err().len() < 200);
    }

    #[test]
    fn a_room_goes_by_two_names_and_one_at_a_time() {
        let id = "a9efd68c-8ac8-4893-be5e-5c1905d1ae03";
        let room = |raw: String| {
            let room = Query(&raw).room();
            room.map(|id| id.map(|id| id.to_string()))
                .map_err(|error| error.detail.into_owned())
        };
        assert_eq!(room(String::new()), Ok(None));
        assert_eq!(room(format!("room={id}")), Ok(Some(id.to_owned())));
        assert_eq!(room(format!("room_id={id}")), Ok(Some(id.to_owned())));
        let both = "query.room: Give room_id or room, not both".to_owned();
        assert_eq!(room(format!("room_id={id}&room={id}")), Err(both));
        assert_eq!(room("room=".to_owned()), Err("Invalid UUID".to_owned()));
    }

    #[test]
    fn choices_are_exact() {
        let sort = |raw| Query(raw).choice("query.sort", ["active", "new"]);
        assert_eq!(sort("").unwrap(), 0);
        assert_eq!(sort("sort=new").unwrap(), 1);
        let text = "query.sort: String should match pattern '^(active|new)$'";
        for raw in ["sort=", "sort=ACTIVE", "sort=new%0a"] {
            assert_eq!(sort(raw).unwrap_err().to_string(), text);
        }
    }
}
