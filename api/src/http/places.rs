//! Places that clients take up for a while: connections, streams, verifications.
//!
//! Invariants
//! * At most so many are taken at a time.
//! * Half of them are for addresses that hold few: one that takes all it can get leaves the others
//!   theirs, whether it is hostile or only busy.
//! * Nobody waits here. Memory is bounded by the places.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use super::client::limit_key;

/// An address holds few places up to this part of all; one is always few.
const FEW_PART: usize = 64;

/// So many places.
#[derive(Debug)]
pub struct Places {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Never zero.
    by_address: HashMap<[u8; 8], usize>,
}

/// One of them, given back when it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    key: [u8; 8],
}

impl Places {
    /// So many, none of them taken.
    pub fn new(most: usize) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Self { most, taken })
    }

    /// A place, if there is one for this address. An IPv6 address shares with its /64.
    pub fn take(self: &Arc<Self>, addr: IpAddr) -> Option<Place> {
        let key = limit_key(addr);
        let mut taken = self.taken.lock();
        let own = taken.by_address.get(&key).copied().unwrap_or_default();
        let for_anybody = self.most.div_ceil(2);
        let is_few = own < (self.most / FEW_PART).max(1);
        if taken.all >= self.most || !(taken.all < for_anybody || is_few) {
            return None;
        }
        taken.all += 1;
        taken.by_address.insert(key, own + 1);
        let places = Arc::clone(self);
        Some(Place { places, key })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        taken.all -= 1;
        if let Some(own) = taken.by_address.get_mut(&self.key) {
            *own -= 1;
            if *own == 0 {
                taken.by_address.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(n: u8) -> IpAddr {
        [192, 0, 2, n].into()
    }

    fn as_many(places: &Arc<Places>, n: u8) -> Vec<Place> {
        std::iter::from_fn(|| places.take(addr(n))).collect()
    }

    #[test]
    fn one_address_holds_half_of_them_and_the_others_a_few_each() {
        let places = Places::new(256);
        let hoard = as_many(&places, 1);
        assert_eq!(hoard.len(), 128);
        let others: Vec<_> = (2..=33).map(|n| as_many(&places, n)).collect();
        assert!(others.iter().all(|held| held.len() == 4));
        assert!(places.take(addr(99)).is_none(), "all are taken");
        drop(hoard);
        assert_eq!(as_many(&places, 2).len(), 0, "half are taken by others");
        assert_eq!(as_many(&places, 99).len(), 4);
    }

    #[test]
    fn a_place_is_given_back_and_forgotten() {
        let places = Places::new(3);
        let held = as_many(&places, 1);
        assert_eq!(held.len(), 2);
        assert!(places.take(addr(2)).is_some(), "and dropped at once");
        drop(held);
        assert_eq!(as_many(&places, 1).len(), 2);
        assert_eq!(places.taken.lock().all, 0);
        assert!(places.taken.lock().by_address.is_empty());
    }

    #[test]
    fn a_network_of_version_6_counts_as_one() {
        let places = Places::new(2);
        let one = places.take("2001:db8::1".parse().unwrap());
        assert!(one.is_some());
        assert!(places.take("2001:db8::2".parse().unwrap()).is_none());
        assert!(places.take("2001:db8:0:1::1".parse().unwrap()).is_some());
    }
}
