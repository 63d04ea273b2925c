//! Time and chance enter the engine here and nowhere else, as arguments, so that the same seed
//! replays byte for byte.

use std::time::{SystemTime, UNIX_EPOCH};

use minutebook_domain::time::Timestamp;
use rand::{Rng, SeedableRng, rngs::SysRng};
use rand_chacha::ChaCha20Rng;
use uuid::Uuid;

/// Where the present comes from.
pub trait Clock: Send {
    /// The present, which may step back: the committer never writes a decreasing time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Salts and ids, from a stream cipher keyed once.
#[derive(Debug)]
pub struct Entropy(ChaCha20Rng);

impl Entropy {
    /// Keyed by the operating system.
    pub fn from_os() -> Result<Self, rand::rngs::SysError> {
        ChaCha20Rng::try_from_rng(&mut SysRng).map(Self)
    }

    /// Keyed by a seed, for simulation and golden files.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(seed))
    }

    /// A fresh 32-byte salt.
    pub fn salt(&mut self) -> [u8; 32] {
        let mut salt = [0; 32];
        self.0.fill_bytes(&mut salt);
        salt
    }

    /// A fresh `UUIDv7` of this moment.
    pub fn uuid(&mut self, at: Timestamp) -> Uuid {
        let mut random = [0; 10];
        self.0.fill_bytes(&mut random);
        let millis = u64::try_from(at.as_micros() / 1000).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
