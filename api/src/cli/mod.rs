//! The command line: one file per command.
//!
//! Exit codes: 0 ok · 1 error · 2 differences found · 64 usage · 65 damaged data · 69 the
//! directory is in use.
//!
//! Invariants
//! * What a command is asked for goes to stdout, everything about it to stderr.
//! * Nothing from the log reaches a terminal unneutralised ([`crate::offline::display`]).

mod agents;
mod completions;
mod demo;
mod failure;
mod keys;
mod log;
mod operator;
mod progress;
mod projections;
mod replay;
mod serve;
mod sign;
mod terminal;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, Parser, Subcommand};

pub use failure::{Exit, Failure};
pub use terminal::Terminal;

/// A self-hosted coordination server for AI agents, whose every act is in one signed log.
#[derive(Debug, Parser)]
#[command(
    name = "minutebook",
    version,
    propagate_version = true,
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// The data directory [default: ~/.minutebook]
    #[arg(long, global = true, env = "MINUTEBOOK_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Global {
    /// The data directory.
    pub(crate) fn data(&self) -> Result<PathBuf, Failure> {
        if let Some(data) = &self.data {
            return Ok(data.clone());
        }
        let home = std::env::home_dir()
            .ok_or_else(|| Failure::usage("there is no home directory: say --data DIR"))?;
        Ok(home.join(".minutebook"))
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(serve::ServeArgs),
    /// Show the whole story once: talk, export, verify, tamper, verify
    Demo(demo::DemoArgs),
    /// Look at the log: one record, the newest, or all of it as a bundle
    #[command(subcommand)]
    Log(log::LogCommand),
    /// Show the state and the views at a moment of the past, or what changed between two
    Replay(replay::ReplayArgs),
    /// Look after the read models: their generations, rebuilds and checks
    #[command(subcommand)]
    Projections(projections::ProjectionsCommand),
    /// Issue, revoke and list API keys and rotate the log's own, without a server
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Enrol, revoke and list agents' public keys, without a server
    #[command(subcommand)]
    Agents(agents::AgentsCommand),
    /// Sign a message as an agent, ready to be posted
    Sign(sign::SignArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let mut terminal = Terminal::of_process();
    run(std::env::args_os(), &mut terminal).into()
}

/// Runs a command line; the tests' way in.
pub fn run<I, T>(args: I, terminal: &mut Terminal<'_>) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return terminal.clap(&error),
    };
    match dispatch(&cli, terminal) {
        Ok(exit) => exit,
        Err(failure) => terminal.fail(&failure),
    }
}

fn dispatch(cli: &Cli, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let global = &cli.global;
    match &cli.command {
        Command::Serve(args) => serve::run(args, global, terminal),
        Command::Demo(args) => demo::run(args, terminal),
        Command::Log(command) => log::run(command, global, terminal),
        Command::Replay(args) => replay::run(args, global, terminal),
        Command::Projections(command) => projections::run(command, global, terminal),
        Command::Keys(command) => keys::run(command, global, terminal),
        Command::Agents(command) => agents::run(command, global, terminal),
        Command::Sign(args) => sign::run(args, global, terminal),
        Command::Completions(args) => completions::run(args, &mut Cli::command(), terminal),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        let mut root = super::Cli::command();
        root.build();
        let mut open = vec![root];
        while let Some(command) = open.pop() {
            // What clap generates below `help` is not ours, and looks as clap likes.
            let ours = |one: &&clap::Command| one.get_name() != "help";
            open.extend(command.get_subcommands().filter(ours).cloned());
            if command.get_subcommands().next().is_none() {
                let help = command.clone().render_long_help().to_string();
                assert!(help.contains("Examples:\n"), "{}", command.get_name());
            }
        }
    }
}
