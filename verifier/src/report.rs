//! The report: one verdict, what was proven, what was not, and every finding.
//!
//! Field names and their order are the JSON form's contract; additions go at the end of a struct.

use serde::Serialize;

use crate::{
    check::outcome::explain,
    finding::{Code, Finding},
    not_proven, telling,
};

/// What the checks amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Everything that was asked for holds.
    Clean,
    /// Something was changed, removed or forged.
    Refuted,
    /// Nothing is known to be wrong, but something asked for could not be shown.
    Inconclusive,
}

impl Verdict {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Refuted => 1,
            Self::Inconclusive => 2,
        }
    }

    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "CLEAN",
            Self::Refuted => "REFUTED",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// What a verification found. Serialises to the `--json` form.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `minutebook-report/1`.
    pub format: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// Its exit code.
    pub exit: u8,
    /// The verdict in one or two sentences.
    pub explanation: String,
    /// `log` or `room`.
    pub kind: &'static str,
    /// The room, for a room bundle.
    pub room: Option<String>,
    /// The log's name.
    pub origin: Option<String>,
    /// Size of the newest checkpoint whose signature holds.
    pub size: u64,
    /// Its root, base64 as in the checkpoint.
    pub root: Option<String>,
    /// First record.
    pub first: Option<Point>,
    /// Last record.
    pub last: Option<Point>,
    /// Key epochs and the records each signed for.
    pub keys: Vec<KeyRange>,
    /// How much was checked.
    pub counts: Counts,
    /// The first record that is bad by itself; failing that, the first that what was signed does
    /// not cover.
    pub first_bad_seq: Option<u64>,
    /// All independent findings, the most telling first.
    pub findings: Vec<Finding>,
    /// Findings that did not fit the list.
    pub findings_beyond: u64,
    /// What was shown, in words.
    pub proven: Vec<String>,
    /// What was not shown and cannot be excluded, in words.
    pub not_proven: Vec<NotProven>,
    /// The anchors given, and what each says.
    pub anchors: Vec<AnchorResult>,
    /// Witnesses of the policy whose cosignature holds on the newest cosigned checkpoint.
    pub witnesses: Vec<WitnessResult>,
    /// Who checked.
    pub tool: Tool,
    /// SHA-256 of the policy text (for a bare key: of the equivalent policy).
    pub policy_hash: String,
}

/// A record's place and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Position in the log.
    pub seq: u64,
    /// Its time, as recorded.
    pub at: String,
}

/// A key epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyRange {
    /// 1, 2, 3 …
    pub epoch: u64,
    /// The key.
    pub vkey: String,
    /// First record it signs for.
    pub first_seq: u64,
    /// Last record it signs for; none while it is the newest.
    pub last_seq: Option<u64>,
    /// Whether this is a key the verifier was told to trust.
    pub pinned: bool,
}

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Records read.
    pub events: u64,
    /// Records checked before and only re-identified now (saved state).
    pub events_trusted: u64,
    /// Rooms with at least one record here.
    pub rooms: u64,
    /// Messages.
    pub messages: u64,
    /// Distinct agents that spoke.
    pub agents: u64,
    /// Messages with an agent's signature that holds.
    pub agent_signatures: u64,
    /// Messages without an agent's signature.
    pub messages_unsigned: u64,
    /// Bodies erased with authority.
    pub bodies_erased: u64,
    /// Checkpoints whose signature and root hold.
    pub checkpoints: u64,
    /// Receipts that hold: those in the bundle and those given.
    pub receipts: u64,
    /// Commands.
    pub commands: u64,
    /// Records that an earlier run verified (saved state), whether or not they are here again. The
    /// verdict is on them too; messages, agents and agents' signatures are counted after them.
    pub events_before: u64,
    /// Entries of rooms' ledgers: openings and revisions.
    pub revisions: u64,
    /// Of these, those with an agent's signature that holds.
    pub revisions_signed: u64,
    /// Handshakes.
    pub handshakes: u64,
    /// Of these, those with an agent's signature that holds.
    pub handshakes_signed: u64,
    /// Agents' signatures that hold over the seed's bytes (`roomcomm-v1`), of all acts.
    pub surface_roomcomm_v1: u64,
    /// Agents' signatures that hold over bound bytes (`minutebook-v2`), of all acts.
    pub surface_minutebook_v2: u64,
    /// Agents' entries of ledgers without their signature.
    pub revisions_unsigned: u64,
    /// Handshakes without the agent's signature.
    pub handshakes_unsigned: u64,
}

