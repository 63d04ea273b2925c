//! Reading one message.

use std::time::Instant;

use minutebook_domain::Event;
use minutebook_domain::ids::RoomId;
use minutebook_domain::limits::EXTRACTION_ANSWER_BYTES_MAX;
use minutebook_domain::room::{
    self,
    claims::{self, ContextExtracted, Outcome},
};
use minutebook_domain::text::Reason;
use minutebook_projections::ProjectionError;
use minutebook_projections::history::Message as Said;
use minutebook_projections::threads::ThreadRow;

use super::models::{Asked, Why};
use super::{Arbiter, Run, RunError};
use crate::models::prompt::{PRECEDING_MAX, THREADS_MAX};
use crate::models::{Message, Prompt, Task, Thread};

/// Longest reason told, in code points.
const REASON_CHARS_MAX: usize = 500;
const ERASED: &str = "the message is erased";

impl Arbiter {
    /// Reads a message, writes down what came of it and does what it proposes.
    pub(super) async fn read_message(
        &self,
        room: RoomId,
        n: u64,
        run: &mut Run,
    ) -> Result<(), RunError> {
        let call = self.calls.acquire().await;
        // After the wait: what was erased meanwhile is shown to nobody.
        let task = tokio::task::block_in_place(|| self.task(room, n))?;
        let event = match task {
            Some(task) => self.ask(room, Prompt::new(task)).await,
            None => self.unasked(n, ERASED),
        };
        drop(call);
        let event = if self.is_erased(room, n)? {
            self.unasked(n, ERASED)
        } else {
            event
        };
        note(run, &event);
        if event.outcome == Outcome::Unavailable && self.is_known(room, &event)? {
            return Ok(());
        }
        let command = claims::Command::ExtractContext(event);
        let Some(committed) = self.submit(room, command, None).await? else {
            // The room was closed or erased meanwhile: nothing in it is to be read any more.
            run.outage
                .get_or_insert_with(|| "the room takes nothing".to_owned());
            return Ok(());
        };
        for record in committed.events {
            if let Some(event) = record.event.and_then(reading) {
                self.apply(room, record.seq, &event, run).await?;
            }
        }
        Ok(())
    }

    async fn ask(&self, room: RoomId, prompt: Prompt) -> ContextExtracted {
        let n = prompt.task.new_message.id;
        let Some(asked) = self.models.ask(&prompt).await else {
            return self.unasked(n, "no model is configured");
        };
        let is_skipped = match asked.outcome.as_ref().map_err(|failure| failure.why) {
            Ok(_) => {
                self.doubts.read(room);
                false
            }
            // Where nothing could be read yet, the fault may be in what all prompts share.
            Err(Why::Message) if self.doubts.has_read() || is_answer(&asked) => true,
            Err(Why::Message | Why::Doubtful) => self.doubts.failed(room, n, Instant::now()),
            Err(Why::Outage) => false,
        };
        extraction(n, asked, is_skipped)
    }

    /// A message that no model is asked about.
    fn unasked(&self, message: u64, why: &str) -> ContextExtracted {
        ContextExtracted {
            adapter: self.models.none.clone(),
            answer: None,
            failed: reason(why),
            message,
            model: self.models.none.clone(),
            outcome: Outcome::Skipped,
            prompt_hash: Prompt::new(Task::default()).hash(),
            proposals: Vec::new(),
        }
    }

    /// Whether the record says so already.
    fn is_known(&self, room: RoomId, event: &ContextExtracted) -> Result<bool, RunError> {
        let ledger = self.engine.threads(|threads| threads.ledger(room))?;
        let known = ledger
            .last_reading
            .is_some_and(|last| last.message == event.message);
        // A server that counts seconds says something else each time.
        let plain = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
        let failed = event.failed.as_ref().map(|why| plain(why.as_str()));
        Ok(known && ledger.outage.as_deref().map(plain) == failed)
    }

