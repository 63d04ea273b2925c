//! The persisted names of events.

/// An event's type without its body: what is left when the body is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as the events")]
pub enum EventKind {
    LogOpened,
    KeyRotated,
    ApiKeyIssued,
    ApiKeyRevoked,
    AgentKeyEnrolled,
    AgentKeyRevoked,
    RoomOpened,
    RoomRenamed,
    RoomJoined,
    RoomLeft,
    MessagePosted,
    BodiesErased,
    RoomClosed,
    RoomErased,
    RoomOpenedV2,
    ClaimOpened,
    ClaimRevised,
    HandshakeMade,
    SkillPublished,
    SkillWithdrawn,
    ContextExtracted,
    DiscrepancyRecorded,
}

/// The kind of stream an event lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Log,
    Keys,
    Room,
    Skills,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 22] = [
        Self::LogOpened,
        Self::KeyRotated,
        Self::ApiKeyIssued,
        Self::ApiKeyRevoked,
        Self::AgentKeyEnrolled,
        Self::AgentKeyRevoked,
        Self::RoomOpened,
        Self::RoomRenamed,
        Self::RoomJoined,
        Self::RoomLeft,
        Self::MessagePosted,
        Self::BodiesErased,
        Self::RoomClosed,
        Self::RoomErased,
        Self::RoomOpenedV2,
        Self::ClaimOpened,
        Self::ClaimRevised,
        Self::HandshakeMade,
        Self::SkillPublished,
        Self::SkillWithdrawn,
        Self::ContextExtracted,
        Self::DiscrepancyRecorded,
    ];

    /// The kind with this persisted name and body version.
    pub fn parse(name: &str, version: u32) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name && kind.version() == version)
    }

    /// Persisted name, for ever: `room.message_posted`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogOpened => "log.opened",
            Self::KeyRotated => "log.key_rotated",
            Self::ApiKeyIssued => "keys.api_key_issued",
            Self::ApiKeyRevoked => "keys.api_key_revoked",
            Self::AgentKeyEnrolled => "keys.agent_key_enrolled",
            Self::AgentKeyRevoked => "keys.agent_key_revoked",
            Self::RoomOpened | Self::RoomOpenedV2 => "room.opened",
            Self::RoomRenamed => "room.renamed",
            Self::RoomJoined => "room.joined",
            Self::RoomLeft => "room.left",
            Self::MessagePosted => "room.message_posted",
            Self::BodiesErased => "room.bodies_erased",
            Self::RoomClosed => "room.closed",
            Self::RoomErased => "room.erased",
            Self::ClaimOpened => "room.claim_opened",
            Self::ClaimRevised => "room.claim_revised",
            Self::HandshakeMade => "room.handshake_made",
            Self::ContextExtracted => "room.context_extracted",
            Self::DiscrepancyRecorded => "room.discrepancy_recorded",
            Self::SkillPublished => "skill.published",
            Self::SkillWithdrawn => "skill.withdrawn",
        }
    }

    /// Version of the body's schema.
    pub const fn version(self) -> u32 {
        match self {
            Self::RoomOpenedV2 => 2,
            Self::LogOpened
            | Self::KeyRotated
            | Self::ApiKeyIssued
            | Self::ApiKeyRevoked
            | Self::AgentKeyEnrolled
            | Self::AgentKeyRevoked
            | Self::RoomOpened
            | Self::RoomRenamed
            | Self::RoomJoined
            | Self::RoomLeft
            | Self::MessagePosted
            | Self::BodiesErased
            | Self::RoomClosed
            | Self::RoomErased
            | Self::ClaimOpened
            | Self::ClaimRevised
            | Self::HandshakeMade
            | Self::ContextExtracted
            | Self::DiscrepancyRecorded
            | Self::SkillPublished
            | Self::SkillWithdrawn => 1,
        }
    }

    /// Whether it opens a room, in any version.
    pub const fn opens_room(self) -> bool {
        matches!(self, Self::RoomOpened | Self::RoomOpenedV2)
    }

    /// Whether anything may erase a body of this kind: messages by `room.bodies_erased`, and all
    /// of a room but its last word by `room.erased`.
    pub const fn can_be_erased(self) -> bool {
        matches!(self.home(), Home::Room) && !matches!(self, Self::RoomErased)
    }

    pub(crate) const fn home(self) -> Home {
        match self {
            Self::LogOpened | Self::KeyRotated => Home::Log,
            Self::ApiKeyIssued
            | Self::ApiKeyRevoked
            | Self::AgentKeyEnrolled
            | Self::AgentKeyRevoked => Home::Keys,
            Self::RoomOpened
            | Self::RoomOpenedV2
            | Self::RoomRenamed
            | Self::RoomJoined
            | Self::RoomLeft
            | Self::MessagePosted
            | Self::BodiesErased
            | Self::ClaimOpened
            | Self::ClaimRevised
            | Self::HandshakeMade
            | Self::ContextExtracted
            | Self::DiscrepancyRecorded
            | Self::RoomClosed
            | Self::RoomErased => Home::Room,
            Self::SkillPublished | Self::SkillWithdrawn => Home::Skills,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_reads_back_from_its_name_and_version() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.name(), kind.version()), Some(kind));
        }
        assert_eq!(EventKind::parse("room.opened", 3), None);
        assert_eq!(EventKind::parse("room.closed", 2), None);
        assert_eq!(EventKind::parse("room.unknown", 1), None);
    }
}
