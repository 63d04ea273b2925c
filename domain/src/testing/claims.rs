//! Words for rows about threads and handshakes.

use ed25519_dalek::Signer as _;

use super::*;
use crate::{
    room::claims::{
        self, Author, ClaimOpened, ClaimRevised, ContextExtracted, OpenClaim, Outcome,
        RecordDiscrepancy, ReviseClaim, RevisionKind, Severity, ShakeHands,
    },
    signature::{LedgerAct, LedgerSignature},
    text::{ClaimValue, DiscrepancyText, ModelName, Subject},
};

pub(crate) const V1: &str = "roomcomm-v1";
pub(crate) const V2: &str = "minutebook-v2";

/// The thread of every row that names no other.
pub(crate) fn claim_id() -> ClaimId {
    ClaimId::new(FRESH)
}

pub(crate) fn author(text: &str) -> Author {
    match text {
        "arbiter" => Author::Arbiter,
        _ => name(text).into(),
    }
}

pub(crate) fn value(text: &str) -> ClaimValue {
    ClaimValue::parse(text).unwrap()
}

pub(crate) fn claim(agent: &str) -> OpenClaim {
    OpenClaim {
        agent: author(agent),
        quote: None,
        signature: None,
        source_msg_id: None,
        subject: Subject::parse("Price per unit").unwrap(),
        subject_key: None,
        value: value("$8"),
    }
}

pub(crate) fn revision(agent: &str, kind: RevisionKind, text: &str) -> ReviseClaim {
    ReviseClaim {
        agent: author(agent),
        claim: claim_id(),
        kind,
        quote: None,
        signature: None,
        source_msg_id: None,
        value: value(text),
    }
}

pub(crate) fn ask_claim(command: OpenClaim) -> Command {
    in_room(room::Command::Claim(claims::Command::Open(command)))
}

pub(crate) fn ask_revision(command: ReviseClaim) -> Command {
    in_room(room::Command::Claim(claims::Command::Revise(command)))
}

pub(crate) fn ask_handshake(command: ShakeHands) -> Command {
    in_room(room::Command::Claim(claims::Command::ShakeHands(command)))
}

pub(crate) fn ask_extraction(event: ContextExtracted) -> Command {
    in_room(room::Command::Claim(claims::Command::ExtractContext(event)))
}

pub(crate) fn ask_note(command: RecordDiscrepancy) -> Command {
    let command = claims::Command::RecordDiscrepancy(command);
    in_room(room::Command::Claim(command))
}

/// What a model made of a message: nothing.
pub(crate) fn reading(message: u64) -> ContextExtracted {
    ContextExtracted {
        adapter: ModelName::parse("rules").unwrap(),
        answer: Some("{}".to_owned()),
        failed: None,
        message,
        model: ModelName::parse("some-model").unwrap(),
        outcome: Outcome::Read,
        prompt_hash: "0".repeat(64),
        proposals: Vec::new(),
    }
}

/// A message that no model could make anything of.
pub(crate) fn skipped(message: u64) -> ContextExtracted {
    ContextExtracted {
        answer: None,
        failed: Some(because()),
        outcome: Outcome::Skipped,
        ..reading(message)
    }
}

/// A message for which no model was there.
pub(crate) fn unavailable(message: u64) -> ContextExtracted {
    ContextExtracted {
        outcome: Outcome::Unavailable,
        ..skipped(message)
    }
}

pub(crate) fn note() -> RecordDiscrepancy {
    RecordDiscrepancy {
        claim: None,
        description: DiscrepancyText::parse("bob says $9, $8 was agreed").unwrap(),
        severity: Severity::High,
        source_msg_id: None,
    }
}

/// `claim(agent)`, asked.
pub(crate) fn propose(agent: &str) -> Command {
    ask_claim(claim(agent))
}

pub(crate) fn update(agent: &str, text: &str) -> Command {
    ask_revision(revision(agent, RevisionKind::Update, text))
}

pub(crate) fn confirm(agent: &str, text: &str) -> Command {
    ask_revision(revision(agent, RevisionKind::Confirm, text))
}

pub(crate) fn contradict(agent: &str) -> Command {
    ask_revision(revision(agent, RevisionKind::Contradict, "no"))
}

pub(crate) fn retract(agent: &str) -> Command {
    ask_revision(revision(agent, RevisionKind::Retract, "$8"))
}

