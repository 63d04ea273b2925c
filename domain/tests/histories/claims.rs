//! What many agents try on a room's ledger.

use ed25519_dalek::{Signer as _, SigningKey};
use minutebook_domain::{
    State,
    ids::{ClaimId, RoomId},
    room::{
        self, RoomState,
        claims::{
            self, Author, Claims, ContextExtracted, OpenClaim, Outcome, RecordDiscrepancy,
            ReviseClaim, RevisionKind, Severity, ShakeHands, SubjectKey, Thread,
        },
    },
    signature::{LedgerAct, LedgerSignature},
    text::{AgentName, ClaimValue, DiscrepancyText, ModelName, Quote, Reason, Subject},
};
use proptest::prelude::*;
use uuid::Uuid;

/// Few values, two of them the same but for white space.
const VALUES: [&str; 4] = ["$8", " $8\n", "$9", "délai \u{1f9f1}"];

/// An attempt; what it is about is looked up when it is made.
#[derive(Clone, Debug)]
pub(crate) enum ClaimTry {
    Open(OpenTry),
    Revise(ReviseTry),
    Shake(ShakeTry),
    Extract(ExtractTry),
    Note(NoteTry),
}

/// The arbiter reads the message after the newest it read, or one further on or back.
#[derive(Clone, Debug)]
pub(crate) struct ExtractTry {
    ahead: i64,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
pub(crate) struct NoteTry {
    thread: Option<usize>,
    source: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct OpenTry {
    agent: Author,
    value: &'static str,
    sign: Option<Sign>,
    source: Option<u64>,
    quote: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct ReviseTry {
    agent: Author,
    /// Which of the room's threads, the same one often.
    thread: usize,
    kind: RevisionKind,
    /// This value, or the present one.
    value: Option<&'static str>,
    sign: Option<Sign>,
    source: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct ShakeTry {
    agent: AgentName,
    is_stale: bool,
    sign: Option<Sign>,
}

/// By whose key, over which surface, from how stale a reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign {
    seed: u8,
    ours: bool,
    behind: u64,
}

pub(crate) fn claim_try(
    agent: impl Strategy<Value = AgentName> + Clone + 'static,
) -> impl Strategy<Value = ClaimTry> {
    let author = prop_oneof![
        9 => agent.clone().prop_map(Author::Agent),
        1 => Just(Author::Arbiter),
    ];
    let value = prop::sample::select(&VALUES[..]);
    let source = prop::option::weighted(0.2, 0..4_u64);
    let kind = prop::sample::select(
        &[
            RevisionKind::Confirm,
            RevisionKind::Confirm,
            RevisionKind::Confirm,
            RevisionKind::Contradict,
            RevisionKind::Update,
            RevisionKind::Retract,
        ][..],
    );
    let thread = prop::sample::select(&[0, 0, 0, 0, 1, 1, 2][..]);
    let quote = prop::option::weighted(0.3, "\\PC{1,9}");
    prop_oneof![
        2 => (author.clone(), value.clone(), sign(), source.clone(), quote).prop_map(
            |(agent, value, sign, source, quote)| {
                ClaimTry::Open(OpenTry { agent, value, sign, source, quote })
            },
        ),
        12 => (author, thread, kind, prop::option::weighted(0.3, value), sign(), source).prop_map(
            |(agent, thread, kind, value, sign, source)| {
                ClaimTry::Revise(ReviseTry { agent, thread, kind, value, sign, source })
            },
        ),
        2 => (agent, prop::bool::weighted(0.2), sign()).prop_map(|(agent, is_stale, sign)| {
            ClaimTry::Shake(ShakeTry { agent, is_stale, sign })
        }),
        2 => reading(),
        1 => (prop::option::of(0..2_usize), prop::option::of(0..4_u64))
            .prop_map(|(thread, source)| ClaimTry::Note(NoteTry { thread, source })),
    ]
}

fn reading() -> impl Strategy<Value = ClaimTry> {
    let ahead = prop::sample::select(&[1, 1, 1, 0, 2, -1][..]);
    let outcome = prop::sample::select(
        &[
            Outcome::Read,
            Outcome::Read,
            Outcome::Skipped,
            Outcome::Unavailable,
        ][..],
    );
    (ahead, outcome).prop_map(|(ahead, outcome)| ClaimTry::Extract(ExtractTry { ahead, outcome }))
}

fn sign() -> impl Strategy<Value = Option<Sign>> {
    let behind = prop::sample::select(&[0, 0, 0, 1][..]);
    let sign = (1..4_u8, any::<bool>(), behind).prop_map(|(seed, ours, behind)| Sign {
        seed,
        ours,
        behind,
    });
    prop::option::weighted(0.4, sign)
}

impl ClaimTry {
    /// Whether only the arbiter may.
    pub(crate) fn is_the_arbiters(&self) -> bool {
        matches!(self, Self::Extract(_) | Self::Note(_))
    }

    /// The command this comes to in this state.
    pub(crate) fn command(self, state: &State, room: RoomId) -> room::Command {
        let known = state.room(&room).map(RoomState::claims);
        room::Command::Claim(match self {
            Self::Open(attempt) => claims::Command::Open(attempt.command(room)),
            Self::Revise(attempt) => claims::Command::Revise(attempt.command(known, room)),
            Self::Shake(attempt) => claims::Command::ShakeHands(attempt.command(known, room)),
            Self::Extract(attempt) => claims::Command::ExtractContext(attempt.command(known)),
            Self::Note(attempt) => claims::Command::RecordDiscrepancy(attempt.command(known)),
        })
    }
}

impl OpenTry {
    fn command(self, room: RoomId) -> OpenClaim {
        let subject = Subject::parse(" Price per unit").unwrap();
        let act = LedgerAct::Opening {
            agent: self.agent.as_str(),
            subject: subject.as_str(),
            value: self.value,
        };
        let signature = self.sign.map(|sign| sign.over(&act, room, None));
        OpenClaim {
            agent: self.agent,
            quote: self.quote.map(|quote| Quote::parse(&quote).unwrap()),
            signature,
            source_msg_id: self.source,
            subject,
            subject_key: self.source.map(|_| SubjectKey::derive("Price")),
            value: ClaimValue::parse(self.value).unwrap(),
        }
    }
}

impl ReviseTry {
    fn command(self, known: Option<&Claims>, room: RoomId) -> ReviseClaim {
        let thread = known.and_then(|claims| claims.threads().get(self.thread));
        let claim = thread.map_or_else(|| ClaimId::new(Uuid::nil()), Thread::id);
        let current = thread.map_or("nothing", Thread::value);
        let value = self.value.unwrap_or(current);
        let act = LedgerAct::Revision {
            claim,
            agent: self.agent.as_str(),
            kind: self.kind.name(),
            value,
        };
        let position = thread.map(Thread::value_revision);
        let signature = self.sign.map(|sign| sign.over(&act, room, position));
        ReviseClaim {
            agent: self.agent,
            claim,
            kind: self.kind,
            quote: None,
            signature,
            source_msg_id: self.source,
            value: ClaimValue::parse(value).unwrap(),
        }
    }
}

impl ShakeTry {
    fn command(self, known: Option<&Claims>, room: RoomId) -> ShakeHands {
        let current = known.map(|claims| claims.context_hash().to_owned());
        let context_hash = match current {
            Some(current) if !self.is_stale => current,
            Some(_) | None => "0".repeat(64),
        };
        let act = LedgerAct::Handshake {
            agent: self.agent.as_str(),
            context_hash: &context_hash,
        };
        let position = known.map(Claims::revisions);
        let signature = self.sign.map(|sign| sign.over(&act, room, position));
        ShakeHands {
            agent: self.agent,
            context_hash,
            signature,
        }
    }
}

impl ExtractTry {
    fn command(self, known: Option<&Claims>) -> ContextExtracted {
        let read = known.map_or(0, Claims::extracted);
        let is_read = self.outcome == Outcome::Read;
        ContextExtracted {
            adapter: ModelName::parse("rules").unwrap(),
            answer: is_read.then(|| "{}".to_owned()),
            failed: (!is_read).then(|| Reason::parse("no").unwrap()),
            message: read.saturating_add_signed(self.ahead),
            model: ModelName::parse("rules-1").unwrap(),
            outcome: self.outcome,
            prompt_hash: "0".repeat(64),
            proposals: Vec::new(),
        }
    }
}

impl NoteTry {
    fn command(self, known: Option<&Claims>) -> RecordDiscrepancy {
        let thread = |place: usize| known.and_then(|claims| claims.threads().get(place));
        RecordDiscrepancy {
            claim: self.thread.and_then(thread).map(Thread::id),
            description: DiscrepancyText::parse("it does not fit").unwrap(),
            severity: Severity::High,
            source_msg_id: self.source,
        }
    }
}

impl Sign {
    fn over(self, act: &LedgerAct<'_>, room: RoomId, position: Option<u64>) -> LedgerSignature {
        let is_opening = matches!(act, LedgerAct::Opening { .. });
        let (surface, position) = if self.ours || is_opening {
            let position = position.map(|position| position.saturating_sub(self.behind));
            ("minutebook-v2", position.filter(|_| !is_opening))
        } else {
            ("roomcomm-v1", None)
        };
        let key = SigningKey::from_bytes(&[self.seed; 32]);
        // A thread that is not there has no position; then any bytes do.
        let bytes = act.signed_bytes(surface, room, position);
        let sig = hex::encode(key.sign(&bytes.unwrap_or_default()).to_bytes());
        let pubkey = hex::encode(key.verifying_key().as_bytes());
        LedgerSignature::from_client(surface, position, &pubkey, &sig)
    }
}
