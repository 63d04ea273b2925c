//! The keys that the log knows, each with when it came and when it went.

use std::collections::BTreeMap;

use minutebook_domain::{
    Event,
    keys::{self, ApiKeyIssued},
};
use serde_json::Value;

use super::{Failure, Global, Terminal, table::Table};
use crate::offline::{OpenLog, streams::stream_facts};

/// A key as a list shows it.
pub(super) struct Listed<T> {
    pub(super) what: T,
    pub(super) since: String,
    pub(super) revoked_at: Option<String>,
}

impl<T> Listed<T> {
    fn new(what: T, since: String) -> Self {
        Self {
            what,
            since,
            revoked_at: None,
        }
    }

    /// `active`, or since when it is not.
    pub(super) fn state(&self) -> String {
        match &self.revoked_at {
            Some(at) => format!("revoked {at}"),
            None => "active".to_owned(),
        }
    }
}

/// All keys, revoked ones too.
#[derive(Default)]
pub(super) struct Keys {
    /// API keys by id.
    pub(super) api: BTreeMap<String, Listed<ApiKeyIssued>>,
    /// Agents' public keys by agent and key.
    pub(super) agents: BTreeMap<(String, String), Listed<()>>,
}

impl Keys {
    pub(super) fn read(global: &Global) -> Result<Self, Failure> {
        let facts = OpenLog::with(&global.data()?, |log| {
            stream_facts(log.reader(), "keys", log.head.seq)
        })?;
        let mut keys = Self::default();
        for fact in facts {
            match fact.event {
                Some(Event::Keys(event)) => keys.fold(event, fact.at.to_string()),
                Some(Event::Room(_) | Event::Skills(_)) | None => {}
            }
        }
        Ok(keys)
    }

    fn fold(&mut self, event: keys::Event, at: String) {
        match event {
            keys::Event::ApiKeyIssued(issued) => {
                let id = issued.key.as_str().to_owned();
                self.api.insert(id, Listed::new(issued, at));
            }
            keys::Event::ApiKeyRevoked(revoked) => {
                if let Some(key) = self.api.get_mut(revoked.key.as_str()) {
                    key.revoked_at = Some(at);
                }
            }
            keys::Event::AgentKeyEnrolled(one) => {
                let id = (one.agent.as_str().to_owned(), one.pubkey);
                self.agents.insert(id, Listed::new((), at));
            }
            keys::Event::AgentKeyRevoked(one) => {
                let id = (one.agent.as_str().to_owned(), one.pubkey);
                if let Some(key) = self.agents.get_mut(&id) {
                    key.revoked_at = Some(at);
                }
            }
            keys::Event::LogOpened(_) | keys::Event::KeyRotated(_) => {}
        }
    }
}

/// Prints a list as JSON, or as a table, or says that there is nothing.
pub(super) fn print<const N: usize>(
    (json, table): (Vec<Value>, Table<N>),
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    if global.json {
        return terminal.json(&serde_json::json!({ "keys": json }));
    }
    if json.is_empty() {
        terminal.note("There is none.");
        return Ok(());
    }
    table.print(terminal)
}