pub(crate) fn shake(agent: &str, context_hash: &str) -> ShakeHands {
    ShakeHands {
        agent: name(agent),
        context_hash: context_hash.to_owned(),
        signature: None,
    }
}

/// The context of a room where `propose` was asked and the thread has come to this.
pub(crate) fn context_of(text: &str, status: &str) -> String {
    claims::context_hash([claims::ContextThread {
        current_value: text,
        id: claim_id(),
        status,
        subject: "Price per unit",
        subject_key: "price-per-unit",
    }])
}

/// This seed's signature over an act in room 1.
pub(crate) fn sign_act(
    act: &LedgerAct<'_>,
    number: u8,
    surface: &str,
    position: Option<u64>,
) -> LedgerSignature {
    let bytes = act.signed_bytes(surface, room_id(1), position).unwrap();
    let sig = hex::encode(seed(number).sign(&bytes).to_bytes());
    LedgerSignature::from_client(surface, position, &pubkey(number), &sig)
}

pub(crate) fn signed_claim(mut claim: OpenClaim, number: u8) -> OpenClaim {
    let act = LedgerAct::Opening {
        agent: claim.agent.as_str(),
        subject: claim.subject.as_str(),
        value: claim.value.as_str(),
    };
    claim.signature = Some(sign_act(&act, number, V2, None));
    claim
}

pub(crate) fn signed_revision(
    mut revision: ReviseClaim,
    number: u8,
    surface: &str,
    position: Option<u64>,
) -> ReviseClaim {
    let act = LedgerAct::Revision {
        claim: revision.claim,
        agent: revision.agent.as_str(),
        kind: revision.kind.name(),
        value: revision.value.as_str(),
    };
    revision.signature = Some(sign_act(&act, number, surface, position));
    revision
}

/// A confirmation of `$8` signed by this seed over the seed's surface.
pub(crate) fn confirm_signed(agent: &str, number: u8) -> Command {
    let revision = revision(agent, RevisionKind::Confirm, "$8");
    ask_revision(signed_revision(revision, number, V1, None))
}

pub(crate) fn signed_shake(
    mut shake: ShakeHands,
    number: u8,
    surface: &str,
    position: Option<u64>,
) -> ShakeHands {
    let act = LedgerAct::Handshake {
        agent: shake.agent.as_str(),
        context_hash: &shake.context_hash,
    };
    shake.signature = Some(sign_act(&act, number, surface, position));
    shake
}

/// The opening that these steps end with.
pub(crate) fn opening(steps: &[Step]) -> ClaimOpened {
    match events_of(steps).1.pop() {
        Some(Event::Room(room::Event::Claim(claims::Event::Opened(event)))) => event,
        other => panic!("{other:?}"),
    }
}

/// The revision that these steps end with.
pub(crate) fn revised(steps: &[Step]) -> ClaimRevised {
    match events_of(steps).1.pop() {
        Some(Event::Room(room::Event::Claim(claims::Event::Revised(event)))) => event,
        other => panic!("{other:?}"),
    }
}

/// The opening with the seal that fits what it says at noon.
pub(crate) fn seal_opening(mut event: ClaimOpened) -> claims::Event {
    let (id, prev_hash) = (event.entry.id, event.entry.prev_hash.clone());
    let entry = claims::Entry::seal(event.said(NOON), id, &prev_hash, &seed(1));
    event.entry = Box::new(entry);
    claims::Event::Opened(event)
}

/// The revision with the seal that fits what it says at noon.
pub(crate) fn seal_revision(mut event: ClaimRevised) -> claims::Event {
    let (id, prev_hash) = (event.entry.id, event.entry.prev_hash.clone());
    let entry = claims::Entry::seal(event.said(NOON), id, &prev_hash, &seed(1));
    event.entry = Box::new(entry);
    claims::Event::Revised(event)
}

/// A thread opened, revised and shaken hands on: the events in order, as the rules make them.
pub(crate) fn events_of(steps: &[Step]) -> (State, Vec<Event>) {
    let mut state = State::default();
    take(&mut state, &arbiter(open_log()));
    let events = steps
        .iter()
        .filter_map(|step| {
            let made = attempt(&state, step).unwrap();
            take(&mut state, step);
            made
        })
        .collect();
    (state, events)
}
