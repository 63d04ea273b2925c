//! What a message is about: its sentences, and what each of them plainly proposes.
//!
//! Invariants
//! * A sentence that asks, or that hedges (`if`, `but`, `not`, `or` …), proposes nothing: half of
//!   what it says is more than it says.
//! * A subject comes from the table of labels, so that one matter has one name however it is put.
//! * A value is understood to its last word, but behind a label, where it is what is written.

use super::values::{self, is};
use super::words::{
    DELIVERS, DELIVERY, DISCOUNT, FILLERS, Fits, HEDGES, JOINS, LABELS, OPENINGS, PRICE, PROPOSES,
    QUANTITY, STATES, TERMS,
};

/// Most matters of one message.
pub(super) const MATTERS_MAX: usize = 8;
/// Longest value, in code points.
pub(super) const VALUE_CHARS_MAX: usize = 200;

/// A matter found in a message.
#[derive(Debug)]
pub(super) struct Matter<'a> {
    pub(super) subject: String,
    pub(super) value: String,
    pub(super) quote: &'a str,
}

/// A subject and its value.
type Found = (&'static str, String);

/// All matters of a message, each once.
pub(super) fn matters(text: &str) -> Vec<Matter<'_>> {
    let mut out: Vec<Matter<'_>> = Vec::new();
    let sentences = text.lines().flat_map(sentences);
    for sentence in sentences.filter(|sentence| sentence.chars().all(is_plain)) {
        for (subject, value) in of_sentence(sentence) {
            let is_new = out.iter().all(|other| other.subject != subject);
            if is_new && out.len() < MATTERS_MAX {
                let (subject, value) = (subject.to_owned(), cut(&value));
                out.push(Matter {
                    subject,
                    value,
                    quote: sentence,
                });
            }
        }
    }
    out
}

/// English is written in these; whatever else there is, it is not for a few patterns.
fn is_plain(c: char) -> bool {
    c.is_ascii() || "€£²³°’“”–".contains(c)
}

fn cut(value: &str) -> String {
    value.chars().take(VALUE_CHARS_MAX).collect()
}

/// A line's sentences, questions with their mark. A point inside a number or an address ends none.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive(". ")
        .flat_map(|part| part.split_inclusive("; "))
        .flat_map(|part| part.split_inclusive("? "))
        .flat_map(|part| part.split_inclusive("! "))
        .map(|part| part.trim().trim_end_matches(['.', ';', '!']).trim())
        .filter(|part| !part.is_empty())
}

fn of_sentence(sentence: &str) -> Vec<Found> {
    if sentence.ends_with('?') {
        return Vec::new();
    }
    let plain = sentence.replace('’', "'");
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.iter().any(|word| is_hedge(word)) {
        return Vec::new();
    }
    if let Some(found) = labelled(sentence) {
        return vec![found];
    }
    if let Some(rest) = opened(&words) {
        if let Some(found) = labelled(&joined(rest)) {
            return vec![found];
        }
        return clauses(rest)
            .iter()
            .flat_map(|clause| parts(clause))
            .collect();
    }
    let clauses = clauses(&words);
    let Some((first, others)) = clauses.split_first() else {
        return Vec::new();
    };
    let Some(stated) = stated(first) else {
        return Vec::new();
    };
    let others = others.iter().flat_map(|clause| parts(clause));
    std::iter::once(stated).chain(others).collect()
}

fn is_hedge(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    HEDGES.iter().any(|hedge| is(word, hedge)) || word.to_ascii_lowercase().ends_with("n't")
}

/// `Price: $8`, whatever the value.
fn labelled(sentence: &str) -> Option<Found> {
    let (label, value) = sentence.split_once(':')?;
    let label = label.trim().trim_start_matches(['-', '*', ' ']);
    let label: Vec<&str> = label.split_whitespace().collect();
    let found = LABELS.iter().find(|(name, _, _)| are(&label, name));
    let (_, subject, fits) = found.filter(|(name, _, _)| *name != ["paid"])?;
    let value = value.trim();
    let words: Vec<&str> = value.split_whitespace().collect();
    // A delivery or a payment of which something else is said is not its day and not its terms.
    let subject = match *subject {
        DELIVERY if label.len() == 1 && !fits(&words) => "Delivery",
        TERMS if label.len() == 1 && !fits(&words) => "Payment",
        subject => subject,
    };
    (!value.is_empty()).then(|| (subject, value.to_owned()))
}

