//! A writer that fails on demand: every durable step exists as *failed and not persisted* and as
//! *failed but persisted*, since after a failed sync nobody knows which of the two it was.
//!
//! What runs beside the writer ([`Maintenance`]) is under the same script and fails with it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Commit, Head, LogWriter, Maintenance, RowOp, Space, StoreError};

/// A durable step of the writer, or beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `append`, with the seq the log would have after it.
    Commit(u64),
    /// `record_head`, with the head's seq.
    HeadFile(u64),
    /// `append_rows`, with how many there are.
    Rows(usize),
    /// `persist`.
    Persist,
    /// `drop_space`.
    DropSpace,
    /// `compact_erased`.
    CompactErased,
    /// `stop`.
    Stop,
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

/// The script, and whether it has made anything fail: then everything fails for ever.
struct Stage {
    script: Mutex<Script>,
    failed: Mutex<bool>,
}

impl Stage {
    fn step(
        &self,
        step: Step,
        act: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if *self.failed.lock() {
            return Err(StoreError::Io("the store failed before".to_owned()));
        }
        let fault = (self.script.lock())(step);
        match fault {
            Fault::None => act(),
            Fault::FailNotPersisted => Err(self.fail(step)),
            Fault::FailButPersisted => {
                act()?;
                Err(self.fail(step))
            }
        }
    }

    fn fail(&self, step: Step) -> StoreError {
        *self.failed.lock() = true;
        StoreError::Io(format!("{step:?} failed as the script wanted"))
    }
}

/// A writer under a script. After its first failure it fails for ever, as the real one does.
pub struct FaultWriter<W> {
    inner: W,
    stage: Arc<Stage>,
}

impl<W: LogWriter> FaultWriter<W> {
    /// Puts a writer under a script.
    pub fn new(inner: W, script: impl FnMut(Step) -> Fault + Send + 'static) -> Self {
        Self {
            inner,
            stage: Arc::new(Stage {
                script: Mutex::new(Box::new(script)),
                failed: Mutex::new(false),
            }),
        }
    }

    /// Whether a fault was met.
    pub fn has_failed(&self) -> bool {
        *self.stage.failed.lock()
    }
}

impl<W: LogWriter> LogWriter for FaultWriter<W> {
    fn append(&mut self, commit: Commit) -> Result<(), StoreError> {
        let seq = commit.expected_seq + commit.records.len() as u64;
        let inner = &mut self.inner;
        self.stage.step(Step::Commit(seq), || inner.append(commit))
    }

    fn record_head(&mut self, head: &Head) -> Result<(), StoreError> {
        let inner = &mut self.inner;
        self.stage
            .step(Step::HeadFile(head.seq), || inner.record_head(head))
    }

    fn maintenance(&self) -> Arc<dyn Maintenance> {
        Arc::new(FaultMaintenance {
            inner: self.inner.maintenance(),
            stage: Arc::clone(&self.stage),
        })
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        let inner = &mut self.inner;
        self.stage.step(Step::Stop, || inner.stop())
    }
}

/// The same beside the writer.
struct FaultMaintenance {
    inner: Arc<dyn Maintenance>,
    stage: Arc<Stage>,
}

impl Maintenance for FaultMaintenance {
    fn append_rows(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        let step = Step::Rows(ops.len());
        self.stage.step(step, || self.inner.append_rows(ops))
    }

    fn fill_space(&self, ops: Vec<RowOp>) -> Result<(), StoreError> {
        let step = Step::Rows(ops.len());
        self.stage.step(step, || self.inner.fill_space(ops))
    }

    fn persist(&self) -> Result<(), StoreError> {
        self.stage.step(Step::Persist, || self.inner.persist())
    }

    fn drop_space(&self, name: &str) -> Result<(), StoreError> {
        self.stage
            .step(Step::DropSpace, || self.inner.drop_space(name))
    }

    fn compact_erased(&self, spaces: &[Space]) -> Result<(), StoreError> {
        let act = || self.inner.compact_erased(spaces);
        self.stage.step(Step::CompactErased, act)
    }
}
