//! Which models read rooms, on the command line of `serve`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;

use super::Failure;
use crate::models::Endpoint;
use crate::policies::arbiter::ArbiterConfig;

/// Largest key file, in bytes.
const KEY_BYTES_MAX: u64 = 16 * 1024;

/// Where the keys themselves may be. Not flags: other processes can see those. And not
/// `MINUTEBOOK_ARBITER_KEY`, which names the file of the log's own key.
const KEY_VARIABLE: &str = "MINUTEBOOK_ARBITER_API_KEY";
const FALLBACK_KEY_VARIABLE: &str = "MINUTEBOOK_ARBITER_FALLBACK_API_KEY";

/// The flags.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Who reads rooms for the arbiter")]
pub(super) struct ArbiterArgs {
    /// rules: built-in patterns of English, without a network; model: the one at --arbiter-url;
    /// off: nobody [default: model with --arbiter-url, else rules]
    #[arg(long, env = "MINUTEBOOK_ARBITER", value_enum, value_name = "HOW")]
    arbiter: Option<How>,
    /// A server that speaks the OpenAI chat completions protocol: its base address
    #[arg(long, env = "MINUTEBOOK_ARBITER_URL", value_name = "URL")]
    arbiter_url: Option<Url>,
    /// The model to ask there
    #[arg(long, env = "MINUTEBOOK_ARBITER_MODEL", value_name = "NAME")]
    arbiter_model: Option<String>,
    /// A file with the key for it (or the key itself in `MINUTEBOOK_ARBITER_API_KEY`)
    #[arg(long, env = "MINUTEBOOK_ARBITER_KEY_FILE", value_name = "FILE")]
    arbiter_key_file: Option<PathBuf>,
    /// Seconds an answer may take
    #[arg(
        long,
        env = "MINUTEBOOK_ARBITER_TIMEOUT",
        default_value_t = 150,
        value_parser = clap::value_parser!(u64).range(1..=3600),
        value_name = "SECONDS"
    )]
    arbiter_timeout: u64,
    /// A second server, asked when the first cannot answer
    #[arg(long, env = "MINUTEBOOK_ARBITER_FALLBACK_URL", value_name = "URL")]
    arbiter_fallback_url: Option<Url>,
    /// The model to ask there
    #[arg(
        long,
        env = "MINUTEBOOK_ARBITER_FALLBACK_MODEL",
        value_name = "NAME",
        requires = "arbiter_fallback_url"
    )]
    arbiter_fallback_model: Option<String>,
    /// A file with the key for it (or itself in `MINUTEBOOK_ARBITER_FALLBACK_API_KEY`)
    #[arg(
        long,
        env = "MINUTEBOOK_ARBITER_FALLBACK_KEY_FILE",
        value_name = "FILE",
        requires = "arbiter_fallback_url"
    )]
    arbiter_fallback_key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum How {
    Rules,
    Model,
    Off,
}

/// One of the two servers, as given.
struct Given<'a> {
    url: &'a Option<Url>,
    model: &'a Option<String>,
    key_file: &'a Option<PathBuf>,
    key_variable: &'static str,
    flag: &'static str,
}

impl ArbiterArgs {
    pub(super) fn config(&self) -> Result<ArbiterConfig, Failure> {
        let is_half = self.arbiter_url.is_none()
            && (self.arbiter_model.is_some()
                || self.arbiter_key_file.is_some()
                || self.arbiter_fallback_url.is_some());
        if is_half && self.arbiter != Some(How::Off) {
            return Err(Failure::usage(
                "--arbiter-model, --arbiter-key-file and --arbiter-fallback-url go with \
                 --arbiter-url (each may come from its MINUTEBOOK_ variable)",
            ));
        }
        match (self.arbiter, &self.arbiter_url) {
            (Some(How::Off), _) => Ok(ArbiterConfig::Off),
            (Some(How::Rules), _) | (None, None) => Ok(ArbiterConfig::Rules),
            (Some(How::Model), None) => Err(Failure::usage(
                "--arbiter model needs --arbiter-url, as https://host/v1, and --arbiter-model",
            )),
            (Some(How::Model) | None, Some(_)) => {
                let first = self.endpoint(&Given {
                    url: &self.arbiter_url,
                    model: &self.arbiter_model,
                    key_file: &self.arbiter_key_file,
                    key_variable: KEY_VARIABLE,
                    flag: "--arbiter",
                })?;
                let second = self.endpoint(&Given {
                    url: &self.arbiter_fallback_url,
                    model: &self.arbiter_fallback_model,
                    key_file: &self.arbiter_fallback_key_file,
                    key_variable: FALLBACK_KEY_VARIABLE,
                    flag: "--arbiter-fallback",
                })?;
                Ok(ArbiterConfig::Models(
                    [first, second].into_iter().flatten().collect(),
                ))
            }
        }
    }