/// What comes behind the beginning of a proposal.
fn opened<'a, 'b>(words: &'a [&'b str]) -> Option<&'a [&'b str]> {
    if let Some(rest) = OPENINGS.iter().find_map(|opening| behind(words, opening)) {
        return Some(rest);
    }
    let (who, rest) = words.split_first()?;
    let will = ["i'll", "we'll"].iter().any(|known| is(who, known));
    if !will && !is(who, "i") && !is(who, "we") {
        return None;
    }
    let rest = match rest {
        [can, rest @ ..] if is(can, "can") || is(can, "will") => rest,
        rest => rest,
    };
    let (verb, behind) = rest.split_first()?;
    let verb = bare(verb);
    if PROPOSES.iter().any(|known| is(verb, known)) {
        return Some(behind);
    }
    let acts = DELIVERS.iter().chain(&["pay"]);
    acts.copied().any(|known| is(verb, known)).then_some(rest)
}

fn bare(word: &str) -> &str {
    word.trim_end_matches([',', ':'])
}

/// The words behind others, if they begin with them.
fn behind<'a, 'b>(words: &'a [&'b str], first: &[&str]) -> Option<&'a [&'b str]> {
    let (head, rest) = words.split_at_checked(first.len())?;
    are(head, first).then_some(rest)
}

/// The words before others, if they end with them.
fn before<'a, 'b>(words: &'a [&'b str], last: &[&str]) -> Option<&'a [&'b str]> {
    let (rest, tail) = words.split_at_checked(words.len().checked_sub(last.len())?)?;
    are(tail, last).then_some(rest)
}

fn are(words: &[&str], known: &[&str]) -> bool {
    let same = words
        .iter()
        .zip(known)
        .all(|(word, known)| is(bare(word), known));
    words.len() == known.len() && same
}

fn joined(words: &[&str]) -> String {
    words.join(" ")
}

/// What commas part. A year stays with its day.
fn clauses<'b>(words: &[&'b str]) -> Vec<Vec<&'b str>> {
    let is_year = |word: &&str| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    let mut out: Vec<Vec<&str>> = Vec::new();
    let mut clause = Vec::new();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        if word.ends_with(',') && !words.peek().is_some_and(is_year) {
            clause.push(word.trim_end_matches(','));
            out.push(std::mem::take(&mut clause));
        } else {
            clause.push(word);
        }
    }
    out.push(clause);
    out.retain(|clause| !clause.is_empty());
    out
}

/// What a clause says: as a whole, or each of the parts that `and` or `with` joins; all or none.
fn parts(clause: &[&str]) -> Vec<Found> {
    if let Some(found) = phrase(clause) {
        return found;
    }
    let parts = clause.split(|word| is(word, "and") || is(word, "with"));
    let parts: Option<Vec<_>> = parts.filter(|part| !part.is_empty()).map(phrase).collect();
    parts.unwrap_or_default().into_iter().flatten().collect()
}

fn phrase(words: &[&str]) -> Option<Vec<Found>> {
    let start = words
        .iter()
        .position(|word| !FILLERS.iter().any(|filler| is(word, filler)))?;
    let words = words.get(start..)?;
    if let Some(found) = named_first(words, Join::Any).or_else(|| named_last(words)) {
        return Some(vec![found]);
    }
    match words {
        [verb, rest @ ..] if DELIVERS.iter().any(|known| is(verb, known)) => delivered(rest),
        [verb, rest @ ..] if is(verb, "pay") => {
            two(rest, (PRICE, values::is_price), (TERMS, values::is_terms))
        }
        words => goods(words).or_else(|| {
            let is_terms = values::is_terms(words);
            is_terms.then(|| vec![(TERMS, joined(words))])
        }),
    }
}

