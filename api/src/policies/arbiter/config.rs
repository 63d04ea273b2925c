//! Which models read rooms.

use super::models::Models;
use crate::models::Endpoint;
use crate::models::openai::EndpointError;

/// How the arbiter reads.
#[derive(Clone, Debug, Default)]
pub enum ArbiterConfig {
    /// Not at all.
    Off,
    /// By the embedded patterns, without a network.
    #[default]
    Rules,
    /// By models, the second when the first cannot.
    Models(Vec<Endpoint>),
}

impl ArbiterConfig {
    /// Whether such models can be asked at all; nothing is connected to.
    pub fn check(&self) -> Result<(), EndpointError> {
        Models::new(self).map(drop)
    }
}
