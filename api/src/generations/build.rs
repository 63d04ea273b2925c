//! Filling generations: facts from where they stand to the head, in batches, each with its mark.
//!
//! A generation that has to catch up is written as the engine writes it, a page of facts at a
//! time, without waiting for the disk. One that is new and gets much is *filled*: rows are
//! gathered by the megabyte and become tables at once. Only one space can be written so at a time,
//! therefore the mark is then one of its own rows; at the end it moves to where all positions are.

use std::ops::ControlFlow;

use minutebook_eventlog::store::{META_SPACE, RowOp, Space};
use minutebook_projections::{Kind, Projection};

use super::{
    Access, GenerationError, SpaceRows,
    catalog::{FILL_MARK, is_filled, position, position_key, position_op, space_name},
    facts::{OwnedFact, each_fact},
    rows::store_ops,
};

/// When generations are filled, and how much of them is gathered.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    /// How many events are much.
    pub events_min: u64,
    /// About how many bytes of rows are gathered.
    pub batch_bytes: usize,
}

impl Default for Filling {
    fn default() -> Self {
        Self {
            events_min: 65_536,
            batch_bytes: 32 << 20,
        }
    }
}

/// What an event makes of rows besides its body, about.
const EVENT_BYTES: usize = 256;

/// How far a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Where it began in this run.
    pub from: u64,
    /// Folded and marked up to here.
    pub seq: u64,
    /// Where it ends.
    pub until: u64,
}

/// Generations being filled in one pass over the log.
pub struct Build<'a> {
    access: &'a Access,
    meta: Space,
    until: u64,
    filling: Filling,
    targets: Vec<Target>,
}

struct Target {
    kind: Kind,
    space: Space,
    position_key: Vec<u8>,
    position: u64,
    is_filled: bool,
    fold: Box<dyn Projection>,
}

impl<'a> Build<'a> {
    /// A build up to the head as it is now.
    pub fn new(access: &'a Access, filling: Filling) -> Result<Self, GenerationError> {
        let until = access.reader.head()?.seq;
        let meta = access.reader.space(META_SPACE)?;
        Ok(Self {
            access,
            meta,
            until,
            filling,
            targets: Vec::new(),
        })
    }

    /// Where it ends.
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Adds a generation, from wherever its marks say it stands.
    pub fn add(&mut self, kind: Kind, number: u32) -> Result<(), GenerationError> {
        let reader = &*self.access.reader;
        let position = position(reader, kind, number)?;
        if position > self.until {
            let until = self.until;
            let reason = format!("generation {number} is at seq {position}, the log at {until}");
            return Err(GenerationError::NotReady { kind, reason });
        }
        let space = reader.space(&space_name(kind, number))?;
        let is_much = self.until >= self.filling.events_min;
        self.targets.push(Target {
            kind,
            space,
            position_key: position_key(kind, number),
            position,
            is_filled: is_filled(reader, space, (kind, number), is_much)?,
            fold: kind.fold(),
        });
        Ok(())
    }

    /// Fills them. `watch` hears of every mark and may say stop; then what is marked stays.
    pub fn run(
        mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), GenerationError> {
        let Some(from) = self.targets.iter().map(|target| target.position).min() else {
            return Ok(());
        };
        let (access, until) = (self.access, self.until);
        let batch_bytes = if self.targets.iter().any(|target| target.is_filled) {
            self.filling.batch_bytes
        } else {
            0
        };
        let mut gathered = 0;
        each_fact(&*access.reader, from + 1, until, |page| {
            side_by_side(&mut self.targets, |target| target.fold_page(access, page))?;
            let seq = page.last().map_or(0, |fact| fact.seq);
            gathered += page.iter().map(|fact| fact.body_bytes).sum::<usize>();
            gathered += page.len() * EVENT_BYTES;
            if gathered < batch_bytes && seq < until {
                return Ok(());
            }
            gathered = 0;
            self.write(seq)?;
            match watch(Progress { from, seq, until }) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(GenerationError::Stopped { seq }),
            }
        })?;
        self.finish()?;
        Ok(access.maintenance.persist()?)
    }

    /// Writes what was folded up to here, with its marks.
    fn write(&mut self, seq: u64) -> Result<(), GenerationError> {
        let access = self.access;
        side_by_side(&mut self.targets, |target| target.fill(access, seq))?;
        let mut all = Vec::new();
        for target in self.targets.iter_mut().filter(|one| one.position < seq) {
            all.append(&mut target.flush()?);
            all.push(position_op(self.meta, target.position_key.clone(), seq));
            target.position = seq;
        }
        Ok(access.maintenance.append_rows(all)?)
    }

    /// Moves the marks of what was filled to where the others are.
    fn finish(&self) -> Result<(), GenerationError> {
        let filled = self.targets.iter().filter(|target| target.is_filled);
        let ops = filled.flat_map(|target| {
            let key = target.position_key.clone();
            let mark = position_op(self.meta, key, target.position);
            [mark, target.fill_mark(None)]
        });
        Ok(self.access.maintenance.append_rows(ops.collect())?)
    }
}

/// The same for every target, each but the first on a thread of its own: no target reads what
/// another one writes. The first error in their order counts.
fn side_by_side(
    targets: &mut [Target],
    act: impl Fn(&mut Target) -> Result<(), GenerationError> + Sync,
) -> Result<(), GenerationError> {
    let Some((first, others)) = targets.split_first_mut() else {
        return Ok(());
    };
    let act = &act;
    std::thread::scope(|scope| {
        let spawn = |target| scope.spawn(move || act(target));
        let others: Vec<_> = others.iter_mut().map(spawn).collect();
        let mine = act(first);
        let joined = others.into_iter().map(|thread| {
            let panicked = |panic| std::panic::resume_unwind(panic);
            thread.join().unwrap_or_else(panicked)
        });
        // All are waited for, whatever the first one says.
        joined.fold(mine, Result::and)
    })
}

impl Target {
    /// Writes its rows if they are filled in.
    fn fill(&mut self, access: &Access, seq: u64) -> Result<(), GenerationError> {
        if !self.is_filled || self.position >= seq {
            return Ok(());
        }
        let mut ops = self.flush()?;
        ops.push(self.fill_mark(Some(seq)));
        access.maintenance.fill_space(ops)?;
        self.position = seq;
        Ok(())
    }

    fn fold_page(&mut self, access: &Access, page: &[OwnedFact]) -> Result<(), GenerationError> {
        let kind = self.kind;
        let rows = SpaceRows::new(&*access.reader, self.space);
        for fact in page.iter().filter(|fact| fact.seq > self.position) {
            let folded = self.fold.apply(&rows, &fact.fact());
            folded.map_err(|source| GenerationError::Rows { kind, source })?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<Vec<RowOp>, GenerationError> {
        let kind = self.kind;
        let mut ops = Vec::new();
        let flushed = self.fold.flush(&mut ops);
        flushed.map_err(|source| GenerationError::Rows { kind, source })?;
        Ok(store_ops(self.space, ops).collect())
    }

    fn fill_mark(&self, seq: Option<u64>) -> RowOp {
        RowOp {
            space: self.space,
            key: FILL_MARK.to_vec(),
            value: seq.map(|seq| seq.to_be_bytes().to_vec()),
        }
    }
}
