//! What the kernel says about a process.

use anyhow::{Context, Result};

/// Kernel ticks a second; fixed at 100 on every Linux we know.
const TICKS_PER_SECOND: f64 = 100.0;

/// User plus system CPU seconds a process has used.
pub fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold blanks; fields count from behind it.
    let rest = stat.rsplit_once(')').context("stat")?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |index: usize| -> Result<f64> {
        Ok(fields.get(index).context("stat field")?.parse::<f64>()?)
    };
    Ok((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// Resident and peak memory of a process, in MiB.
pub fn memory_mib(pid: u32) -> Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let field = |name: &str| -> Result<f64> {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .context("field")?;
        Ok(line
            .split_whitespace()
            .next()
            .context("value")?
            .parse::<f64>()?
            / 1024.0)
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}
