//! Whether a text can be English, by its letters.
//!
//! Invariants
//! * A text without a letter of another script passes, whatever its language: telling languages
//!   apart would take a library and be wrong about short texts.
//! * Digits, marks and signs are of no script and never count.

/// Letters that are Latin, and letters of no script (`µ`, `ª`, `ℓ`, `𝑥`).
const LATIN: [std::ops::RangeInclusive<char>; 16] = [
    '\0'..='\u{2ff}',
    '\u{1d00}'..='\u{1dbf}',
    '\u{1e00}'..='\u{1eff}',
    '\u{2070}'..='\u{209f}',
    '\u{2100}'..='\u{218f}',
    '\u{24b6}'..='\u{24e9}',
    '\u{2c60}'..='\u{2c7f}',
    '\u{a720}'..='\u{a7ff}',
    '\u{ab30}'..='\u{ab6f}',
    '\u{fb00}'..='\u{fb06}',
    '\u{ff21}'..='\u{ff3a}',
    '\u{ff41}'..='\u{ff5a}',
    '\u{10780}'..='\u{107bf}',
    '\u{1d400}'..='\u{1d7ff}',
    '\u{1df00}'..='\u{1dfff}',
    '\u{1f130}'..='\u{1f189}',
];

/// Whether all letters are Latin. Digits and signs are of every script, and so is a Greek letter
/// that stands alone, as in `10 μs` and `Δt`.
pub(super) fn is_latin(text: &str) -> bool {
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_sign = is_greek(letter)
            && !before.is_some_and(is_greek)
            && !letters.peek().copied().is_some_and(is_greek);
        if letter.is_alphabetic() && !is_sign && !LATIN.iter().any(|range| range.contains(&letter))
        {
            return false;
        }
        before = Some(letter);
    }
    true
}

fn is_greek(letter: char) -> bool {
    matches!(letter, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_scripts_are_told_by_their_letters() {
        for text in [
            "",
            "Price",
            "$8 – 40 %",
            "naïve Ångström, đồng",
            "ﬁn",
            "Ａ",
            "Ⅷ",
            "№ 3",
            "5 kΩ, 5 kΩ",
            "10 μs",
            "Δt ≤ π",
            "🧱 €",
            "٣",
            "e\u{301}",
        ] {
            assert!(is_latin(text), "{text}");
        }
        for text in [
            "Цена",
            "price Цена",
            "Рrice",
            "τιμή",
            "価格",
            "价",
            "가격",
            "السعر",
            "מחיר",
            "मूल्य",
            "ราคา",
            "გ",
            "Ⴀ",
        ] {
            assert!(!is_latin(text), "{text}");
        }
    }
}
