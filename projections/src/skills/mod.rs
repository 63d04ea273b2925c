//! `skills`: shared skills by their id and by the hash of their bytes.
//!
//! | tag | key | value |
//! |---|---|---|
//! | 1 | skill's UUID | [`SkillRow`]; gone once withdrawn |
//! | 2 | SHA-256 | [`BytesRow`]: whose bytes these are, also once withdrawn |

mod fold;
mod view;

pub use fold::Skills;
pub use view::SkillsView;

use minutebook_domain::time::Timestamp;
use uuid::Uuid;

use crate::row::row;

/// Version of the rows: raise it with any change to a row, a key or the fold.
pub const VERSION: u32 = 1;

row! {
    row skill, tag 1, version VERSION, inside [];
    /// A skill that is offered.
    pub struct SkillRow {
        /// Its UUID.
        pub id: Uuid,
        /// Seq of its event.
        pub seq: u64,
        /// When it was published.
        pub published_at: Timestamp,
        /// Who published it.
        pub agent: String,
        /// What it is called.
        pub name: String,
        /// Which version of it.
        pub version: String,
        /// What it is for.
        pub description: String,
        /// SHA-256 of the bundle.
        pub sha256: [u8; 32],
        /// Bytes of the bundle.
        pub size: u64,
        /// The author's public key, 64 lower-case hex digits.
        pub author_pubkey: Option<String>,
        /// Its signature, 128 lower-case hex digits.
        pub author_sig: Option<String>,
    }
}

row! {
    row skill_bytes, tag 2, version VERSION, inside [];
    /// Whose bytes these are.
    pub struct BytesRow {
        /// The skill's UUID.
        pub id: Uuid,
        /// Whether it was withdrawn.
        pub is_withdrawn: bool,
    }
}

fn skill_key(id: &Uuid) -> Vec<u8> {
    let mut key = vec![1];
    key.extend_from_slice(id.as_bytes());
    key
}

fn bytes_key(sha256: &[u8; 32]) -> Vec<u8> {
    let mut key = vec![2];
    key.extend_from_slice(sha256);
    key
}
