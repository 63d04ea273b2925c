//! All commands, and what is decided about them.

use std::fmt;

use uuid::Uuid;

use crate::{
    Event, Fact, Rejection, State, What,
    actor::Actor,
    ids::{RoomId, StreamId},
    keys, room, rules, skills,
    time::Timestamp,
};

/// Something asked for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Of a room.
    Room(RoomId, room::Command),
    /// Of the keys or the log.
    Keys(keys::Command),
    /// Of shared skills.
    Skills(skills::Command),
}

impl Command {
    /// The stream it is about.
    pub fn stream(&self) -> StreamId {
        match self {
            Self::Room(id, _) => StreamId::Room(*id),
            Self::Keys(keys::Command::OpenLog(_) | keys::Command::RotateKey(_)) => StreamId::Log,
            Self::Keys(
                keys::Command::IssueApiKey(_)
                | keys::Command::RevokeApiKey(_)
                | keys::Command::EnrolAgentKey(_)
                | keys::Command::RevokeAgentKey(_),
            ) => StreamId::Keys,
            Self::Skills(_) => StreamId::Skills,
        }
    }

    /// The half of the rules that needs no state (sizes, signatures), which is the expensive
    /// half: run it at the door, on the caller's thread, before the single writer.
    pub fn check(self) -> Result<CheckedCommand, Rejection> {
        match &self {
            Self::Room(id, command) => command.check(*id)?,
            Self::Keys(command) => command.check()?,
            Self::Skills(command) => command.check()?,
        }
        Ok(CheckedCommand(self))
    }
}

/// A command whose intrinsic rules hold. Only [`Command::check`] makes one.
#[derive(Clone, Debug)]
pub struct CheckedCommand(Command);

impl CheckedCommand {
    /// The command.
    pub fn get(&self) -> &Command {
        &self.0
    }

    /// The command, to be checked again if it is to be decided.
    pub fn into_inner(self) -> Command {
        self.0
    }
}

/// The arbiter: the holder of the log's key, who signs every entry of a room's ledger.
/// Ed25519 signatures are deterministic, so a command decided twice gives the same event.
pub trait Arbiter: fmt::Debug {
    /// Its public key.
    fn public_key(&self) -> [u8; 32];
    /// Its Ed25519 signature over these bytes.
    fn sign(&self, bytes: &[u8]) -> [u8; 64];
}

impl Arbiter for ed25519_dalek::SigningKey {
    fn public_key(&self) -> [u8; 32] {
        self.verifying_key().to_bytes()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        ed25519_dalek::Signer::sign(self, bytes).to_bytes()
    }
}

/// What the outside world adds to a command.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// Who asks, as authenticated.
    pub actor: Actor,
    /// The record's time. Never before the newest event's.
    pub at: Timestamp,
    /// A fresh UUID, for what the command creates.
    pub fresh: Uuid,
    /// Who signs the ledger: the log's key now.
    pub arbiter: &'a dyn Arbiter,
}

/// Decides a command: the events it makes, each with its stream, all of which are lawful in
/// order, or why not.
pub fn decide(
    state: &State,
    command: CheckedCommand,
    context: &Context<'_>,
) -> Result<Vec<(StreamId, Event)>, Rejection> {
    let CheckedCommand(command) = command;
    let stream = command.stream();
    let event = match command {
        Command::Room(id, command) => {
            let room = state.room(&id);
            Event::Room(room::decide(room, state.keys(), command, context))
        }
        Command::Keys(command) => Event::Keys(command.into_event()),
        Command::Skills(command) => Event::Skills(command.into_event()),
    };
    let fact = Fact {
        seq: state.seq().saturating_add(1),
        stream,
        sseq: state.sseq(stream).saturating_add(1),
        actor: &context.actor,
        at: context.at,
        what: What::Present(&event),
    };
    debug_assert_eq!(rules::intrinsic(&fact), Ok(()), "checked at the door");
    rules::contextual(state, &fact)?;
    rules::cross_stream(state, &fact)?;
    Ok(vec![(stream, event)])
}
