//! Quotes: what a model says that a message says is looked for in the message.
//!
//! Invariants
//! * A quote is words of the message, in their order and whole: a model that leaves the end off
//!   `can't` or `$80` would have somebody say something else. Only the longest quote cuts one.
//! * White space and the normal form of Unicode make no difference; what a model puts around a
//!   quote (quotation marks, dots) is left out.

use minutebook_domain::limits::QUOTE_CHARS_MAX;
use minutebook_domain::text::Quote;
use unicode_normalization::UnicodeNormalization as _;

/// A message, to look for quotes in.
pub(super) struct Said(String);

impl Said {
    /// The message with this text.
    pub(super) fn new(text: &str) -> Self {
        Self(plain(text))
    }

    /// The words of the message that are quoted so; none if it does not have them.
    pub(super) fn quote(&self, quoted: &str) -> Option<Quote> {
        let quoted = plain(quoted);
        let bare = quoted.trim_matches(is_around);
        let mut spellings = [quoted.as_str(), bare].into_iter();
        let words = spellings.find(|words| self.has(words))?;
        Quote::parse(cut(words)).ok()
    }

    fn has(&self, words: &str) -> bool {
        let mut found = self.0.match_indices(words);
        let is_whole = |(start, _)| {
            let (before, rest) = self.0.split_at(start);
            let (_, after) = rest.split_at(words.len());
            !cuts_begin(before, words) && !cuts_end(words, after)
        };
        !words.is_empty() && found.any(is_whole)
    }
}

/// A text in NFC, its words with one blank between them.
fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.is_ascii() {
        return text;
    }
    text.nfc().collect()
}

/// What models put around quotes.
fn is_around(c: char) -> bool {
    let is_quotation_mark = matches!(
        c,
        '"' | '\'' | '`' | '«' | '»' | '‹' | '›' | '‘'..='‟' | '「'..='』' | '＂' | '＇'
    );
    is_quotation_mark || matches!(c, '.' | '…' | '[' | ']') || c.is_whitespace()
}

/// Whether words of a message begin in the middle of one of its words or numbers.
fn cuts_begin(before: &str, words: &str) -> bool {
    let Some(first) = words.chars().next() else {
        return false;
    };
    let mut before = before.chars().rev();
    match before.next() {
        Some('.' | ',') => first.is_numeric() && before.next().is_some_and(char::is_numeric),
        Some(last) => is_of_a_word(last) && is_of_a_word(first),
        None => false,
    }
}

/// The same of their end.
fn cuts_end(words: &str, after: &str) -> bool {
    let Some(last) = words.chars().next_back() else {
        return false;
    };
    let mut after = after.chars();
    match after.next() {
        Some('.' | ',') => last.is_numeric() && after.next().is_some_and(char::is_numeric),
        Some('\'' | '’') => last.is_alphabetic() && after.next().is_some_and(char::is_alphabetic),
        Some(first) => is_of_a_word(last) && is_of_a_word(first),
        None => false,
    }
}

/// Whether this is of a script that puts blanks between words. From Thai on, but for a few, the
/// scripts of Asia do not.
fn is_of_a_word(c: char) -> bool {
    let has_no_blanks = matches!(
        c,
        '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}'
    );
    c.is_alphanumeric() && !has_no_blanks
}

/// As many whole words as a quote takes.
fn cut(words: &str) -> &str {
    let Some((end, _)) = words.char_indices().nth(QUOTE_CHARS_MAX) else {
        return words;
    };
    let (kept, rest) = words.split_at(end);
    if rest.starts_with(' ') {
        return kept;
    }
    kept.rsplit_once(' ').map_or(kept, |(kept, _)| kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quote(text: &str, quoted: &str) -> Option<String> {
        let quote = Said::new(text).quote(quoted)?;
        Some(quote.as_str().to_owned())
    }

    #[test]
    fn a_quote_is_words_of_the_message() {
        let text = "Livraison le\u{a0}20 mai,\n  au\tplus tard. D'accord ?";
        for (quoted, words) in [
            ("le 20 mai", "le 20 mai"),
            ("le  20\nmai, au plus", "le 20 mai, au plus"),
            ("accord", "accord"),
            (text, "Livraison le 20 mai, au plus tard. D'accord ?"),
        ] {
            assert_eq!(quote(text, quoted).as_deref(), Some(words), "{quoted}");
        }
        for quoted in [
            "never said",
            "le 21 mai",
            "LE 20 MAI",
            "20 mai tard",
            "",
            " ",
        ] {
            assert_eq!(quote(text, quoted), None, "{quoted}");
        }
        assert_eq!(quote("", "hello"), None);
    }

    #[test]
    fn what_a_model_puts_around_a_quote_is_left_out() {
        for quoted in [
            "\"so it is\"",
            "“so it is”",
            "«\u{a0}so it is\u{a0}»",
            "…so it is…",
            "... so it is.",
            "'so it is'",
            "[...] so it is [...]",
            "「so it is」",
        ] {
            assert_eq!(
                quote("Well, so it is!", quoted).as_deref(),
                Some("so it is"),
                "{quoted}"
            );
        }
        // Marks of the message's own are its words.
        assert_eq!(
            quote("He said \"yes\".", "\"yes\".").as_deref(),
            Some("\"yes\".")
        );
        assert_eq!(quote("hello", "\"...\""), None);
    }

    #[test]
    fn half_a_word_is_no_quote() {
        for (text, quoted) in [
            ("I disagree", "agree"),
            ("I can't", "I can"),
            ("I can’t", "I can"),
            ("Price: $80", "$8"),
            ("Price: $8.50", "$8"),
            ("Price: 1,800", "800"),
            ("нельзя", "льзя"),
        ] {
            assert_eq!(quote(text, quoted), None, "{quoted} of {text}");
        }
        // The whole word may come later.
        assert_eq!(
            quote("I disagree. Or agree?", "agree").as_deref(),
            Some("agree")
        );
        assert_eq!(quote("Price: $8.", "$8").as_deref(), Some("$8"));
        assert_eq!(quote("价格为8元每件", "8元").as_deref(), Some("8元"));
        assert_eq!(quote("ราคาแปดบาท", "แปดบาท").as_deref(), Some("แปดบาท"));
    }

    #[test]
    fn another_normal_form_is_the_same_word() {
        assert_eq!(
            quote("cafe\u{301} noir", "caf\u{e9}").as_deref(),
            Some("caf\u{e9}")
        );
        assert_eq!(
            quote("caf\u{e9} noir", "cafe\u{301}").as_deref(),
            Some("caf\u{e9}")
        );
    }

    #[test]
    fn a_long_quote_ends_with_a_word() {
        let text = "twelve signs ".repeat(90);
        let words = quote(&text, &text).unwrap();
        assert!(
            words.chars().count() <= QUOTE_CHARS_MAX && words.ends_with("signs"),
            "{words}"
        );
        let one = "x".repeat(QUOTE_CHARS_MAX + 1);
        assert_eq!(quote(&one, &one).unwrap().len(), QUOTE_CHARS_MAX);
    }
}
