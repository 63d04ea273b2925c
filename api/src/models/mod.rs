//! Language models: what reads a room for the arbiter.
//!
//! Invariants
//! * A port takes a prompt and gives a text or a [`ModelError`]; it knows nothing of rooms, and
//!   nothing here writes.
//! * What anybody said reaches a model as data only ([`prompt`]), and what a model says is checked
//!   field by field before anything is done about it ([`answer`]).
//! * No network is needed: [`rules`] is always there.

pub mod answer;
mod key;
mod latin;
pub mod openai;
pub mod prompt;
mod quote;
pub mod rules;

use std::future::Future;
use std::pin::Pin;

pub use openai::{Endpoint, OpenAi};
pub use prompt::{Message, Prompt, Task, Thread};
pub use rules::Rules;

/// A completion on its way.
pub type Completing<'a> = Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// Something that completes prompts.
pub trait LanguageModel: Send + Sync {
    /// How it is reached, for the record: `rules`, `openai-chat`.
    fn adapter(&self) -> &'static str;

    /// Its name, for the record.
    fn model(&self) -> &str;

    /// Whether prompts leave this process.
    fn is_remote(&self) -> bool;

    /// Completes a prompt. Ends by itself within a bounded time.
    fn complete<'a>(&'a self, prompt: &'a Prompt) -> Completing<'a>;
}

/// Why there is no completion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Nobody is there, does not let us in, or asks us to come back: it is not the prompt's fault.
    #[error("{0}")]
    Unavailable(String),
    /// The model's server refuses this very prompt.
    #[error("{0}")]
    Refused(String),
    /// Its server failed over it or did not answer in time: that may be the prompt's fault.
    #[error("{0}")]
    Doubtful(String),
}
