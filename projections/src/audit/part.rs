//! One projection's part of an audit.

use minutebook_domain::{Event, EventKind, Fact, What, ids::RoomId, room};

use super::{About, Difference, Differences, How, expected::Expected};
use crate::{Kind, Projection, ProjectionError, RowOp, Rows, history, rooms, row, threads};

/// Facts folded between two looks at the rows.
const PAGE_FACTS: usize = 1024;

type Range = (Vec<u8>, Vec<u8>);

pub(super) struct Part<'a> {
    kind: Kind,
    room: RoomId,
    live: &'a dyn Rows,
    fold: Box<dyn Projection>,
    rows: Expected,
    folded: usize,
    /// Messages before this key have been compared.
    frontier: Vec<u8>,
    found: Differences,
}

impl<'a> Part<'a> {
    pub(super) fn new(kind: Kind, room: RoomId, live: &'a dyn Rows) -> Self {
        Self {
            kind,
            room,
            live,
            fold: kind.fold(),
            rows: Expected::default(),
            folded: 0,
            frontier: history::key(room, 0),
            found: Differences::default(),
        }
    }

    pub(super) fn fact(&mut self, fact: &Fact<'_>) -> Result<(), ProjectionError> {
        if self.kind == Kind::History && is_erasure_of_bodies(fact) {
            // The bodies are gone from the log that is folded here, so the rows say it already.
            return Ok(());
        }
        self.fold.apply(&self.rows, fact)?;
        self.folded += 1;
        let is_end = is_erasure_of_room(fact);
        if self.folded.is_multiple_of(PAGE_FACTS) || is_end {
            self.flush()?;
        }
        if is_end && self.kind == Kind::Threads {
            // The fold has deleted them all; it does not see the final ones.
            self.rows.clear();
        } else if is_end && self.kind == Kind::History {
            self.rows.clear();
            self.found = Differences::default();
            self.frontier = history::key(self.room, 0);
        } else if self.folded.is_multiple_of(PAGE_FACTS) && self.kind == Kind::History {
            self.pass_messages()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ProjectionError> {
        let mut ops: Vec<RowOp> = Vec::new();
        self.fold.flush(&mut ops)?;
        let kind = self.kind;
        self.rows.write(ops, |key| is_final(kind, key));
        Ok(())
    }

    /// Compares the messages folded so far and forgets them.
    fn pass_messages(&mut self) -> Result<(), ProjectionError> {
        let Some(mut to) = self.rows.last_key().cloned() else {
            return Ok(());
        };
        to.push(0);
        let from = std::mem::replace(&mut self.frontier, to.clone());
        self.compare(&from, &to)?;
        self.rows.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Differences, ProjectionError> {
        self.flush()?;
        self.rows.sort();
        for (from, to) in self.ranges() {
            self.compare(&from, &to)?;
        }
        if self.kind == Kind::Rooms {
            self.compare_indexes()?;
        }
        Ok(self.found)
    }

    /// Where all rows are the room's own.
    fn ranges(&self) -> Vec<Range> {
        let one = |key: Vec<u8>| {
            let mut end = key.clone();
            end.push(0);
            (key, end)
        };
        match self.kind {
            Kind::Rooms => vec![
                one(rooms::keys::room(self.room)),
                rooms::keys::agents(self.room),
                rooms::keys::posted_pages(self.room),
                one(rooms::keys::erased(self.room)),
            ],
            Kind::History => vec![(self.frontier.clone(), history::end(self.room))],
            Kind::Threads => vec![threads::keys::room(self.room)],
            Kind::Skills => Vec::new(),
        }
    }

    /// Compares the rows of `from..to`, both sides in key order.
    fn compare(&mut self, from: &[u8], to: &[u8]) -> Result<(), ProjectionError> {
        let Self {
            kind,
            room,
            live,
            rows,
            found,
            ..
        } = self;
        let mut differs = |how, key: &[u8], values: [Option<&[u8]>; 2]| {
            let about = About::of(*kind, *room, key, values);
            found.push(Difference {
                kind: *kind,
                how,
                about,
            });
        };
        let mut due = rows.within(from, to).peekable();
        live.each(from, to, &mut |key, value| {
            while let Some((due, held)) = due.next_if(|(due, _)| due.as_slice() < key) {
                differs(How::Missing, due, [held.whole(), None]);
            }
            match due.next_if(|(due, _)| due.as_slice() == key) {
                Some((_, held)) if held.is(value) => {}
                Some((_, held)) => differs(How::Changed, key, [held.whole(), Some(value)]),
                None => differs(How::Added, key, [None, Some(value)]),
            }
        })?;
        for (key, held) in due {
            differs(How::Missing, key, [held.whole(), None]);
        }
        Ok(())
    }

    /// Compares the directory's indexes where this room must stand in them, and a room that is
    /// not public must not.
    fn compare_indexes(&mut self) -> Result<(), ProjectionError> {
        let mut wrong = Vec::new();
        let is_index = |key: &[u8]| matches!(key.first(), Some(2 | 4 | 5));
        for (key, held) in self.rows.all().filter(|(key, _)| is_index(key)) {
            match self.live.get(key)? {
                Some(value) if held.is(&value) => {}
                Some(_) => wrong.push((How::Changed, key.clone())),
                None => wrong.push((How::Missing, key.clone())),
            }
        }
        let room = self.rows.find(&rooms::keys::room(self.room));
        let room = room
            .and_then(|held| held.whole())
            .map(row::decode::<rooms::RoomRow>);
        if let Some(room) = room.transpose()?.filter(|room| !room.is_public) {
            for key in [
                rooms::keys::by_creation(&room),
                rooms::keys::by_activity(&room),
            ] {
                if self.live.get(&key)?.is_some() {
                    wrong.push((How::Added, key));
                }
            }
        }
        for (how, key) in wrong {
            let (kind, about) = (self.kind, About::of(self.kind, self.room, &key, [None; 2]));
            self.found.push(Difference { kind, how, about });
        }
        Ok(())
    }
}

/// Whether a fold writes this row once and reads it never.
fn is_final(kind: Kind, key: &[u8]) -> bool {
    let is_of_entry = |tag: &u8| matches!(*tag, threads::keys::REVISION | threads::keys::NUMBER);
    kind == Kind::Threads && key.get(17).is_some_and(is_of_entry)
}

fn is_erasure_of_bodies(fact: &Fact<'_>) -> bool {
    match fact.what {
        What::Present(event) => matches!(event, Event::Room(room::Event::BodiesErased(_))),
        What::Erased(kind) => kind == EventKind::BodiesErased,
    }
}

fn is_erasure_of_room(fact: &Fact<'_>) -> bool {
    match fact.what {
        What::Present(event) => matches!(event, Event::Room(room::Event::Erased(_))),
        What::Erased(kind) => kind == EventKind::RoomErased,
    }
}
