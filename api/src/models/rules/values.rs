//! What a value looks like: money, numbers of things, times, terms.
//!
//! Invariant: a value is recognised whole or not at all. One word that is not understood may turn
//! its meaning around, so it makes nothing of all of them.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
/// Words that name a time by themselves.
const TIMES: [&str; 12] = [
    "today", "tomorrow", "noon", "midnight", "week", "month", "quarter", "year", "q1", "q2", "q3",
    "q4",
];
/// Words that stand beside them.
const BESIDE_TIMES: [&str; 10] = [
    "the", "this", "next", "end", "of", "at", "am", "pm", "utc", "morning",
];
const BEFORE_TIMES: [&str; 4] = ["by", "before", "from", "after"];
const NUMBERS: [&str; 12] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
];
const SPANS: [&str; 5] = ["hour", "day", "week", "month", "year"];
const CURRENCIES: [&str; 9] = [
    "eur", "usd", "gbp", "chf", "euro", "euros", "dollar", "dollars", "pounds",
];
/// What goods are measured in.
const GOODS: [&str; 26] = [
    "unit",
    "units",
    "piece",
    "pieces",
    "pcs",
    "box",
    "boxes",
    "pallet",
    "pallets",
    "container",
    "containers",
    "truckloads",
    "ton",
    "tons",
    "tonnes",
    "t",
    "kg",
    "m",
    "m²",
    "m³",
    "m2",
    "m3",
    "litres",
    "liters",
    "licences",
    "licenses",
];
/// What is counted is none of these.
const NOT_THINGS: [&str; 22] = [
    "of", "at", "for", "per", "is", "are", "to", "am", "pm", "more", "less", "and", "by", "on",
    "in", "percent", "times", "other", "others", "people", "minute", "minutes",
];

pub(super) fn is(word: &str, known: &str) -> bool {
    word.eq_ignore_ascii_case(known)
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| is(word, known))
}

/// `12`, `1,200.50`, `40k`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(['k', 'K']);
    let is_digit = |c: char| c.is_ascii_digit();
    digits.starts_with(is_digit)
        && digits.ends_with(is_digit)
        && digits.len() + 1 >= word.len()
        && digits.chars().all(|c| is_digit(c) || c == '.' || c == ',')
}

fn is_count(word: &str) -> bool {
    is_number(word) || is_one_of(word, &NUMBERS)
}

pub(super) fn is_percent(words: &[&str]) -> bool {
    matches!(words, [one] if one.strip_suffix('%').is_some_and(is_number))
}

/// `$12`, `€8.50`, `$12/unit`; `12 EUR`; `USD 12`. What comes behind it.
fn money<'a, 'b>(words: &'a [&'b str]) -> Option<&'a [&'b str]> {
    match words {
        [one, rest @ ..] if has_sign(one) => Some(rest),
        [a, b, rest @ ..]
            if (is_number(a) && is_one_of(b, &CURRENCIES))
                || (is_one_of(a, &CURRENCIES) && is_number(b)) =>
        {
            Some(rest)
        }
        _ => None,
    }
}

fn has_sign(word: &str) -> bool {
    let amount = word.strip_prefix(['$', '€', '£']);
    amount.is_some_and(|amount| match amount.split_once('/') {
        None => is_number(amount),
        Some((amount, per)) => is_number(amount) && is_plain(per),
    })
}

fn is_plain(word: &str) -> bool {
    word.starts_with(char::is_alphabetic) && word.chars().all(char::is_alphanumeric)
}

/// `$12 each`, `8 EUR per unit`, `$6,000 in total`.
pub(super) fn is_price(words: &[&str]) -> bool {
    let Some(mut rest) = money(words) else {
        return false;
    };
    loop {
        rest = match rest {
            [] => return true,
            [one, rest @ ..] if is_one_of(one, &["each", "apiece", "total", "net"]) => rest,
            [a, b, rest @ ..] if is(a, "in") && is(b, "total") => rest,
            [a, b, rest @ ..] if is_one_of(a, &["per", "a", "an"]) && is_plain(b) => rest,
            [a, b, rest @ ..]
                if is_one_of(a, &["plus", "excluding", "including"])
                    && is_one_of(b, &["vat", "tax", "taxes"]) =>
            {
                rest
            }
            _ => return false,
        };
    }
}

/// A price, or a bare number where money is meant: `40k`.
pub(super) fn is_sum(words: &[&str]) -> bool {
    matches!(words, [one] if is_number(one)) || is_price(words)
}

/// `500 units`, `40 m³`.
pub(super) fn is_quantity(words: &[&str]) -> bool {
    let [number, thing] = words else {
        return false;
    };
    let is_other = is_one_of(thing, &NOT_THINGS)
        || is_one_of(thing, &CURRENCIES)
        || is_span(thing)
        || is_month(thing)
        || is_one_of(thing, &DAYS);
    is_number(number) && is_plain(thing) && !is_other
}

