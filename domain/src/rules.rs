//! The rules as a whole: `lawful` and its parts, and `evolve`.
//!
//! | part | looks at | run by |
//! |---|---|---|
//! | [`intrinsic`] | the event | the door (as `Command::check`), the verifier in parallel |
//! | [`contextual`] | its stream's state, the envelope | the writer, the verifier |
//! | [`cross_stream`] | other streams' state | the writer, the verifier of a whole log |

use crate::{
    Event, EventKind, Fact, Rejection, State, What,
    actor::Actor,
    event::Home,
    ids::StreamId,
    keys::{self, ApiKey, KeyEpoch, KeysState, Scope},
    room, skills,
    text::AgentName,
};

/// Whether this event may follow this state: [`intrinsic`], [`contextual`] and [`cross_stream`].
pub fn lawful(state: &State, fact: &Fact<'_>) -> Result<(), Rejection> {
    intrinsic(fact)?;
    contextual(state, fact)?;
    cross_stream(state, fact)
}

/// The rules that need no state: the event's stream, sizes, spellings, signatures.
pub fn intrinsic(fact: &Fact<'_>) -> Result<(), Rejection> {
    let at_home = match fact.what.kind().home() {
        Home::Log => matches!(fact.stream, StreamId::Log),
        Home::Keys => matches!(fact.stream, StreamId::Keys),
        Home::Room => matches!(fact.stream, StreamId::Room(_)),
        Home::Skills => matches!(fact.stream, StreamId::Skills),
    };
    if !at_home {
        return Err(Rejection::WrongStream);
    }
    match fact.what {
        What::Present(Event::Room(event)) => event.intrinsic(room::room_of(fact)?, fact.at),
        What::Present(Event::Keys(event)) => event.intrinsic(),
        What::Present(Event::Skills(event)) => event.intrinsic(),
        What::Erased(kind) if kind.can_be_erased() => Ok(()),
        What::Erased(_) => Err(Rejection::BodyMissing),
    }
}

/// The rules that need the state of the event's own stream.
pub fn contextual(state: &State, fact: &Fact<'_>) -> Result<(), Rejection> {
    match fact.stream {
        StreamId::Log | StreamId::Keys => keys::contextual(state.keys(), fact),
        StreamId::Room(id) => room::contextual(state.room(&id), fact),
        StreamId::Skills => skills::contextual(state.skills(), fact),
    }
}

/// The rules about what another stream knows: that the log is opened, that an API key may do
/// this, that a room's name is unique, that a signature's `enrolled` says what is so, and that
/// the ledger was signed with the log's key.
/// A room's bundle alone cannot answer these; the whole log can.
pub fn cross_stream(state: &State, fact: &Fact<'_>) -> Result<(), Rejection> {
    let kind = fact.what.kind();
    if kind != EventKind::LogOpened && state.keys().current_epoch().is_none() {
        return Err(Rejection::LogNotOpened);
    }
    if let Actor::Key(id) = fact.actor {
        let key = state.keys().api_key(id).ok_or(Rejection::KeyNotFound)?;
        key_may(state.keys(), key, &fact.what)?;
    }
    match fact.what {
        What::Present(Event::Room(event)) => room_facts(state, fact, event),
        What::Present(Event::Keys(_) | Event::Skills(_)) | What::Erased(_) => Ok(()),
    }
}

