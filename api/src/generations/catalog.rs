//! Which generations there are: one JSON row per projection in the store's `meta` space, and one
//! row per generation with the seq it is folded to.

use minutebook_eventlog::store::{LogReader, META_SPACE, RowOp, Space};
use minutebook_projections::Kind;
use serde::{Deserialize, Serialize};

use super::GenerationError;

/// The generations of a projection. At most one is live, at most one is being built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// The number the next new generation gets.
    next: u32,
    /// Oldest first.
    generations: Vec<Generation>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// 1, 2, 3 …
    pub number: u32,
    /// Version of the projection that writes its rows.
    pub version: u32,
    /// What it is for now.
    pub stage: Stage,
}

/// What a generation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Written with every commit and read by everybody.
    Live,
    /// Being filled.
    Building,
    /// Was live before; kept to go back to.
    Kept,
}

impl Stage {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Building => "building",
            Self::Kept => "kept",
        }
    }
}

impl Catalog {
    /// The catalog of a projection; empty when it has none.
    pub fn load(reader: &dyn LogReader, kind: Kind) -> Result<Self, GenerationError> {
        let meta = reader.space(META_SPACE)?;
        let Some(bytes) = reader.get(meta, &catalog_key(kind))? else {
            return Ok(Self::default());
        };
        let catalog: Self =
            serde_json::from_slice(&bytes).map_err(|error| GenerationError::Catalog {
                kind,
                reason: error.to_string(),
            })?;
        let live = catalog
            .generations
            .iter()
            .filter(|one| one.stage == Stage::Live)
            .count();
        if live > 1 {
            let reason = format!("{live} generations are live");
            return Err(GenerationError::Catalog { kind, reason });
        }
        Ok(catalog)
    }

    /// The row that stores it.
    pub(super) fn op(&self, meta: Space, kind: Kind) -> Result<RowOp, GenerationError> {
        let value = serde_json::to_vec(self).map_err(|error| GenerationError::Catalog {
            kind,
            reason: error.to_string(),
        })?;
        Ok(RowOp {
            space: meta,
            key: catalog_key(kind),
            value: Some(value),
        })
    }

    /// All generations, oldest first.
    pub fn generations(&self) -> &[Generation] {
        &self.generations
    }

    /// The live one.
    pub fn live(&self) -> Option<Generation> {
        self.find(|one| one.stage == Stage::Live)
    }

    /// The one being built.
    pub fn building(&self) -> Option<Generation> {
        self.find(|one| one.stage == Stage::Building)
    }

    /// The one with this number.
    pub fn get(&self, number: u32) -> Option<Generation> {
        self.find(|one| one.number == number)
    }

    /// Whether this number was ever given out.
    pub(super) fn has_used(&self, number: u32) -> bool {
        number < self.next
    }

    fn find(&self, is_it: impl Fn(&Generation) -> bool) -> Option<Generation> {
        self.generations.iter().copied().find(is_it)
    }

    /// Adds a generation with a number that was never used.
    pub(super) fn add(&mut self, version: u32, stage: Stage) -> Generation {
        self.next = self.next.max(1);
        let generation = Generation {
            number: self.next,
            version,
            stage,
        };
        self.next += 1;
        self.generations.push(generation);
        generation
    }

    /// Makes a generation live and keeps the one before it; returns those that go: what was kept
    /// so far.
    pub(super) fn switch(&mut self, number: u32) -> Vec<Generation> {
        let dropped = self.take(|one| one.stage == Stage::Kept && one.number != number);
        for one in &mut self.generations {
            if one.number == number {
                one.stage = Stage::Live;
            } else if one.stage == Stage::Live {
                one.stage = Stage::Kept;
            }
        }
        dropped
    }

    /// Removes generations.
    pub(super) fn take(&mut self, goes: impl Fn(&Generation) -> bool) -> Vec<Generation> {
        let (gone, stay) = self.generations.iter().copied().partition(|one| goes(one));
        self.generations = stay;
        gone
    }
}

fn catalog_key(kind: Kind) -> Vec<u8> {
    format!("projection/{kind}").into_bytes()
}

/// The name of a generation's space.
pub fn space_name(kind: Kind, number: u32) -> String {
    format!("{kind}.g{number}")
}

pub(super) fn position_key(kind: Kind, number: u32) -> Vec<u8> {
    format!("position/{}", space_name(kind, number)).into_bytes()
}

pub(super) fn position_op(meta: Space, key: Vec<u8>, seq: u64) -> RowOp {
    RowOp {
        space: meta,
        key,
        value: Some(seq.to_be_bytes().to_vec()),
    }
}

/// Whether a generation had rows and its space is gone. Its position is written after its space
/// was made, and deleted before the space is dropped.
pub(super) fn is_lost(
    reader: &dyn LogReader,
    kind: Kind,
    number: u32,
) -> Result<bool, GenerationError> {
    let meta = reader.space(META_SPACE)?;
    let had_rows = reader.get(meta, &position_key(kind, number))?.is_some();
    Ok(had_rows && !reader.spaces()?.contains(&space_name(kind, number)))
}

/// Refuses a generation whose rows are gone, before an empty space takes their place.
pub(super) fn refuse_lost(
    reader: &dyn LogReader,
    kind: Kind,
    number: u32,
) -> Result<(), GenerationError> {
    if is_lost(reader, kind, number)? {
        return Err(GenerationError::Lost { kind, number });
    }
    Ok(())
}

/// The seq the live generation is folded to; 0 without one.
pub fn live_position(reader: &dyn LogReader, kind: Kind) -> Result<u64, GenerationError> {
    match Catalog::load(reader, kind)?.live() {
        Some(live) => position(reader, kind, live.number),
        None => Ok(0),
    }
}

/// The seq a generation is folded to; 0 before its first batch.
pub fn position(reader: &dyn LogReader, kind: Kind, number: u32) -> Result<u64, GenerationError> {
    let meta = reader.space(META_SPACE)?;
    let seq = match reader.get(meta, &position_key(kind, number))? {
        Some(seq) => Some(seq),
        None => reader.get(reader.space(&space_name(kind, number))?, FILL_MARK)?,
    };
    let Some(seq) = seq else { return Ok(0) };
    let bytes = seq
        .as_slice()
        .try_into()
        .map_err(|_| GenerationError::Catalog {
            kind,
            reason: format!("the position of generation {number} is not 8 bytes long"),
        })?;
    Ok(u64::from_be_bytes(bytes))
}

/// Where a generation that is being filled has its position: among its own rows, since filling
/// writes one space at a time. Behind every key a projection has, and outside of what is compared.
pub(super) const FILL_MARK: &[u8] = &[0xff; 9];

/// Whether a generation is to be filled: it was begun so, or has nothing and gets much.
pub(super) fn is_filled(
    reader: &dyn LogReader,
    space: Space,
    (kind, number): (Kind, u32),
    is_much: bool,
) -> Result<bool, GenerationError> {
    if reader.get(space, FILL_MARK)?.is_some() {
        return Ok(true);
    }
    let meta = reader.space(META_SPACE)?;
    let is_new = reader.get(meta, &position_key(kind, number))?.is_none();
    Ok(is_new && is_much)
}