impl Counts {
    /// Messages, entries of ledgers and handshakes with an agent's signature that holds.
    pub(crate) fn signed(&self) -> [u64; 3] {
        [
            self.agent_signatures,
            self.revisions_signed,
            self.handshakes_signed,
        ]
    }

    /// The same without one.
    pub(crate) fn unsigned(&self) -> [u64; 3] {
        [
            self.messages_unsigned,
            self.revisions_unsigned,
            self.handshakes_unsigned,
        ]
    }
}

/// Findings of who sees more than a bundle.
impl Finding {
    /// A row of this projection is not what the log says.
    pub fn projection_differs(projection: &'static str, message: impl Into<String>) -> Self {
        Self {
            projection: Some(projection),
            ..Self::new(Code::ProjectionDiffers, message)
        }
    }

    /// The stored log could not be read; why.
    pub fn log_unreadable(message: impl Into<String>) -> Self {
        Self::new(Code::LogUnreadable, message)
    }
}

impl Report {
    /// Adds what the caller found besides: the verdict, its words and the order of the findings
    /// follow. `beyond`: how many more there were than are given.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>, beyond: u64) {
        self.findings.extend(findings);
        self.findings_beyond += beyond;
        self.findings.sort_by_cached_key(telling::order);
        let has = |verdict| self.findings.iter().any(|f| f.name.verdict() == verdict);
        self.verdict = if has(Verdict::Refuted) {
            Verdict::Refuted
        } else if has(Verdict::Inconclusive) {
            Verdict::Inconclusive
        } else {
            self.verdict
        };
        self.exit = self.verdict.exit_code();
        if self.verdict != Verdict::Clean {
            self.proven.clear();
        }
        self.explanation = explain(self.verdict, &self.findings, self.findings_beyond);
    }

    /// Says how far what readers are shown was compared with the log, and what to do about it.
    pub fn set_projections(&mut self, text: &'static str, remedy: &'static str) {
        self.say(not_proven::PROJECTIONS, text, remedy);
    }

    /// Says who verified, where it was not the program of that name, and what to do about it.
    pub fn set_verifier(&mut self, text: &'static str, remedy: &'static str) {
        self.say(not_proven::VERIFIER, text, remedy);
    }

    fn say(&mut self, name: &str, text: &str, remedy: &'static str) {
        for item in &mut self.not_proven {
            if item.name == name {
                text.clone_into(&mut item.text);
                item.remedy = Some(remedy);
            }
        }
    }
}

/// Something that was not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotProven {
    /// Stable name.
    pub name: &'static str,
    /// What it means, in words; what stands between backticks is code.
    pub text: String,
    /// What would show it, or is to be done about it; the same for neighbours that one step helps.
    pub remedy: Option<&'static str>,
}

/// What one anchor or receipt given from outside says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnchorResult {
    /// The caller's name for it: a file name.
    pub label: String,
    /// `checkpoint`, `receipt` or `state`.
    pub kind: &'static str,
    /// Size of its checkpoint.
    pub size: u64,
    /// `consistent`, `truncated`, `fork`, `mismatch`, `unusable` or `not_comparable`.
    pub result: &'static str,
}

/// A cosignature that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WitnessResult {
    /// The witness's key name.
    pub name: String,
    /// Size of the checkpoint it cosigned.
    pub size: u64,
    /// Its time, seconds since the Unix epoch.
    pub time: u64,
}

/// Who checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// `minutebook-verify` or what the caller set.
    pub name: String,
    /// Version.
    pub version: String,
    /// `sha256:` and the hash of the program file, when known.
    pub binary_hash: Option<String>,
}

impl Default for Tool {
    fn default() -> Self {
        Self {
            name: "minutebook-verifier".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            binary_hash: None,
        }
    }
}
