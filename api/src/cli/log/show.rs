//! `minutebook log show SEQ`

use super::super::{Failure, Global, Terminal};
use crate::offline::{OfflineError, OpenLog, records};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  minutebook log show 42\n  \
    minutebook log show 42 --json | jq .envelope.prev")]
pub(crate) struct ShowArgs {
    /// Its seq: 1 is the first record
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seq: u64,
}

pub(super) fn run(
    args: &ShowArgs,
    log: &OpenLog,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let page = log.reader().read(args.seq, 1)?;
    let Some((_, record)) = page.first().filter(|(seq, _)| *seq == args.seq) else {
        return Err(OfflineError::NoRecord {
            seq: args.seq,
            head: log.head.seq,
        }
        .into());
    };
    if global.json {
        return terminal.json_line(&records::to_json(record)?);
    }
    terminal.bytes(records::to_text(record)?.as_bytes())
}
