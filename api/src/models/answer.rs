//! From a model's text to proposals.
//!
//! Invariants
//! * Whatever the text is, what comes out is within the limits of the record; a field that is not
//!   as asked for is mended if its meaning is plain, else its item is dropped.
//! * A text that has none of the three lists is no answer ([`Off::Schema`]): silence would pass for
//!   "nothing was said". One with a subject or a value that cannot be English is none either
//!   ([`Off::Language`]): leaving that matter out would hide it.
//! * A quote is words of the message; one that is not is left out of its item.

use minutebook_domain::ids::ClaimId;
use minutebook_domain::limits::{
    CLAIM_VALUE_CHARS_MAX, DISCREPANCY_CHARS_MAX, EXTRACTION_PROPOSALS_MAX, SUBJECT_CHARS_MAX,
};
use minutebook_domain::room::claims::{Proposal, RevisionKind, Severity, SubjectKey};
use minutebook_domain::text::{ClaimValue, DiscrepancyText, Quote, Subject};
use serde_json::{Map, Value};

use super::latin::is_latin;
use super::prompt::{Task, Thread};
use super::quote::Said;

const CLAIMS: &str = "new_claims";
const UPDATES: &str = "updates";
const DISCREPANCIES: &str = "discrepancies";

/// Why a text is not the answer that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Off {
    /// It is not the JSON object.
    #[error("the model's answer is not the JSON object that was asked for")]
    Schema,
    /// It is not in English.
    #[error(
        "the model's answer is not in English: a subject, subject_key or value has letters that \
         are not Latin"
    )]
    Language,
}

/// What a model's text proposes about a task, at most [`EXTRACTION_PROPOSALS_MAX`].
pub fn read(text: &str, task: &Task) -> Result<Vec<Proposal>, Off> {
    let lists = Lists::find(text).ok_or(Off::Schema)?;
    let said = Said::new(&task.new_message.text);
    let claims = lists.claims.iter();
    let claims = claims.filter_map(|item| opening(item, &said));
    let updates = lists.updates.iter();
    let updates = updates.filter_map(|item| revision(item, task, &said));
    let discrepancies = lists.discrepancies.iter();
    let discrepancies = discrepancies.filter_map(|item| discrepancy(item, task).map(Ok));
    let all = claims.chain(updates).chain(discrepancies);
    all.take(EXTRACTION_PROPOSALS_MAX).collect()
}

/// The lists of an answer.
#[derive(Default)]
struct Lists {
    claims: Vec<Value>,
    updates: Vec<Value>,
    discrepancies: Vec<Value>,
}

impl Lists {
    /// Reads the outermost object, whatever stands around it. One that is cut short still has its
    /// whole items.
    fn find(text: &str) -> Option<Self> {
        let start = text.find('{')?;
        let rest = text.get(start..)?;
        let whole = rest.rfind('}').and_then(|end| rest.get(..=end));
        let parsed = whole.and_then(|whole| serde_json::from_str(whole).ok());
        match parsed {
            Some(Value::Object(object)) => Self::of(object),
            Some(_) | None => Self::salvaged(rest),
        }
    }

    fn of(mut object: Map<String, Value>) -> Option<Self> {
        let mut list = |name: &str| match object.remove(name) {
            Some(Value::Array(items)) => Some(items),
            Some(_) | None => None,
        };
        let (claims, updates, discrepancies) = (list(CLAIMS), list(UPDATES), list(DISCREPANCIES));
        if claims.is_none() && updates.is_none() && discrepancies.is_none() {
            return None;
        }
        Some(Self {
            claims: claims.unwrap_or_default(),
            updates: updates.unwrap_or_default(),
            discrepancies: discrepancies.unwrap_or_default(),
        })
    }