/// Whether an API key may do this.
fn key_may(keys: &KeysState, key: &ApiKey, what: &What<'_>) -> Result<(), Rejection> {
    if key.revoked {
        return Err(Rejection::KeyRevoked);
    }
    let needed = scope_needed(keys, key, what);
    if !key.allows(needed) {
        return Err(Rejection::KeyLacksScope { needed });
    }
    match &key.agent {
        Some(agent) if !is_of(agent, what) => {
            let agent = agent.clone();
            Err(Rejection::KeyBoundToAgent { agent })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a key that is bound to this agent may say so: in rooms and of skills under that name
/// only. A key it issues is bound as it is itself, and the public keys it enrols are that agent's,
/// or it would speak as anybody by way of those.
fn is_of(bound: &AgentName, what: &What<'_>) -> bool {
    match what {
        What::Present(Event::Room(event)) => event.agent().is_none_or(|agent| agent == bound),
        What::Present(Event::Skills(event)) => event.agent().is_none_or(|agent| agent == bound),
        What::Present(Event::Keys(keys::Event::ApiKeyIssued(issued))) => {
            issued.agent.as_ref() == Some(bound)
        }
        What::Present(Event::Keys(keys::Event::AgentKeyEnrolled(enrolled))) => {
            enrolled.agent == *bound
        }
        What::Present(Event::Keys(
            keys::Event::LogOpened(_)
            | keys::Event::KeyRotated(_)
            | keys::Event::ApiKeyRevoked(_)
            | keys::Event::AgentKeyRevoked(_),
        ))
        | What::Erased(_) => true,
    }
}

/// The scope that an API key needs for this.
fn scope_needed(keys: &KeysState, key: &ApiKey, what: &What<'_>) -> Scope {
    match what.kind() {
        EventKind::RoomOpened
        | EventKind::RoomOpenedV2
        | EventKind::RoomJoined
        | EventKind::RoomLeft
        | EventKind::MessagePosted
        | EventKind::ClaimOpened
        | EventKind::ClaimRevised
        | EventKind::HandshakeMade
        | EventKind::SkillPublished => Scope::Agent,
        EventKind::RoomRenamed
        | EventKind::BodiesErased
        | EventKind::RoomClosed
        | EventKind::RoomErased
        | EventKind::ContextExtracted
        | EventKind::DiscrepancyRecorded
        | EventKind::SkillWithdrawn => Scope::Operator,
        EventKind::LogOpened
        | EventKind::KeyRotated
        | EventKind::ApiKeyIssued
        | EventKind::ApiKeyRevoked
        | EventKind::AgentKeyEnrolled
        | EventKind::AgentKeyRevoked => match what {
            What::Present(Event::Keys(event)) => scope_for_keys(keys, key, event),
            What::Present(Event::Room(_) | Event::Skills(_)) | What::Erased(_) => Scope::Operator,
        },
    }
}

/// Issuing and revoking API keys takes an operator. Nobody hands out a scope he does not have, an
/// operator takes away any but the owner's; and an agent that has an API key of its own looks
/// after its own public keys.
fn scope_for_keys(keys: &KeysState, key: &ApiKey, event: &keys::Event) -> Scope {
    match event {
        keys::Event::ApiKeyIssued(issued) => {
            // The first that is missing, the greatest of those given first.
            let given = issued.scopes.iter().rev().copied();
            let mut needed = [Scope::Operator].into_iter().chain(given);
            let missing = needed.find(|scope| !key.allows(*scope));
            missing.unwrap_or(Scope::Operator)
        }
        keys::Event::ApiKeyRevoked(revoked) => match keys.api_key(&revoked.key) {
            Some(key) if key.scopes.contains(&Scope::Owner) => Scope::Owner,
            Some(_) | None => Scope::Operator,
        },
        keys::Event::AgentKeyEnrolled(enrolled) => key.scope_over(&enrolled.agent),
        keys::Event::AgentKeyRevoked(revoked) => key.scope_over(&revoked.agent),
        keys::Event::LogOpened(_) | keys::Event::KeyRotated(_) => Scope::Owner,
    }
}

fn room_facts(state: &State, fact: &Fact<'_>, event: &room::Event) -> Result<(), Rejection> {
    let name = match event {
        room::Event::Opened(opened) => opened.name.as_ref(),
        room::Event::Renamed(renamed) => renamed.name.as_ref(),
        room::Event::MessagePosted(posted) => {
            let signature = posted.signature.as_ref();
            let signed = signature.map(|signature| (signature.enrolled, &*signature.pubkey));
            return enrolment(state.keys(), Some(&posted.agent), signed);
        }
        room::Event::Claim(event) => {
            let signature = event.signature();
            let signed = signature.map(|signature| (signature.enrolled, &*signature.pubkey));
            enrolment(state.keys(), event.agent(), signed)?;
            own_key(state.keys(), event.agent(), signed)?;
            return ledger_key(state.keys(), fact);
        }
        room::Event::Joined(_)
        | room::Event::Left(_)
        | room::Event::BodiesErased(_)
        | room::Event::Closed(_)
        | room::Event::Erased(_) => None,
    };
    match name {
        Some(name) if state.is_name_taken(name, room::room_of(fact)?) => {
            Err(Rejection::RoomNameTaken)
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a signature says what is so about its key.
fn enrolment(
    keys: &KeysState,
    agent: Option<&AgentName>,
    signed: Option<(bool, &str)>,
) -> Result<(), Rejection> {
    let (Some(agent), Some((found, pubkey))) = (agent, signed) else {
        return Ok(());
    };
    if found != keys.is_enrolled(agent, pubkey) {
        return Err(Rejection::SignatureEnrolmentWrong { found });
    }
    Ok(())
}

/// Whether an agent that has enrolled keys signs an act of a ledger with one of them. Else a
/// stranger could make two agents one by signing under both their names, and their confirmations
/// would count once.
fn own_key(
    keys: &KeysState,
    agent: Option<&AgentName>,
    signed: Option<(bool, &str)>,
) -> Result<(), Rejection> {
    match (agent, signed) {
        (Some(agent), Some((false, _))) if keys.agent_keys(agent).next().is_some() => {
            Err(Rejection::SignatureKeyForeign)
        }
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

/// Whether a ledger entry, if this is one, was signed with the log's key of its time. Part of
/// [`cross_stream`]; a room's bundle carries the log's key epochs, so its verifier asks this too.
pub fn ledger_key(keys: &KeysState, fact: &Fact<'_>) -> Result<(), Rejection> {
    let What::Present(Event::Room(room::Event::Claim(event))) = fact.what else {
        return Ok(());
    };
    let Some(entry) = event.entry() else {
        return Ok(());
    };
    let key = keys.epoch_at(fact.seq).and_then(KeyEpoch::public_key);
    if key == Some(&*entry.arbiter) {
        Ok(())
    } else {
        Err(Rejection::LedgerKeyWrong)
    }
}

/// Folds an event in. Decides nothing and cannot fail.
pub fn evolve(state: &mut State, fact: &Fact<'_>) {
    state.fold(fact);
}
