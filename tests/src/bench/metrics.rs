//! What the server's `/metrics` say about a run.

use std::fmt;

use anyhow::{Context, Result, ensure};

use crate::server::Server;

const NAME: &str = "minutebook_commit_commands_bucket{le=\"";

/// How many commits took up to how many commands: upper bounds, as they are written, and counts
/// that do not include the bucket before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSizes(Vec<(String, u64)>);

/// The histogram as it is now.
pub fn commit_sizes(server: &Server) -> Result<CommitSizes> {
    let text = server.connect()?.send("GET", "/metrics", &[], None)?.text();
    CommitSizes::parse(&text)
}

impl CommitSizes {
    fn parse(text: &str) -> Result<Self> {
        let mut sizes = Vec::new();
        let mut below = 0;
        for line in text.lines().filter_map(|line| line.strip_prefix(NAME)) {
            let (bound, count) = line.split_once("\"}").context("a bucket")?;
            let count: u64 = count.trim().parse()?;
            let own = count.checked_sub(below).context("buckets are cumulative")?;
            sizes.push((bound.to_owned(), own));
            below = count;
        }
        ensure!(!sizes.is_empty(), "the metrics have no commit sizes");
        Ok(Self(sizes))
    }

    /// What was added since an earlier moment.
    pub fn since(&self, before: &Self) -> Self {
        let pairs = self.0.iter().zip(&before.0);
        let added =
            pairs.map(|((bound, now), (_, then))| (bound.clone(), now.saturating_sub(*then)));
        Self(added.collect())
    }
}

impl fmt::Display for CommitSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.0.iter().map(|(_, count)| count).sum();
        write!(f, "{all} in all")?;
        for (bound, count) in self.0.iter().filter(|(_, count)| *count > 0) {
            write!(f, ", up to {bound}: {count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(counts: [u64; 3]) -> String {
        let [one, two, all] = counts;
        format!(
            "# HELP x y\n{NAME}1\"}} {one}\n{NAME}2\"}} {two}\n{NAME}+Inf\"}} {all}\n\
             minutebook_commit_commands_count {all}\n"
        )
    }

    #[test]
    fn only_the_runs_own_commits_are_counted() {
        let before = CommitSizes::parse(&text([100, 101, 101])).unwrap();
        let after = CommitSizes::parse(&text([102, 110, 111])).unwrap();
        let run = after.since(&before).to_string();
        assert_eq!(run, "10 in all, up to 1: 2, up to 2: 7, up to +Inf: 1");
    }

    #[test]
    fn metrics_without_the_histogram_are_an_error() {
        assert!(CommitSizes::parse("up 1\n").is_err());
    }
}
