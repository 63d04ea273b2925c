//! The path of a tile: `tile/<L>/x001/x234/067[.p/<W>]` (C2SP tlog-tiles).

use std::fmt;

use super::tiles::TILE_WIDTH;
use crate::format::checkpoint::parse_size;

/// What a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileLevel {
    /// Hashes of this level, 0 to 63; level 0 holds leaf hashes.
    Hashes(u8),
    /// The entries themselves: an entry bundle.
    Entries,
}

/// Which tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePath {
    /// Hashes of a level, or entries.
    pub level: TileLevel,
    /// The tile's number within its level.
    pub index: u64,
    /// How many hashes or entries: 256 for a full tile, 1 to 255 for a partial one.
    pub width: u16,
}

/// Enough for every index below 2^63 with its groups of three digits.
const PATH_BYTES_MAX: usize = 64;

impl TilePath {
    /// Reads a path in its one spelling.
    pub fn parse(path: &str) -> Option<Self> {
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let (level, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let level = match level {
            "entries" => TileLevel::Entries,
            digits => TileLevel::Hashes(u8::try_from(parse_size(digits)?).ok()?),
        };
        let (index, width) = match rest.split_once(".p/") {
            Some((index, width)) => (index, u16::try_from(parse_size(width)?).ok()?),
            None => (rest, TILE_WIDTH),
        };
        let mut value: u64 = 0;
        for group in index.split('/') {
            let digits = group.strip_prefix('x').unwrap_or(group);
            if digits.len() != 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            value = value.checked_mul(1000)?.checked_add(digits.parse().ok()?)?;
        }
        let path_read = Self {
            level,
            index: value,
            width,
        };
        // Whatever else is wrong (missing x, needless groups, width 0) is not how we write it.
        (path_read.is_possible() && path_read.to_string() == path).then_some(path_read)
    }

    fn is_possible(&self) -> bool {
        let level_fits = match self.level {
            TileLevel::Hashes(level) => level < 64,
            TileLevel::Entries => true,
        };
        level_fits && (1..=TILE_WIDTH).contains(&self.width)
    }
}

impl fmt::Display for TilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            TileLevel::Hashes(level) => write!(f, "tile/{level}")?,
            TileLevel::Entries => f.write_str("tile/entries")?,
        }
        let mut unit: u64 = 1;
        while self.index / unit >= 1000 {
            unit *= 1000;
        }
        while unit > 1 {
            write!(f, "/x{:03}", self.index / unit % 1000)?;
            unit /= 1000;
        }
        write!(f, "/{:03}", self.index % 1000)?;
        if self.width < TILE_WIDTH {
            write!(f, ".p/{}", self.width)?;
        }
        Ok(())
    }
}
