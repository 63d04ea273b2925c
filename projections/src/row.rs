//! One row's bytes: an 8-byte prefix, then the row archived with rkyv 0.8.
//!
//! Prefix: kind of row, version of its projection, first 6 bytes of BLAKE3 over its schema text.
//! A row with another prefix is refused (`Stale`), because rkyv reads bytes of another schema
//! without complaint when they happen to be valid. Reading always validates (`bytecheck`) and
//! copies into an aligned buffer first: slices from a store have any alignment, and rkyv's
//! `unaligned` feature would change the bytes of every crate in the build.

use rkyv::{
    Archive, Deserialize, Serialize,
    api::high::{HighDeserializer, HighSerializer, HighValidator},
    bytecheck::CheckBytes,
    rancor::Error,
    ser::allocator::ArenaHandle,
    util::AlignedVec,
};

use crate::error::ProjectionError;

/// Length of the prefix; a multiple of 8, so that alignment inside the row is the same with and
/// without it.
pub(crate) const PREFIX_BYTES: usize = 8;

/// What the prefix of a row is made of.
pub(crate) trait Schema: Sized {
    /// Kind of row, in words.
    const NAME: &'static str;
    /// Kind of row, one byte, unique in its projection.
    const TAG: u8;
    /// Version of its projection.
    const VERSION: u32;
    /// Names and types of the fields, and of what is inside them.
    const SCHEMA: &'static [&'static str];
    /// The prefix, computed once.
    fn prefix() -> [u8; PREFIX_BYTES];
}

/// A row that can be written and read.
pub(crate) trait Row:
    Schema
    + Archive<
        Archived: Deserialize<Self, HighDeserializer<Error>>
                      + for<'a> CheckBytes<HighValidator<'a, Error>>,
    > + for<'a> Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, Error>>
{
}

impl<R> Row for R where
    R: Schema
        + Archive<
            Archived: Deserialize<Self, HighDeserializer<Error>>
                          + for<'a> CheckBytes<HighValidator<'a, Error>>,
        > + for<'a> Serialize<HighSerializer<Vec<u8>, ArenaHandle<'a>, Error>>
{
}

/// Declares a row, so that its schema text cannot be forgotten when a field changes.
macro_rules! row {
    (
        row $name:ident, tag $tag:literal, version $version:expr, inside [$($inside:ty),*];
        $(#[$meta:meta])*
        pub struct $same:ident { $($(#[$field_meta:meta])* $vis:vis $field:ident: $ty:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        pub struct $same { $($(#[$field_meta])* $vis $field: $ty,)* }

        impl $crate::row::Schema for $same {
            const NAME: &'static str = stringify!($name);
            const TAG: u8 = $tag;
            const VERSION: u32 = $version;
            const SCHEMA: &'static [&'static str] = &[
                $(stringify!($field), stringify!($ty),)*
                $(<$inside>::SCHEMA,)*
            ];
            fn prefix() -> [u8; 8] {
                static PREFIX: std::sync::OnceLock<[u8; 8]> = std::sync::OnceLock::new();
                *PREFIX.get_or_init($crate::row::make_prefix::<Self>)
            }
        }
    };
}
pub(crate) use row;

/// Declares a struct inside a row: its fields count for the row's schema.
macro_rules! part {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field_meta:meta])* $vis:vis $field:ident: $ty:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        pub struct $name { $($(#[$field_meta])* $vis $field: $ty,)* }

        impl $name {
            /// Names and types of the fields.
            pub(crate) const SCHEMA: &'static str = stringify!($($field: $ty),*);
        }
    };
}
pub(crate) use part;

/// The prefix of a row's kind, version and schema.
pub(crate) fn make_prefix<S: Schema>() -> [u8; PREFIX_BYTES] {
    let mut hasher = blake3::Hasher::new();
    for text in S::SCHEMA {
        hasher.update(text.as_bytes());
        hasher.update(&[0]);
    }
    let hash = hasher.finalize();
    let mut prefix = [0; PREFIX_BYTES];
    let version = u8::try_from(S::VERSION).unwrap_or(u8::MAX);
    let schema = hash.as_bytes().iter().copied();
    for (to, from) in prefix
        .iter_mut()
        .zip([S::TAG, version].into_iter().chain(schema))
    {
        *to = from;
    }
    prefix
}

/// A row's bytes. `bytes_hint`: about how many, so that the buffer need not grow.
pub(crate) fn encode<R: Row>(row: &R, bytes_hint: usize) -> Result<Vec<u8>, ProjectionError> {
    let mut bytes = Vec::with_capacity(bytes_hint);
    bytes.extend_from_slice(&R::prefix());
    rkyv::api::high::to_bytes_in::<_, Error>(row, bytes).map_err(|error| ProjectionError::Encode {
        row: R::NAME,
        reason: error.to_string(),
    })
}

/// A row from its bytes.
pub(crate) fn decode<R: Row>(bytes: &[u8]) -> Result<R, ProjectionError> {
    Decoder::default().decode(bytes)
}

/// Decodes rows one after the other over one aligned buffer.
#[derive(Default)]
pub(crate) struct Decoder(AlignedVec);

impl Decoder {
    pub(crate) fn decode<R: Row>(&mut self, bytes: &[u8]) -> Result<R, ProjectionError> {
        let Some((prefix, archived)) = bytes.split_first_chunk::<PREFIX_BYTES>() else {
            return Err(damaged::<R>("it is too short"));
        };
        if *prefix != R::prefix() {
            return Err(ProjectionError::Stale { row: R::NAME });
        }
        self.0.clear();
        self.0.extend_from_slice(archived);
        rkyv::from_bytes::<R, Error>(&self.0).map_err(|error| damaged::<R>(&error.to_string()))
    }
}

fn damaged<R: Row>(reason: &str) -> ProjectionError {
    ProjectionError::Damaged {
        row: R::NAME,
        reason: reason.to_owned(),
    }
}
