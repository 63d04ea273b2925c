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
        if self.0.contains(turns) {
            return None;
        }
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

/// How many marks may stand between a word and the blanks around it.
const MARKS_MAX: usize = 16;

/// Whether words of a message begin in the middle of one of its words or numbers.
fn cuts_begin(before: &str, words: &str) -> bool {
    let Some(first) = words.chars().next() else {
        return false;
    };
    let is_fraction = first.is_numeric() && before.ends_with(['.', ',', ':']);
    is_fraction || is_group(before, words) || !is_free(first, before.chars().rev())
}

/// The same of their end.
fn cuts_end(words: &str, after: &str) -> bool {
    let Some(last) = words.chars().next_back() else {
        return false;
    };
    is_group(words, after) || !is_free(last, after.chars())
}

/// Whether nothing but marks stands between a word's end and the next blank, outwards. What is no
/// letter, digit or such a mark (a hyphen, a sign, a joiner, half an emoji) makes another word of
/// it.
fn is_free(end: char, outside: impl Iterator<Item = char>) -> bool {
    if has_no_blanks(end) {
        return true;
    }
    for c in outside.take(MARKS_MAX) {
        if c == ' ' || has_no_blanks(c) {
            return true;
        }
        if !is_mark(c) {
            return false;
        }
    }
    true
}

/// What stands beside a word and is no part of it.
fn is_mark(c: char) -> bool {
    is_around(c)
        || matches!(
            c,
            ',' | ';'
                | ':'
                | '!'
                | '?'
                | '('
                | ')'
                | '{'
                | '}'
                | '*'
                | '_'
                | '~'
                | '¡'
                | '¿'
                | '،'
                | '؛'
                | '؟'
                | '。'
                | '、'
                | '，'
                | '！'
                | '？'
                | '：'
                | '；'
                | '（'
                | '）'
        )
}

/// Whether two pieces are a number in groups of three: `1 000`.
fn is_group(left: &str, right: &str) -> bool {
    let is_blank = left.ends_with(' ') || right.starts_with(' ');
    let digits = right.trim_start().bytes().take_while(u8::is_ascii_digit);
    let left = left.trim_end();
    is_blank && left.ends_with(|c: char| c.is_ascii_digit()) && digits.count() == 3
}

/// Whether this is of a script that does not put blanks between words: from Thai on those of Asia,
/// but for a few.
fn has_no_blanks(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{2fff}'
            | '\u{3021}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether a text turns the direction of others around: then what is read is not what is stored.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
            ("D'accord", "D'accord"),
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
            ("I dis\u{200b}agree", "agree"),
            ("un\u{ad}limited", "limited"),
            ("can\u{200b}’t", "can"),
            ("n\u{338}o", "n"),
            ("x\u{302}", "x"),
            ("won`t", "won"),
            ("don\u{ff07}t", "don"),
            ("don't", "t"),
            ("do_not_agree", "agree"),
            ("non-refundable", "refundable"),
            ("-8", "8"),
            ("8-10", "8"),
            ("8%", "8"),
            ("$8", "8"),
            ("1/2", "1"),
            ("10:30", "10"),
            ("10:30", "30"),
            ("0.5", "5"),
            (".5", "5"),
            ("1 000 000", "000"),
            ("1 000 000", "1"),
            ("\u{1f468}\u{200d}\u{1f469}", "\u{1f468}"),
            ("\u{1f44d}\u{1f3fd}", "\u{1f44d}"),
            ("\u{2764}\u{fe0f}", "\u{2764}"),
            ("\u{202e}08$", "08$"),
            ("\u{202e}08$", "\u{202e}08$"),
        ] {
            assert_eq!(quote(text, quoted), None, "{quoted} of {text}");
        }
        // The whole word may come later.
        assert_eq!(
            quote("I disagree. Or agree?", "agree").as_deref(),
            Some("agree")
        );
        for (text, quoted) in [
            ("Price: $8.", "$8"),
            ("we *agree*, (really)", "agree"),
            ("we *agree*, (really)", "really"),
            ("May 20 2026", "May 20"),
            ("12 boxes", "12"),
            ("¿Vale? ¡Sí!", "Vale"),
        ] {
            assert_eq!(quote(text, quoted).as_deref(), Some(quoted));
        }
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
