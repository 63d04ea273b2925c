//! Which message, revision or handshake a finding is about.

use minutebook_domain::{Event, ids::RoomId, room, room::claims};
use minutebook_eventlog::store::LogReader;
use minutebook_projections::audit::About;
use minutebook_projections::threads::LedgerAct;

use crate::error::ApiError;
use crate::generations::OwnedFact;
use crate::http::app::App;

/// What a finding is about, as far as the dialect has a number for it.
#[derive(Clone, Copy)]
pub(super) enum Act {
    Message(u64),
    Revision(u64),
    Handshake(u64),
}

impl Act {
    pub(super) fn message(self) -> Option<u64> {
        match self {
            Self::Message(n) => Some(n),
            Self::Revision(_) | Self::Handshake(_) => None,
        }
    }

    pub(super) fn revision(self) -> Option<u64> {
        match self {
            Self::Revision(id) => Some(id),
            Self::Message(_) | Self::Handshake(_) => None,
        }
    }

    pub(super) fn handshake(self) -> Option<u64> {
        match self {
            Self::Handshake(id) => Some(id),
            Self::Message(_) | Self::Revision(_) => None,
        }
    }

    /// What a row that differs shows.
    pub(super) fn of_row(about: &About) -> Option<Self> {
        match about {
            About::Message(n) => Some(Self::Message(*n)),
            About::Revision(id) => Some(Self::Revision(*id)),
            About::Handshake(id) => Some(Self::Handshake(*id)),
            About::Room
            | About::Listing
            | About::Agent(_)
            | About::Posted
            | About::Ledger
            | About::Thread(_)
            | About::ThreadAt(_)
            | About::RevisionAt(..)
            | About::Discrepancy(_)
            | About::Hands
            | About::Signers
            | About::Readings
            | About::Nothing => None,
        }
    }

    /// The act whose record is this one. Rows say it best, since a record that was tampered with
    /// may not; but rows may be tampered with as well, and then the record is asked.
    pub(super) fn at(app: &App, log: &dyn LogReader, id: RoomId, seq: u64) -> Option<Self> {
        let shown = Self::shown_at(app, id, seq).ok().flatten();
        shown.or_else(|| Self::recorded_at(log, seq))
    }

    fn shown_at(app: &App, id: RoomId, seq: u64) -> Result<Option<Self>, ApiError> {
        let n = app.first_message(id, |row| row.seq < seq)?;
        let message = app.history(|history| history.message(id, n))?;
        if message.is_some_and(|message| message.row.seq == seq) {
            return Ok(Some(Self::Message(n)));
        }
        let found = app.threads(|threads| threads.act_at(id, seq))?;
        Ok(found.map(|found| match found {
            LedgerAct::Revision(id) => Self::Revision(id),
            LedgerAct::Handshake(id) => Self::Handshake(id),
        }))
    }

    fn recorded_at(log: &dyn LogReader, seq: u64) -> Option<Self> {
        let page = log.read(seq, 1).ok()?;
        let (_, record) = page.first()?;
        match OwnedFact::decode(record).ok()?.event? {
            Event::Room(room::Event::MessagePosted(event)) => Some(Self::Message(event.n)),
            Event::Room(room::Event::Claim(event)) => match event {
                claims::Event::Opened(event) => Some(Self::Revision(event.entry.id)),
                claims::Event::Revised(event) => Some(Self::Revision(event.entry.id)),
                claims::Event::HandshakeMade(event) => Some(Self::Handshake(event.id)),
                claims::Event::ContextExtracted(_) | claims::Event::DiscrepancyRecorded(_) => None,
            },
            Event::Room(
                room::Event::Opened(_)
                | room::Event::Renamed(_)
                | room::Event::Joined(_)
                | room::Event::Left(_)
                | room::Event::BodiesErased(_)
                | room::Event::Closed(_)
                | room::Event::Erased(_),
            )
            | Event::Keys(_)
            | Event::Skills(_) => None,
        }
    }
}
