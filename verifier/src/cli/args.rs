//! The arguments, as the help shows them.

use std::path::PathBuf;

use clap::{ArgGroup, Parser, Subcommand};

const EXAMPLES: &str = "\
Exit codes:
  0   CLEAN         everything that was asked for holds
  1   REFUTED       something was changed, removed or forged
  2   INCONCLUSIVE  nothing is known to be wrong, but something asked for could not be shown
  64  usage         the command line makes no sense
  65  unreadable    an input cannot be read as what it should be

Examples:
  # Check an export against the key the operator published
  minutebook-verify log.bundle --key 'log.example/room-1+79e3d95e+AYqI…'

  # Also exclude that records the log once signed were cut off or rewritten
  minutebook-verify log.bundle --key VKEY --anchor saved.checkpoint --receipt mine.tlog-proof

  # The key may stand in a file
  curl -s URL/api/arbiter/pubkey | jq -r .vkey > log.vkey
  minutebook-verify log.bundle --key log.vkey

  # Demand the cosignatures of a quorum of witnesses (C2SP tlog-policy)
  curl -s URL/api/log/bundle | minutebook-verify - --policy trust.policy --json

  # Check each export from where the last check ended
  minutebook-verify log.bundle --key VKEY --state seen.state

  # Prove that two people were shown different logs
  minutebook-verify compare theirs.checkpoint ours.bundle --key VKEY --out fork.proof
  minutebook-verify compare --check fork.proof --key VKEY

  # See what each tampering looks like
  minutebook-verify tamper --list
  minutebook-verify tamper edit-payload log.bundle bad.bundle --seq 7";

/// Checks a Minutebook bundle offline: that nothing in it was changed, removed or forged, and that
/// every step in it was allowed.
#[derive(Debug, Parser)]
#[command(
    name = "minutebook-verify",
    version,
    after_long_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    #[command(flatten)]
    pub(crate) verify: VerifyArgs,
}

/// What else it can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Compare two checkpoints, receipts or bundles of one log: consistent, or a proof of a fork
    #[command(after_help = "Examples:\n  \
        minutebook-verify compare theirs.checkpoint ours.bundle --key VKEY --out fork.proof\n  \
        minutebook-verify compare --check fork.proof --key VKEY\n\n\
        Exit codes: 0 consistent, 1 a fork, 2 unknown, 64 usage, 65 unreadable")]
    Compare(CompareArgs),
    /// Make a tampered copy of a bundle, to see what the verifier says about it
    #[command(after_help = "Examples:\n  minutebook-verify tamper --list\n  \
        minutebook-verify tamper edit-payload log.bundle bad.bundle --seq 7\n  \
        minutebook-verify tamper rewrite log.bundle bad.bundle --key-file arbiter.key")]
    Tamper(TamperArgs),
}

#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("subject").args(["bundle", "selftest"]).required(true))]
pub(crate) struct VerifyArgs {
    /// The bundle to check; `-` for standard input
    pub(crate) bundle: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// A checkpoint you saved or were given; the log must contain its history. Repeatable
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) anchor: Vec<PathBuf>,
    /// A .tlog-proof you were given; its record must be in the log, unchanged. Repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Vec<PathBuf>,
    /// Where to keep what was verified, so that the next run starts there
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Threads for the parallel half of the work [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing; only the exit code speaks
    #[arg(long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Check this program against published test vectors
    #[arg(long)]
    pub(crate) selftest: bool,
}

/// Whom to trust.
#[derive(Debug, clap::Args)]
#[group(id = "trust", multiple = false)]
pub(crate) struct TrustArgs {
    /// The log's key (C2SP vkey), its first or a later one; or a file that holds it
    #[arg(long, value_name = "VKEY")]
    pub(crate) key: Option<String>,
    /// A C2SP tlog-policy file: the log's key, witnesses and the quorum to demand
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// First checkpoint, receipt or bundle
    #[arg(required_unless_present = "check")]
    pub(crate) a: Option<PathBuf>,
    /// Second checkpoint, receipt or bundle
    #[arg(required_unless_present = "check")]
    pub(crate) b: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Where to write the proof of a fork
    #[arg(long, value_name = "PROOF", default_value = "fork.proof")]
    pub(crate) out: PathBuf,
    /// Check a proof of a fork instead
    #[arg(long, value_name = "PROOF", conflicts_with_all = ["a", "b"])]
    pub(crate) check: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TamperArgs {
    /// List the kinds: what each does and what the verifier must say
    #[arg(long)]
    pub(crate) list: bool,
    /// What to do to the copy
    #[arg(required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// The bundle to copy
    #[arg(value_name = "IN", required_unless_present = "list")]
    pub(crate) input: Option<PathBuf>,
    /// Where to write the tampered copy
    #[arg(value_name = "OUT", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// The record to tamper with [default: one in the middle that suits the kind]
    #[arg(long, value_name = "N")]
    pub(crate) seq: Option<u64>,
    /// The log's own key file, for what only its holder can do
    #[arg(long, value_name = "SEED")]
    pub(crate) key_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn every_help_has_an_example() {
        let mut root = <Args as clap::CommandFactory>::command();
        root.build();
        let ours = |one: &&clap::Command| one.get_name() != "help";
        let subcommands: Vec<_> = root.get_subcommands().filter(ours).cloned().collect();
        for mut command in subcommands.into_iter().chain([root]) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{}", command.get_name());
        }
    }
}
