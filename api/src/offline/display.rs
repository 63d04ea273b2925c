//! Text from the log, made safe to show on a terminal.
//!
//! A message may hold escape sequences that move the cursor, retitle the window or reorder the
//! line. Everything that is not plain visible text is shown by its code point.

use std::{borrow::Cow, fmt::Write as _};

use minutebook_domain::text::unicode::is_unsafe_on_a_terminal;

/// The text on one line, control and format characters spelled out as `\u{1b}`, line breaks as
/// `\n`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe_on_a_terminal) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if is_unsafe_on_a_terminal(c) => {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// A number and its noun.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// At most `chars` characters of a text, with `…` when there were more.
pub fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// JSON text with everything unsafe inside its strings written as `\uXXXX`: the same JSON, safe to
/// show. JSON itself demands that only of the characters below U+0020.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if !json
        .chars()
        .any(|c| c != '\n' && is_unsafe_on_a_terminal(c))
    {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    let mut units = [0; 2];
    for c in json.chars() {
        if c == '\n' || !is_unsafe_on_a_terminal(c) {
            safe.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::{is_unsafe_on_a_terminal, printable, printable_json, shortened};

    #[test]
    fn escape_sequences_and_reordering_are_spelled_out() {
        for (text, safe) in [
            ("plain é 🧱 👩\u{200d}💻", "plain é 🧱 👩\u{200d}💻"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{9b}31m\u{7f}\u{0}", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}"),
            ("\u{feff}\u{2028}", "\\u{feff}\\u{2028}"),
        ] {
            assert_eq!(printable(text), safe, "{text:?}");
        }
    }

    #[test]
    fn safe_json_is_the_same_json() {
        let value = serde_json::json!({"a": "\u{1b}[2J \u{9b} \u{202e} \u{e0001} é"});
        let text = serde_json::to_string(&value).unwrap();
        let safe = printable_json(&text);
        assert!(safe.chars().all(|c| !is_unsafe_on_a_terminal(c)), "{safe}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&safe).unwrap(),
            value
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("ééé", 3), "ééé");
        assert_eq!(shortened("ééé", 2), "éé…");
    }
}
