//! Short words for the rows: who acts, what is asked, with which keys.

use ed25519_dalek::{Signer as _, SigningKey};
use uuid::Uuid;

use super::{Does, ORIGIN, Step, step};
use crate::{
    Command, Event, EventKind,
    actor::Actor,
    ids::{KeyId, RoomId},
    keys::{self, *},
    room::{self, *},
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, Description, MessageText, Reason, RoomName},
};

// Who.

pub(crate) fn owner(command: Command) -> Step {
    step(Actor::Owner, Does::Ask(command))
}

pub(crate) fn service(command: Command) -> Step {
    step(Actor::Service("rooms".to_owned()), Does::Ask(command))
}

pub(crate) fn arbiter(command: Command) -> Step {
    step(Actor::Arbiter, Does::Ask(command))
}

pub(crate) fn agent(name: &str, command: Command) -> Step {
    step(Actor::Agent(self::name(name)), Does::Ask(command))
}

pub(crate) fn key(number: u64, command: Command) -> Step {
    step(Actor::Key(key_id(number)), Does::Ask(command))
}

/// A record by the owner, lawful or not.
pub(crate) fn recorded(event: impl Into<Event>) -> Step {
    step(Actor::Owner, Does::Record(event.into()))
}

/// A record by this actor, of which only the kind is left.
pub(crate) fn erased(actor: Actor, kind: EventKind) -> Step {
    step(actor, Does::Erased(room_id(1), kind))
}

// Rooms.

pub(crate) fn room_id(number: u128) -> RoomId {
    RoomId::new(Uuid::from_u128(
        0xa000_0000_0000_4000_8000_0000_0000_0000 + number,
    ))
}

pub(crate) fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

pub(crate) fn room_name(text: &str) -> RoomName {
    RoomName::parse(text).unwrap()
}

pub(crate) fn because() -> Reason {
    Reason::parse("because").unwrap()
}

pub(crate) fn in_room(command: room::Command) -> Command {
    Command::Room(room_id(1), command)
}

pub(crate) fn opened() -> Opened {
    Opened {
        description: Description::parse("Delivery to site 2").unwrap(),
        dialect: Dialect::Rooms,
        is_public: true,
        message_limit: Some(3),
        name: None,
        protocol_mode: ProtocolMode::Standard,
    }
}

pub(crate) fn open() -> Command {
    in_room(room::Command::Open(opened()))
}

pub(crate) fn open_named(text: &str) -> Command {
    let name = Some(room_name(text));
    in_room(room::Command::Open(Opened { name, ..opened() }))
}

pub(crate) fn open_unlimited() -> Command {
    in_room(room::Command::Open(Opened {
        message_limit: None,
        ..opened()
    }))
}

pub(crate) fn rename(text: Option<&str>) -> Command {
    in_room(room::Command::Rename(Renamed {
        name: text.map(room_name),
    }))
}

pub(crate) fn join(agent: &str) -> Command {
    in_room(room::Command::Join(Joined { agent: name(agent) }))
}

pub(crate) fn leave(agent: &str) -> Command {
    in_room(room::Command::Leave(Left {
        agent: name(agent),
        how: Leaving::Asked,
    }))
}

pub(crate) fn post(agent: &str) -> PostMessage {
    PostMessage {
        agent: name(agent),
        kind: MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse("We agreed.").unwrap(),
    }
}

pub(crate) fn say(agent: &str) -> Command {
    in_room(room::Command::PostMessage(post(agent)))
}

pub(crate) fn close() -> Command {
    in_room(room::Command::Close(Closed { reason: because() }))
}

pub(crate) fn erase() -> Command {
    in_room(room::Command::Erase(Erased { reason: because() }))
}

pub(crate) fn erase_bodies(first: u64, last: u64) -> Command {
    in_room(room::Command::EraseBodies(BodiesErased {
        first,
        last,
        reason: because(),
    }))
}

// Signatures.

pub(crate) fn seed(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub(crate) fn pubkey(number: u8) -> String {
    hex::encode(seed(number).verifying_key().as_bytes())
}

/// `post(agent)` signed by this seed with this time, for room 1.
pub(crate) fn signed(agent: &str, number: u8, ts_iso: &str) -> PostMessage {
    let mut post = post(agent);
    post.signature = Some(signature(&post, number, ts_iso));
    post
}

pub(crate) fn signature(post: &PostMessage, number: u8, ts_iso: &str) -> MessageSignature {
    let memory_root = post.memory_root.as_deref();
    let bytes = surface_roomcomm_v1(post.text.as_str(), ts_iso, room_id(1), memory_root);
    let sig = hex::encode(seed(number).sign(&bytes).to_bytes());
    MessageSignature::from_client(&pubkey(number), &sig, ts_iso)
}

pub(crate) fn say_signed(agent: &str, number: u8, ts_iso: &str) -> Command {
    in_room(room::Command::PostMessage(signed(agent, number, ts_iso)))
}

// Keys.

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
