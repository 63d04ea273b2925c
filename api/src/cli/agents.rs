//! `minutebook agents enrol | revoke | list`

use minutebook_domain::{
    keys::{self, AgentKeyEnrolled, AgentKeyRevoked},
    text::{AgentName, Reason},
};
use serde_json::json;

use super::{
    Exit, Failure, Global, Terminal,
    keys::{agent_name, reason},
    listed::{self, Keys},
    operator::{ArbiterKey, commit},
    table::Table,
};
use crate::offline::display::printable;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum AgentsCommand {
    /// Bind a public key to an agent's name
    #[command(after_help = "Examples:\n  minutebook agents enrol ann \
        d27d5787d3fde65f753d5c5462d40fd5ec5aef1284b566144bb6bffd94615366")]
    Enrol {
        /// The agent
        #[arg(value_name = "AGENT", value_parser = agent_name)]
        agent: AgentName,
        /// Its Ed25519 public key, 64 hex digits
        #[arg(value_name = "PUBKEY", value_parser = pubkey)]
        pubkey: String,
        #[command(flatten)]
        arbiter_key: ArbiterKey,
    },
    /// Take a public key from an agent, for ever
    #[command(after_help = "Examples:\n  minutebook agents revoke ann \
        d27d5787d3fde65f753d5c5462d40fd5ec5aef1284b566144bb6bffd94615366 --reason stolen")]
    Revoke {
        /// The agent
        #[arg(value_name = "AGENT", value_parser = agent_name)]
        agent: AgentName,
        /// The public key
        #[arg(value_name = "PUBKEY", value_parser = pubkey)]
        pubkey: String,
        /// Why
        #[arg(long, value_parser = reason)]
        reason: Reason,
        #[command(flatten)]
        arbiter_key: ArbiterKey,
    },
    /// List all agents' public keys, revoked ones too
    #[command(after_help = "Examples:\n  minutebook agents list\n  minutebook agents list --json")]
    List,
}

impl AgentsCommand {
    /// See [`super::route`].
    pub(super) fn route(&self) -> String {
        let route = match self {
            Self::Enrol { .. } => "POST /api/agents/{name}/keys",
            Self::Revoke { .. } => "DELETE /api/agents/{name}/keys",
            Self::List => "GET /api/agents/{name}/keys",
        };
        format!("{route} does the same for an agent")
    }
}

fn pubkey(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err("a public key is 64 hex digits".to_owned())
}

pub(crate) fn run(
    command: &AgentsCommand,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (agent, pubkey, arbiter_key, reason) = match command {
        AgentsCommand::List => {
            list(global, terminal)?;
            terminal.flush()?;
            return Ok(Exit::Ok);
        }
        AgentsCommand::Enrol {
            agent,
            pubkey,
            arbiter_key,
        } => (agent, pubkey, arbiter_key, None),
        AgentsCommand::Revoke {
            agent,
            pubkey,
            reason,
            arbiter_key,
        } => (agent, pubkey, arbiter_key, Some(reason)),
    };
    let (name, key) = (agent.clone(), pubkey.clone());
    let command = match reason {
        None => keys::Command::EnrolAgentKey(AgentKeyEnrolled {
            agent: name,
            pubkey: key,
        }),
        Some(reason) => keys::Command::RevokeAgentKey(AgentKeyRevoked {
            agent: name,
            pubkey: key,
            reason: reason.clone(),
        }),
    };
    commit(&global.data()?, arbiter_key, command)?;
    let is_revoked = reason.is_some();
    if global.json {
        let agent = agent.as_str();
        terminal.json(&json!({"agent": agent, "pubkey": pubkey, "is_revoked": is_revoked}))?;
    } else {
        let now = if is_revoked {
            "may no longer sign with"
        } else {
            "may now sign with"
        };
        terminal.line(&format!("{} {now} {pubkey}", printable(agent.as_str())))?;
    }
    terminal.flush()?;
    Ok(Exit::Ok)
}

fn list(global: &Global, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let keys = Keys::read(global)?;
    let mut table = Table::new(["PUBKEY", "STATE", "ENROLLED", "AGENT"]);
    let mut values = Vec::new();
    for ((agent, pubkey), key) in &keys.agents {
        values.push(json!({
            "agent": agent, "pubkey": pubkey,
            "enrolled_at": key.since, "revoked_at": key.revoked_at,
        }));
        table.row([
            pubkey.clone(),
            key.state(),
            key.since.clone(),
            agent.clone(),
        ]);
    }
    listed::print((values, table), global, terminal)
}
