//! What the arbiter may write down of a message, and every reason why not.

use super::*;
use crate::{Command, EventKind, actor::Actor, room::claims, testing::*};

/// One row per reason to take or refuse a reading.
pub(crate) fn rows() -> Vec<Row> {
    [order_rows(), shape_rows(), actor_rows()]
        .into_iter()
        .flatten()
        .collect()
}

fn read(message: u64) -> Command {
    ask_extraction(reading(message))
}

fn said(messages: usize) -> Vec<Step> {
    let say = |n: usize| owner(say("alice")).fresh(n as u128);
    [owner(open())]
        .into_iter()
        .chain((1..=messages).map(say))
        .collect()
}

fn and(steps: Vec<Step>, more: Vec<Step>) -> Vec<Step> {
    [steps, more].concat()
}

fn order_rows() -> Vec<Row> {
    let early = |expected, found| refused(Rejection::ExtractionOutOfOrder { expected, found });
    let event = claims::Event::ContextExtracted(reading(1));
    rows! {
        "the first message is read first": said(2) => arbiter(read(1)) => makes(event);
        "then the next": and(said(2), vec![arbiter(read(1))]) => arbiter(read(2)) => accepted();
        "none is left out": said(2) => arbiter(read(2)) => early(1, 2);
        "one may be read again":
            and(said(2), vec![arbiter(read(1)), arbiter(read(2))])
            => arbiter(read(1)) => accepted();
        "reading again is no step back":
            and(said(3), vec![arbiter(read(1)), arbiter(read(2)), arbiter(read(1))])
            => arbiter(read(3)) => accepted();
        "a skipped message is done with":
            and(said(2), vec![arbiter(ask_extraction(skipped(1)))])
            => arbiter(read(2)) => accepted();
        "one for which no model was there is not":
            and(said(2), vec![arbiter(ask_extraction(unavailable(1)))])
            => arbiter(read(2)) => early(1, 2);
        "there is no message 0":
            said(1) => arbiter(read(0)) => refused(Rejection::SourceMessageUnknown);
        "nor one that was not said":
            said(1) => arbiter(read(2)) => refused(Rejection::SourceMessageUnknown);
    }
}

fn shape_rows() -> Vec<Row> {
    let malformed = || refused(Rejection::ExtractionMalformed);
    let with = |change: fn(&mut ContextExtracted)| {
        let mut event = reading(1);
        change(&mut event);
        arbiter(ask_extraction(event))
    };
    rows! {
        "a reading has an answer": said(1) => with(|e| e.answer = None) => malformed();
        "and did not fail": said(1) => with(|e| e.failed = Some(because())) => malformed();
        "its answer has a bound":
            said(1)
            => with(|e| e.answer = Some("x".repeat(EXTRACTION_ANSWER_BYTES_MAX + 1)))
            => malformed();
        "its proposals have a bound":
            said(1)
            => with(|e| e.proposals = vec![propose_one(); EXTRACTION_PROPOSALS_MAX + 1])
            => malformed();
        "up to it they are taken":
            said(1)
            => with(|e| e.proposals = vec![propose_one(); EXTRACTION_PROPOSALS_MAX])
            => accepted();
        "the prompt's hash is one":
            said(1) => with(|e| e.prompt_hash = "A".repeat(64)) => malformed();
        "what was skipped says why":
            said(1) => with(|e| e.outcome = Outcome::Skipped) => malformed();
        "what was skipped proposes nothing":
            said(1)
            => with(|e| {
                *e = skipped(1);
                e.proposals.push(propose_one());
            })
            => malformed();
        "a nonsense answer is kept":
            said(1)
            => with(|e| {
                *e = skipped(1);
                e.answer = Some("nonsense".to_owned());
            })
            => accepted();
        "who was not there did not answer":
            said(1)
            => with(|e| {
                *e = unavailable(1);
                e.answer = Some("x".to_owned());
            })
            => malformed();
    }
}

fn propose_one() -> Proposal {
    Proposal::Open {
        quote: None,
        subject: Subject::parse("Price").unwrap(),
        subject_key: None,
        value: value("$8"),
    }
}

fn actor_rows() -> Vec<Row> {
    let not = |actor| refused(Rejection::ActorNotAllowed { actor });
    let gone = |actor| erased(actor, EventKind::ContextExtracted);
    rows! {
        "the owner is not the arbiter": said(1) => owner(read(1)) => not("the owner");
        "nor is a facade": said(1) => service(read(1)) => not("a service");
        "nor an agent": said(1) => agent("alice", read(1)) => not("an agent");
        "no such room": [] => arbiter(read(1)) => refused(Rejection::RoomNotFound);
        "not in a closed room":
            and(said(1), vec![owner(close())])
            => arbiter(read(1)) => refused(Rejection::RoomClosed);
        "a body may be erased": said(1) => gone(Actor::Arbiter) => accepted();
        "whose it was is still seen": said(1) => gone(Actor::Owner) => not("the owner");
        "after which the order is not known":
            and(said(3), vec![gone(Actor::Arbiter)]) => arbiter(read(3)) => accepted();
    }
}

#[test]
fn the_arbiter_reads_in_order() {
    check_all(rows());
}

#[test]
fn the_largest_reading_fits_an_event() {
    use crate::{Event, limits::EVENT_BODY_BYTES_MAX};
    let escaped = |n: usize| "\u{1}".repeat(n);
    let mut event = reading(1);
    event.answer = Some(escaped(EXTRACTION_ANSWER_BYTES_MAX));
    let one = Proposal::Open {
        quote: Some(Quote::parse(&escaped(300)).unwrap()),
        subject: Subject::parse(&format!("x{}", escaped(199))).unwrap(),
        subject_key: Some(SubjectKey::derive(&"k".repeat(60))),
        value: value(&format!("x{}", escaped(499))),
    };
    event.proposals = vec![one; EXTRACTION_PROPOSALS_MAX];
    let event = Event::from(claims::Event::ContextExtracted(event));
    let mut body = Vec::new();
    event.encode_body(&mut body);
    assert!(body.len() <= EVENT_BODY_BYTES_MAX, "{}", body.len());
    assert_eq!(Event::decode(EventKind::ContextExtracted, &body), Ok(event));
}
