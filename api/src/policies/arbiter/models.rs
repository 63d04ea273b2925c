//! Asking one model, then the other.

use std::time::Instant;

use minutebook_domain::room::claims::Proposal;
use minutebook_domain::text::ModelName;

use super::{ArbiterConfig, Counts};
use crate::models::answer::{self, Off};
use crate::models::openai::EndpointError;
use crate::models::{LanguageModel, ModelError, OpenAi, Prompt, Rules};

/// The models, in the order they are asked.
pub(super) struct Models {
    named: Vec<Named>,
    /// What stands in the record where none was asked.
    pub(super) none: ModelName,
    pub(super) counts: Counts,
}

/// A model, and its names as the record has them.
struct Named {
    adapter: ModelName,
    name: ModelName,
    model: Box<dyn LanguageModel>,
}

/// What came of asking.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) adapter: ModelName,
    pub(super) model: ModelName,
    /// Of the last prompt that was sent.
    pub(super) prompt_hash: String,
    pub(super) outcome: Result<Answer, Failure>,
}

/// An answer that could be read.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) proposals: Vec<Proposal>,
}

/// Why there is none.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: Why,
    pub(super) text: String,
    /// What was answered, if it was nonsense, and what is wrong with it.
    pub(super) answer: Option<(String, Off)>,
}

/// Whose fault it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// The message's: no model can read it.
    Message,
    /// The message's or the model's.
    Doubtful,
    /// The model's: it is not there.
    Outage,
}

impl Models {
    pub(super) fn new(config: &ArbiterConfig) -> Result<Option<Self>, EndpointError> {
        let models: Vec<Box<dyn LanguageModel>> = match config {
            ArbiterConfig::Off => return Ok(None),
            ArbiterConfig::Rules => vec![Box::new(Rules)],
            ArbiterConfig::Models(endpoints) => endpoints
                .iter()
                .map(|endpoint| Ok(Box::new(OpenAi::new(endpoint)?) as Box<dyn LanguageModel>))
                .collect::<Result<_, EndpointError>>()?,
        };
        let name = |text: &str| ModelName::parse(text).map_err(|_| EndpointError::Model);
        let named = models.into_iter().map(|model| {
            Ok(Named {
                adapter: name(model.adapter())?,
                name: name(model.model())?,
                model,
            })
        });
        Ok(Some(Self {
            named: named.collect::<Result<_, EndpointError>>()?,
            none: name("none")?,
            counts: Counts::default(),
        }))
    }

    /// Whether any of them is reached over the network.
    pub(super) fn is_any_remote(&self) -> bool {
        self.named.iter().any(|named| named.model.is_remote())
    }

    /// Asks one after the other until one answers. If none does, what stands in the record is the
    /// failure of the one that says most about the message; only if all of them say that it is the
    /// message, it is, and only if none of them was there, it is an outage.
    pub(super) async fn ask(&self, prompt: &Prompt) -> Option<Asked> {
        let mut told: Option<Asked> = None;
        let mut reasons = Vec::new();
        for model in &self.named {
            let asked = self.ask_one(model, prompt).await;
            let Err(failure) = &asked.outcome else {
                return Some(asked);
            };
            let is_telling = reasons.iter().all(|before| failure.why <= *before);
            reasons.push(failure.why);
            if is_telling {
                told = Some(asked);
            }
        }
        if let Some(Err(failure)) = told.as_mut().map(|asked| &mut asked.outcome)
            && reasons.iter().any(|why| *why != failure.why)
        {
            failure.why = Why::Doubtful;
        }
        told
    }

    /// Asks a model, and once more if it answered something else.
    async fn ask_one(&self, model: &Named, prompt: &Prompt) -> Asked {
        let first = self.counted(model, prompt).await;
        match &first.outcome {
            Err(Failure {
                answer: Some((_, off)),
                ..
            }) => self.counted(model, &prompt.corrected(*off)).await,
            Ok(_) | Err(_) => first,
        }
    }

    async fn counted(&self, model: &Named, prompt: &Prompt) -> Asked {
        let started = Instant::now();
        let asked = attempt(model, prompt).await;
        let failed = asked.outcome.as_ref().err();
        let failed = failed.map(|failure| (failure.why, failure.answer.is_some()));
        self.counts.called(failed, started.elapsed());
        asked
    }
}

async fn attempt(model: &Named, prompt: &Prompt) -> Asked {
    let outcome = match model.model.complete(prompt).await {
        Ok(text) => match answer::read(&text, &prompt.task) {
            Ok(proposals) => Ok(Answer { text, proposals }),
            Err(off) => Err(Failure {
                why: Why::Message,
                text: off.to_string(),
                answer: Some((text, off)),
            }),
        },
        Err(error) => Err(Failure {
            why: match &error {
                ModelError::Refused(_) => Why::Message,
                ModelError::Doubtful(_) => Why::Doubtful,
                ModelError::Unavailable(_) => Why::Outage,
            },
            text: error.to_string(),
            answer: None,
        }),
    };
    Asked {
        adapter: model.adapter.clone(),
        model: model.name.clone(),
        prompt_hash: prompt.hash(),
        outcome,
    }
}
