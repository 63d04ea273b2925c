//! Naming the variable that a refused value came from: clap names the flag, which nobody typed.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

/// What to add to clap's error, if the value is a variable's.
pub(super) fn of(
    error: &clap::Error,
    command: &clap::Command,
    args: &[OsString],
) -> Option<String> {
    note(error, command, args, |name| {
        std::env::var_os(name).is_some()
    })
}

fn note(
    error: &clap::Error,
    command: &clap::Command,
    args: &[OsString],
    is_set: impl Fn(&str) -> bool,
) -> Option<String> {
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut command = command.clone();
    command.build();
    let all = std::iter::once(&command).chain(command.get_subcommands());
    let all = all.chain(
        command
            .get_subcommands()
            .flat_map(clap::Command::get_subcommands),
    );
    let arg = all
        .flat_map(clap::Command::get_arguments)
        .find(|arg| arg.get_env().is_some() && arg.to_string() == *refused)?;
    let flag = format!("--{}", arg.get_long()?);
    let is_typed = args.iter().filter_map(|arg| arg.to_str()).any(|typed| {
        typed
            .strip_prefix(&flag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    let variable = arg.get_env()?.to_str()?;
    (!is_typed && is_set(variable))
        .then(|| format!("minutebook: the value comes from the environment variable {variable}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_from_a_variable_is_said_to_be_one() {
        let args: Vec<OsString> = ["minutebook", "serve", "--http", "nonsense"]
            .map(Into::into)
            .to_vec();
        let mut command = super::super::command();
        let error = command.try_get_matches_from_mut(&args).unwrap_err();
        let typed = note(&error, &command, &args, |_| true);
        assert_eq!(typed, None, "it was typed");
        let unset = note(&error, &command, &args[..2], |_| false);
        assert_eq!(unset, None, "no variable is set");
        let told = note(&error, &command, &args[..2], |name| {
            name == "MINUTEBOOK_HTTP"
        });
        assert!(told.unwrap().ends_with("MINUTEBOOK_HTTP"));
    }
}
