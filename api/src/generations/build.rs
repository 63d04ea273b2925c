//! Filling generations: facts from where they stand to the head, in big batches that are not
//! waited for, each with its own mark.

use std::ops::ControlFlow;

use minutebook_eventlog::store::{META_SPACE, RowOp, Space};
use minutebook_projections::{Kind, Projection};

use super::{
    Access, GenerationError, SpaceRows,
    catalog::{position, position_key, position_op, space_name},
    facts::{OwnedFact, each_fact},
    rows::store_ops,
};

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
    targets: Vec<Target>,
}

struct Target {
    kind: Kind,
    space: Space,
    position_key: Vec<u8>,
    position: u64,
    fold: Box<dyn Projection>,
}

impl<'a> Build<'a> {
    /// A build up to the head as it is now.
    pub fn new(access: &'a Access) -> Result<Self, GenerationError> {
        let until = access.reader.head()?.seq;
        let meta = access.reader.space(META_SPACE)?;
        Ok(Self {
            access,
            meta,
            until,
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
        self.targets.push(Target {
            kind,
            space: reader.space(&space_name(kind, number))?,
            position_key: position_key(kind, number),
            position,
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
        each_fact(&*access.reader, from + 1, until, |page| {
            let seq = self.fold_page(page)?;
            match watch(Progress { from, seq, until }) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(GenerationError::Stopped { seq }),
            }
        })?;
        Ok(access.maintenance.persist()?)
    }

    fn fold_page(&mut self, page: &[OwnedFact]) -> Result<u64, GenerationError> {
        let last = page.last().map_or(0, |fact| fact.seq);
        let mut ops = Vec::new();
        for target in &mut self.targets {
            if target.position < last {
                target.fold_page(self.access, page, &mut ops)?;
                target.position = last;
                ops.push(position_op(self.meta, target.position_key.clone(), last));
            }
        }
        self.access.maintenance.append_rows(ops)?;
        Ok(last)
    }
}

impl Target {
    fn fold_page(
        &mut self,
        access: &Access,
        page: &[OwnedFact],
        out: &mut Vec<RowOp>,
    ) -> Result<(), GenerationError> {
        let kind = self.kind;
        let wrong = |source| GenerationError::Rows { kind, source };
        let rows = SpaceRows::new(&*access.reader, self.space);
        for fact in page.iter().filter(|fact| fact.seq > self.position) {
            self.fold.apply(&rows, &fact.fact()).map_err(wrong)?;
        }
        let mut ops = Vec::new();
        self.fold.flush(&mut ops).map_err(wrong)?;
        out.extend(store_ops(self.space, ops));
        Ok(())
    }
}
