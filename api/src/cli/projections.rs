//! `minutebook projections status | rebuild | check | use`

use std::ops::ControlFlow;

use minutebook_projections::Kind;
use serde_json::{Value, json};

use super::{Exit, Failure, Global, Terminal, progress::Meter, table::Table};
use crate::{
    generations::{self, Catalog, Comparison, GenerationError, Outcome, Progress, RebuildOptions},
    offline::{OpenLog, display::counted},
};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ProjectionsCommand {
    /// Show every generation of every projection
    #[command(after_help = "Examples:\n  minutebook projections status\n  \
        minutebook projections status --json")]
    Status,
    /// Build projections anew from the log, beside the live ones, and switch
    ///
    /// A rebuild that was interrupted goes on where it was. The new rows must equal the live ones;
    /// when they do not, nothing is switched and the exit code is 2.
    #[command(after_help = "Examples:\n  minutebook projections rebuild\n  \
        minutebook projections rebuild history\n  \
        minutebook projections rebuild rooms --accept-difference")]
    Rebuild {
        /// Which one; all of them by default
        #[arg(value_name = "NAME", value_parser = kind)]
        name: Option<Kind>,
        /// Start over instead of going on with an interrupted or refused rebuild
        #[arg(long)]
        fresh: bool,
        /// Switch even when the new rows differ from the live ones
        #[arg(long)]
        accept_difference: bool,
    },
    /// Build projections anew from the log and compare; the live rows stay as they are
    ///
    /// What is built for the comparison is dropped again. It has a generation number while it is
    /// there, and numbers are never given out twice, so the next rebuild's is higher.
    #[command(after_help = "Examples:\n  minutebook projections check\n  \
        minutebook projections check rooms --json")]
    Check {
        /// Which one; all of them by default
        #[arg(value_name = "NAME", value_parser = kind)]
        name: Option<Kind>,
    },
    /// Go back (or forth) to another generation
    #[command(after_help = "Examples:\n  minutebook projections use rooms 3")]
    Use {
        /// Which projection
        #[arg(value_name = "NAME", value_parser = kind)]
        name: Kind,
        /// Number of the generation, as `status` shows it
        #[arg(value_name = "GENERATION")]
        generation: u32,
    },
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::parse(name).ok_or_else(|| {
        let known: Vec<_> = Kind::ALL.into_iter().map(Kind::name).collect();
        format!("the projections are: {}", known.join(", "))
    })
}

fn kinds(name: Option<Kind>) -> Vec<Kind> {
    name.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind])
}

pub(crate) fn run(
    command: &ProjectionsCommand,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    OpenLog::with(&global.data()?, |log| {
        let exit = match command {
            ProjectionsCommand::Status => status(log, global, terminal),
            ProjectionsCommand::Rebuild {
                name,
                fresh,
                accept_difference,
            } => {
                let options = RebuildOptions {
                    fresh: *fresh,
                    accept_difference: *accept_difference,
                    ..RebuildOptions::default()
                };
                rebuild(log, &kinds(*name), options, global, terminal)
            }
            ProjectionsCommand::Check { name } => check(log, &kinds(*name), global, terminal),
            ProjectionsCommand::Use { name, generation } => {
                use_generation(log, *name, *generation, global, terminal)
            }
        }?;
        terminal.flush()?;
        Ok(exit)
    })
}

fn status(log: &OpenLog, global: &Global, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for one in Catalog::load(log.reader(), kind)?.generations() {
            let position = generations::position(log.reader(), kind, one.number)?;
            rows.push((kind, *one, position));
        }
    }
    if global.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(kind, one, position)| {
                json!({
                    "projection": kind.name(), "generation": one.number, "stage": one.stage,
                    "version": one.version, "current_version": kind.version(),
                    "position": position,
                })
            })
            .collect();
        terminal.json(&json!({"head": log.head.seq, "generations": rows}))?;
        return Ok(Exit::Ok);
    }
    terminal.line(&format!("the log ends at seq {}", log.head.seq))?;
    let header = ["PROJECTION", "GENERATION", "STAGE", "VERSION", "POSITION"];
    let mut table = Table::new(header);
    for (kind, one, position) in rows {
        let version = match kind.version() {
            now if now == one.version => now.to_string(),
            now => format!("{} (now {now})", one.version),
        };
        let (name, number, stage) = (kind.name(), one.number.to_string(), one.stage.name());
        let (name, stage) = (name.to_owned(), stage.to_owned());
        table.row([name, number, stage, version, position.to_string()]);
    }
    table.print(terminal)?;
    Ok(Exit::Ok)
}

