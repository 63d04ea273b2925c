//! The command line: one file per command.
//!
//! Exit codes are those of [`Exit`]; the help lists them.
//!
//! Invariants
//! * What a command is asked for goes to stdout, everything about it to stderr.
//! * Nothing from the log reaches a terminal unneutralised ([`crate::offline::display`]).

mod agents;
mod arbiter_args;
mod bisect;
mod completions;
mod data_dir;
mod demo;
mod env_note;
mod failure;
mod keys;
mod listed;
mod log;
mod operator;
mod progress;
mod projections;
mod replay;
mod serve;
mod sign;
mod table;
mod terminal;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub use failure::{Exit, Failure};
pub use terminal::Terminal;

const AFTER_HELP: &str = "\
Exit codes:
  0   done
  1   it could not be done; `bisect`: it never holds
  2   done, and differences were found (`projections check`, `rebuild`)
  64  the command line, or a variable it stands for, makes no sense
  65  what is on disk is damaged
  69  a server or another command holds the data directory

Examples:
  minutebook serve
  minutebook demo
  minutebook log tail --data /srv/minutebook
  minutebook log export -o log.ndjson && minutebook-verify log.ndjson --key VKEY";

/// A self-hosted coordination server for AI agents, whose every act is in one signed log.
#[derive(Debug, Parser)]
#[command(
    name = "minutebook",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags that mean the same wherever they mean anything.
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
    Serve(Box<serve::ServeArgs>),
    /// Show the whole story once: talk, export, verify, tamper, verify
    Demo(demo::DemoArgs),
    /// Look at the log: one record, the newest, or all of it as a bundle
    #[command(
        subcommand,
        after_help = "Examples:\n  minutebook log tail\n  minutebook log show 42\n  \
        minutebook log export -o log.ndjson"
    )]
    Log(log::LogCommand),
    /// Show the state and the views at a moment of the past, or what changed between two
    Replay(replay::ReplayArgs),
    /// Find the first event after which something is true of a room
    Bisect(bisect::BisectArgs),
    /// Look after the read models: their generations, rebuilds and checks
    #[command(
        subcommand,
        after_help = "Examples:\n  minutebook projections status\n  minutebook projections check"
    )]
    Projections(projections::ProjectionsCommand),
    /// Issue, revoke and list API keys and rotate the log's own, without a server
    #[command(
        subcommand,
        after_help = "Examples:\n  minutebook keys list\n  \
        minutebook keys issue --label me --scope operator"
    )]
    Keys(keys::KeysCommand),
    /// Enrol, revoke and list agents' public keys, without a server
    #[command(subcommand, after_help = "Examples:\n  minutebook agents list")]
    Agents(agents::AgentsCommand),
    /// Sign a message as an agent, ready to be posted
    Sign(sign::SignArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    data_dir::make_private();
    let mut terminal = Terminal::of_process();
    run(std::env::args_os(), &mut terminal).into()
}

/// Runs a command line; the tests' way in.
pub fn run<I, T>(args: I, terminal: &mut Terminal<'_>) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let mut command = command();
    let cli = command
        .try_get_matches_from_mut(&args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match cli {
        Ok(cli) => cli,
        Err(error) => {
            let exit = terminal.clap(&error);
            if let Some(note) = env_note::of(&error, &command, &args) {
                terminal.note(&note);
            }
            return exit;
        }
    };
    match dispatch(&cli, terminal) {
        Ok(exit) => exit,
        Err(failure) => terminal.fail(&failure.with_route(route(&cli.command))),
    }
}

/// The command line, with the common flags shown only where they mean something.
fn command() -> clap::Command {
    let mut command = Cli::command();
    let common: Vec<clap::Arg> = command
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .cloned()
        .collect();
    for (name, meaningless) in [
        ("serve", &["json"][..]),
        ("demo", &["data"]),
        ("sign", &["data", "json"]),
        ("completions", &["data", "json"]),
    ] {
        for arg in common
            .iter()
            .filter(|arg| meaningless.contains(&arg.get_id().as_str()))
        {
            // A subcommand's own argument of that name stands for the common one.
            let hidden = arg.clone().hide(true).global(false);
            command = command.mut_subcommand(name, |sub| sub.arg(hidden));
        }
    }
    command
}

/// Where a running server gives what the command would, for when it holds the directory.
fn route(command: &Command) -> Option<String> {
    match command {
        Command::Log(command) => Some(command.route()),
        Command::Keys(command) => command.route(),
        Command::Agents(command) => Some(command.route()),
        Command::Replay(_) | Command::Bisect(_) => Some(
            "GET /api/log/bundle gives the log as it is now (replay works on a copy of the \
             directory)"
                .to_owned(),
        ),
        Command::Projections(_) => Some("GET /metrics gives the projections' positions".to_owned()),
        Command::Serve(_) | Command::Demo(_) | Command::Sign(_) | Command::Completions(_) => None,
    }
}

fn dispatch(cli: &Cli, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let global = &cli.global;
    match &cli.command {
        Command::Serve(args) => serve::run(args, global, terminal),
        Command::Demo(args) => demo::run(args, global, terminal),
        Command::Log(command) => log::run(command, global, terminal),
        Command::Replay(args) => replay::run(args, global, terminal),
        Command::Bisect(args) => bisect::run(args, global, terminal),
        Command::Projections(command) => projections::run(command, global, terminal),
        Command::Keys(command) => keys::run(command, global, terminal),
        Command::Agents(command) => agents::run(command, global, terminal),
        Command::Sign(args) => sign::run(args, terminal),
        Command::Completions(args) => completions::run(args, &mut self::command(), terminal),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        let mut root = super::command();
        root.build();
        let mut open = vec![root];
        while let Some(command) = open.pop() {
            // What clap generates below `help` is not ours, and looks as clap likes.
            let ours = |one: &&clap::Command| one.get_name() != "help";
            open.extend(command.get_subcommands().filter(ours).cloned());
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{}", command.get_name());
        }
    }

    #[test]
    fn common_flags_are_shown_where_they_mean_something_and_taken_everywhere() {
        let mut root = super::command();
        root.build();
        let shows = |name: &str, flag: &str| {
            let mut command = root.find_subcommand(name).unwrap().clone();
            command.render_long_help().to_string().contains(flag)
        };
        for name in [
            "serve",
            "log",
            "replay",
            "bisect",
            "projections",
            "keys",
            "agents",
        ] {
            assert!(shows(name, "--data"), "{name}");
        }
        for name in [
            "demo",
            "log",
            "replay",
            "bisect",
            "projections",
            "keys",
            "agents",
        ] {
            assert!(shows(name, "--json"), "{name}");
        }
        for (name, flag) in [
            ("serve", "--json "),
            ("demo", "--data "),
            ("sign", "--data "),
            ("sign", "--json "),
            ("completions", "--data "),
            ("completions", "--json "),
        ] {
            assert!(!shows(name, flag), "{name} {flag}");
        }
        for args in [
            &["minutebook", "--data", "x", "--json", "completions", "bash"][..],
            &["minutebook", "completions", "bash", "--json"],
            &["minutebook", "demo", "--data", "x"],
        ] {
            super::command().try_get_matches_from(args).unwrap();
        }
    }
}
