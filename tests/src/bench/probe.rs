//! How long an fsync takes here and now.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use hdrhistogram::Histogram;

/// Writes 4 KiB and syncs, so many times; microseconds.
pub fn fsync(folder: &Path, rounds: usize) -> Result<Histogram<u64>> {
    let path = folder.join("fsync-probe");
    let mut file = File::create(&path)?;
    let mut times = Histogram::new(3)?;
    let block = [7_u8; 4096];
    for round in 0..rounds {
        if round % 1024 == 0 {
            file.seek(SeekFrom::Start(0))?;
        }
        let start = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        times.record(u64::try_from(start.elapsed().as_micros())?)?;
    }
    std::fs::remove_file(path)?;
    Ok(times)
}
