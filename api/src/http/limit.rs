//! A sliding window per address: so many acts in an hour, then not until the oldest is an hour old.
//!
//! Invariant: memory is bounded. When more addresses are active than fit, the one that acted
//! longest ago is forgotten, which can only let more through.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::client::limit_key;

/// Length of the window.
pub const WINDOW: Duration = Duration::from_hours(1);
/// Most addresses remembered.
const ADDRESSES_MAX: usize = 16_384;

/// The counter.
pub struct HourlyLimit {
    per_hour: usize,
    seen: Mutex<HashMap<[u8; 8], VecDeque<Instant>>>,
}

impl HourlyLimit {
    /// So many acts per address and hour; 0 means any number.
    pub fn new(per_hour: u32) -> Self {
        let per_hour = usize::try_from(per_hour).unwrap_or(usize::MAX);
        Self {
            per_hour,
            seen: Mutex::new(HashMap::new()),
        }
    }

    /// Counts an act, or says in how many seconds the next one is allowed.
    pub fn take(&self, addr: IpAddr, now: Instant) -> Result<(), u64> {
        if self.per_hour == 0 {
            return Ok(());
        }
        let key = limit_key(addr);
        let mut seen = self.seen.lock();
        if seen.len() >= ADDRESSES_MAX && !seen.contains_key(&key) {
            make_room(&mut seen, now);
        }
        let acts = seen.entry(key).or_default();
        while acts
            .front()
            .is_some_and(|then| now.duration_since(*then) >= WINDOW)
        {
            acts.pop_front();
        }
        if acts.len() < self.per_hour {
            acts.push_back(now);
            return Ok(());
        }
        let waited = acts
            .front()
            .map_or(WINDOW, |then| now.duration_since(*then));
        Err(WINDOW.saturating_sub(waited).as_secs().max(1))
    }

    /// Gives the newest act back: it turned out to be a repeat, or was refused.
    pub fn give_back(&self, addr: IpAddr) {
        if let Some(acts) = self.seen.lock().get_mut(&limit_key(addr)) {
            acts.pop_back();
        }
    }
}

fn make_room(seen: &mut HashMap<[u8; 8], VecDeque<Instant>>, now: Instant) {
    seen.retain(|_, acts| {
        acts.back()
            .is_some_and(|then| now.duration_since(*then) < WINDOW)
    });
    if seen.len() >= ADDRESSES_MAX {
        let oldest = seen.iter().min_by_key(|(_, acts)| acts.back().copied());
        if let Some(key) = oldest.map(|(key, _)| *key) {
            seen.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_slides_and_says_when_it_opens() {
        let limit = HourlyLimit::new(2);
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let one = "1.2.3.4".parse().unwrap();
        assert_eq!(limit.take(one, at(0)), Ok(()));
        assert_eq!(limit.take(one, at(10)), Ok(()));
        assert_eq!(limit.take(one, at(11)), Err(3589));
        assert_eq!(limit.take("1.2.3.5".parse().unwrap(), at(11)), Ok(()));
        assert_eq!(limit.take(one, at(3600)), Ok(()));
        assert_eq!(limit.take(one, at(3601)), Err(9));
    }

    #[test]
    fn zero_lifts_the_limit_and_a_repeat_is_given_back() {
        let now = Instant::now();
        let one = "::1".parse().unwrap();
        let none = HourlyLimit::new(0);
        assert!((0..100).all(|_| none.take(one, now).is_ok()));
        let limit = HourlyLimit::new(1);
        assert_eq!(limit.take(one, now), Ok(()));
        limit.give_back(one);
        assert_eq!(limit.take(one, now), Ok(()));
        assert_eq!(limit.take(one, now), Err(3600));
    }

    #[test]
    fn memory_is_bounded_by_forgetting_the_longest_silent() {
        let limit = HourlyLimit::new(1);
        let start = Instant::now();
        for i in 0..=u32::try_from(ADDRESSES_MAX).unwrap() {
            let now = start + Duration::from_millis(u64::from(i));
            assert_eq!(limit.take(IpAddr::from(i.to_be_bytes()), now), Ok(()));
        }
        assert_eq!(limit.seen.lock().len(), ADDRESSES_MAX);
        assert!(
            limit
                .take(IpAddr::from([0, 0, 0, 0]), start + Duration::from_secs(20))
                .is_ok()
        );
    }
}
