//! The writer's thread: take what queued up while the last commit was syncing, commit it, answer,
//! publish. Batches form by themselves; there is no timer and no fsync per command.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::time::Instant;

use minutebook_eventlog::store::LogWriter;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::clock::Clock;
use super::commit::{BATCH_MAX, Committer, Fatal, Outcome, Written};
use super::handle::{Answer, Health, Inner, Message, Ticket};
use super::types::SubmitError;

/// A batch takes no more commands once it weighs so much ([`super::Submission::weight`]).
const BATCH_BYTES_MAX: usize = 8 << 20;

/// Runs until asked to stop, or until the store fails.
pub(super) fn run<W: LogWriter>(
    mut committer: Committer<W>,
    mut queue: mpsc::Receiver<Message>,
    clock: &dyn Clock,
    inner: &Inner,
    erasures: &Sender<()>,
) -> Result<(), Fatal> {
    // A panic below must not leave a server that answers "ready" and takes nothing.
    let served = catch_unwind(AssertUnwindSafe(|| {
        serve(&mut committer, &mut queue, clock, inner, erasures)
    }));
    let result = served.unwrap_or(Err(Fatal::Panicked));
    // Whoever is still waiting learns it from the dropped answer channel.
    queue.close();
    inner.feed.close();
    if let Err(fatal) = &result {
        inner.health.send_replace(Health::Failed(fatal.to_string()));
        return result;
    }
    committer.close()
}

fn serve<W: LogWriter>(
    committer: &mut Committer<W>,
    queue: &mut mpsc::Receiver<Message>,
    clock: &dyn Clock,
    inner: &Inner,
    erasures: &Sender<()>,
) -> Result<(), Fatal> {
    let mut tickets = Vec::with_capacity(BATCH_MAX);
    let mut stopping = false;
    while !stopping {
        let Some(first) = queue.blocking_recv() else {
            break;
        };
        stopping = take(first, queue, &mut tickets);
        if stopping {
            // What was accepted before the stop is still committed.
            queue.close();
            while let Some(Message::Command(ticket)) = queue.blocking_recv() {
                tickets.push(ticket);
            }
        }
        while !tickets.is_empty() {
            let rest = tickets.split_off(batch_length(&tickets));
            round(
                committer,
                std::mem::replace(&mut tickets, rest),
                clock,
                inner,
                erasures,
            )?;
        }
    }
    Ok(())
}

/// How many of these make the next batch.
fn batch_length(tickets: &[Ticket]) -> usize {
    let mut bytes = 0;
    let has_room = |ticket: &&Ticket| {
        let has_room = bytes < BATCH_BYTES_MAX;
        bytes += ticket.budget.num_permits();
        has_room
    };
    tickets.iter().take(BATCH_MAX).take_while(has_room).count()
}

/// Fills a batch with what is there already. True when a stop was among it.
fn take(first: Message, queue: &mut mpsc::Receiver<Message>, tickets: &mut Vec<Ticket>) -> bool {
    let mut bytes = 0;
    let mut next = Some(first);
    while let Some(message) = next {
        match message {
            Message::Command(ticket) => {
                bytes += ticket.budget.num_permits();
                tickets.push(ticket);
            }
            Message::Stop => return true,
        }
        next = if tickets.len() < BATCH_MAX && bytes < BATCH_BYTES_MAX {
            queue.try_recv().ok()
        } else {
            None
        };
    }
    false
}

/// Who waits for an answer, and what his command takes until then.
struct Waiting {
    answer: Answer,
    _budget: OwnedSemaphorePermit,
}

/// One commit: measure, commit, publish, answer.
fn round<W: LogWriter>(
    committer: &mut Committer<W>,
    tickets: Vec<Ticket>,
    clock: &dyn Clock,
    inner: &Inner,
    erasures: &Sender<()>,
) -> Result<(), Fatal> {
    let started = Instant::now();
    let mut waiting = Vec::with_capacity(tickets.len());
    let mut batch = Vec::with_capacity(tickets.len());
    for ticket in tickets {
        inner
            .stats
            .queue_seconds
            .observe(started.duration_since(ticket.since));
        waiting.push(Waiting {
            answer: ticket.answer,
            _budget: ticket.budget,
        });
        batch.push(ticket.submission);
    }
    inner
        .stats
        .commit_commands
        .observe_micro(batch.len() as u64 * 1_000_000);
    let now = clock.now();
    let written = match committer.commit(batch, now, &inner.feed) {
        Ok(written) => written,
        Err(fatal) => {
            refuse(waiting);
            return Err(fatal);
        }
    };
    inner.stats.commit_seconds.observe(started.elapsed());
    inner.stats.store_seconds.observe(committer.last_store);
    let micros = u64::try_from(now.as_micros()).unwrap_or(0);
    inner.stats.last_commit_micros.store(micros, Relaxed);
    if written.keys_changed {
        *inner.keys.write() = Arc::new(committer.state.keys().clone());
    }
    if written.erased {
        // Without a janitor, as at the very end, the next start does it.
        let _ = erasures.send(());
    }
    finish(written, waiting, inner);
    Ok(())
}

/// Publishes and answers. Publishing comes first: who is told that a text is erased must not find
/// it in a ring afterwards.
fn finish(written: Written, waiting: Vec<Waiting>, inner: &Inner) {
    inner.feed.publish(&written.news);
    for (waiting, outcome) in waiting.into_iter().zip(written.outcomes) {
        count(&outcome, inner);
        // A caller that hung up has no use for its answer.
        let _ = waiting.answer.send(outcome);
    }
}

fn count(outcome: &Outcome, inner: &Inner) {
    match outcome {
        Ok(committed) if committed.replayed => inner.stats.replayed.fetch_add(1, Relaxed),
        Err(SubmitError::Rejected(_)) => inner.stats.rejected.fetch_add(1, Relaxed),
        Ok(_) | Err(_) => 0,
    };
}

fn refuse(waiting: Vec<Waiting>) {
    for one in waiting {
        let _ = one.answer.send(Err(SubmitError::Stopped));
    }
}
