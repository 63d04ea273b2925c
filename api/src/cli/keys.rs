//! `minutebook keys issue | revoke | list | rotate`

use std::path::{Path, PathBuf};

use minutebook_domain::{
    ids::KeyId,
    keys::{self, ApiKeyIssued, ApiKeyRevoked, Scope},
    text::{AgentName, Reason},
};
use serde_json::json;

use super::{
    Exit, Failure, Global, Terminal,
    listed::{self, Keys},
    operator::{ArbiterKey, commit},
    table::Table,
};
use crate::{
    engine::{self, Rotated},
    offline::display::printable,
};

/// What every secret begins with.
const SECRET_PREFIX: &str = "mb_";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum KeysCommand {
    /// Issue an API key; the secret is shown once and stored nowhere
    #[command(after_help = "Examples:\n  \
        minutebook keys issue --label 'audit box' --scope auditor\n  \
        minutebook keys issue --label ann --scope agent --agent ann")]
    Issue {
        /// What it is for
        #[arg(long)]
        label: String,
        /// What it may do; may be repeated
        #[arg(long, required = true, value_parser = scope)]
        scope: Vec<Scope>,
        /// The only agent it may speak as
        #[arg(long, value_parser = agent_name)]
        agent: Option<AgentName>,
        #[command(flatten)]
        arbiter_key: ArbiterKey,
    },
    /// Revoke an API key
    #[command(after_help = "Examples:\n  \
        minutebook keys revoke k_0123456789abcdef --reason 'laptop lost'")]
    Revoke {
        /// Its public name, as `list` shows it
        #[arg(value_name = "KEY", value_parser = key_id)]
        key: KeyId,
        /// Why
        #[arg(long, value_parser = reason)]
        reason: Reason,
        #[command(flatten)]
        arbiter_key: ArbiterKey,
    },
    /// List all API keys, revoked ones too
    #[command(after_help = "Examples:\n  minutebook keys list\n  minutebook keys list --json")]
    List,
    /// Change the key that signs the log; stop the server first
    #[command(
        long_about = "\
Changes the key that signs the log. The key now certifies the next one in the log itself, so \
whoever pinned any earlier key verifies on without being told. Stop the server first.

An interrupted rotation leaves a directory that opens; run the command again to finish it.",
        after_help = "\
The new key replaces the key file; the old one is kept beside it as FILE.retired-EPOCH. It is
needed only to go on with a backup of the log from before the rotation. In other hands it can
sign a fork of the log's past: destroy it when you keep no such backup.

Examples:
  minutebook keys rotate
  minutebook keys rotate --new-key /media/usb/next.key
  minutebook keys rotate --arbiter-key /etc/minutebook/arbiter.key --json"
    )]
    Rotate {
        /// The new key, 32 raw bytes, mode 600; copied, not moved [default: a new one is made]
        #[arg(long, value_name = "FILE")]
        new_key: Option<PathBuf>,
        #[command(flatten)]
        arbiter_key: ArbiterKey,
    },
}

impl KeysCommand {
    /// See [`super::route`].
    pub(super) fn route(&self) -> Option<String> {
        let route = match self {
            Self::Issue { .. } => "POST /api/keys",
            Self::Revoke { key, .. } => {
                let key = key.as_str();
                return Some(format!("DELETE /api/keys/{key} does the same"));
            }
            Self::List => "GET /api/keys",
            Self::Rotate { .. } => return None,
        };
        Some(format!("{route} does the same"))
    }
}

pub(super) fn agent_name(text: &str) -> Result<AgentName, String> {
    AgentName::parse(text).map_err(|rejection| rejection.to_string())
}

pub(super) fn reason(text: &str) -> Result<Reason, String> {
    Reason::parse(text).map_err(|rejection| rejection.to_string())
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text).ok_or_else(|| "a key is named k_ and 16 hex digits".to_owned())
}

fn scope(text: &str) -> Result<Scope, String> {
    serde_json::from_value(json!(text))
        .map_err(|_| "the scopes are: agent, auditor, operator, owner".to_owned())
}

