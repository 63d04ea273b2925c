//! A crash between a reading and what it proposes, at every place in between: the next start makes
//! up for what is missing, and nothing is done twice.

use std::path::Path;

use minutebook::engine::{Clock, Idempotency, SystemClock, keyfile};
use minutebook_domain::actor::Actor;
use minutebook_domain::room::claims::{
    Author, Command, ContextExtracted, OpenClaim, Outcome, Proposal,
};
use minutebook_domain::room::{self, ProtocolMode};
use minutebook_domain::text::{ClaimValue, ModelName, Subject};
use minutebook_eventlog::store::fault::Fault;
use minutebook_tests::server::Server;
use serde_json::Value;

use super::arbiter_premium::wait_for;
use crate::crash::{self, ROOM, message_of, submission};
use crate::support::{UNLIMITED, options, patiently};

const MATTERS: [&str; 3] = ["Price", "Delivery", "Warranty"];
/// Where the reading stands in the log: after founding, opening and the message.
const READING: u64 = 4;

fn value() -> ClaimValue {
    ClaimValue::parse("as said").unwrap()
}

fn reading() -> Command {
    let proposal = |subject: &&str| Proposal::Open {
        quote: None,
        subject: Subject::parse(subject).unwrap(),
        subject_key: None,
        value: value(),
    };
    Command::ExtractContext(ContextExtracted {
        adapter: ModelName::parse("openai-chat").unwrap(),
        answer: Some("{}".to_owned()),
        failed: None,
        message: 1,
        model: ModelName::parse("model-1").unwrap(),
        outcome: Outcome::Read,
        prompt_hash: "0".repeat(64),
        proposals: MATTERS.iter().map(proposal).collect(),
    })
}

fn opening(subject: &str) -> Command {
    Command::Open(OpenClaim {
        agent: Author::Arbiter,
        quote: None,
        signature: None,
        source_msg_id: Some(1),
        subject: Subject::parse(subject).unwrap(),
        subject_key: None,
        value: value(),
    })
}

/// A log that ends after the reading and so many of the commands it led to.
fn interrupted(data: &Path, done: usize) {
    keyfile::create(&data.join("arbiter.key"), &[5; 32]).unwrap();
    let mut engine = crash::open(data, |_| Fault::None);
    engine.found(&SystemClock).unwrap();
    let of_arbiter = |key: String, command, cause| {
        let mut submission = submission(&key, room::Command::Claim(command));
        submission.actor = Actor::Arbiter;
        submission.cause = cause;
        submission
    };
    let mut all = vec![
        submission("open", crash::opening_as(ProtocolMode::Premium)),
        submission("say", message_of("Let us talk")),
        of_arbiter("read".to_owned(), reading(), None),
    ];
    let made = MATTERS.iter().take(done).enumerate();
    all.extend(made.map(|(n, subject)| {
        let key = format!("arbiter:{READING}:{n}");
        let mut made = of_arbiter(key.clone(), opening(subject), Some(READING));
        // As the arbiter names what a reading led to.
        let hash = blake3::hash(key.as_bytes());
        let request = hash.as_bytes()[..16].try_into().unwrap();
        let asker = String::new();
        made.idempotency = Some(Idempotency {
            key,
            asker,
            request,
        });
        made
    }));
    for one in all {
        let written = engine.commit(vec![one], SystemClock.now(), false).unwrap();
        assert!(written.outcomes.iter().all(Result::is_ok));
    }
    engine.close().unwrap();
}

/// The openings in the log: subject and cause.
fn openings(server: &Server) -> Vec<(String, u64)> {
    let log = server.json("GET", "/api/log/bundle", None).unwrap();
    let lines = log.text();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let opened = lines.filter_map(|line: Value| {
        let envelope: Value = serde_json::from_str(line["envelope"].as_str()?).ok()?;
        let body: Value = serde_json::from_str(line["body"].as_str()?).ok()?;
        (envelope["type"] == "room.claim_opened").then(|| {
            let subject = body["subject"].as_str().unwrap().to_owned();
            (subject, envelope["cause"].as_u64().unwrap())
        })
    });
    opened.collect()
}

#[test]
fn what_a_reading_proposes_is_done_once_wherever_a_crash_came() {
    for done in 0..=MATTERS.len() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        interrupted(data, done);
        let room = ROOM.to_string();
        for round in 1..=2 {
            let server = patiently(|| Server::start(&options(&UNLIMITED), data)).unwrap();
            wait_for(server.http, &room, "room.claim_opened", MATTERS.len());
            // Once the next message is read, whatever was to be made up for has been.
            server.post(&room, "alice", "Thank you").unwrap();
            wait_for(server.http, &room, "room.context_extracted", 1 + round);
            let opened = openings(&server);
            let wanted = MATTERS.map(|subject| (subject.to_owned(), READING));
            assert_eq!(opened, wanted, "{done} done, start {round}");
            let verdict = server
                .json("POST", &format!("/api/rooms/{room}/verify"), None)
                .unwrap();
            assert_eq!(verdict.json()["verdict"], "CLEAN");
            assert!(server.terminate().unwrap().success());
        }
    }
}
