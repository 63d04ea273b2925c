//! What a flood of long texts may take, and that nobody is forgotten because of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};

use minutebook_domain::actor::Actor;
use minutebook_domain::ids::RoomId;
use minutebook_domain::text::{AgentName, Description, MessageText};
use minutebook_domain::{Command, room};
use minutebook_eventlog::store::fault::{Fault, FaultWriter};
use minutebook_eventlog::store::memory::MemoryStore;

use super::handle::QUEUE_BYTES_MAX;
use super::{
    Committed, Committer, Entropy, Handle, Parts, Submission, SubmitError, SystemClock, launch,
};

const ROOM: RoomId = RoomId::new(uuid::Uuid::from_u128(7));
const TEXT_BYTES: usize = 60_000;

type Submitting<'a> = Pin<Box<dyn Future<Output = Result<Committed, SubmitError>> + 'a>>;

/// An engine whose store waits for the sender to be dropped, once `closed` is set.
fn engine(closed: &Arc<AtomicBool>) -> (Handle, mpsc::Sender<()>) {
    let (release, gate) = mpsc::channel::<()>();
    let closed = Arc::clone(closed);
    let (writer, reader) = MemoryStore::new().open().unwrap();
    let writer = FaultWriter::new(writer, move |_| {
        if closed.load(SeqCst) {
            assert!(gate.recv().is_err(), "nothing is ever sent");
        }
        Fault::None
    });
    let mut committer = Committer::recover(Parts {
        writer,
        reader,
        seed: [1; 32],
        origin: None,
        entropy: Entropy::from_seed([1; 32]),
    })
    .unwrap();
    committer.found(&SystemClock).unwrap();
    let (handle, _running) = launch(committer, Box::new(SystemClock)).unwrap();
    (handle, release)
}

fn submission(command: room::Command) -> Submission {
    Submission {
        command: Command::Room(ROOM, command).check().unwrap(),
        actor: Actor::Agent(AgentName::parse("alice").unwrap()),
        idempotency: None,
        cause: None,
    }
}

fn opening() -> Submission {
    submission(room::Command::Open(room::Opened {
        confirmations_needed: None,
        description: Description::parse("a flood").unwrap(),
        dialect: room::Dialect::Rooms,
        is_public: false,
        message_limit: None,
        name: None,
        protocol_mode: room::ProtocolMode::Standard,
    }))
}

fn long() -> Submission {
    submission(room::Command::PostMessage(room::PostMessage {
        agent: AgentName::parse("alice").unwrap(),
        kind: room::MessageKind::Chat,
        memory_root: None,
        signature: None,
        text: MessageText::parse(&"x".repeat(TEXT_BYTES)).unwrap(),
    }))
}

/// Submits until the server is busy; who is waiting then.
fn flood(handle: &Handle) -> Vec<Submitting<'_>> {
    let mut waiting: Vec<Submitting<'_>> = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let mut one: Submitting<'_> = Box::pin(handle.submit(long()));
        match one.as_mut().poll(&mut context) {
            Poll::Pending => waiting.push(one),
            Poll::Ready(Err(SubmitError::Busy)) => return waiting,
            Poll::Ready(other) => panic!("{other:?}"),
        }
        assert!(waiting.len() * TEXT_BYTES <= QUEUE_BYTES_MAX, "no bound");
    }
}

#[tokio::test]
async fn a_flood_of_long_texts_is_turned_away_before_it_fills_the_memory() {
    let closed = Arc::new(AtomicBool::new(false));
    let (handle, release) = engine(&closed);
    handle.submit(opening()).await.unwrap();
    closed.store(true, SeqCst);

    let waiting = flood(&handle);
    assert!(waiting.len() > 100, "a hundred long texts are not a flood");
    assert!(handle.stats().busy.load(SeqCst) > 0);

    drop(release);
    for one in waiting {
        one.await.unwrap();
    }
    // What was taken is given back.
    handle.submit(long()).await.unwrap();
    assert!(flood(&handle).len() > 100);
}

#[tokio::test]
async fn a_batch_of_long_texts_is_cut_by_its_bytes() {
    let closed = Arc::new(AtomicBool::new(false));
    let (handle, release) = engine(&closed);
    handle.submit(opening()).await.unwrap();
    closed.store(true, SeqCst);
    let waiting = flood(&handle);
    drop(release);
    for one in waiting {
        one.await.unwrap();
    }
    let sizes = handle.stats().commit_commands.snapshot();
    let up_to_64 = sizes.buckets.iter().find(|(bound, _)| *bound >= 64.0);
    assert_eq!(up_to_64.unwrap().1, sizes.count, "{sizes:?}");
}
