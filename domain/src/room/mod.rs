//! Rooms: open, rename, join, leave, post, close, erase, and the claim threads in them. One file
//! per command.
//!
//! Invariants
//! * [`lawful`] and [`evolve`] look only at the room's own state, the envelope and the body, so a
//!   room's bundle can be checked alone.
//! * Each command's file has the same shape: the command, the event, `intrinsic` (rules of the
//!   body alone), `contextual` (rules of the body in its place; `None` is an erased body, of
//!   which only what is possible is checked), `evolve`, and a table that reaches every refusal.
//! * A room does not know about keys, other rooms or the log.

pub mod claims;

mod close;
mod erase;
mod erase_bodies;
mod join;
mod leave;
mod open;
mod post_message;
mod rename;

mod names;
mod replays;
mod state;

pub use close::Closed;
pub use erase::Erased;
pub use erase_bodies::BodiesErased;
pub use join::Joined;
pub use leave::{Leaving, Left};
pub use open::{CONFIRMATIONS_NEEDED, Dialect, Opened, ProtocolMode};
pub use post_message::{MessageKind, MessagePosted, PostMessage};
pub use rename::Renamed;
pub use state::{Phase, RoomState};

use crate::{
    Context, EventKind, Fact, Rejection, What,
    ids::{RoomId, StreamId},
    keys::KeysState,
    text::AgentName,
    time::Timestamp,
};

/// Everything that can happen in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `room.opened`
    Opened(Opened),
    /// `room.renamed`
    Renamed(Renamed),
    /// `room.joined`
    Joined(Joined),
    /// `room.left`
    Left(Left),
    /// `room.message_posted`
    MessagePosted(MessagePosted),
    /// `room.bodies_erased`
    BodiesErased(BodiesErased),
    /// `room.closed`
    Closed(Closed),
    /// `room.erased`
    Erased(Erased),
    /// Of a claim thread, or a handshake.
    Claim(claims::Event),
}

/// What can be asked of a room.
#[derive(Clone, Debug)]
pub enum Command {
    /// Open it.
    Open(Opened),
    /// Give it another name, or none.
    Rename(Renamed),
    /// Come in.
    Join(Joined),
    /// Go.
    Leave(Left),
    /// Say something.
    PostMessage(PostMessage),
    /// Erase messages.
    EraseBodies(BodiesErased),
    /// Close it.
    Close(Closed),
    /// Erase it.
    Erase(Erased),
    /// Of a claim thread, or shake hands.
    Claim(claims::Command),
}

impl Event {
    /// The event's kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Opened(event) => event.kind(),
            Self::Renamed(_) => EventKind::RoomRenamed,
            Self::Joined(_) => EventKind::RoomJoined,
            Self::Left(_) => EventKind::RoomLeft,
            Self::MessagePosted(_) => EventKind::MessagePosted,
            Self::BodiesErased(_) => EventKind::BodiesErased,
            Self::Closed(_) => EventKind::RoomClosed,
            Self::Erased(_) => EventKind::RoomErased,
            Self::Claim(event) => event.kind(),
        }
    }

    /// Which bytes the agent signed, if it signed.
    pub fn signed_surface(&self) -> Option<&str> {
        match self {
            Self::MessagePosted(event) => Some(&event.signature.as_ref()?.surface),
            Self::Claim(event) => Some(&event.signature()?.surface),
            Self::Opened(_)
            | Self::Renamed(_)
            | Self::Joined(_)
            | Self::Left(_)
            | Self::BodiesErased(_)
            | Self::Closed(_)
            | Self::Erased(_) => None,
        }
    }

    /// The agent this event speaks for, if any.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Joined(event) => Some(&event.agent),
            Self::Left(event) => Some(&event.agent),
            Self::MessagePosted(event) => Some(&event.agent),
            Self::Claim(event) => event.agent(),
            Self::Opened(_)
            | Self::Renamed(_)
            | Self::BodiesErased(_)
            | Self::Closed(_)
            | Self::Erased(_) => None,
        }
    }

    /// `at` is the record's time, which the arbiter signs.
    pub(crate) fn intrinsic(&self, room: RoomId, at: Timestamp) -> Result<(), Rejection> {
        match self {
            Self::Opened(event) => open::intrinsic(event),
            Self::MessagePosted(event) => post_message::intrinsic(event, room),
            Self::BodiesErased(event) => erase_bodies::intrinsic(event),
            Self::Claim(event) => event.intrinsic(room, at),
            // Their fields' types say it all.
            Self::Renamed(_)
            | Self::Joined(_)
            | Self::Left(_)
            | Self::Closed(_)
            | Self::Erased(_) => Ok(()),
        }
    }
}

