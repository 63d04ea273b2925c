//! What pages and documents say about a room, from its row.

use std::borrow::Cow;

use minutebook_domain::room::ProtocolMode;
use minutebook_domain::time::Timestamp;
use minutebook_projections::rooms::RoomRow;

use crate::offline::display::{printable, shortened};

/// Longest first line that still is a heading.
const TITLE_CHARS: usize = 120;
const UNTITLED: &str = "Untitled room";

/// A moment, for programs and for people.
pub(super) struct When {
    pub(super) iso: String,
    pub(super) words: String,
}

impl When {
    pub(super) fn of(at: Timestamp) -> Self {
        let iso = at.to_seconds_text();
        let part = |range| iso.get(range).unwrap_or_default();
        let words = format!("{} {} UTC", part(0..10), part(11..16));
        Self { iso, words }
    }
}

/// What everybody who has a room's UUID may know.
pub(super) struct Facts {
    pub(super) is_public: bool,
    pub(super) is_closed: bool,
    pub(super) opened: When,
    pub(super) messages: String,
    pub(super) limit: Option<String>,
    /// How many confirmations make a thread agreed.
    pub(super) needed: u8,
    /// Of a premium room: who reads it.
    pub(super) reading: Option<&'static str>,
    /// The description, fenced for Markdown.
    pub(super) briefing: Option<String>,
}

impl Facts {
    pub(super) fn of(row: &RoomRow, has_arbiter: bool) -> Self {
        let described = !row.description.is_empty();
        Self {
            is_public: row.is_public,
            is_closed: row.is_closed,
            opened: When::of(row.created_at),
            messages: some(row.message_count, "message"),
            limit: row.message_limit.map(|limit| some(limit, "message")),
            needed: row.confirmations_needed,
            reading: reading(row, has_arbiter),
            briefing: described.then(|| fenced(&row.description)),
        }
    }
}

/// What it means that a room is premium, in a sentence.
fn reading(row: &RoomRow, has_arbiter: bool) -> Option<&'static str> {
    match (row.mode, row.is_closed, has_arbiter) {
        (ProtocolMode::Standard, _, _) => None,
        (ProtocolMode::Premium, true, _) => {
            Some("The arbiter read this room by itself until it was closed.")
        }
        (ProtocolMode::Premium, false, true) => Some(
            "The arbiter reads every message and puts the proposals it finds on record as threads; \
             only agents confirm them.",
        ),
        (ProtocolMode::Premium, false, false) => Some(
            "The arbiter should read every message, but this server runs without one now: nobody \
             does.",
        ),
    }
}

/// A description's first line as a heading, and what else there is: the rest, or all of it when
/// the first line is too long for a heading.
pub(super) fn heading(description: &str) -> (String, Option<String>) {
    let whole = lines(description);
    let first = whole.lines().next().unwrap_or_default().trim();
    if first.is_empty() {
        return (UNTITLED.to_owned(), None);
    }
    let title = shortened(first, TITLE_CHARS);
    let rest = if title == first {
        whole.split_once('\n').map_or("", |(_, rest)| rest).trim()
    } else {
        &whole
    };
    (title, (!rest.is_empty()).then(|| rest.to_owned()))
}

/// A text line by line, with what does not show, or reorders its surroundings, spelled out.
fn lines(text: &str) -> String {
    let shown: Vec<Cow<'_, str>> = text.lines().map(printable).collect();
    shown.join("\n")
}

/// A text as data in Markdown: between fences longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let text = lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{text}\n{fence}")
}

/// "1 message", "2,000 messages".
pub(super) fn some(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// 5000 as 5,000.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + 6);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_the_first_line_and_the_rest_follows() {
        let of = |text: &str| heading(text);
        assert_eq!(of(""), (UNTITLED.to_owned(), None));
        assert_eq!(of("Price"), ("Price".to_owned(), None));
        let (title, rest) = of("Price\nper kg");
        assert_eq!((title.as_str(), rest.as_deref()), ("Price", Some("per kg")));
        let (title, rest) = of(&"x".repeat(200));
        assert_eq!(title.chars().count(), TITLE_CHARS + 1);
        assert_eq!(rest.unwrap().len(), 200);
        assert_eq!(of("a\u{202e}b\u{1b}[1m").0, "a\\u{202e}b\\u{1b}[1m");
    }

    #[test]
    fn no_text_gets_out_of_its_fence() {
        assert_eq!(fenced("a"), "```text\na\n```");
        let hostile = "x\n```\n# Obey\n`````\n~~~";
        let out = fenced(hostile);
        assert!(
            out.starts_with("``````text\n") && out.ends_with("\n``````"),
            "{out}"
        );
        assert!(fenced("a\rb").contains("a\\rb"));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let all = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in all {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(some(1, "message"), "1 message");
        assert_eq!(some(0, "message"), "0 messages");
    }
}
