//! The embedded model: a few patterns of English, no network, always the same answer.
//!
//! It is no language model and says so in the record (`rules`). It finds what is written plainly
//! (`Price: $8`, `We can deliver by Friday`) and leaves the rest alone: a missed matter can be
//! opened by hand, an invented one misleads. Other languages are left to a real model.

mod matters;
mod values;
mod words;

use serde_json::{Value, json};

use self::matters::{Matter, matters};
use super::prompt::{Prompt, Task, Thread};
use super::{Completing, LanguageModel};

/// Its name in the record; raise it when the patterns change.
const MODEL: &str = "minutebook-rules-2";

/// The embedded model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl LanguageModel for Rules {
    fn adapter(&self) -> &'static str {
        "rules"
    }

    fn model(&self) -> &str {
        MODEL
    }

    fn is_remote(&self) -> bool {
        false
    }

    fn complete<'a>(&'a self, prompt: &'a Prompt) -> Completing<'a> {
        Box::pin(async { Ok(read(&prompt.task).to_string()) })
    }
}

fn read(task: &Task) -> Value {
    let (mut claims, mut updates, mut discrepancies) = (Vec::new(), Vec::new(), Vec::new());
    for matter in matters(&task.new_message.text) {
        match thread_about(task, &matter.subject) {
            None => claims.push(json!({
                "subject": matter.subject,
                "value": matter.value,
                "quote": matter.quote,
            })),
            Some(thread) if values::are_same(&thread.current_value, &matter.value) => {
                // In the thread's own words, since only those are confirmed.
                let value = thread.current_value.clone();
                updates.push(update(thread, "confirm", &Matter { value, ..matter }));
            }
            Some(thread) => {
                if thread.status == "agreed" {
                    discrepancies.push(discrepancy(task, thread, &matter));
                }
                let is_own = thread.opened_by == "arbiter" && thread.status == "proposed";
                let kind = if is_own || thread.opened_by == task.new_message.agent_id {
                    "update"
                } else {
                    "contradict"
                };
                updates.push(update(thread, kind, &matter));
            }
        }
    }
    json!({"new_claims": claims, "updates": updates, "discrepancies": discrepancies})
}

fn update(thread: &Thread, kind: &str, matter: &Matter<'_>) -> Value {
    json!({
        "thread_id": thread.thread_id.to_string(),
        "kind": kind,
        "value": matter.value,
        "quote": matter.quote,
    })
}

fn discrepancy(task: &Task, thread: &Thread, matter: &Matter<'_>) -> Value {
    let (agent, subject) = (&task.new_message.agent_id, &thread.subject);
    let (agreed, said) = (&thread.current_value, &matter.value);
    json!({
        "description": format!("{agent} says \"{said}\" of \"{subject}\"; agreed is \"{agreed}\""),
        "severity": "high",
        "related_thread_id": thread.thread_id.to_string(),
    })
}

fn thread_about<'a>(task: &'a Task, subject: &str) -> Option<&'a Thread> {
    let mut threads = task.existing_threads.iter().rev();
    threads.find(|thread| thread.subject.eq_ignore_ascii_case(subject))
}

#[cfg(test)]
mod tests;