impl Command {
    /// The rules that need no state.
    pub(crate) fn check(&self, room: RoomId) -> Result<(), Rejection> {
        match self {
            Self::Open(event) => open::intrinsic(event),
            Self::PostMessage(command) => post_message::check(command, room),
            Self::EraseBodies(event) => erase_bodies::intrinsic(event),
            Self::Claim(command) => command.check(room),
            Self::Rename(_) | Self::Join(_) | Self::Leave(_) | Self::Close(_) | Self::Erase(_) => {
                Ok(())
            }
        }
    }
}

/// The event a command makes, if [`crate::lawful`] agrees.
pub(crate) fn decide(
    room: Option<&RoomState>,
    keys: &KeysState,
    command: Command,
    context: &Context<'_>,
) -> Event {
    match command {
        Command::Open(opened) => Event::Opened(opened),
        Command::Rename(renamed) => Event::Renamed(renamed),
        Command::Join(joined) => Event::Joined(joined),
        Command::Leave(left) => Event::Left(left),
        Command::PostMessage(post) => {
            Event::MessagePosted(post_message::decide(room, keys, post, context))
        }
        Command::EraseBodies(erased) => Event::BodiesErased(erased),
        Command::Close(closed) => Event::Closed(closed),
        Command::Erase(erased) => Event::Erased(erased),
        Command::Claim(command) => Event::Claim(claims::decide(room, keys, command, context)),
    }
}

/// Whether this event may follow this room's state: everything that can be said from the room's
/// own bundle. `None` is a room that was never opened.
pub fn lawful(room: Option<&RoomState>, fact: &Fact<'_>) -> Result<(), Rejection> {
    crate::intrinsic(fact)?;
    contextual(room, fact)
}

/// The half of [`lawful`] that needs the state.
pub fn contextual(room: Option<&RoomState>, fact: &Fact<'_>) -> Result<(), Rejection> {
    match Step::of(&fact.what).ok_or(Rejection::WrongStream)? {
        Step::Opened(event) => open::contextual(room, fact, event),
        Step::Renamed(event) => rename::contextual(room, fact, event),
        Step::Joined(event) => join::contextual(room, fact, event),
        Step::Left(event) => leave::contextual(room, fact, event),
        Step::MessagePosted(event) => post_message::contextual(room, fact, event),
        Step::BodiesErased(event) => erase_bodies::contextual(room, fact, event),
        Step::Closed => close::contextual(room, fact),
        Step::Erased => erase::contextual(room, fact),
        Step::Claim(step) => claims::contextual(room, fact, step),
    }
}

/// Folds an event of this room in. Decides nothing and cannot fail: an event that is not lawful
/// here changes as little as possible.
pub fn evolve(room: &mut Option<RoomState>, fact: &Fact<'_>) {
    match room {
        Some(room) => advance(room, fact),
        None => *room = begin(fact),
    }
}

/// The state a first event makes.
pub(crate) fn begin(fact: &Fact<'_>) -> Option<RoomState> {
    match Step::of(&fact.what)? {
        Step::Opened(event) => Some(open::evolve(fact, event)),
        Step::Renamed(_)
        | Step::Joined(_)
        | Step::Left(_)
        | Step::MessagePosted(_)
        | Step::BodiesErased(_)
        | Step::Closed
        | Step::Erased
        | Step::Claim(_) => None,
    }
}

