//! Checks a Minutebook bundle offline: that nothing in it was changed, removed or forged, and that
//! every step in it was allowed.
//!
//! [`verify`] reads a bundle as a stream, from a file or straight from a server that writes it;
//! [`verify_lines`] takes what its lines hold from a server that need not write it. Both
//! give a [`Report`]: a [`Verdict`], all independent [`Finding`]s, and in words what was *not*
//! proven.
//!
//! # The checks
//!
//! Of every line, on many threads (`prepare`):
//!
//! 1. the line is exactly one the bundle writer could have written;
//! 2. the envelope is canonical, and its stream, actor, time and cause are values they may have;
//! 3. salt and body are the ones the envelope committed to;
//! 4. the body decodes as its type and version say; an unknown type is a finding of its own;
//! 5. the rules that need no state hold, among them the agents' own signatures.
//!
//! In order, of every record (`check`):
//!
//! 6. numbers run from 1 without gaps, and each record names the hash of the one before;
//! 7. so within each stream;
//! 8. time never decreases;
//! 9. a missing body was erased by a later record of its stream;
//! 10. each command id was used once per actor and scope, its events side by side;
//! 11. the rules allow the event in the state before it; between streams too in a whole log.
//!
//! Against signatures and the outside:
//!
//! 12. every checkpoint has the root and size of the records before it, the newest stands last,
//!     and a key rotation stands between two;
//! 13. the key of its epoch signed it; epochs are certified one by the other and lead back to a
//!     trusted key;
//! 14. the manifest's counts are true;
//! 15. in a room's bundle, receipts tie the last record and every key epoch to one checkpoint;
//! 16. anchors and receipts from outside are of this same history, and it is not shorter;
//! 17. the policy's quorum of witnesses cosigned.
//!
//! # Invariants
//!
//! * No input makes this crate panic. What is wrong inside a bundle is a finding; only what is no
//!   bundle at all is a [`VerifyError`].
//! * Memory is bounded by streams, commands and the rules' state, never by records or lines.
//! * No network, no clock, no storage engine: the verdict depends on the arguments alone.

mod check;
mod chunks;
pub mod compare;
mod error;
mod evidence;
mod finding;
mod judged;
mod lines;
mod not_proven;
mod options;
mod pipeline;
mod policy;
mod prepare;
pub mod render;
mod report;
mod saved;
pub mod selftest;
mod signed;
pub mod tamper;
mod telling;

use std::{io::Read, ops::ControlFlow};

pub use crate::{
    error::VerifyError,
    evidence::{Anchor, OutsideReceipt},
    finding::{Code, FINDINGS_MAX, Finding},
    judged::Judged,
    options::{Lines, Options, Progress, Watch},
    policy::Policy,
    report::{
        AnchorResult, Counts, KeyRange, NotProven, Point, Report, Tool, Verdict, WitnessResult,
    },
    saved::Saved,
};

use crate::{
    check::{Brought, Checker},
    chunks::Blocks,
    lines::Unwritten,
    prepare::{Item, Preparer},
};

/// What a verification gives.
#[derive(Debug)]
pub struct Outcome {
    /// The report.
    pub report: Report,
    /// The state to start from next time, when it was asked for and the log is clean.
    pub state: Option<Saved>,
}

/// Verifies a bundle.
pub fn verify(
    source: impl Read,
    policy: &Policy,
    options: Options<'_>,
) -> Result<Outcome, VerifyError> {
    verify_source(Blocks::new(source), policy, options)
}

/// Verifies a bundle that was never written, by the very same checks: of each line all but its
/// spelling, which only text has.
pub fn verify_lines(
    lines: impl Lines,
    policy: &Policy,
    options: Options<'_>,
) -> Result<Outcome, VerifyError> {
    verify_source(Unwritten::new(lines), policy, options)
}

fn verify_source(
    source: impl pipeline::Source,
    policy: &Policy,
    options: Options<'_>,
) -> Result<Outcome, VerifyError> {
    let preparer = Preparer::new(
        options.state.as_ref().map_or(0, Saved::size),
        options.judged.clone(),
    );
    let brought = Brought {
        policy,
        anchors: &options.anchors,
        receipts: &options.receipts,
    };
    let mut checker = Checker::new(brought, options.state);
    let mut progress = options.progress;
    let mut watch = options.watch;
    let mut refused = None;
    pipeline::run(source, options.threads, &preparer, |batch| {
        checker.warm(&batch.items);
        for item in &batch.items {
            if let Err(error) = checker.line(item) {
                refused = Some(error);
                return ControlFlow::Break(());
            }
            if let (Some(watch), Item::Record(record)) = (&mut watch, item) {
                watch(record.fact().as_ref());
            }
        }
        if let Some(progress) = &mut progress {
            progress(Progress {
                bytes: batch.bytes_read,
                records: checker.records(),
            });
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = refused {
        return Err(error);
    }
    let (report, state) = checker.finish(&options.tool, options.keep_state);
    Ok(Outcome { report, state })
}