/// `500 units by March 3`, `500 units at $12 each by March 3`.
fn delivered(words: &[&str]) -> Option<Vec<Found>> {
    let day: (&'static str, Fits) = (DELIVERY, values::is_date);
    let whole = two(words, (QUANTITY, values::is_quantity), day);
    whole.or_else(|| {
        (1..words.len()).find_map(|middle| {
            let (things, when) = words.split_at_checked(middle)?;
            let mut found = goods(things)?;
            let when = two(when, day, day)?;
            (when.len() == 1).then(|| {
                found.extend(when);
                found
            })
        })
    })
}

/// `500 units at $12 each`, `500 units`, `$12 each`.
fn goods(words: &[&str]) -> Option<Vec<Found>> {
    let (quantity, price) = (
        (QUANTITY, values::is_quantity as Fits),
        (PRICE, values::is_price as Fits),
    );
    let at = words
        .iter()
        .position(|word| is(word, "at") || is(word, "for"));
    let Some((things, [_, each @ ..])) = at.and_then(|at| words.split_at_checked(at)) else {
        return two(words, quantity, price);
    };
    let is_both = quantity.1(things) && price.1(each);
    is_both.then(|| vec![(QUANTITY, joined(things)), (PRICE, joined(each))])
}

/// `The budget is 40k`: somebody says how a matter stands.
fn stated(words: &[&str]) -> Option<Found> {
    let words = match words {
        [one, rest @ ..] if ["the", "our", "my"].iter().any(|known| is(one, known)) => rest,
        words => words,
    };
    named_first(words, Join::States)
}

/// What may stand between a matter and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// What makes a statement of it.
    States,
    /// Anything that joins, or nothing.
    Any,
}

/// `delivery by March 3`, `a price of $8`, `set the deadline to Friday`.
fn named_first(words: &[&str], join: Join) -> Option<Found> {
    let joins: &[&[&str]] = match join {
        Join::Any => &JOINS,
        Join::States => &STATES,
    };
    LABELS.iter().find_map(|(name, subject, fits)| {
        let rest = behind(words, name)?;
        let value = joins.iter().find_map(|join| behind(rest, join));
        let value = value.or((join == Join::Any).then_some(rest))?;
        let value = match value {
            [on, rest @ ..] if is(on, "on") && values::is_date(rest) => rest,
            value => value,
        };
        // `payment on delivery` says how, `delivery on Friday` says when.
        let value = if fits(value) { value } else { rest };
        (fits(value) && !value.is_empty()).then(|| (*subject, joined(value)))
    })
}

/// `net 30 payment terms`, `a two-year warranty`, `Friday as the deadline`, `10% discount on …`.
fn named_last(words: &[&str]) -> Option<Found> {
    if let [percent, discount, on, ..] = words
        && is(discount, "discount")
        && values::is_percent(&[percent])
        && (is(on, "on") || is(on, "for"))
    {
        let rest = words.get(2..).unwrap_or_default();
        return Some((DISCOUNT, format!("{percent} {}", joined(rest))));
    }
    LABELS.iter().find_map(|(name, subject, fits)| {
        let value = before(words, name)?;
        let cases: [&[&str]; 4] = [&["as", "the"], &["as", "our"], &["as", "a"], &["as"]];
        let value = cases
            .iter()
            .find_map(|case| before(value, case))
            .unwrap_or(value);
        (fits(value) && !value.is_empty()).then(|| (*subject, joined(value)))
    })
}

/// One value, or two one behind the other, with nothing before, between or after them.
fn two(
    words: &[&str],
    first: (&'static str, Fits),
    second: (&'static str, Fits),
) -> Option<Vec<Found>> {
    (0..=words.len()).find_map(|middle| {
        let (one, other) = words.split_at_checked(middle)?;
        let other = match other {
            [on, rest @ ..] if is(on, "on") && values::is_date(rest) => rest,
            other => other,
        };
        let values = [(first, one), (second, other)];
        let said = values.into_iter().filter(|(_, value)| !value.is_empty());
        let found =
            said.map(|((subject, fits), value)| fits(value).then(|| (subject, joined(value))));
        let found: Vec<Found> = found.collect::<Option<_>>()?;
        // Alone, `5 reasons` is no quantity of anything.
        let is_vague = matches!(found[..], [(QUANTITY, _)]) && !values::is_goods(words);
        (!found.is_empty() && !is_vague).then_some(found)
    })
}
