//! Characters that are not plain visible text, in one table for all who must mind them, written
//! out so that it changes only when we say so: a library's newer Unicode tables must not make an
//! old record unlawful.
//!
//! Two classes
//! * [`is_barred_from_names`]: control (Cc), format (Cf of Unicode 16), line and paragraph
//!   separators (Zl, Zp). Frozen: a name that was lawful stays so.
//! * [`is_unsafe_on_a_terminal`]: what moves the cursor, breaks or reorders the line or hides text
//!   when it is shown. The same, but for the two joiners, which emoji and several scripts need and
//!   which act on their neighbours alone; and with the code points beside format characters that
//!   are kept for more of them.

/// Who minds a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Names and terminals.
    Both,
    /// Names alone.
    Names,
    /// Terminals alone.
    Terminal,
}

/// First and last of each range, in order. Everything else is plain.
const TABLE: [(char, char, Class); 32] = [
    ('\0', '\u{1f}', Class::Both),
    ('\u{7f}', '\u{9f}', Class::Both),
    ('\u{ad}', '\u{ad}', Class::Both),
    ('\u{600}', '\u{605}', Class::Both),
    ('\u{61c}', '\u{61c}', Class::Both),
    ('\u{6dd}', '\u{6dd}', Class::Both),
    ('\u{70f}', '\u{70f}', Class::Both),
    ('\u{890}', '\u{891}', Class::Both),
    ('\u{8e2}', '\u{8e2}', Class::Both),
    ('\u{180e}', '\u{180e}', Class::Both),
    ('\u{200b}', '\u{200b}', Class::Both),
    // Zero width non-joiner and joiner.
    ('\u{200c}', '\u{200d}', Class::Names),
    ('\u{200e}', '\u{200f}', Class::Both),
    // Line and paragraph separators.
    ('\u{2028}', '\u{2029}', Class::Both),
    ('\u{202a}', '\u{202e}', Class::Both),
    ('\u{2060}', '\u{2064}', Class::Both),
    ('\u{2065}', '\u{2065}', Class::Terminal),
    ('\u{2066}', '\u{206f}', Class::Both),
    ('\u{feff}', '\u{feff}', Class::Both),
    ('\u{fff0}', '\u{fff8}', Class::Terminal),
    ('\u{fff9}', '\u{fffb}', Class::Both),
    ('\u{110bd}', '\u{110bd}', Class::Both),
    ('\u{110cd}', '\u{110cd}', Class::Both),
    ('\u{13430}', '\u{1343f}', Class::Both),
    ('\u{1bca0}', '\u{1bca3}', Class::Both),
    ('\u{1d173}', '\u{1d17a}', Class::Both),
    ('\u{e0000}', '\u{e0000}', Class::Terminal),
    ('\u{e0001}', '\u{e0001}', Class::Both),
    ('\u{e0002}', '\u{e001f}', Class::Terminal),
    ('\u{e0020}', '\u{e007f}', Class::Both),
    // Before and after the variation selectors, which belong to the character before them.
    ('\u{e0080}', '\u{e00ff}', Class::Terminal),
    ('\u{e01f0}', '\u{e0fff}', Class::Terminal),
];

fn class(c: char) -> Option<Class> {
    let at = TABLE.partition_point(|(_, last, _)| *last < c);
    let (first, _, class) = TABLE.get(at)?;
    (*first <= c).then_some(*class)
}

/// Whether a character has no place in a name.
pub fn is_barred_from_names(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match class(c) {
        Some(Class::Both | Class::Names) => true,
        Some(Class::Terminal) | None => false,
    }
}

/// Whether a character must be spelled out when a text is shown on a terminal.
pub fn is_unsafe_on_a_terminal(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match class(c) {
        Some(Class::Both | Class::Terminal) => true,
        Some(Class::Names) | None => false,
    }
}

/// Trims as Python's `str.strip()` does, which the peers' clients rely on (seed 003).
/// Unlike `str::trim` this includes U+001C to U+001F.
pub fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_does_not_overlap() {
        for pair in TABLE.windows(2) {
            let [(first, last, _), (next, ..)] = pair else {
                panic!("windows of two");
            };
            assert!(first <= last && last < next, "{last:?} {next:?}");
        }
    }

    #[test]
    fn every_member_is_in_its_class_and_its_neighbours_are_not() {
        for (first, last, class) in TABLE {
            for c in first..=last {
                assert_eq!(is_barred_from_names(c), class != Class::Terminal, "{c:?}");
                assert_eq!(is_unsafe_on_a_terminal(c), class != Class::Names, "{c:?}");
            }
        }
        let in_table = |c: char| TABLE.iter().any(|(a, b, _)| (*a..=*b).contains(&c));
        for c in ('\0'..=char::MAX).filter(|c| !in_table(*c)) {
            assert!(
                !is_barred_from_names(c) && !is_unsafe_on_a_terminal(c),
                "{c:?}"
            );
            assert!(!c.is_control(), "{c:?}");
        }
    }

    #[test]
    fn joiners_and_selectors_are_shown_and_separators_are_not() {
        for c in ['\u{200c}', '\u{200d}'] {
            assert!(
                is_barred_from_names(c) && !is_unsafe_on_a_terminal(c),
                "{c:?}"
            );
        }
        for c in ['\u{2028}', '\u{2029}', '\u{85}', '\u{1b}', '\u{202e}'] {
            assert!(
                is_barred_from_names(c) && is_unsafe_on_a_terminal(c),
                "{c:?}"
            );
        }
        for c in ['\u{fe0f}', '\u{e0100}', 'é', '日', '🙂', '\u{fffd}'] {
            assert!(
                !is_barred_from_names(c) && !is_unsafe_on_a_terminal(c),
                "{c:?}"
            );
        }
    }

    /// The sum of the code points, so that no edit of the table goes unnoticed: a record's name
    /// must be judged tomorrow as it is today.
    #[test]
    fn what_is_barred_from_names_is_frozen() {
        let barred = ('\0'..=char::MAX).filter(|c| is_barred_from_names(*c));
        let (count, sum) = barred.fold((0_u32, 0_u64), |(n, sum), c| {
            (n + 1, sum + u64::from(u32::from(c)))
        });
        assert_eq!((count, sum), (237, 92_333_743));
    }
}
