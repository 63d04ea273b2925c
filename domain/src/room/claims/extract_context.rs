//! Write down what the arbiter made of one message: which model read it, what it answered, and
//! what it would do about it.
//!
//! A reading changes no thread. What it proposes is asked for afterwards, command by command,
//! under the same rules as everybody's; so the record has both what a model said and what came of
//! it, and a replay needs no model.

use serde::{Deserialize, Serialize};

use super::{super::RoomState, RevisionKind, SubjectKey};
use crate::{
    Fact, Rejection,
    ids::ClaimId,
    limits::{EXTRACTION_ANSWER_BYTES_MAX, EXTRACTION_PROPOSALS_MAX},
    text::{ClaimValue, DiscrepancyText, ModelName, Quote, Reason, Subject},
};

/// `room.context_extracted` v1, and the command for it: nothing of it is made up by the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextExtracted {
    /// How the model was reached: `rules`, `openai-chat`, or `none` when nothing was asked.
    pub adapter: ModelName,
    /// Its answer, as it came, up to [`EXTRACTION_ANSWER_BYTES_MAX`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why there is no reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Reason>,
    /// The message, by its number in the room.
    pub message: u64,
    /// The model, as its adapter names it.
    pub model: ModelName,
    /// What came of it.
    pub outcome: Outcome,
    /// BLAKE3 of everything the model was given, 64 lower-case hex digits.
    pub prompt_hash: String,
    /// What the answer proposes, at most [`EXTRACTION_PROPOSALS_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Proposal>,
}

/// What came of reading a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A model read it.
    Read,
    /// It cannot be read and is passed over.
    Skipped,
    /// No model could be reached; it will be tried again.
    Unavailable,
}

/// What a model would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Proposal {
    /// Open a thread.
    Open {
        /// Words of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quote: Option<Quote>,
        /// What it is about.
        subject: Subject,
        /// A short name for that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject_key: Option<SubjectKey>,
        /// Its value.
        value: ClaimValue,
    },
    /// Revise a thread.
    Revise {
        /// Which.
        claim: ClaimId,
        /// Words of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quote: Option<Quote>,
        /// How.
        revision: RevisionKind,
        /// The value this is about.
        value: ClaimValue,
    },
    /// Note that something does not fit.
    Discrepancy {
        /// The thread it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<ClaimId>,
        /// What does not fit, in English.
        description: DiscrepancyText,
        /// How much it matters.
        severity: Severity,
    },
}

/// How much a discrepancy matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Money, dates, quantities.
    High,
    /// Something else that was agreed.
    Medium,
    /// A matter of words.
    Low,
}

impl Severity {
    /// Its persisted name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl Outcome {
    /// Whether the message is done with.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Read | Self::Skipped => true,
            Self::Unavailable => false,
        }
    }
}

pub(super) fn intrinsic(event: &ContextExtracted) -> Result<(), Rejection> {
    let is_whole = match event.outcome {
        Outcome::Read => event.answer.is_some() && event.failed.is_none(),
        // A model that answered nonsense is quoted.
        Outcome::Skipped => event.failed.is_some() && event.proposals.is_empty(),
        Outcome::Unavailable => {
            event.failed.is_some() && event.proposals.is_empty() && event.answer.is_none()
        }
    };
    let answer = event.answer.as_ref().map_or(0, String::len);
    let fits = answer <= EXTRACTION_ANSWER_BYTES_MAX
        && event.proposals.len() <= EXTRACTION_PROPOSALS_MAX
        && crate::hex_text::decode::<32>(&event.prompt_hash).is_some();
    if is_whole && fits {
        Ok(())
    } else {
        Err(Rejection::ExtractionMalformed)
    }
}

pub(super) fn contextual(
    room: &RoomState,
    fact: &Fact<'_>,
    event: &ContextExtracted,
) -> Result<(), Rejection> {
    fact.actor.must_be_arbiter()?;
    let found = event.message;
    if !(1..=room.messages()).contains(&found) {
        return Err(Rejection::SourceMessageUnknown);
    }
    if room.gaps.others {
        return Ok(());
    }
    // Messages are read in order, so that `last_extracted_msg_id` says which were; again is fine.
    let expected = room.claims().extracted().saturating_add(1);
    if found > expected {
        return Err(Rejection::ExtractionOutOfOrder { expected, found });
    }
    room.claims().check_reading(found, event.outcome.is_final())
}

pub(super) fn evolve(room: &mut RoomState, event: &ContextExtracted) {
    let is_final = event.outcome.is_final();
    room.claims_mut().extract(event.message, is_final);
}

#[cfg(test)]
#[path = "extract_context_tests.rs"]
pub(super) mod tests;
