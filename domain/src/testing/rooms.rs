//! Words for rows about rooms and signed messages.

use super::*;

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
        confirmations_needed: None,
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

/// The same room, where so many confirmations make an agreement.
pub(crate) fn needing(confirmations: u8) -> Opened {
    Opened {
        confirmations_needed: Some(confirmations),
        ..opened()
    }
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