pub(crate) fn run(
    command: &KeysCommand,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    match command {
        KeysCommand::Issue {
            label,
            scope,
            agent,
            arbiter_key,
        } => {
            let mut scopes = scope.clone();
            scopes.sort_unstable();
            scopes.dedup();
            issue(label, scopes, agent.clone(), arbiter_key, global, terminal)?;
        }
        KeysCommand::Revoke {
            key,
            reason,
            arbiter_key,
        } => {
            let revoked = ApiKeyRevoked {
                key: key.clone(),
                reason: reason.clone(),
            };
            commit(
                &global.data()?,
                arbiter_key,
                keys::Command::RevokeApiKey(revoked),
            )?;
            let name = key.as_str();
            if global.json {
                terminal.json(&json!({"key": name, "is_revoked": true}))?;
            } else {
                terminal.line(&format!("{name} is revoked"))?;
            }
        }
        KeysCommand::List => list(global, terminal)?,
        KeysCommand::Rotate {
            new_key,
            arbiter_key,
        } => {
            let options = arbiter_key.options(&global.data()?);
            let rotated = engine::rotate(&options, new_key.as_deref())?;
            show_rotated(&rotated, global, terminal)?;
        }
    }
    terminal.flush()?;
    Ok(Exit::Ok)
}

fn issue(
    label: &str,
    scopes: Vec<Scope>,
    agent: Option<AgentName>,
    arbiter_key: &ArbiterKey,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    if label.is_empty() {
        return Err(Failure::usage("--label is empty; say what the key is for"));
    }
    let secret = format!("{SECRET_PREFIX}{}", hex::encode(rand::random::<[u8; 32]>()));
    let name = format!("k_{}", hex::encode(rand::random::<[u8; 8]>()));
    let key = KeyId::parse(&name).ok_or_else(|| Failure::error("no name for the key"))?;
    let issued = ApiKeyIssued {
        agent,
        hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
        key,
        label: label.to_owned(),
        scopes,
    };
    commit(
        &global.data()?,
        arbiter_key,
        keys::Command::IssueApiKey(issued),
    )?;
    if global.json {
        return terminal.json(&json!({"key": name, "secret": secret}));
    }
    terminal.line(&format!("key    {name}"))?;
    terminal.line(&format!("secret {secret}"))?;
    terminal.note("The secret is not stored and cannot be shown again.");
    Ok(())
}

fn show_rotated(
    rotated: &Rotated,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    if rotated.was_interrupted {
        terminal.note("An interrupted rotation was finished.");
    }
    if global.json {
        terminal.json(&json!({
            "epoch": rotated.epoch, "seq": rotated.seq,
            "vkey": rotated.vkey, "prev_vkey": rotated.prev_vkey,
            "key_file": rotated.key_file, "retired_key_file": rotated.retired_key_file,
            "was_interrupted": rotated.was_interrupted,
        }))?;
    } else {
        let line = |name: &str, value: &str| format!("{name:<9}{}", printable(value));
        let path = |path: &Path| path.display().to_string();
        terminal.line(&line("vkey", &rotated.vkey))?;
        terminal.line(&line("before", &rotated.prev_vkey))?;
        let (epoch, seq) = (rotated.epoch, rotated.seq);
        terminal.line(&line("epoch", &format!("{epoch}, since seq {seq}")))?;
        terminal.line(&line("key", &path(&rotated.key_file)))?;
        terminal.line(&line("retired", &path(&rotated.retired_key_file)))?;
    }
    terminal.note(
        "Publish the new vkey where the one before was published; keys pinned earlier still \
         verify the log.\nBack the new key up. Destroy the retired one when you keep no backup \
         of the log from before this rotation.",
    );
    Ok(())
}

fn list(global: &Global, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let keys = Keys::read(global)?;
    let mut table = Table::new(["KEY", "STATE", "ISSUED", "SCOPES", "AGENT", "LABEL"]);
    let mut values = Vec::new();
    for (id, key) in &keys.api {
        let issued = &key.what;
        let agent = issued.agent.as_ref().map(AgentName::as_str);
        values.push(json!({
            "key": id, "label": issued.label, "scopes": issued.scopes, "agent": agent,
            "issued_at": key.since, "revoked_at": key.revoked_at,
        }));
        let scopes: Vec<_> = issued.scopes.iter().map(|one| scope_name(*one)).collect();
        table.row([
            id.clone(),
            key.state(),
            key.since.clone(),
            scopes.join(","),
            agent.unwrap_or("any").to_owned(),
            issued.label.clone(),
        ]);
    }
    listed::print((values, table), global, terminal)
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Agent => "agent",
        Scope::Auditor => "auditor",
        Scope::Operator => "operator",
        Scope::Owner => "owner",
    }
}