    fn endpoint(&self, given: &Given<'_>) -> Result<Option<Endpoint>, Failure> {
        let Some(url) = given.url else {
            return Ok(None);
        };
        let flag = given.flag;
        let model = given.model.clone().ok_or_else(|| {
            Failure::usage(format!(
                "{flag}-url needs {flag}-model: the name of the model there"
            ))
        })?;
        let key = match given.key_file {
            Some(file) => Some(key_of(file)?),
            None => std::env::var(given.key_variable)
                .ok()
                .filter(|key| !key.is_empty()),
        };
        Ok(Some(Endpoint {
            url: url.clone(),
            model,
            key,
            timeout: Duration::from_secs(self.arbiter_timeout),
        }))
    }
}

fn key_of(file: &Path) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("the arbiter's key in {}: {why}", file.display()))
    };
    let size = std::fs::metadata(file)
        .map_err(|error| failed(&error))?
        .len();
    if size > KEY_BYTES_MAX {
        return Err(failed(&format!("longer than {KEY_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    match text.trim() {
        "" => Err(failed(&"it is empty")),
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::super::serve::ServeArgs;
    use super::*;

    fn config(arguments: &[&str]) -> Result<ArbiterConfig, Failure> {
        let command = ArbiterArgs::augment_args(Command::new("serve").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).unwrap();
        ArbiterArgs::from_arg_matches(&matches).unwrap().config()
    }

    /// A model's key in a flag's variable would be taken for that flag's value, and shown with it;
    /// the path of the log's own key would be sent to a model's server.
    #[test]
    fn no_variable_holds_both_a_models_key_and_something_else() {
        let command = ServeArgs::augment_args(Command::new("serve"));
        let flags: Vec<_> = command
            .get_arguments()
            .filter_map(|flag| flag.get_env())
            .collect();
        assert!(flags.iter().any(|name| *name == "MINUTEBOOK_ARBITER_KEY"));
        for secret in [KEY_VARIABLE, FALLBACK_KEY_VARIABLE] {
            assert!(flags.iter().all(|name| *name != secret), "{secret}");
        }
    }

    #[test]
    fn an_address_asks_for_a_model_and_nothing_for_patterns() {
        assert!(matches!(config(&[]), Ok(ArbiterConfig::Rules)));
        assert!(matches!(
            config(&["--arbiter", "off"]),
            Ok(ArbiterConfig::Off)
        ));
        let url = ["--arbiter-url", "http://127.0.0.1:1/v1"];
        let refused = config(&url).unwrap_err().message;
        assert!(refused.contains("--arbiter-model"), "{refused}");
        let refused = config(&["--arbiter", "model"]).unwrap_err().message;
        assert!(refused.contains("--arbiter-url"), "{refused}");
        let off = [&url[..], &["--arbiter", "off"]].concat();
        assert!(
            matches!(config(&off), Ok(ArbiterConfig::Off)),
            "it stays off"
        );
    }

    #[test]
    fn a_key_file_holds_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        assert!(key_of(&file).is_err(), "there is none");
        std::fs::write(&file, " \n").unwrap();
        assert!(key_of(&file).is_err(), "it is empty");
        std::fs::write(&file, "sk-hush\n").unwrap();
        assert_eq!(key_of(&file).unwrap(), "sk-hush");
    }
}
