//! Which generation is live: bringing one up at start, rebuilding, comparing, going back.
//!
//! Every change is one write of the catalog row, made durable before a space is dropped; a crash
//! in between leaves a space nobody names, which [`drop_orphans`] takes.

use std::ops::ControlFlow;

use minutebook_eventlog::store::{META_SPACE, RowOp};
use minutebook_projections::Kind;

use super::{
    Access, Build, Catalog, Comparison, Filling, Generation, GenerationError, Progress, Stage,
    catalog::{is_lost, position, position_key, refuse_lost, space_name},
    compare,
};

/// Hears of progress and may say stop.
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// How a projection became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ensured {
    /// Which projection.
    pub kind: Kind,
    /// The live generation's number.
    pub number: u32,
    /// What had to be done.
    pub step: Step,
}

/// What had to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing: it was live, of this build's version and at the head.
    Ready,
    /// It was live but behind.
    CaughtUp,
    /// It was kept from before, and this build's version: caught up and switched to.
    WentBack,
    /// It was built anew, or its unfinished build completed.
    Built,
}

/// What came of a rebuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new generation is live.
    Switched {
        /// Which projection.
        kind: Kind,
        /// Number of the new generation.
        number: u32,
        /// The one before, kept.
        kept: Option<u32>,
        /// Both compared, when they were of one version.
        comparison: Option<Comparison>,
    },
    /// The rows differ: the live generation stays.
    Refused {
        /// Number of the new generation, which stays for inspection.
        number: u32,
        /// In what they differ.
        comparison: Comparison,
    },
}

/// What to do when things are not as hoped.
#[derive(Clone, Copy, Debug, Default)]
pub struct RebuildOptions {
    /// Start over instead of going on with an unfinished generation.
    pub fresh: bool,
    /// Switch even when the new rows differ from the live ones.
    pub accept_difference: bool,
    /// How much is written at a time.
    pub filling: Filling,
}

/// Makes sure that every projection has a live generation of this build's version at the head,
/// building what is missing. On an empty log there is nothing to do.
pub fn ensure_live(
    access: &Access,
    watch: &mut Watch<'_>,
) -> Result<Vec<Ensured>, GenerationError> {
    drop_orphans(access)?;
    let mut build = Build::new(access, Filling::default())?;
    if build.until() == 0 {
        return Ok(Vec::new());
    }
    let mut ensured = Vec::new();
    for kind in Kind::ALL {
        let one = plan(access, kind, build.until())?;
        if one.step != Step::Ready {
            build.add(kind, one.number)?;
        }
        ensured.push(one);
    }
    build.run(watch)?;
    for one in &ensured {
        match one.step {
            Step::Ready | Step::CaughtUp => {}
            Step::WentBack | Step::Built => {
                switch(access, one.kind, one.number)?;
            }
        }
    }
    Ok(ensured)
}

/// Chooses the generation that shall be live.
fn plan(access: &Access, kind: Kind, head: u64) -> Result<Ensured, GenerationError> {
    let catalog = Catalog::load(&*access.reader, kind)?;
    let usable = |one: &Generation| -> Result<bool, GenerationError> {
        let at = position(&*access.reader, kind, one.number)?;
        Ok(one.version == kind.version() && at <= head)
    };
    if let Some(live) = catalog.live()
        && usable(&live)?
    {
        refuse_lost(&*access.reader, kind, live.number)?;
        let is_behind = position(&*access.reader, kind, live.number)? < head;
        let step = if is_behind {
            Step::CaughtUp
        } else {
            Step::Ready
        };
        return Ok(Ensured {
            kind,
            number: live.number,
            step,
        });
    }
    for one in catalog
        .generations()
        .iter()
        .rev()
        .filter(|one| one.stage == Stage::Kept)
    {
        if usable(one)? && !is_lost(&*access.reader, kind, one.number)? {
            return Ok(Ensured {
                kind,
                number: one.number,
                step: Step::WentBack,
            });
        }
    }
    let number = begin(access, kind, false)?;
    Ok(Ensured {
        kind,
        number,
        step: Step::Built,
    })
}

/// The generation to build: an unfinished one of this version, or a new one.
fn begin(access: &Access, kind: Kind, fresh: bool) -> Result<u32, GenerationError> {
    let mut catalog = Catalog::load(&*access.reader, kind)?;
    if let Some(building) = catalog.building() {
        let at = position(&*access.reader, kind, building.number)?;
        let is_usable = building.version == kind.version() && at <= access.reader.head()?.seq;
        if is_usable && !fresh && !is_lost(&*access.reader, kind, building.number)? {
            return Ok(building.number);
        }
    }
    let gone = catalog.take(|one| one.stage == Stage::Building);
    let number = catalog.add(kind.version(), Stage::Building).number;
    save(access, kind, &catalog, &gone)?;
    Ok(number)
}

/// Builds new generations beside the live ones, compares, and switches.
pub fn rebuild(
    access: &Access,
    kinds: &[Kind],
    options: RebuildOptions,
    watch: &mut Watch<'_>,
) -> Result<Vec<Outcome>, GenerationError> {
    let numbers = build_beside(access, kinds, options, watch)?;
    let mut outcomes = Vec::new();
    for (kind, number) in numbers {
        let comparison = compare_with_live(access, kind, number)?;
        outcomes.push(match comparison {
            Some(comparison) if !comparison.is_equal() && !options.accept_difference => {
                Outcome::Refused { number, comparison }
            }
            comparison => {
                let kept = switch(access, kind, number)?;
                Outcome::Switched {
                    kind,
                    number,
                    kept,
                    comparison,
                }
            }
        });
    }
    Ok(outcomes)
}