/// Folds a later event in.
pub(crate) fn advance(room: &mut RoomState, fact: &Fact<'_>) {
    room.sseq = fact.sseq;
    let Some(step) = Step::of(&fact.what) else {
        return;
    };
    match step {
        Step::Opened(_) => {}
        Step::Renamed(event) => rename::evolve(room, event),
        Step::Joined(event) => join::evolve(room, event),
        Step::Left(event) => leave::evolve(room, event),
        Step::MessagePosted(event) => post_message::evolve(room, fact, event),
        Step::BodiesErased(_) => erase_bodies::evolve(room),
        Step::Closed => close::evolve(room),
        Step::Erased => erase::evolve(room),
        Step::Claim(step) => claims::evolve(room, step),
    }
}

/// A fact's room event, or only its kind when the body was erased.
#[derive(Clone, Copy)]
enum Step<'a> {
    Opened(Option<&'a Opened>),
    Renamed(Option<&'a Renamed>),
    Joined(Option<&'a Joined>),
    Left(Option<&'a Left>),
    MessagePosted(Option<&'a MessagePosted>),
    BodiesErased(Option<&'a BodiesErased>),
    Closed,
    Erased,
    Claim(claims::Step<'a>),
}

impl<'a> Step<'a> {
    /// `None` for an event that does not belong in a room.
    fn of(what: &What<'a>) -> Option<Self> {
        match what {
            What::Present(crate::Event::Room(event)) => Some(Self::present(event)),
            What::Present(crate::Event::Keys(_) | crate::Event::Skills(_)) => None,
            What::Erased(kind) => Self::erased(*kind),
        }
    }

    fn present(event: &'a Event) -> Self {
        match event {
            Event::Opened(event) => Self::Opened(Some(event)),
            Event::Renamed(event) => Self::Renamed(Some(event)),
            Event::Joined(event) => Self::Joined(Some(event)),
            Event::Left(event) => Self::Left(Some(event)),
            Event::MessagePosted(event) => Self::MessagePosted(Some(event)),
            Event::BodiesErased(event) => Self::BodiesErased(Some(event)),
            Event::Closed(_) => Self::Closed,
            Event::Erased(_) => Self::Erased,
            Event::Claim(event) => Self::Claim(claims::Step::present(event)),
        }
    }

    fn erased(kind: EventKind) -> Option<Self> {
        match kind {
            EventKind::RoomOpened | EventKind::RoomOpenedV2 => Some(Self::Opened(None)),
            EventKind::RoomRenamed => Some(Self::Renamed(None)),
            EventKind::RoomJoined => Some(Self::Joined(None)),
            EventKind::RoomLeft => Some(Self::Left(None)),
            EventKind::MessagePosted => Some(Self::MessagePosted(None)),
            EventKind::BodiesErased => Some(Self::BodiesErased(None)),
            EventKind::RoomClosed => Some(Self::Closed),
            EventKind::RoomErased => Some(Self::Erased),
            EventKind::ClaimOpened => Some(Self::Claim(claims::Step::Opened(None))),
            EventKind::ClaimRevised => Some(Self::Claim(claims::Step::Revised(None))),
            EventKind::HandshakeMade => Some(Self::Claim(claims::Step::HandshakeMade(None))),
            EventKind::ContextExtracted => Some(Self::Claim(claims::Step::ContextExtracted(None))),
            EventKind::DiscrepancyRecorded => {
                Some(Self::Claim(claims::Step::DiscrepancyRecorded(None)))
            }
            EventKind::LogOpened
            | EventKind::KeyRotated
            | EventKind::ApiKeyIssued
            | EventKind::ApiKeyRevoked
            | EventKind::AgentKeyEnrolled
            | EventKind::AgentKeyRevoked
            | EventKind::SkillPublished
            | EventKind::SkillWithdrawn => None,
        }
    }
}

/// The room a fact belongs to.
pub(crate) fn room_of(fact: &Fact<'_>) -> Result<RoomId, Rejection> {
    match fact.stream {
        StreamId::Room(id) => Ok(id),
        StreamId::Log | StreamId::Keys | StreamId::Skills => Err(Rejection::WrongStream),
    }
}

/// The tables of all commands.
#[cfg(test)]
pub(crate) fn all_rows() -> Vec<crate::testing::Row> {
    [
        open::tests::rows(),
        rename::tests::rows(),
        join::tests::rows(),
        leave::tests::rows(),
        post_message::tests::rows(),
        erase_bodies::tests::rows(),
        close::tests::rows(),
        erase::tests::rows(),
        claims::all_rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