/// Runs `work` with a meter that follows it.
fn metered<T>(
    what: &str,
    terminal: &mut Terminal<'_>,
    work: impl FnOnce(&mut generations::Watch<'_>) -> Result<T, GenerationError>,
) -> Result<T, Failure> {
    let mut meter: Option<(Meter, u64)> = None;
    let done = work(&mut |Progress { from, seq, until }| {
        let (meter, at) = meter.get_or_insert_with(|| {
            if from > 0 {
                terminal.note(&format!("{what}: going on after seq {from}"));
            }
            (Meter::new(terminal, what, from, until), from)
        });
        meter.at(terminal, seq, until);
        *at = seq;
        ControlFlow::Continue(())
    })?;
    if let Some((meter, at)) = meter {
        meter.finish(terminal, at);
    }
    Ok(done)
}

fn rebuild(
    log: &OpenLog,
    kinds: &[Kind],
    options: RebuildOptions,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let outcomes = metered("rebuild", terminal, |watch| {
        generations::rebuild(&log.access, kinds, options, watch)
    })?;
    let mut exit = Exit::Ok;
    for outcome in &outcomes {
        if matches!(outcome, Outcome::Refused { .. }) {
            exit = Exit::Differences;
        }
        if !global.json {
            terminal.line(&outcome_text(outcome))?;
        }
    }
    if global.json {
        let values: Vec<_> = outcomes.iter().map(outcome_json).collect();
        terminal.json(&json!({"head": log.head.seq, "outcomes": values}))?;
    }
    Ok(exit)
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Switched {
            kind,
            number,
            kept,
            comparison,
        } => {
            let compared = match comparison {
                Some(comparison) if comparison.is_equal() => {
                    format!("equal to the live rows ({})", rows(comparison.live.rows))
                }
                Some(comparison) => format!("accepted although {}", difference(comparison)),
                None => "nothing to compare with".to_owned(),
            };
            let kept = kept.map_or_else(String::new, |kept| format!("; generation {kept} is kept"));
            format!("{kind}: generation {number} is live, {compared}{kept}")
        }
        Outcome::Refused { number, comparison } => {
            let kind = comparison.kind;
            format!(
                "{kind}: NOT switched: generation {number}, built from the log, differs from the \
                 live rows: {}\n  live     {}\n  rebuilt  {}\n  Both stay. To take the rebuilt \
                 rows: minutebook projections rebuild {kind} --accept-difference",
                difference(comparison),
                comparison.live.to_hex(),
                comparison.rebuilt.to_hex(),
            )
        }
    }
}

fn rows(count: u64) -> String {
    counted(count, "row", "rows")
}

fn difference(comparison: &Comparison) -> String {
    let first = comparison
        .first_difference
        .as_ref()
        .map(hex::encode)
        .unwrap_or_default();
    let rows = counted(comparison.differing, "row differs", "rows differ");
    format!("{rows}, the first has key {first}")
}

fn outcome_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Switched {
            kind,
            number,
            kept,
            comparison,
        } => json!({
            "projection": kind.name(), "is_switched": true, "generation": number, "kept": kept,
            "comparison": comparison.as_ref().map(comparison_json),
        }),
        Outcome::Refused { number, comparison } => json!({
            "projection": comparison.kind.name(), "is_switched": false, "generation": number,
            "comparison": comparison_json(comparison),
        }),
    }
}

fn comparison_json(comparison: &Comparison) -> Value {
    json!({
        "is_equal": comparison.is_equal(),
        "differing": comparison.differing,
        "first_difference": comparison.first_difference.as_ref().map(hex::encode),
        "live": {"digest": comparison.live.to_hex(), "rows": comparison.live.rows},
        "rebuilt": {"digest": comparison.rebuilt.to_hex(), "rows": comparison.rebuilt.rows},
    })
}

fn check(
    log: &OpenLog,
    kinds: &[Kind],
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let found = metered("check", terminal, |watch| {
        generations::check(&log.access, kinds, watch)
    })?;
    let is_fine = |found: &Option<Comparison>| found.as_ref().is_some_and(Comparison::is_equal);
    let exit = if found.iter().all(|(_, found)| is_fine(found)) {
        Exit::Ok
    } else {
        Exit::Differences
    };
    if global.json {
        let values: Vec<_> = found
            .iter()
            .map(|(kind, found)| {
                let comparison = found.as_ref().map(comparison_json);
                json!({"projection": kind.name(), "comparison": comparison})
            })
            .collect();
        terminal.json(&json!({"head": log.head.seq, "projections": values}))?;
        return Ok(exit);
    }
    for (kind, found) in &found {
        terminal.line(&match found {
            None => format!(
                "{kind}: the live rows are of another version of this program; the server \
                 rebuilds them when it starts"
            ),
            Some(found) if found.is_equal() => {
                format!(
                    "{kind}: ok, {}, digest {}",
                    rows(found.live.rows),
                    found.live.to_hex()
                )
            }
            Some(found) => format!("{kind}: DIFFERS from the log: {}", difference(found)),
        })?;
    }
    Ok(exit)
}

fn use_generation(
    log: &OpenLog,
    kind: Kind,
    number: u32,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let kept = metered("catching up", terminal, |watch| {
        generations::use_generation(&log.access, kind, number, watch)
    })?;
    if global.json {
        terminal.json(&json!({"projection": kind.name(), "generation": number, "kept": kept}))?;
    } else {
        terminal.line(&match kept {
            Some(kept) => format!("{kind}: generation {number} is live; generation {kept} is kept"),
            None => format!("{kind}: generation {number} is live already"),
        })?;
    }
    Ok(Exit::Ok)
}
