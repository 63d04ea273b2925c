//! Words for rows about keys and the log.

use super::*;

pub(crate) fn key_id(number: u64) -> KeyId {
    KeyId::parse(&format!("k_{number:016x}")).unwrap()
}

pub(crate) fn log_vkey(number: u8) -> String {
    keys::vkey_text(ORIGIN, &seed(number).verifying_key())
}

pub(crate) fn log_opened() -> LogOpened {
    LogOpened {
        origin: ORIGIN.to_owned(),
        vkey: log_vkey(1),
    }
}

pub(crate) fn open_log() -> Command {
    Command::Keys(keys::Command::OpenLog(log_opened()))
}

/// The epoch's key is seed `to`, certified by seed `from`.
pub(crate) fn rotated(epoch: u64, from: u8, to: u8) -> KeyRotated {
    let (prev_vkey, vkey) = (log_vkey(from), log_vkey(to));
    let text = certificate_text(ORIGIN, epoch, &vkey);
    let cert = hex::encode(seed(from).sign(text.as_bytes()).to_bytes());
    KeyRotated {
        cert,
        epoch,
        prev_vkey,
        vkey,
    }
}

pub(crate) fn rotate(epoch: u64, from: u8, to: u8) -> Command {
    Command::Keys(keys::Command::RotateKey(rotated(epoch, from, to)))
}

/// The rotation to this epoch in a long line of keys, each made from its epoch's number.
pub(crate) fn rotate_wide(epoch: u64) -> Command {
    let signing = |epoch: u64| match epoch {
        1 => seed(1),
        _ => SigningKey::from_bytes(blake3::hash(&epoch.to_le_bytes()).as_bytes()),
    };
    let (from, to) = (signing(epoch - 1), signing(epoch));
    let vkey = keys::vkey_text(ORIGIN, &to.verifying_key());
    let text = certificate_text(ORIGIN, epoch, &vkey);
    let cert = hex::encode(from.sign(text.as_bytes()).to_bytes());
    let prev_vkey = keys::vkey_text(ORIGIN, &from.verifying_key());
    Command::Keys(keys::Command::RotateKey(KeyRotated {
        cert,
        epoch,
        prev_vkey,
        vkey,
    }))
}

pub(crate) fn issued(number: u64, agent: Option<&str>, scopes: &[Scope]) -> ApiKeyIssued {
    ApiKeyIssued {
        agent: agent.map(name),
        hash: format!("{number:064x}"),
        key: key_id(number),
        label: "a key".to_owned(),
        scopes: scopes.to_vec(),
    }
}

pub(crate) fn issue(number: u64, agent: Option<&str>, scopes: &[Scope]) -> Command {
    Command::Keys(keys::Command::IssueApiKey(issued(number, agent, scopes)))
}

pub(crate) fn revoke(number: u64) -> Command {
    let (key, reason) = (key_id(number), because());
    Command::Keys(keys::Command::RevokeApiKey(ApiKeyRevoked { key, reason }))
}

pub(crate) fn enrol(agent: &str, number: u8) -> Command {
    let (agent, pubkey) = (name(agent), pubkey(number));
    Command::Keys(keys::Command::EnrolAgentKey(AgentKeyEnrolled {
        agent,
        pubkey,
    }))
}

pub(crate) fn disenrol(agent: &str, number: u8) -> Command {
    let (agent, pubkey, reason) = (name(agent), pubkey(number), because());
    Command::Keys(keys::Command::RevokeAgentKey(AgentKeyRevoked {
        agent,
        pubkey,
        reason,
    }))
}
