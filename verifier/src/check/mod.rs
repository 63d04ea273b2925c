//! The ordered half: records in their place, one after the other.
//!
//! [`log`] follows a whole log, [`room`] one room's bundle; [`core`] is what both share. Memory
//! holds heads, command ids and the rules' state, never records.

pub(crate) mod bodies;
pub(crate) mod chain;
pub(crate) mod commands;
pub(crate) mod core;
pub(crate) mod epochs;
pub(crate) mod log;
pub(crate) mod outcome;
mod receipts;
pub(crate) mod room;
mod room_anchors;
pub(crate) mod sequence;
pub(crate) mod streams;
pub(crate) mod tree;

use minutebook_domain::ids::RoomId;
use minutebook_eventlog::format::bundle::{Kind, Manifest};

use self::{core::Core, log::LogCheck, room::RoomCheck, tree::Tree};
use crate::{
    error::VerifyError,
    evidence::{Anchor, OutsideReceipt},
    finding::{Code, Finding},
    policy::Policy,
    prepare::Item,
    saved::Saved,
};

/// What the caller brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brought<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) anchors: &'a [Anchor],
    pub(crate) receipts: &'a [OutsideReceipt],
}

/// The check of one bundle, by kind.
#[derive(Debug)]
enum Stage<'a> {
    /// The manifest has not come.
    Start(Option<Box<Saved>>),
    Log(Box<LogCheck<'a>>),
    Room(Box<RoomCheck<'a>>),
}

/// Lines seen, to compare with the manifest.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    lines: u64,
    records: u64,
    checkpoints: u64,
    bad: u64,
    /// Position of the first record: `seq` in a log, `sseq` in a room.
    first: Option<u64>,
}

