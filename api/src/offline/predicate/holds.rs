//! Whether a predicate holds of a room at a moment.

use minutebook_domain::{ids::RoomId, room::claims::Thread};
use minutebook_projections::{Kind, RoomsView, rooms::RoomRow};

use super::{Count, Predicate, Relation, Test, Text, TextRelation, ThreadTest};
use crate::{
    generations::GenerationError,
    offline::{ledger::Ledger, moment::wrong},
};

impl Predicate {
    /// Whether it holds of this room; of one that was never opened nothing holds.
    pub(in crate::offline) fn holds(&self, moment: &Moment<'_>) -> Result<bool, GenerationError> {
        let (view, id) = (&moment.rooms, moment.room);
        let row = view.room(id).map_err(wrong(Kind::Rooms))?;
        let buried = match view.erased(id).map_err(wrong(Kind::Rooms))? {
            Some(grave) => Some(grave.message_count),
            None if row.is_none() => return Ok(false),
            None => None,
        };
        let room = Room {
            row: row.filter(|_| buried.is_none()),
            buried,
            moment,
        };
        for all in &self.0 {
            let mut holds = true;
            for term in all {
                holds = holds && room.passes(&term.test)? != term.is_negated;
            }
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What is known of a room.
#[derive(Clone, Copy)]
pub(in crate::offline) struct Moment<'a> {
    pub(in crate::offline) room: RoomId,
    pub(in crate::offline) rooms: RoomsView<'a>,
    pub(in crate::offline) ledger: &'a Ledger,
}

/// A room at a moment.
struct Room<'a> {
    row: Option<RoomRow>,
    /// Messages it had, once it is erased.
    buried: Option<u64>,
    moment: &'a Moment<'a>,
}

impl Room<'_> {
    fn passes(&self, test: &Test) -> Result<bool, GenerationError> {
        let is_closed = self.row.as_ref().is_some_and(|row| row.is_closed);
        Ok(match test {
            Test::Open => self.row.is_some() && !is_closed,
            Test::Closed => is_closed,
            Test::Erased => self.buried.is_some(),
            Test::Public => self.row.as_ref().is_some_and(|row| row.is_public),
            Test::Count(count, relation, number) => relation.holds(self.count(*count)?, *number),
            Test::Text(text, relation, wanted) => relation.holds(self.text(*text), wanted),
            Test::Message(n) => *n >= 1 && *n <= self.count(Count::Messages)?,
            Test::Member(name) => {
                let Moment { room, rooms, .. } = self.moment;
                let agent = match &self.row {
                    Some(_) => rooms.agent(*room, name).map_err(wrong(Kind::Rooms))?,
                    None => None,
                };
                agent.is_some_and(|agent| agent.member_since.is_some())
            }
            Test::Sealed => self.moment.ledger.is_sealed()?,
            Test::Thread(name, test) => {
                let mut named = self.moment.ledger.named(name);
                named.any(|thread| test.holds(thread))
            }
        })
    }

    fn count(&self, count: Count) -> Result<u64, GenerationError> {
        let of = |count: fn(&RoomRow) -> u64| self.row.as_ref().map_or(0, count);
        let ledger = self.moment.ledger;
        Ok(match (count, self.buried) {
            (Count::Messages, Some(buried)) => buried,
            (Count::Messages, None) => of(|row| row.message_count),
            (Count::Members, _) => of(|row| row.member_count),
            (Count::Agents, _) => of(|row| row.agent_count),
            (Count::Threads, _) => ledger.threads(),
            (Count::Handshakes, _) => ledger.handshakes()?,
            (Count::Discrepancies, _) => ledger.discrepancies()?,
        })
    }

    fn text(&self, text: Text) -> Option<&str> {
        let row = self.row.as_ref()?;
        match text {
            Text::Name => row.name.as_deref(),
            Text::Description => Some(&row.description),
        }
    }
}

impl Relation {
    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

impl TextRelation {
    /// A text that is not known is no text.
    fn holds(self, text: Option<&str>, wanted: &str) -> bool {
        match self {
            Self::Is => text == Some(wanted),
            Self::IsNot => text != Some(wanted),
            Self::Contains => text.is_some_and(|text| text.contains(wanted)),
        }
    }
}

impl ThreadTest {
    fn holds(&self, thread: &Thread) -> bool {
        match self {
            Self::Status(status) => thread.status() == *status,
            Self::Value(relation, wanted) => relation.holds(Some(thread.value()), wanted),
        }
    }
}
