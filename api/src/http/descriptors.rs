//! File descriptors: connections must not use up those the log needs.
//!
//! Many systems start a process with 1,024 of them and allow far more. A store that cannot open a
//! file fails for good, so connections get what is left, never all.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors kept for the log, the standard streams and the runtime.
const RESERVED: u64 = 256;
/// As many as we ever ask for.
const WANTED: u64 = 65_536;

/// Asks for as many descriptors as the system allows, and says how many connections that leaves,
/// `wanted` at most.
pub fn connections(wanted: usize) -> usize {
    let limit = raise();
    let left = limit.saturating_sub(RESERVED).max(limit / 2).max(1);
    let connections = usize::try_from(left).unwrap_or(usize::MAX).min(wanted);
    if connections < wanted {
        tracing::warn!(
            connections,
            wanted,
            "few file descriptors: raise the limit (ulimit -n)"
        );
    }
    connections
}

/// Raises the soft limit towards the hard one; returns what it is then.
fn raise() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else {
        return WANTED;
    };
    let target = limit.maximum.unwrap_or(WANTED).min(WANTED).max(current);
    limit.current = Some(target);
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => target,
        Err(_) => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_never_get_all_descriptors() {
        let limit = raise();
        assert!(
            limit > 0 && raise() == limit,
            "raising twice changes nothing"
        );
        assert!((connections(usize::MAX) as u64) < limit.max(2));
        assert_eq!(connections(1), 1);
    }
}
