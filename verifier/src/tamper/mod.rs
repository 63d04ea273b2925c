//! Tampered copies of a bundle: every attack of the threat table that can be made on a file, with
//! the verdict the verifier must give. A demonstration and the regression corpus in one.
//!
//! Invariants
//! * Only copies are made; the input is never changed.
//! * The forger is as careful as he can be with what he holds: counts in the manifest are always
//!   made to fit, and with the log's key everything after the change is chained and signed anew.
//! * A tampering is a value of [`Tampering`]; the test table runs all of them.

mod acts;
mod document;
mod forge;
mod keyed;
mod table;

pub use self::table::{Expected, Needs, Tampering};

use minutebook_eventlog::format::key::KeyError;

use self::document::Document;

/// What the forger has in hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Means {
    /// The record to tamper with; by default one in the middle that suits.
    pub seq: Option<u64>,
    /// The log's own secret seed.
    pub seed: Option<[u8; 32]>,
}

/// A tampered copy.
#[derive(Clone, Debug)]
pub struct Tampered {
    /// The bundle.
    pub bytes: Vec<u8>,
    /// The record that was tampered with: where a finding must point, if there is one.
    pub seq: u64,
}

/// Why a tampered copy could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TamperError {
    /// No such kind.
    #[error("no tampering is called {0:?}; see `tamper --list`")]
    UnknownKind(String),
    /// The input is not a sound bundle.
    #[error("the input is not a bundle: {0}")]
    Input(String),
    /// It takes the log's key.
    #[error("only the holder of the log's key can do this: give --key-file")]
    NeedsKey,
    /// The key is not the log's.
    #[error("the key file does not hold the log's newest key")]
    WrongKey,
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It cannot be done to a room's bundle.
    #[error("this takes the bundle of a whole log")]
    NeedsLog,
    /// The bundle holds nothing it could be done to.
    #[error("the bundle holds no {0}")]
    Nothing(&'static str),
    /// The record named does not suit.
    #[error("record {seq} does not suit: it is not {what}")]
    Unsuitable {
        /// Which.
        seq: u64,
        /// What it would have to be.
        what: &'static str,
    },
}

/// Makes a tampered copy.
pub fn tamper(kind: &str, input: &[u8], means: &Means) -> Result<Tampered, TamperError> {
    let tampering = Tampering::ALL
        .iter()
        .find(|tampering| tampering.name == kind)
        .ok_or_else(|| TamperError::UnknownKind(kind.to_owned()))?;
    if tampering.needs == Needs::Key && means.seed.is_none() {
        return Err(TamperError::NeedsKey);
    }
    let document = Document::parse(input)?;
    if tampering.room.is_none() && document.is_room() {
        return Err(TamperError::NeedsLog);
    }
    (tampering.act)(document, means)
}