/// Folds the log anew and compares with the live rows, which stay as they are. A projection whose
/// live rows are of another version has no comparison.
pub fn check(
    access: &Access,
    kinds: &[Kind],
    watch: &mut Watch<'_>,
) -> Result<Vec<(Kind, Option<Comparison>)>, GenerationError> {
    let fresh = RebuildOptions {
        fresh: true,
        ..RebuildOptions::default()
    };
    for &kind in kinds {
        if let Some(live) = Catalog::load(&*access.reader, kind)?.live() {
            refuse_lost(&*access.reader, kind, live.number)?;
        }
    }
    let numbers = build_beside(access, kinds, fresh, watch)?;
    let mut found = Vec::new();
    for (kind, number) in numbers {
        found.push((kind, compare_with_live(access, kind, number)?));
        let mut catalog = Catalog::load(&*access.reader, kind)?;
        let gone = catalog.take(|one| one.number == number);
        save(access, kind, &catalog, &gone)?;
    }
    Ok(found)
}

fn build_beside(
    access: &Access,
    kinds: &[Kind],
    options: RebuildOptions,
    watch: &mut Watch<'_>,
) -> Result<Vec<(Kind, u32)>, GenerationError> {
    drop_orphans(access)?;
    let mut numbers = Vec::new();
    let mut build = Build::new(access, options.filling)?;
    for &kind in kinds {
        let number = begin(access, kind, options.fresh)?;
        build.add(kind, number)?;
        numbers.push((kind, number));
    }
    build.run(watch)?;
    Ok(numbers)
}

/// Both compared, when there is a live one of this version that has its rows. One that is behind
/// the head (which the engine never leaves behind) simply differs.
fn compare_with_live(
    access: &Access,
    kind: Kind,
    number: u32,
) -> Result<Option<Comparison>, GenerationError> {
    let reader = &*access.reader;
    let Some(live) = Catalog::load(reader, kind)?.live() else {
        return Ok(None);
    };
    if live.version != kind.version() || is_lost(reader, kind, live.number)? {
        return Ok(None);
    }
    let live = reader.space(&space_name(kind, live.number))?;
    let rebuilt = reader.space(&space_name(kind, number))?;
    compare(reader, kind, live, rebuilt).map(Some)
}

/// Goes to another generation of this build's version, after catching up.
pub fn use_generation(
    access: &Access,
    kind: Kind,
    number: u32,
    watch: &mut Watch<'_>,
) -> Result<Option<u32>, GenerationError> {
    let catalog = Catalog::load(&*access.reader, kind)?;
    let one = catalog
        .get(number)
        .ok_or(GenerationError::Unknown { kind, number })?;
    if one.version != kind.version() {
        let (found, expected) = (one.version, kind.version());
        return Err(GenerationError::Version {
            kind,
            number,
            found,
            expected,
        });
    }
    if one.stage == Stage::Live {
        return Ok(None);
    }
    refuse_lost(&*access.reader, kind, number)?;
    let mut build = Build::new(access, Filling::default())?;
    build.add(kind, number)?;
    build.run(watch)?;
    switch(access, kind, number)
}

/// Makes a generation live; returns the one before, which is kept.
fn switch(access: &Access, kind: Kind, number: u32) -> Result<Option<u32>, GenerationError> {
    let mut catalog = Catalog::load(&*access.reader, kind)?;
    let before = catalog
        .live()
        .map(|live| live.number)
        .filter(|before| *before != number);
    let gone = catalog.switch(number);
    save(access, kind, &catalog, &gone)?;
    Ok(before)
}

/// Drops every generation but the live ones: they do not follow erasures. To be called after a
/// commit that erased anything. Returns how many went.
pub fn forget_others(access: &Access) -> Result<usize, GenerationError> {
    let mut count = 0;
    for kind in Kind::ALL {
        let mut catalog = Catalog::load(&*access.reader, kind)?;
        let gone = catalog.take(|one| one.stage != Stage::Live);
        if !gone.is_empty() {
            save(access, kind, &catalog, &gone)?;
        }
        count += gone.len();
    }
    Ok(count)
}

/// Drops spaces of generations that no catalog names: left by a crash between the two steps of
/// dropping one.
pub fn drop_orphans(access: &Access) -> Result<(), GenerationError> {
    let spaces = access.reader.spaces()?;
    for kind in Kind::ALL {
        let catalog = Catalog::load(&*access.reader, kind)?;
        let prefix = space_name_prefix(kind);
        for name in &spaces {
            let number = name
                .strip_prefix(&prefix)
                .and_then(|number| number.parse().ok());
            if number
                .is_some_and(|number| catalog.has_used(number) && catalog.get(number).is_none())
            {
                access.maintenance.drop_space(name)?;
            }
        }
    }
    Ok(())
}

fn space_name_prefix(kind: Kind) -> String {
    format!("{kind}.g")
}

/// Writes the catalog, durably, and then drops the spaces of those that are gone from it.
fn save(
    access: &Access,
    kind: Kind,
    catalog: &Catalog,
    gone: &[Generation],
) -> Result<(), GenerationError> {
    let meta = access.reader.space(META_SPACE)?;
    let mut ops = vec![catalog.op(meta, kind)?];
    ops.extend(gone.iter().map(|one| RowOp {
        space: meta,
        key: position_key(kind, one.number),
        value: None,
    }));
    access.maintenance.append_rows(ops)?;
    access.maintenance.persist()?;
    for one in gone {
        access
            .maintenance
            .drop_space(&space_name(kind, one.number))?;
    }
    Ok(())
}