    /// What a model is told about a message; nothing of one that is erased.
    fn task(&self, room: RoomId, n: u64) -> Result<Option<Task>, ProjectionError> {
        let said = self
            .engine
            .history(|history| history.before(room, n.checked_add(1), PRECEDING_MAX + 1))?;
        let mut messages = said.messages;
        let Some(newest) = messages.pop().filter(|newest| newest.n == n) else {
            return Ok(None);
        };
        if newest.row.is_erased {
            return Ok(None);
        }
        let preceding = messages.iter().filter(|said| !said.row.is_erased);
        let threads = self
            .engine
            .threads(|threads| threads.newest_in_context(room, THREADS_MAX))?;
        Ok(Some(Task {
            existing_threads: threads.iter().map(thread).collect(),
            preceding_messages: preceding.map(before).collect(),
            new_message: message(&newest),
        }))
    }

    fn is_erased(&self, room: RoomId, n: u64) -> Result<bool, ProjectionError> {
        let said = self.engine.history(|history| history.message(room, n))?;
        Ok(said.is_none_or(|said| said.row.is_erased))
    }

    /// Asks again for what the newest reading proposed: a crash may have come in between.
    pub(super) async fn finish_newest(&self, room: RoomId, run: &mut Run) -> Result<(), RunError> {
        let ledger = self.engine.threads(|threads| threads.ledger(room))?;
        let Some(reading) = ledger.last_reading else {
            return Ok(());
        };
        let event = self.event(reading.seq)?;
        match event {
            Some(event) if !self.is_erased(room, event.message)? => {
                self.apply(room, reading.seq, &event, run).await
            }
            Some(_) | None => Ok(()),
        }
    }

    fn event(&self, seq: u64) -> Result<Option<ContextExtracted>, RunError> {
        let event = crate::engine::event_at(&**self.engine.reader(), seq)?;
        Ok(event.and_then(reading))
    }
}

/// The reading, if this event is one.
fn reading(event: Event) -> Option<ContextExtracted> {
    match event {
        Event::Room(room::Event::Claim(claims::Event::ContextExtracted(event))) => Some(event),
        Event::Room(_) | Event::Keys(_) | Event::Skills(_) => None,
    }
}

/// Whether the model answered, with nonsense.
fn is_answer(asked: &Asked) -> bool {
    let failed = asked.outcome.as_ref().err();
    failed.is_some_and(|failure| failure.answer.is_some())
}

fn note(run: &mut Run, event: &ContextExtracted) {
    let failed = event.failed.as_ref().map(|why| why.as_str().to_owned());
    match event.outcome {
        Outcome::Read => run.read += 1,
        Outcome::Skipped => run.skipped += 1,
        Outcome::Unavailable => run.outage = failed,
    }
    run.model = Some(format!("{}:{}", event.adapter, event.model));
}

fn extraction(message: u64, asked: Asked, is_skipped: bool) -> ContextExtracted {
    let (outcome, answer, failed, proposals) = match asked.outcome {
        Ok(answer) => (Outcome::Read, Some(answer.text), None, answer.proposals),
        Err(failure) => {
            let outcome = if is_skipped {
                Outcome::Skipped
            } else {
                Outcome::Unavailable
            };
            let answer = failure.answer.map(|(answer, _)| answer);
            (outcome, answer, reason(&failure.text), Vec::new())
        }
    };
    ContextExtracted {
        adapter: asked.adapter,
        answer: answer.map(cut).filter(|_| outcome != Outcome::Unavailable),
        failed,
        message,
        model: asked.model,
        outcome,
        prompt_hash: asked.prompt_hash,
        proposals,
    }
}

/// A reason in the form a record takes; what a server said may hold anything.
fn reason(text: &str) -> Option<Reason> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(REASON_CHARS_MAX)
        .collect();
    Reason::parse(&text)
        .or_else(|_| Reason::parse("it failed and said nothing"))
        .ok()
}

/// As much of an answer as a record keeps.
fn cut(mut text: String) -> String {
    let end = text.floor_char_boundary(EXTRACTION_ANSWER_BYTES_MAX);
    text.truncate(end);
    text
}

fn message(said: &Said) -> Message {
    Message::new(said.n, &said.row.agent, &said.row.text)
}

fn before(said: &Said) -> Message {
    Message::before(said.n, &said.row.agent, &said.row.text)
}

fn thread(row: &ThreadRow) -> Thread {
    let thread = &row.thread;
    Thread {
        thread_id: thread.id(),
        subject: thread.subject().to_owned(),
        subject_key: thread.subject_key().as_str().to_owned(),
        current_value: thread.value().to_owned(),
        status: thread.status().name(),
        opened_by: thread.opener().as_str().to_owned(),
    }
}