/// Follows a bundle line by line.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    brought: Brought<'a>,
    stage: Stage<'a>,
    seen: Seen,
    manifest: Option<Manifest>,
    core: Core,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(brought: Brought<'a>, trusted: Option<Saved>) -> Self {
        Self {
            brought,
            stage: Stage::Start(trusted.map(Box::new)),
            seen: Seen::default(),
            manifest: None,
            core: Core::default(),
        }
    }

    /// Records read so far.
    pub(crate) fn records(&self) -> u64 {
        self.seen.records
    }

    /// Gets ready for lines that come next.
    pub(crate) fn warm(&self, items: &[Item]) {
        let core = match &self.stage {
            Stage::Log(check) => &check.core,
            Stage::Room(check) => &check.core,
            Stage::Start(_) => return,
        };
        core.commands
            .warm(items.iter().filter_map(|item| match item {
                Item::Record(record) => Some(record.command.scope),
                Item::Manifest(_) | Item::Checkpoint(_) | Item::Receipt(_) | Item::Bad(..) => None,
            }));
    }

    /// Takes the next line. An error means that this is no bundle at all.
    pub(crate) fn line(&mut self, item: &Item) -> Result<(), VerifyError> {
        if let Stage::Start(trusted) = &mut self.stage {
            let trusted = trusted.take().map(|saved| *saved);
            return self.start(item, trusted);
        }
        self.item(item);
        Ok(())
    }

    /// Takes a line after the manifest.
    fn item(&mut self, item: &Item) {
        self.seen.lines += 1;
        match item {
            Item::Manifest(_) => self.misplaced("a second manifest"),
            Item::Record(record) => {
                self.seen.records += 1;
                let line = self.seen.lines;
                match &mut self.stage {
                    Stage::Log(check) => {
                        self.seen.first.get_or_insert(record.seq);
                        check.record(record, line);
                    }
                    Stage::Room(check) => check.record(record, line),
                    Stage::Start(_) => {}
                }
            }
            Item::Checkpoint(text) => {
                self.seen.checkpoints += 1;
                let line = self.seen.lines;
                match &mut self.stage {
                    Stage::Log(check) => check.checkpoint(text, line),
                    Stage::Room(check) => check.checkpoint(text, line),
                    Stage::Start(_) => {}
                }
            }
            Item::Receipt(text) => {
                let line = self.seen.lines;
                match &mut self.stage {
                    Stage::Room(check) => check.receipt(text, line),
                    Stage::Log(_) | Stage::Start(_) => {
                        self.misplaced("a receipt in a bundle of a whole log");
                    }
                }
            }
            Item::Bad(code, why) => self.bad(*code, why),
        }
    }

    fn start(&mut self, item: &Item, trusted: Option<Saved>) -> Result<(), VerifyError> {
        let manifest = match item {
            Item::Manifest(manifest) => manifest,
            Item::Bad(_, why) => return Err(VerifyError::NotABundle(why.clone())),
            Item::Record(_) | Item::Checkpoint(_) | Item::Receipt(_) => {
                let why = "the first line is not a manifest";
                return Err(VerifyError::NotABundle(why.to_owned()));
            }
        };
        let Brought {
            policy,
            anchors,
            receipts,
        } = self.brought;
        self.seen.lines = 1;
        match &manifest.kind {
            Kind::Log => {
                let tree = Tree::new(anchors, receipts);
                let check = LogCheck::new(manifest, policy, tree, trusted)?;
                self.stage = Stage::Log(Box::new(check));
            }
            Kind::Room(_) if trusted.is_some() => {
                let why = "it is of a whole log and cannot be used with a room's bundle";
                return Err(VerifyError::State(why.to_owned()));
            }
            Kind::Room(room) => {
                let room = RoomId::parse_canonical(room)
                    .ok_or_else(|| VerifyError::NotABundle("no room of that id".to_owned()))?;
                let check = RoomCheck::new(room, &manifest.origin, policy, anchors, receipts);
                self.stage = Stage::Room(Box::new(check));
            }
        }
        self.trust(&manifest.origin);
        self.manifest = Some(manifest.clone());
        Ok(())
    }

    fn trust(&mut self, origin: &str) {
        let policy = self.brought.policy;
        if policy.keys_named(origin).next().is_none() {
            let text = "the bundle is of another log than the one whose key you trust";
            let finding = Finding::new(Code::OriginMismatch, text).line(1);
            self.report(finding.hashes(policy.describe_keys(), origin));
        }
    }

    fn misplaced(&mut self, text: &str) {
        let line = self.seen.lines;
        self.report(Finding::new(Code::LineMisplaced, text).line(line));
    }

    fn bad(&mut self, code: Code, why: &str) {
        self.seen.bad += 1;
        let line = self.seen.lines;
        match &mut self.stage {
            Stage::Log(check) => check.bad(code, why, line),
            Stage::Room(check) => check.bad(code, why, line),
            Stage::Start(_) => {}
        }
    }

    fn report(&mut self, finding: Finding) {
        let core = match &mut self.stage {
            Stage::Log(check) => &mut check.core,
            Stage::Room(check) => &mut check.core,
            Stage::Start(_) => &mut self.core,
        };
        core.findings.push(finding);
    }

    /// Compares the lines with the manifest. A line that could not be read explains any count.
    fn compare_manifest(&mut self) {
        let Some(manifest) = self.manifest.take().filter(|_| self.seen.bad == 0) else {
            return;
        };
        let last = match &self.stage {
            Stage::Log(check) => check.position(),
            Stage::Room(check) => check.position(),
            Stage::Start(_) => 0,
        };
        let first = match &self.stage {
            Stage::Log(_) => self.seen.first.unwrap_or(manifest.first),
            Stage::Room(_) | Stage::Start(_) => 1,
        };
        let pairs = [
            ("records", manifest.records, self.seen.records),
            ("checkpoints", manifest.checkpoints, self.seen.checkpoints),
            ("first position", manifest.first, first),
            ("last position", manifest.last, last),
        ];
        for (what, said, found) in pairs {
            if said != found {
                let text = format!("the manifest says {said} for {what}, the bundle has {found}");
                let finding = Finding::new(Code::ManifestMismatch, text).line(1);
                self.report(finding.hashes(said, found));
            }
        }
    }
}
