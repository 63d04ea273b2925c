//! A digest of all rows of a projection: two generations with equal rows have equal digests,
//! however their facts were split into batches.

use crate::{ProjectionError, Rows, overlay::each_row};

/// BLAKE3 over all rows in key order, each as key length, key, value length, value (lengths as
/// 4 bytes, little-endian).
pub fn digest(rows: &dyn Rows) -> Result<Digest, ProjectionError> {
    let mut digester = Digester::default();
    each_row(rows, &[], &[0xff; 8], |key, value| {
        digester.add(&key, &value);
        Ok(())
    })?;
    Ok(digester.finish())
}

/// What a digest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The hash.
    pub hash: [u8; 32],
    /// How many rows it covers.
    pub rows: u64,
}

impl Digest {
    /// The hash as 64 lower-case hex digits.
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }
}

/// Makes a digest row by row, for callers that read the rows themselves.
#[derive(Default)]
pub struct Digester {
    hasher: blake3::Hasher,
    /// Not hashed yet: BLAKE3 is several times faster over long inputs.
    buffer: Vec<u8>,
    rows: u64,
}

/// Bytes hashed at a time.
const BUFFER_BYTES: usize = 64 * 1024;

impl Digester {
    /// Adds the next row in key order.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        for part in [key, value] {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            self.buffer.extend_from_slice(&length.to_le_bytes());
            self.buffer.extend_from_slice(part);
        }
        if self.buffer.len() >= BUFFER_BYTES {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        self.rows += 1;
    }

    /// The digest of all rows added.
    pub fn finish(mut self) -> Digest {
        self.hasher.update(&self.buffer);
        Digest {
            hash: *self.hasher.finalize().as_bytes(),
            rows: self.rows,
        }
    }
}
