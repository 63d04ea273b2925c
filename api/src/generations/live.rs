//! The live generations as the engine drives them: facts in, rows of the commit out.

use minutebook_domain::Fact;
use minutebook_eventlog::store::{LogReader, META_SPACE, RowOp, Space};
use minutebook_projections::{Kind, Projection};

use super::{
    Catalog, GenerationError, SpaceRows, Stage,
    catalog::{position, position_key, position_op, refuse_lost, space_name},
    rows::store_ops,
};

/// Where views find their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSpaces {
    /// The directory.
    pub rooms: Space,
    /// The messages.
    pub history: Space,
    /// Claim threads.
    pub threads: Space,
    /// Shared skills.
    pub skills: Space,
}

impl LiveSpaces {
    /// The space of a projection.
    pub const fn of(&self, kind: Kind) -> Space {
        match kind {
            Kind::Rooms => self.rooms,
            Kind::History => self.history,
            Kind::Threads => self.threads,
            Kind::Skills => self.skills,
        }
    }
}

/// The live generation of every projection. After a batch that was not committed it must be
/// thrown away: it remembers rows that were never written.
pub struct Live {
    meta: Space,
    folds: Vec<LiveFold>,
    spaces: LiveSpaces,
    /// Catalogs of a new log, written with the first commit.
    founding: Vec<RowOp>,
}

struct LiveFold {
    kind: Kind,
    space: Space,
    position_key: Vec<u8>,
    fold: Box<dyn Projection>,
}

impl Live {
    /// The live generations, all of which must be of this build's versions and at `head`:
    /// [`super::ensure_live`] makes it so. On an empty log they are founded with the first commit.
    pub fn open(reader: &dyn LogReader, head: u64) -> Result<Self, GenerationError> {
        let meta = reader.space(META_SPACE)?;
        let mut founding = Vec::new();
        let mut folds = Vec::new();
        for kind in Kind::ALL {
            let number = match ready(reader, kind, head)? {
                Some(number) => number,
                None => found(meta, kind, &mut founding)?,
            };
            folds.push(LiveFold {
                kind,
                space: reader.space(&space_name(kind, number))?,
                position_key: position_key(kind, number),
                fold: kind.fold(),
            });
        }
        let space = |kind: Kind| {
            let fold = folds.iter().find(|fold| fold.kind == kind);
            fold.map_or(meta, |fold| fold.space)
        };
        let spaces = LiveSpaces {
            rooms: space(Kind::Rooms),
            history: space(Kind::History),
            threads: space(Kind::Threads),
            skills: space(Kind::Skills),
        };
        Ok(Self {
            meta,
            folds,
            spaces,
            founding,
        })
    }

    /// Where views find their rows.
    pub fn spaces(&self) -> LiveSpaces {
        self.spaces
    }

    /// Folds a fact of the commit in the making.
    pub fn apply(
        &mut self,
        reader: &dyn LogReader,
        fact: &Fact<'_>,
    ) -> Result<(), GenerationError> {
        for LiveFold {
            kind, space, fold, ..
        } in &mut self.folds
        {
            fold.apply(&SpaceRows::new(reader, *space), fact)
                .map_err(|source| GenerationError::Rows {
                    kind: *kind,
                    source,
                })?;
        }
        Ok(())
    }

    /// Adds the rows of the commit that ends at `seq`.
    pub fn flush(&mut self, seq: u64, out: &mut Vec<RowOp>) -> Result<(), GenerationError> {
        out.append(&mut self.founding);
        let mut ops = Vec::new();
        for LiveFold {
            kind,
            space,
            position_key,
            fold,
        } in &mut self.folds
        {
            fold.flush(&mut ops)
                .map_err(|source| GenerationError::Rows {
                    kind: *kind,
                    source,
                })?;
            out.extend(store_ops(*space, std::mem::take(&mut ops)));
            out.push(position_op(self.meta, position_key.clone(), seq));
        }
        Ok(())
    }
}

/// The number of the live generation, or none on a log without any.
fn ready(reader: &dyn LogReader, kind: Kind, head: u64) -> Result<Option<u32>, GenerationError> {
    let not_ready = |reason: String| Err(GenerationError::NotReady { kind, reason });
    let Some(live) = Catalog::load(reader, kind)?.live() else {
        return match head {
            0 => Ok(None),
            _ => not_ready("there is no live generation; rebuild it".to_owned()),
        };
    };
    if live.version != kind.version() {
        let (found, expected) = (live.version, kind.version());
        return not_ready(format!(
            "live rows are version {found}, this program's {expected}"
        ));
    }
    refuse_lost(reader, kind, live.number)?;
    match position(reader, kind, live.number)? {
        at if at == head => Ok(Some(live.number)),
        at => not_ready(format!("live rows end at seq {at}, the log at {head}")),
    }
}

/// The first generation of a new log.
fn found(meta: Space, kind: Kind, founding: &mut Vec<RowOp>) -> Result<u32, GenerationError> {
    let mut catalog = Catalog::default();
    let generation = catalog.add(kind.version(), Stage::Live);
    founding.push(catalog.op(meta, kind)?);
    Ok(generation.number)
}
