//! What logs and room bundles have in common: streams, time, bodies, commands and rules, for
//! records that arrive in order.

use minutebook_domain::{
    Event, EventKind, Fact, Rejection, State, What, contextual, cross_stream, evolve, keys,
    ledger_key, room, signature::SURFACE_MINUTEBOOK_V2, time::Timestamp,
};
use rustc_hash::FxHashSet;

use super::{
    bodies::{Bodies, Missing},
    commands::Commands,
    epochs::Epochs,
    streams::Streams,
};
use crate::{
    finding::{Code, Finding, Findings},
    prepare::{Content, Place, Prepared, Problem},
    report::{Counts, Point},
};

/// Distinct agents counted; beyond, the count stands still.
const AGENTS_MAX: usize = 1_000_000;

/// The checks' common state.
#[derive(Debug, Default)]
pub(crate) struct Core {
    pub(crate) findings: Findings,
    pub(crate) streams: Streams,
    pub(crate) bodies: Bodies,
    pub(crate) commands: Commands,
    pub(crate) epochs: Epochs,
    pub(crate) state: State,
    pub(crate) counts: Counts,
    pub(crate) time: Option<Timestamp>,
    pub(crate) first: Option<Point>,
    pub(crate) last: Option<(u64, Timestamp)>,
    pub(crate) unknown: bool,
    agents: FxHashSet<u64>,
    pub(crate) scope: Scope,
}

/// How much of the log the state knows, and so which rules can be applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One room and the log's keys: rules between streams need more.
    #[default]
    Room,
    /// All of it.
    Whole,
    /// All of it once, but the records are no longer the ones the state is of.
    Lost,
    /// Only its end: streams may begin in the middle.
    Tail,
}

impl Core {
    pub(crate) fn of(scope: Scope) -> Self {
        Self {
            scope,
            ..Self::default()
        }
    }

    /// Reports what is wrong with a record by itself.
    pub(crate) fn problems(&mut self, record: &Prepared, line: u64) {
        for problem in &record.problems {
            self.report(record, line, problem);
        }
    }

    fn report(&mut self, record: &Prepared, line: u64, problem: &Problem) {
        self.unknown |= problem.code == Code::EventUnknown;
        let mut finding = Finding::new(problem.code, problem.message.as_str())
            .seq(record.seq)
            .line(line);
        if let Some(place) = &record.place {
            finding = finding.stream(place.stream);
        }
        if let Some((expected, found)) = &problem.hashes {
            finding = finding.hashes(expected, found);
        }
        if let Some(rule) = problem.rule {
            finding = finding.rule(rule);
        }
        self.findings.push(finding);
    }

    /// Takes a record whose place in the log is settled. `explained_until` as in
    /// [`Streams::accept`].
    pub(crate) fn record(&mut self, record: &Prepared, line: u64, explained_until: u64) {
        self.counts.events += 1;
        let Some(place) = &record.place else {
            return;
        };
        self.advance_time(record, place, line);
        if self.scope == Scope::Tail {
            self.streams.begin_anywhere(place.stream, record);
        }
        let whole = self.streams.accept(
            place.stream,
            record,
            line,
            explained_until,
            &mut self.findings,
        );
        if !self.commands.accept(record.command, record.kind) {
            let text = "its command id was already used by an earlier command of this actor here";
            let finding = Finding::new(Code::CommandReused, text).seq(record.seq);
            self.findings.push(finding.stream(place.stream).line(line));
        }
        self.body(record, place, line);
        self.rules(record, place, line, whole);
        self.count(record);
    }

    /// Takes a record that was checked before: only bodies can have changed since.
    pub(crate) fn trusted(&mut self, record: &Prepared, line: u64) {
        self.counts.events += 1;
        self.counts.events_trusted += 1;
        if let Some(place) = &record.place {
            self.advance_time(record, place, line);
            self.body(record, place, line);
        }
    }

    fn advance_time(&mut self, record: &Prepared, place: &Place, line: u64) {
        if let Some(before) = self.time
            && place.at < before
        {
            let text = "its time is before the time of the record before it";
            let finding = Finding::new(Code::TimeDecreased, text).seq(record.seq);
            let finding = finding.stream(place.stream).line(line);
            self.findings
                .push(finding.hashes(format!("{before} or later"), place.at));
        }
        self.time = Some(place.at);
        self.last = Some((record.seq, place.at));
        if self.first.is_none() {
            self.first = Some(Point {
                seq: record.seq,
                at: place.at.to_string(),
            });
        }
    }

