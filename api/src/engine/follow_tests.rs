//! Followers: nobody pays for what is not followed, and nobody sleeps through what is.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use minutebook_domain::actor::Actor;
use minutebook_domain::text::{AgentName, Description, MessageText};
use minutebook_domain::time::Timestamp;
use minutebook_domain::{Command, room};
use minutebook_eventlog::store::memory::{MemoryStore, MemoryWriter};
use uuid::Uuid;

use super::*;
use crate::engine::{Committer, Entropy, Parts, Submission, SystemClock};

const LOUD: RoomId = RoomId::new(Uuid::from_u128(1));
const QUIET: RoomId = RoomId::new(Uuid::from_u128(2));

fn log() -> (Committer<MemoryWriter>, Feed) {
    let (writer, reader) = MemoryStore::new().open().unwrap();
    let feed = Feed::new(Arc::clone(&reader) as Arc<dyn LogReader>);
    let mut committer = Committer::recover(Parts {
        writer,
        reader,
        seed: [1; 32],
        origin: None,
        entropy: Entropy::from_seed([1; 32]),
    })
    .unwrap();
    committer.found(&SystemClock).unwrap();
    let open = |id| (id, room::Command::Open(opening()));
    commit(&mut committer, vec![open(LOUD), open(QUIET)], &feed);
    (committer, feed)
}

fn opening() -> room::Opened {
    room::Opened {
        confirmations_needed: None,
        description: Description::parse("followed").unwrap(),
        dialect: room::Dialect::Rooms,
        is_public: false,
        message_limit: None,
        name: None,
        protocol_mode: room::ProtocolMode::Standard,
    }
}

fn message(id: RoomId, n: usize) -> (RoomId, room::Command) {
    let post = room::PostMessage {
        agent: AgentName::parse("alice").unwrap(),
        kind: room::MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(&format!("message {n}")).unwrap(),
    };
    (id, room::Command::PostMessage(post))
}

fn commit(
    committer: &mut Committer<MemoryWriter>,
    commands: Vec<(RoomId, room::Command)>,
    feed: &Feed,
) -> News {
    let batch = commands.into_iter().map(|(id, command)| Submission {
        command: Command::Room(id, command).check().unwrap(),
        actor: Actor::Agent(AgentName::parse("alice").unwrap()),
        idempotency: None,
        cause: None,
    });
    let now = Timestamp::from_micros(1_800_000_000_000_000);
    let written = committer.commit(batch.collect(), now, feed).unwrap();
    assert!(written.outcomes.iter().all(Result::is_ok));
    written.news
}

#[test]
fn of_what_nobody_follows_no_copy_is_made() {
    let (mut committer, feed) = log();
    let kept = |news: &News| {
        news.iter()
            .map(|(_, one)| one.is_some())
            .collect::<Vec<_>>()
    };
    let both = || vec![message(LOUD, 1), message(QUIET, 1)];
    assert_eq!(kept(&commit(&mut committer, both(), &feed)), [false, false]);
    let room = feed.follow(Scope::Room(LOUD), 0).unwrap();
    assert_eq!(kept(&commit(&mut committer, both(), &feed)), [true, false]);
    let all = feed.follow(Scope::All, 0).unwrap();
    assert_eq!(kept(&commit(&mut committer, both(), &feed)), [true, true]);
    drop((room, all));
    assert_eq!(kept(&commit(&mut committer, both(), &feed)), [false, false]);
}

#[test]
fn who_enters_while_records_are_written_is_woken_and_finds_them_in_the_log() {
    let (mut committer, feed) = log();
    let mut loud = feed.follow(Scope::Room(LOUD), 3).unwrap();
    assert!(loud.poll().unwrap().is_empty());
    let news = commit(
        &mut committer,
        vec![message(LOUD, 1), message(QUIET, 1)],
        &feed,
    );
    // Too late for the second record to be kept.
    let mut all = feed.follow(Scope::All, 3).unwrap();
    feed.publish(&news);
    assert!(all.signal.has_changed().unwrap());
    let seen: Vec<u64> = all.poll().unwrap().iter().map(|one| one.seq).collect();
    assert_eq!(seen, [4, 5]);
    assert_eq!(loud.poll().unwrap().len(), 1);
}

#[tokio::test]
async fn a_page_that_is_read_for_somebody_who_gave_up_is_not_lost() {
    let (mut committer, feed) = log();
    let messages = (0..600).map(|n| message(LOUD, n)).collect();
    commit(&mut committer, messages, &feed);
    let mut follower = feed.follow(Scope::Room(LOUD), 0).unwrap();
    {
        let mut given_up = pin!(follower.next());
        let mut context = Context::from_waker(Waker::noop());
        let polled = given_up.as_mut().poll(&mut context);
        assert!(matches!(polled, Poll::Pending), "it was not read aside");
    }
    let mut seen = Vec::new();
    while seen.len() < 601 {
        let page = follower.next().await.unwrap().unwrap();
        assert!(page.len() <= PAGE_MAX);
        seen.extend(page.iter().map(|one| one.sseq));
    }
    assert!(seen.into_iter().eq(1..=601));
}
