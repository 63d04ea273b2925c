//! What the writer counts, for `/metrics`. Lock-free; read at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A histogram with fixed upper bounds, as Prometheus wants it.
#[derive(Debug)]
pub struct Histogram<const N: usize> {
    bounds: [f64; N],
    counts: [AtomicU64; N],
    above: AtomicU64,
    sum_micro: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Debug)]
pub struct HistogramSnapshot {
    /// `(upper bound, observations at or below it)`, cumulative; the last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
    /// Number of observations.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
}

impl<const N: usize> Histogram<N> {
    /// A histogram with these ascending upper bounds.
    pub fn new(bounds: [f64; N]) -> Self {
        Self {
            bounds,
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            above: AtomicU64::new(0),
            sum_micro: AtomicU64::new(0),
        }
    }

    /// Counts one observation, given in millionths.
    pub fn observe_micro(&self, micro: u64) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a bucket bound needs no 53 bits"
        )]
        let value = micro as f64 / 1e6;
        let slot = self
            .bounds
            .iter()
            .zip(&self.counts)
            .find(|(bound, _)| value <= **bound);
        slot.map_or(&self.above, |(_, count)| count)
            .fetch_add(1, Relaxed);
        self.sum_micro.fetch_add(micro, Relaxed);
    }

    /// Counts a duration, in seconds.
    pub fn observe(&self, duration: Duration) {
        self.observe_micro(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    /// The histogram now.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let mut total = 0;
        let mut buckets = Vec::with_capacity(N + 1);
        for (bound, count) in self.bounds.iter().zip(&self.counts) {
            total += count.load(Relaxed);
            buckets.push((*bound, total));
        }
        total += self.above.load(Relaxed);
        buckets.push((f64::INFINITY, total));
        #[expect(clippy::cast_precision_loss, reason = "a metric needs no 53 bits")]
        let sum = self.sum_micro.load(Relaxed) as f64 / 1e6;
        HistogramSnapshot {
            buckets,
            count: total,
            sum,
        }
    }
}

const SECONDS: [f64; 12] = [
    0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/// What the writer counts.
#[derive(Debug)]
pub struct Stats {
    /// Commands per commit.
    pub commit_commands: Histogram<11>,
    /// Seconds from taking a batch to its being durable.
    pub commit_seconds: Histogram<12>,
    /// Seconds the store needed for it, fsync included.
    pub store_seconds: Histogram<12>,
    /// Seconds a command waited in the queue.
    pub queue_seconds: Histogram<12>,
    /// Commands refused by the rules.
    pub rejected: AtomicU64,
    /// Commands answered again from the index.
    pub replayed: AtomicU64,
    /// Commands turned away because the queue was full.
    pub busy: AtomicU64,
    /// Wall-clock microseconds of the newest commit.
    pub last_commit_micros: AtomicU64,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            commit_commands: Histogram::new([
                1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
            ]),
            commit_seconds: Histogram::new(SECONDS),
            store_seconds: Histogram::new(SECONDS),
            queue_seconds: Histogram::new(SECONDS),
            rejected: AtomicU64::new(0),
            replayed: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            last_commit_micros: AtomicU64::new(0),
        }
    }
}
