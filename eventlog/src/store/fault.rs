//! A writer that fails on demand: every durable step exists as *failed and not persisted* and as
//! *failed but persisted*, since after a failed sync nobody knows which of the two it was.

use std::sync::Arc;

use super::{Commit, Head, LogWriter, Maintenance, StoreError};

/// A durable step of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `append`, with the seq the log would have after it.
    Commit(u64),
    /// `record_head`, with the head's seq.
    HeadFile(u64),
}

/// What happens to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing out of the ordinary.
    None,
    /// It fails and leaves nothing behind.
    FailNotPersisted,
    /// It fails although everything is on the disk.
    FailButPersisted,
}

/// Decides about each step, in order.
pub type Script = Box<dyn FnMut(Step) -> Fault + Send>;

/// A writer under a script. After its first failure it fails for ever, as the real one does.
pub struct FaultWriter<W> {
    inner: W,
    script: Script,
    failed: bool,
}

impl<W: LogWriter> FaultWriter<W> {
    /// Puts a writer under a script.
    pub fn new(inner: W, script: impl FnMut(Step) -> Fault + Send + 'static) -> Self {
        Self {
            inner,
            script: Box::new(script),
            failed: false,
        }
    }

    /// Whether a fault was met.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    fn step(
        &mut self,
        step: Step,
        act: impl FnOnce(&mut W) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.check()?;
        match (self.script)(step) {
            Fault::None => act(&mut self.inner),
            Fault::FailNotPersisted => Err(self.fail(step)),
            Fault::FailButPersisted => {
                act(&mut self.inner)?;
                Err(self.fail(step))
            }
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Io("the store failed before".to_owned()));
        }
        Ok(())
    }

    fn fail(&mut self, step: Step) -> StoreError {
        self.failed = true;
        StoreError::Io(format!("{step:?} failed as the script wanted"))
    }
}

impl<W: LogWriter> LogWriter for FaultWriter<W> {
    fn append(&mut self, commit: Commit) -> Result<(), StoreError> {
        let seq = commit.expected_seq + commit.records.len() as u64;
        self.step(Step::Commit(seq), |inner| inner.append(commit))
    }

    fn record_head(&mut self, head: &Head) -> Result<(), StoreError> {
        self.step(Step::HeadFile(head.seq), |inner| inner.record_head(head))
    }

    fn maintenance(&self) -> Arc<dyn Maintenance> {
        self.inner.maintenance()
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        self.check()?;
        self.inner.stop()
    }
}
