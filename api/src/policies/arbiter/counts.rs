//! What the arbiter counts, for `/metrics`. Nothing in it names a room or an agent.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::models::Why;
use crate::engine::{Histogram, HistogramSnapshot};

/// Upper bounds of the histogram of calls: models take their time.
const SECONDS: [f64; 12] = [
    0.001, 0.01, 0.05, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 150.0,
];

/// The counters.
#[derive(Debug)]
pub struct Counts {
    answered: AtomicU64,
    nonsense: AtomicU64,
    refused: AtomicU64,
    doubtful: AtomicU64,
    unavailable: AtomicU64,
    seconds: Histogram<12>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            answered: AtomicU64::new(0),
            nonsense: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            doubtful: AtomicU64::new(0),
            unavailable: AtomicU64::new(0),
            seconds: Histogram::new(SECONDS),
        }
    }
}

impl Counts {
    /// Counts a call that was answered usefully, or why it was not and whether it said anything.
    pub(super) fn called(&self, failed: Option<(Why, bool)>, took: Duration) {
        let counter = match failed {
            None => &self.answered,
            Some((Why::Message, true)) => &self.nonsense,
            Some((Why::Message, false)) => &self.refused,
            Some((Why::Doubtful, _)) => &self.doubtful,
            Some((Why::Outage, _)) => &self.unavailable,
        };
        counter.fetch_add(1, Relaxed);
        self.seconds.observe(took);
    }

    /// Calls of models, by how they ended.
    pub fn calls(&self) -> [(&'static str, u64); 5] {
        [
            ("answered", &self.answered),
            ("nonsense", &self.nonsense),
            ("refused", &self.refused),
            ("doubtful", &self.doubtful),
            ("unavailable", &self.unavailable),
        ]
        .map(|(name, counter)| (name, counter.load(Relaxed)))
    }

    /// How long they took.
    pub fn seconds(&self) -> HistogramSnapshot {
        self.seconds.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_counted_once_by_how_it_ended() {
        let counts = Counts::default();
        let took = Duration::from_secs(2);
        counts.called(None, took);
        counts.called(None, took);
        counts.called(Some((Why::Message, true)), took);
        counts.called(Some((Why::Message, false)), took);
        counts.called(Some((Why::Doubtful, false)), took);
        counts.called(Some((Why::Outage, false)), took);
        assert_eq!(counts.calls().map(|(_, count)| count), [2, 1, 1, 1, 1]);
        let seconds = counts.seconds();
        assert_eq!((seconds.count, seconds.sum), (6, 12.0));
    }
}
