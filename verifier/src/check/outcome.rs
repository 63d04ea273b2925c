//! From a finished check to a report.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

use super::{Checker, Stage, core::Core, log::LogCheck, room::RoomCheck};
use crate::{
    finding::{Code, Finding},
    not_proven::{self, Shown},
    policy::Policy,
    render::{counted, listed},
    report::{AnchorResult, Point, Report, Tool, Verdict, WitnessResult},
    saved::Saved,
    signed::Signed,
};

/// What the kinds of check have in common once they are finished.
struct Finished {
    core: Core,
    newest: Option<Signed>,
    anchors: Vec<AnchorResult>,
    anchored: Option<u64>,
    witnesses: Vec<WitnessResult>,
    witnessed: Option<(u64, u64)>,
    kind: &'static str,
    room: Option<String>,
    origin: Option<String>,
    is_empty: bool,
}

impl Checker<'_> {
    /// Ends the check. The state to save comes along when a whole log is clean.
    pub(crate) fn finish(mut self, tool: &Tool, keep_state: bool) -> (Report, Option<Saved>) {
        let policy = self.brought.policy;
        self.compare_manifest();
        match self.stage {
            Stage::Start(_) => (Finished::nothing(self.core).report(policy, tool), None),
            Stage::Log(mut check) => {
                check.finish();
                let keep = keep_state && check.core.findings.is_clean();
                let saved = keep.then(|| Saved::of(&check)).flatten();
                let report = Finished::log(*check).report(policy, tool);
                let clean = report.verdict == Verdict::Clean;
                (report, saved.filter(|_| clean))
            }
            Stage::Room(mut check) => {
                check.finish();
                (Finished::room(*check).report(policy, tool), None)
            }
        }
    }
}

impl Finished {
    fn nothing(core: Core) -> Self {
        Self {
            is_empty: core.counts.events == 0,
            core,
            newest: None,
            anchors: Vec::new(),
            anchored: None,
            witnesses: Vec::new(),
            witnessed: None,
            kind: "log",
            room: None,
            origin: None,
        }
    }

    fn log(check: LogCheck<'_>) -> Self {
        Self {
            newest: check.newest,
            anchors: check.tree.results,
            anchored: check.tree.anchored,
            witnesses: check.witnesses,
            witnessed: check.witnessed,
            origin: Some(check.origin),
            ..Self::nothing(check.core)
        }
    }

    fn room(check: RoomCheck<'_>) -> Self {
        Self {
            kind: "room",
            room: Some(check.room_id().to_string()),
            newest: check.newest,
            anchors: check.results,
            anchored: check.anchored,
            witnesses: check.witnesses,
            witnessed: check.witnessed,
            origin: Some(check.origin),
            ..Self::nothing(check.core)
        }
    }

    fn report(mut self, policy: &Policy, tool: &Tool) -> Report {
        if self.is_empty {
            let text = "the bundle holds no record: there is nothing to verify";
            self.core.findings.push(Finding::new(Code::Empty, text));
        }
        let verdict = self.core.findings.verdict();
        let first_bad_seq = self.core.findings.first_bad_seq();
        let size = self.newest.as_ref().map_or(0, |signed| signed.head.size);
        let shown = Shown {
            room: self.kind == "room",
            size,
            anchored: self.anchored,
            witnessed: self.witnessed,
            unsigned: self.core.counts.unsigned(),
            erased: self.core.counts.bodies_erased,
            unknown: self.core.unknown,
        };
        let proven = self.proven(verdict, size);
        let last = self.core.last.map(|(seq, at)| Point {
            seq,
            at: at.to_string(),
        });
        let keys = self.core.epochs.ranges(policy);
        let counts = self.core.counts;
        let (findings, findings_beyond) = self.core.findings.into_parts();
        Report {
            format: "minutebook-report/1",
            verdict,
            exit: verdict.exit_code(),
            explanation: explain(verdict, &findings, findings_beyond),
            kind: self.kind,
            room: self.room,
            origin: self.origin,
            size,
            root: self
                .newest
                .map(|signed| BASE64.encode(signed.head.root.as_bytes())),
            first: self.core.first,
            last,
            keys,
            counts,
            first_bad_seq,
            findings,
            findings_beyond,
            proven,
            not_proven: not_proven::list(&shown),
            anchors: self.anchors,
            witnesses: self.witnesses,
            tool: tool.clone(),
            policy_hash: policy.hash().to_owned(),
        }
    }

    /// Only a clean bundle proves anything: after a refutation every claim is open.
    fn proven(&self, verdict: Verdict, size: u64) -> Vec<String> {
        if verdict != Verdict::Clean {
            return Vec::new();
        }
        let counts = &self.core.counts;
        let records = match counts.events {
            1 => "the one record here was not".to_owned(),
            n => format!("none of the {n} records here was"),
        };
        let mut out = vec![
            format!(
                "{records} changed, removed, put in or reordered since the log's key signed the \
                 tree of {size}"
            ),
            "every body is the one that was committed to, or was erased by a later record that \
             says why"
                .to_owned(),
            "every step was allowed by the rules, in order, and every command took effect once"
                .to_owned(),
            "the log's keys lead back to the one you trust, each certified by the one before"
                .to_owned(),
        ];
        if counts.events_before > 0 {
            out.push(format!(
                "the log goes on from the {} that an earlier run verified (--state): what is said \
                 of rules and bodies was found then for those, now for the rest",
                counted(counts.events_before, "record", "records")
            ));
        }
        let signed = counts.signed();
        if signed != [0; 3] {
            let were = if signed.iter().sum::<u64>() == 1 {
                "was"
            } else {
                "were"
            };
            out.push(format!(
                "{} {were} signed by the holders of the agents' own keys",
                listed(&not_proven::acts_of(signed))
            ));
        }
        if let Some(size) = self.anchored {
            out.push(format!(
                "this is the same log of which an anchor of size {size} was signed before"
            ));
        }
        if let Some((size, time)) = self.witnessed {
            out.push(format!(
                "a quorum of witnesses saw the log up to record {size} at Unix time {time}"
            ));
        }
        out
    }
}

pub(crate) fn explain(verdict: Verdict, findings: &[Finding], beyond: u64) -> String {
    let deciding = findings.iter().find(|f| f.name.verdict() == verdict);
    let more = findings.len() as u64 + beyond;
    let more = match more {
        0 | 1 => String::new(),
        n => format!(" ({n} findings in all)"),
    };
    match (verdict, deciding) {
        (Verdict::Refuted, Some(finding)) => {
            let place = match (finding.seq, finding.seq_last) {
                (Some(first), Some(last)) => format!(" in records {first} to {last}"),
                (Some(seq), None) => format!(" at record {seq}"),
                (None, _) => String::new(),
            };
            let name = finding.name.name();
            if finding.name == Code::ProjectionDiffers {
                return format!(
                    "the log is intact, but what this server shows of the room is not what the \
                     log says: {name}: {}{more}",
                    finding.message
                );
            }
            format!(
                "this bundle is not what it claims to be: {name}{place}: {}{more}",
                finding.message
            )
        }
        (Verdict::Inconclusive, Some(finding)) => format!(
            "nothing is known to be wrong, but not all that was asked for could be shown: \
             {}{more}",
            finding.message
        ),
        (Verdict::Clean | Verdict::Refuted | Verdict::Inconclusive, _) => {
            "nothing was changed, removed or forged, and every step was allowed, within the limits \
             named under \"not proven\""
                .to_owned()
        }
    }
}