    fn body(&mut self, record: &Prepared, place: &Place, line: u64) {
        match &record.content {
            Content::Absent if record.kind.is_some_and(|kind| !kind.can_be_erased()) => {}
            Content::Absent => self.bodies.missing(&Missing {
                stream: place.stream,
                sseq: record.sseq,
                seq: record.seq,
                line,
                message: record.kind == Some(EventKind::MessagePosted),
            }),
            Content::Event(Event::Room(room::Event::BodiesErased(range))) => {
                self.bodies
                    .erase_messages(place.stream, range.first, range.last);
            }
            Content::Event(Event::Room(room::Event::Erased(_))) => {
                self.bodies.erase_all(place.stream);
            }
            Content::Event(_) | Content::Unusable | Content::Trusted => {}
        }
    }

    /// Judges the event against the state, then folds it in.
    fn rules(&mut self, record: &Prepared, place: &Place, line: u64, whole: bool) {
        let Some(kind) = record.kind else {
            // The state misses an event of a type we do not know.
            self.streams.set_broken(place.stream);
            return;
        };
        let what = match &record.content {
            Content::Event(event) => What::Present(event),
            Content::Absent | Content::Unusable | Content::Trusted => What::Erased(kind),
        };
        let fact = Fact {
            seq: record.seq,
            stream: place.stream,
            sseq: record.sseq,
            actor: &place.actor,
            at: place.at,
            what,
        };
        let unusable = matches!(record.content, Content::Unusable);
        if whole && !unusable {
            let allowed = match self.scope {
                // The bundle carries the log's key epochs.
                Scope::Room => contextual(&self.state, &fact)
                    .and_then(|()| ledger_key(self.state.keys(), &fact)),
                Scope::Whole => {
                    contextual(&self.state, &fact).and_then(|()| cross_stream(&self.state, &fact))
                }
                Scope::Lost | Scope::Tail => Ok(()),
            };
            match allowed {
                // Said better, and only once all of the log is known, by `bodies`.
                Err(Rejection::BodyMissing) | Ok(()) => {}
                Err(rejection) => self.report(record, line, &Problem::unlawful(&rejection)),
            }
        }
        evolve(&mut self.state, &fact);
    }

    fn count(&mut self, record: &Prepared) {
        let counts = &mut self.counts;
        let (signed, unsigned) = match record.kind {
            Some(EventKind::MessagePosted) => {
                counts.messages += 1;
                (&mut counts.agent_signatures, &mut counts.messages_unsigned)
            }
            Some(EventKind::ClaimOpened | EventKind::ClaimRevised) => {
                counts.revisions += 1;
                (&mut counts.revisions_signed, &mut counts.revisions_unsigned)
            }
            Some(EventKind::HandshakeMade) => {
                counts.handshakes += 1;
                (
                    &mut counts.handshakes_signed,
                    &mut counts.handshakes_unsigned,
                )
            }
            Some(_) | None => return,
        };
        let Content::Event(Event::Room(event)) = &record.content else {
            return;
        };
        if event.agent().is_some() && self.agents.len() < AGENTS_MAX {
            self.agents.insert(record.agent);
        }
        match event.signed_surface() {
            Some(surface) if record.problems.is_empty() => {
                *signed += 1;
                if surface == SURFACE_MINUTEBOOK_V2 {
                    counts.surface_minutebook_v2 += 1;
                } else {
                    counts.surface_roomcomm_v1 += 1;
                }
            }
            // The arbiter's entries are the server's word in any case.
            None if event.agent().is_some() => *unsigned += 1,
            Some(_) | None => {}
        }
    }

    /// Begins a key epoch, if this record does.
    pub(crate) fn epoch(&mut self, record: &Prepared, line: u64) {
        if let Content::Event(Event::Keys(event)) = &record.content {
            match event {
                keys::Event::LogOpened(opened) => {
                    self.epochs
                        .open(opened, record.seq, line, &mut self.findings);
                }
                keys::Event::KeyRotated(rotated) => {
                    self.epochs.rotate(rotated, record.seq);
                }
                keys::Event::ApiKeyIssued(_)
                | keys::Event::ApiKeyRevoked(_)
                | keys::Event::AgentKeyEnrolled(_)
                | keys::Event::AgentKeyRevoked(_) => {}
            }
        }
    }

    /// Ends the checks that wait for later records, and completes the counts.
    pub(crate) fn finish(&mut self) {
        self.bodies.finish(&mut self.findings);
        self.counts.bodies_erased = self.bodies.erased();
        self.counts.rooms = self.streams.rooms();
        self.counts.commands = self.commands.count();
        self.counts.agents = self.agents.len() as u64;
    }
}
