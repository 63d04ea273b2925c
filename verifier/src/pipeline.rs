//! Two stages: lines are prepared on many threads, then consumed in order on this one.
//!
//! Invariants
//! * The consumer sees the batches in the order of the input, whatever the threads do.
//! * At most a fixed number of batches is in flight, so memory does not grow with the input, and
//!   because only the calling thread starts work, unbounded channels cannot grow either.
//! * Batches travel back to the workers with their items, so what was allocated there is freed
//!   there and the consuming thread, which cannot be made parallel, does not pay for it.

use std::{
    io::{self, Read},
    ops::ControlFlow,
    sync::mpsc,
    thread,
};

use minutebook_eventlog::format::bundle::Line;

use crate::{
    chunks::{Blocks, Shape},
    lines::Unwritten,
    options::Lines,
    prepare::{Item, Preparer},
};

/// Batches in flight per worker: one being prepared, one waiting.
const IN_FLIGHT_PER_WORKER: usize = 2;

/// Some lines, as text or as what they hold, and what was made of them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    block: Vec<u8>,
    shape: Shape,
    lines: Vec<Line<'static>>,
    /// One item per line.
    pub(crate) items: Vec<Item>,
    /// Bytes of input read when this block was, for progress.
    pub(crate) bytes_read: u64,
}

impl Batch {
    fn prepare(&mut self, preparer: &mut Preparer) {
        self.items.clear();
        preparer.block(&self.block, self.shape, &mut self.items);
        let lines = self.lines.drain(..);
        self.items
            .extend(lines.map(|line| preparer.unwritten(line)));
    }
}

/// Where batches come from.
pub(crate) trait Source {
    /// Fills a batch with what comes next; says whether anything did.
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool>;
}

impl<R: Read> Source for Blocks<R> {
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        let shape = self.next(&mut batch.block)?;
        batch.bytes_read = self.bytes_read();
        batch.shape = shape.unwrap_or_default();
        Ok(shape.is_some())
    }
}

impl<L: Lines> Source for Unwritten<L> {
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        let lines = self.next()?;
        batch.bytes_read = self.bytes_read();
        let is_some = lines.is_some();
        batch.lines = lines.unwrap_or_default();
        Ok(is_some)
    }
}

/// Runs both stages over the whole input, or until the consumer breaks off. `threads` of 1 stays
/// on the calling thread.
pub(crate) fn run(
    mut source: impl Source,
    threads: usize,
    preparer: &Preparer,
    mut consume: impl FnMut(&Batch) -> ControlFlow<()>,
) -> io::Result<()> {
    if threads <= 1 {
        let (mut preparer, mut batch) = (preparer.clone(), Batch::default());
        while source.fill(&mut batch)? {
            batch.prepare(&mut preparer);
            if consume(&batch).is_break() {
                break;
            }
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let (to_worker, work) = mpsc::channel::<Batch>();
                let (done, from_worker) = mpsc::channel::<Batch>();
                let mut preparer = preparer.clone();
                scope.spawn(move || {
                    for mut batch in work {
                        batch.prepare(&mut preparer);
                        if done.send(batch).is_err() {
                            break;
                        }
                    }
                });
                (to_worker, from_worker)
            })
            .collect();
        deal(&mut source, &workers, &mut consume)
    })
}

type Worker = (mpsc::Sender<Batch>, mpsc::Receiver<Batch>);

/// Deals batches to the workers in turn and takes results back in the same turn.
fn deal(
    source: &mut impl Source,
    workers: &[Worker],
    consume: &mut impl FnMut(&Batch) -> ControlFlow<()>,
) -> io::Result<()> {
    let stopped = || io::Error::other("a worker thread stopped");
    let mut spare = Vec::new();
    let (mut inward, mut outward) = (workers.iter().cycle(), workers.iter().cycle());
    let (mut in_flight, mut ended) = (0, false);
    loop {
        while !ended && in_flight < workers.len() * IN_FLIGHT_PER_WORKER {
            let mut batch: Batch = spare.pop().unwrap_or_default();
            if source.fill(&mut batch)? {
                let (to_worker, _) = inward.next().ok_or_else(stopped)?;
                to_worker.send(batch).map_err(|_| stopped())?;
                in_flight += 1;
            } else {
                ended = true;
            }
        }
        if in_flight == 0 {
            return Ok(());
        }
        let (_, from_worker) = outward.next().ok_or_else(stopped)?;
        let batch = from_worker.recv().map_err(|_| stopped())?;
        in_flight -= 1;
        if consume(&batch).is_break() {
            return Ok(());
        }
        spare.push(batch);
    }
}
