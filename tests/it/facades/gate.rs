//! A reader of the log that holds long reads up while its gate is shut.

use std::sync::Arc;
use std::time::Duration;

use minutebook_eventlog::store::{
    CommandRow, Head, LogReader, Page, Row, Space, StoreError, stats::StoreStats,
};
use parking_lot::{Condvar, Mutex};

/// Longest wait for anything; a hang is a failure, not a pause.
const WAIT: Duration = Duration::from_secs(10);

/// Open unless shut.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Reads still to be held up.
    shut_for: usize,
    open: bool,
    inside: usize,
    most: usize,
}

impl Gate {
    /// So many reads stop at the gate from now on; those after them pass.
    pub(super) fn shut_for(&self, reads: usize) {
        *self.state.lock() = State {
            shut_for: reads,
            ..State::default()
        };
    }

    /// Lets everybody on.
    pub(super) fn open(&self) {
        let mut state = self.state.lock();
        (state.shut_for, state.open) = (0, true);
        self.changed.notify_all();
    }

    /// Waits until so many reads stand at the gate; how many did at most.
    pub(super) fn wait_for(&self, reads: usize) -> usize {
        let mut state = self.state.lock();
        self.changed
            .wait_while_for(&mut state, |state| state.most < reads, WAIT);
        state.most
    }

    fn pass(&self) {
        let mut state = self.state.lock();
        if state.shut_for == 0 {
            return;
        }
        state.shut_for -= 1;
        state.inside += 1;
        state.most = state.most.max(state.inside);
        self.changed.notify_all();
        self.changed
            .wait_while_for(&mut state, |state| !state.open, WAIT);
        state.inside -= 1;
    }
}

/// The reader. Point reads pass freely.
pub(super) struct GateReader {
    pub(super) inner: Arc<dyn LogReader>,
    pub(super) gate: Arc<Gate>,
}

impl LogReader for GateReader {
    fn head(&self) -> Result<Head, StoreError> {
        self.inner.head()
    }

    fn read(&self, seq: u64, limit: usize) -> Result<Page, StoreError> {
        if limit > 1 {
            self.gate.pass();
        }
        self.inner.read(seq, limit)
    }

    fn read_stream(&self, stream: &str, sseq: u64, limit: usize) -> Result<Page, StoreError> {
        self.gate.pass();
        self.inner.read_stream(stream, sseq, limit)
    }

    fn checkpoint_at_or_after(&self, size: u64) -> Result<Option<(u64, String)>, StoreError> {
        self.inner.checkpoint_at_or_after(size)
    }

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.gate.pass();
        self.inner.tile(level, index)
    }

    fn command(&self, key: &[u8; 16]) -> Result<Option<CommandRow>, StoreError> {
        self.inner.command(key)
    }

    fn space(&self, name: &str) -> Result<Space, StoreError> {
        self.inner.space(name)
    }

    fn spaces(&self) -> Result<Vec<String>, StoreError> {
        self.inner.spaces()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.get(space, key)
    }

    fn range(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        self.gate.pass();
        self.inner.range(space, from, to, reverse, limit)
    }

    fn pinned(&self) -> Arc<dyn LogReader> {
        Arc::new(Self {
            inner: self.inner.pinned(),
            gate: Arc::clone(&self.gate),
        })
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }
}
