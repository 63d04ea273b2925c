//! `minutebook completions SHELL`

use clap_complete::Shell;

use super::{Exit, Failure, Terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    minutebook completions bash > ~/.local/share/bash-completion/completions/minutebook\n  \
    minutebook completions zsh > ~/.zfunc/_minutebook")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(
    args: &CompletionsArgs,
    command: &mut clap::Command,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "minutebook", &mut script);
    terminal.bytes(&script)?;
    terminal.flush()?;
    Ok(Exit::Ok)
}