    fn salvaged(text: &str) -> Option<Self> {
        let list = |name: &str| {
            let (_, rest) = text.split_once(&format!("\"{name}\""))?;
            let rest = rest.trim_start().strip_prefix(':')?.trim_start();
            Some(items(rest.strip_prefix('[')?))
        };
        let salvaged = Self {
            claims: list(CLAIMS).unwrap_or_default(),
            updates: list(UPDATES).unwrap_or_default(),
            discrepancies: list(DISCREPANCIES).unwrap_or_default(),
        };
        // Cut before its first item was whole, it is no answer that nothing was said.
        let is_empty = salvaged.claims.is_empty()
            && salvaged.updates.is_empty()
            && salvaged.discrepancies.is_empty();
        (!is_empty).then_some(salvaged)
    }
}

/// The whole objects at the beginning of a list.
fn items(mut rest: &str) -> Vec<Value> {
    let mut items = Vec::new();
    while items.len() < EXTRACTION_PROPOSALS_MAX {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if !rest.starts_with('{') {
            break;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter();
        let Some(Ok(item)) = stream.next() else { break };
        items.push(item);
        rest = rest.get(stream.byte_offset()..).unwrap_or_default();
    }
    items
}

fn opening(item: &Value, said: &Said) -> Option<Result<Proposal, Off>> {
    let key = text(item, "subject_key", usize::MAX);
    let subject = Subject::parse(&text(item, "subject", SUBJECT_CHARS_MAX)?).ok()?;
    let value = value(item)?;
    let texts = [Some(subject.as_str()), key.as_deref(), Some(value.as_str())];
    if !texts.into_iter().flatten().all(is_latin) {
        return Some(Err(Off::Language));
    }
    Some(Ok(Proposal::Open {
        quote: quote(item, said),
        subject,
        subject_key: key.map(|key| SubjectKey::derive(&key)),
        value,
    }))
}

fn revision(item: &Value, task: &Task, said: &Said) -> Option<Result<Proposal, Off>> {
    let claim = thread(item, "thread_id", task)?;
    let value = value(item)?;
    // Agents open threads in any language, and a confirmation counts for the value it names.
    let is_its_own = claim.current_value.trim() == value.as_str();
    if !is_its_own && !is_latin(value.as_str()) {
        return Some(Err(Off::Language));
    }
    Some(Ok(Proposal::Revise {
        claim: claim.thread_id,
        quote: quote(item, said),
        revision: match item.get("kind").and_then(Value::as_str) {
            Some("confirm") => RevisionKind::Confirm,
            Some("contradict") => RevisionKind::Contradict,
            Some("retract") => RevisionKind::Retract,
            // Which the rules let happen to the arbiter's own threads only.
            Some(_) | None => RevisionKind::Update,
        },
        value,
    }))
}

fn discrepancy(item: &Value, task: &Task) -> Option<Proposal> {
    let description = text(item, "description", DISCREPANCY_CHARS_MAX)?;
    Some(Proposal::Discrepancy {
        claim: thread(item, "related_thread_id", task).map(|thread| thread.thread_id),
        description: DiscrepancyText::parse(&description).ok()?,
        severity: match item.get("severity").and_then(Value::as_str) {
            Some("high") => Severity::High,
            Some("low") => Severity::Low,
            Some(_) | None => Severity::Medium,
        },
    })
}

/// A thread that the task shows.
fn thread<'a>(item: &Value, name: &str, task: &'a Task) -> Option<&'a Thread> {
    let id = ClaimId::parse_canonical(item.get(name)?.as_str()?)?;
    let mut threads = task.existing_threads.iter();
    threads.find(|thread| thread.thread_id == id)
}

fn value(item: &Value) -> Option<ClaimValue> {
    ClaimValue::parse(&text(item, "value", CLAIM_VALUE_CHARS_MAX)?).ok()
}

fn quote(item: &Value, said: &Said) -> Option<Quote> {
    said.quote(&text(item, "quote", usize::MAX)?)
}

/// A text of an item, trimmed and cut; numbers and truth values are as good as their digits.
fn text(item: &Value, name: &str, max: usize) -> Option<String> {
    let text = match item.get(name)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let text: String = text.trim().chars().take(max).collect();
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
