//! What the caller may set.

use std::{io, sync::Arc};

use minutebook_domain::Fact;
use minutebook_eventlog::format::bundle::Line;

use crate::{
    Judged,
    evidence::{Anchor, OutsideReceipt},
    report::Tool,
    saved::Saved,
};

/// How far a verification has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes of the bundle read.
    pub bytes: u64,
    /// Records checked.
    pub records: u64,
}

/// A bundle's lines, from somebody who need not write them as text first.
pub trait Lines {
    /// Some lines more; none at the end.
    fn next_lines(&mut self) -> io::Result<Option<Vec<Line<'static>>>>;
}

impl<L: Lines> Lines for &mut L {
    fn next_lines(&mut self) -> io::Result<Option<Vec<Line<'static>>>> {
        L::next_lines(self)
    }
}

/// Takes records as the rules see them.
pub type Watch<'a> = dyn FnMut(Option<&Fact<'_>>) + 'a;

/// What to verify against, and how.
pub struct Options<'a> {
    /// Checkpoints saved outside.
    pub anchors: Vec<Anchor>,
    /// Receipts given to clients.
    pub receipts: Vec<OutsideReceipt>,
    /// Where an earlier verification ended.
    pub state: Option<Saved>,
    /// Whether to give the state back for the next time.
    pub keep_state: bool,
    /// Threads for the stateless half; 1 uses the calling thread alone.
    pub threads: usize,
    /// Who checks, for the report.
    pub tool: Tool,
    /// Called now and then.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
    /// What was judged before; nothing: every record is judged anew.
    pub judged: Option<Arc<Judged>>,
    /// Given every record as the rules see it, in the bundle's order, and [`None`] for one of
    /// which that cannot be said.
    pub watch: Option<&'a mut Watch<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            anchors: Vec::new(),
            receipts: Vec::new(),
            state: None,
            keep_state: false,
            threads: 1,
            tool: Tool::default(),
            progress: None,
            judged: None,
            watch: None,
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("anchors", &self.anchors.len())
            .field("receipts", &self.receipts.len())
            .field("state", &self.state.as_ref().map(Saved::size))
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}
