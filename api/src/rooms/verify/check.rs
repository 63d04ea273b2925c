//! The check itself: the room's bundle, and the rows that readers are shown against a fold of it.
//!
//! Invariants
//! * Bundle and rows are read at one and the same moment, whoever writes meanwhile.
//! * Rows are judged only by a log that holds: where it does not, they may be the better witness.
//! * Neither a row nor a record makes this fail. Errors are left for what says nothing about the
//!   room: a disk that cannot be read, a server that stops.

use std::sync::Arc;

use minutebook_domain::ids::{RoomId, StreamId};
use minutebook_domain::{EventKind, Fact};
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_projections::audit::{Difference, Differences, RoomAudit};
use minutebook_projections::{Kind, ProjectionError, Rows};
use minutebook_verifier::{Finding, Options, Policy, Report, Tool, Verdict, VerifyError};

use super::acts::Act;
use super::bundle::{Bundle, ReadError};
use super::{STOPPING, refuted};
use crate::error::{ApiError, ErrorCode};
use crate::generations::SpaceRows;
use crate::http::app::App;
use crate::http::views::no_room;
use crate::offline::OfflineError;
use crate::offline::streams::last_position;

const COMPARED: &str = "the server itself compared what it shows of the room with the log: that \
                        its answers are made of those rows, and that the room stands nowhere else \
                        in its directory, is its word";
const NOT_COMPARED: &str = "what the server shows in its views was not compared with the log, \
                            because the log itself does not hold";
const NOT_FOLDED: &str = "what the server shows in its views was not compared with the log, \
                          because some of its records are not known to this program";
/// What helps against what a server may show.
const READ_AGAIN: &str = "read the room from its bundle instead of from the server";

const OWN_JUDGE: &str = "this is the server's verdict on its own log";
const VERIFY_YOURSELF: &str = "verify the room's bundle with a program of your own: \
                               `minutebook-verify BUNDLE --key VKEY`";

/// Projections of a room.
const KINDS: [Kind; 3] = [Kind::Rooms, Kind::History, Kind::Threads];

/// A report, and what its first finding is about.
pub(super) struct Checked {
    pub(super) report: Report,
    pub(super) act: Option<Act>,
}

/// Refuses a room that the log does not have, or that was erased.
pub(super) fn is_open(app: &App, id: RoomId) -> Result<(), ApiError> {
    match is_in_log(app, id) {
        Ok(true) => Ok(()),
        Ok(false) => Err(no_room()),
        // The check will say so.
        Err(error) if error.is_damage() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_in_log(app: &App, id: RoomId) -> Result<bool, OfflineError> {
    let log = app.engine.reader().pinned();
    let name = format!("room/{id}");
    let last = last_position(&*log, &name, log.head()?.seq)?;
    let envelopes = log.read_stream_envelopes(&name, last.max(1), 1)?;
    let envelope = envelopes.first().filter(|_| last > 0);
    Ok(envelope.is_some_and(|(_, bytes)| {
        let kind = |last: Envelope<'_>| EventKind::parse(&last.kind, last.v);
        Envelope::parse(bytes).ok().and_then(kind) != Some(EventKind::RoomErased)
    }))
}

pub(super) fn check(app: &App, id: RoomId) -> Result<Checked, ApiError> {
    let log = app.engine.reader().pinned();
    let spaces = app.engine.views();
    let rows = KINDS.map(|kind| (kind, SpaceRows::new(&*log, spaces.of(kind))));
    let live = rows.iter().map(|(kind, rows)| (*kind, rows as &dyn Rows));
    let mut audit = Audit(Ok(RoomAudit::new(id, live)));
    let mut bundle = Bundle::new(app, Arc::clone(&log), id)?;
    let mut report = verify(app, id, &mut bundle, &mut audit)?;
    report.set_verifier(OWN_JUDGE, VERIFY_YOURSELF);
    if let Some(damage) = bundle.damage {
        report.add([Finding::log_unreadable(damage)], 0);
    }
    if report.verdict == Verdict::Refuted {
        report.set_projections(NOT_COMPARED, READ_AGAIN);
        let seq = refuted(&report).and_then(|finding| finding.seq);
        let act = seq.and_then(|seq| Act::at(app, &*log, id, seq));
        return Ok(Checked { report, act });
    }
    let Some(Differences { list, beyond }) = audit.finish()? else {
        report.set_projections(NOT_FOLDED, READ_AGAIN);
        return Ok(Checked { report, act: None });
    };
    report.set_projections(COMPARED, READ_AGAIN);
    let act = list.first().and_then(|first| Act::of_row(&first.about));
    if !list.is_empty() {
        report.add(list.iter().map(finding), beyond);
    }
    Ok(Checked { report, act })
}

fn finding(difference: &Difference) -> Finding {
    Finding::projection_differs(difference.kind.name(), difference.to_string())
}

/// Checks the bundle, and shows the audit every record of the room on the way.
fn verify(
    app: &App,
    id: RoomId,
    bundle: &mut Bundle,
    audit: &mut Audit<'_>,
) -> Result<Report, ApiError> {
    let keys = app.engine.keys();
    let pinned = keys
        .epochs()
        .first()
        .map(|epoch| epoch.vkey.clone())
        .unwrap_or_default();
    let policy = Policy::of_key(&pinned).map_err(|error| ApiError::internal(&error))?;
    let mut watch = |fact: Option<&Fact<'_>>| audit.take(id, fact);
    let options = Options {
        tool: Tool {
            name: "minutebook".to_owned(),
            ..Tool::default()
        },
        judged: Some(Arc::clone(app.engine.judged())),
        watch: Some(&mut watch),
        ..Options::default()
    };
    let outcome = minutebook_verifier::verify_lines(bundle, &policy, options).map_err(failed)?;
    Ok(outcome.report)
}

/// An audit, or why there is none.
struct Audit<'a>(Result<RoomAudit<'a>, Stopped>);

/// Why an audit cannot go on.
enum Stopped {
    /// A record that cannot be folded; what is wrong with it is a finding of its own.
    Blind,
    Failed(ProjectionError),
}

impl Audit<'_> {
    fn take(&mut self, id: RoomId, fact: Option<&Fact<'_>>) {
        let Ok(audit) = &mut self.0 else { return };
        let Some(fact) = fact else {
            self.0 = Err(Stopped::Blind);
            return;
        };
        if fact.stream == StreamId::Room(id)
            && let Err(error) = audit.fact(fact)
        {
            self.0 = Err(Stopped::Failed(error));
        }
    }

    /// What differs; none if the log could not be folded.
    fn finish(self) -> Result<Option<Differences>, ApiError> {
        match self.0 {
            Ok(audit) => Ok(Some(audit.finish()?)),
            Err(Stopped::Blind) => Ok(None),
            Err(Stopped::Failed(error)) => Err(error.into()),
        }
    }
}

/// What kept the verifier from reading is the room's or the server's state; anything else is ours.
fn failed(error: VerifyError) -> ApiError {
    let VerifyError::Read(error) = error else {
        return ApiError::internal(&error);
    };
    match error.downcast() {
        Ok(ReadError::Export(error)) => error.into(),
        Ok(ReadError::Stopping) => ApiError::new(ErrorCode::Unavailable, STOPPING),
        Err(error) => ApiError::internal(&error),
    }
}