/// A quantity of what is measured or packed.
pub(super) fn is_goods(words: &[&str]) -> bool {
    is_quantity(words) && words.last().is_some_and(|thing| is_one_of(thing, &GOODS))
}

/// `500 units`, `500`, `$500`.
pub(super) fn is_amount(words: &[&str]) -> bool {
    is_quantity(words) || is_sum(words)
}

fn is_span(word: &str) -> bool {
    let one = word.strip_suffix(['s', 'S']).unwrap_or(word);
    is_one_of(one, &SPANS)
}

/// `two years`, `14 days`, `10 business days`, `two-year`, `12-month`.
pub(super) fn is_duration(words: &[&str]) -> bool {
    match words {
        [one] => one
            .split_once('-')
            .is_some_and(|(count, span)| is_count(count) && is_span(span)),
        [count, span] => is_count(count) && is_span(span),
        [count, kind, span] => {
            is_count(count) && is_one_of(kind, &["business", "working"]) && is_span(span)
        }
        _ => false,
    }
}

/// A day, or a time to do something by: `2026-05-22`, `by March 3`, `next Friday at 10:00`,
/// `within 14 days`, `no later than June`.
pub(super) fn is_date(words: &[&str]) -> bool {
    let rest = match words {
        [a, rest @ ..] if is_one_of(a, &["within", "in"]) && is_duration(rest) => return true,
        [a, b, c, rest @ ..] if is(a, "no") && is(b, "later") && is(c, "than") => rest,
        [a, rest @ ..] if is_one_of(a, &BEFORE_TIMES) => rest,
        rest => rest,
    };
    let rest = rest.iter().map(|word| word.trim_end_matches(','));
    let mut names_a_time = false;
    for word in rest {
        if names(word) {
            names_a_time = true;
        } else if !is_one_of(word, &BESIDE_TIMES) && !is_ordinal(word) && !is_clock(word) {
            return false;
        }
    }
    names_a_time
}

fn is_month(word: &str) -> bool {
    let is_short = |month: &str| month.get(..3).is_some_and(|short| is(word, short));
    is_one_of(word, &MONTHS) || MONTHS.iter().any(|month| is_short(month))
}

fn names(word: &str) -> bool {
    is_month(word) || is_one_of(word, &DAYS) || is_one_of(word, &TIMES) || is_iso(word)
}

/// `2026-05-22`
fn is_iso(word: &str) -> bool {
    let parts: Vec<_> = word.split('-').map(str::len).collect();
    parts == [4, 2, 2] && word.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// `3`, `22nd`, `2027`
fn is_ordinal(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let behind = lower.strip_prefix(digits).unwrap_or_default();
    let is_short = (1..=4).contains(&digits.len());
    is_short
        && digits.chars().all(|c| c.is_ascii_digit())
        && ["", "st", "nd", "rd", "th"].contains(&behind)
}

/// `10:00`, `5pm`
fn is_clock(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let time = lower.trim_end_matches("am").trim_end_matches("pm");
    let is_digits =
        |part: &str| (1..=2).contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit());
    time.split_once(':')
        .map_or(is_digits(time) && time != lower, |(h, m)| {
            is_digits(h) && is_digits(m)
        })
}

/// `net 30`, `within 14 days`, `in advance`, `on delivery`.
pub(super) fn is_terms(words: &[&str]) -> bool {
    match words {
        [net, days] if is(net, "net") => is_number(days),
        [net, days, span] if is(net, "net") => is_number(days) && is_span(span),
        [one] => is(one, "upfront"),
        [a, b] if is(a, "in") => is(b, "advance"),
        [a, b] if is(a, "up") => is(b, "front"),
        [a, b] if is(a, "on") => is_one_of(b, &["delivery", "receipt", "acceptance"]),
        [a, rest @ ..] if is_one_of(a, &["within", "in"]) => is_duration(rest),
        _ => false,
    }
}

/// Whether two values say the same: in any case, by a day or on it, each or per unit.
pub(super) fn are_same(one: &str, other: &str) -> bool {
    essence(one) == essence(other)
}

fn essence(value: &str) -> Vec<String> {
    let lower = value.to_lowercase();
    let words = lower
        .split_whitespace()
        .map(|word| word.trim_end_matches(','));
    let words: Vec<&str> = words.collect();
    let words = match &words[..] {
        [first, rest @ ..] if is_one_of(first, &["by", "on", "at"]) => rest,
        words => words,
    };
    let words = match words {
        [rest @ .., per, one]
            if is_one_of(per, &["per", "a", "an"]) && is_one_of(one, &["unit", "piece"]) =>
        {
            rest
        }
        [rest @ .., each] if is_one_of(each, &["each", "apiece"]) => rest,
        words => words,
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}
