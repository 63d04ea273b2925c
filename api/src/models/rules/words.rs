//! The words the patterns know.

use super::values;

/// What kind of value a matter has.
pub(super) type Fits = fn(&[&str]) -> bool;

/// How a matter is named in a message, its subject, and how its value looks. What begins with
/// another's name comes before it.
pub(super) const LABELS: [(&[&str], &str, Fits); 17] = [
    (&["price"], "Price", values::is_price),
    (&["cost"], "Cost", values::is_price),
    (&["budget"], "Budget", values::is_sum),
    (&["quantity"], "Quantity", values::is_amount),
    (&["amount"], "Amount", values::is_amount),
    (&["deadline"], "Deadline", values::is_date),
    (&["due", "date"], "Due date", values::is_date),
    (&["delivery", "date"], "Delivery date", values::is_date),
    (&["delivery"], DELIVERY, values::is_date),
    (&["date"], "Date", values::is_date),
    (&["payment", "terms"], TERMS, values::is_terms),
    (&["payment"], TERMS, values::is_terms),
    (&["paid"], TERMS, values::is_terms),
    (&["warranty"], "Warranty", values::is_duration),
    (&["discount"], DISCOUNT, values::is_percent),
    (&["start", "date"], "Start date", values::is_date),
    (&["owner"], "Owner", |_| false),
];
pub(super) const DELIVERY: &str = "Delivery date";
pub(super) const TERMS: &str = "Payment terms";
pub(super) const PRICE: &str = "Price";
pub(super) const QUANTITY: &str = "Quantity";
pub(super) const DISCOUNT: &str = "Discount";

/// How a proposal begins, besides with who makes it.
pub(super) const OPENINGS: [&[&str]; 10] = [
    &["let's", "agree", "on"],
    &["let", "us", "agree", "on"],
    &["let's", "say"],
    &["let's", "set"],
    &["proposal"],
    &["my", "proposal", "is"],
    &["our", "proposal", "is"],
    &["my", "offer", "is"],
    &["our", "offer", "is"],
    &["suggestion"],
];
pub(super) const PROPOSES: [&str; 4] = ["propose", "suggest", "offer", "do"];
pub(super) const DELIVERS: [&str; 2] = ["deliver", "ship"];
/// Words before a matter that say nothing of it.
pub(super) const FILLERS: [&str; 10] = [
    "that", "to", "we", "set", "a", "an", "the", "our", "my", "of",
];
/// Words between a matter and its value.
pub(super) const JOINS: [&[&str]; 9] = [
    &["will", "be"],
    &["to", "be"],
    &["is"],
    &["are"],
    &["="],
    &["of"],
    &["at"],
    &["to"],
    &["on"],
];
/// Of these, those that make a statement of it.
pub(super) const STATES: [&[&str]; 4] = [&["will", "be"], &["is"], &["are"], &["="]];
/// Words after which a sentence no longer says what it seems to.
pub(super) const HEDGES: [&str; 24] = [
    "if",
    "unless",
    "but",
    "only",
    "not",
    "never",
    "cannot",
    "or",
    "provided",
    "assuming",
    "except",
    "depending",
    "depends",
    "maybe",
    "perhaps",
    "could",
    "might",
    "would",
    "should",
    "instead",
    "rather",
    "between",
    "until",
    "without",
];
