//! What the HTTP server can be told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::public_url::PublicUrl;
use crate::models::openai::EndpointError;
use crate::policies::arbiter::ArbiterConfig;

/// Settings of the server; the command line's flags map onto it one to one.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Where to listen (`--http`). Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether every caller needs an API key (`--require-key`).
    pub require_key: bool,
    /// Whether callers without a key may come from other machines (`--open`).
    pub open: bool,
    /// Rooms an address may open in an hour (`--rooms-per-hour`); 0 lifts it.
    pub rooms_per_hour: u32,
    /// Skills an address may upload in an hour (`--skills-per-hour`); 0 lifts it.
    pub skills_per_hour: u32,
    /// Where the bytes of shared skills are kept; none: there are no skills here.
    pub skills: Option<PathBuf>,
    /// Refreshes of contexts an address may have in an hour (`--refreshes-per-hour`); 0 lifts it.
    pub refreshes_per_hour: u32,
    /// Who reads rooms for the arbiter (`--arbiter…`).
    pub arbiter: ArbiterConfig,
    /// Messages a room opened over REST takes (`--messages-per-room`); 0 lifts it.
    pub messages_per_room: u64,
    /// Whose forwarded addresses count (`--trusted-proxy`).
    pub trusted_proxies: Vec<IpNet>,
    /// What addresses in answers begin with (`--public-url`); none: the request's `Host`.
    pub public_url: Option<PublicUrl>,
    /// Bounds that are not flags.
    pub bounds: HttpBounds,
}

/// Bounds that protect the server; changed in tests only.
#[derive(Clone, Debug)]
pub struct HttpBounds {
    /// Largest request body, in bytes.
    pub body_bytes_max: usize,
    /// Most bytes of request bodies at a time, all connections together.
    pub bodies_bytes_max: usize,
    /// Most bytes of answers that nobody has taken yet, all connections together.
    pub answers_bytes_max: usize,
    /// How long a request's headers, and then its body, may take; also how long a connection may
    /// be idle.
    pub request_within: Duration,
    /// How long a write may wait for a peer that does not read.
    pub write_within: Duration,
    /// Most connections at a time.
    pub connections_max: usize,
    /// Most event streams and exports at a time, so that they cannot use up the connections.
    pub streams_max: usize,
    /// How long a verification waits for its turn.
    pub verification_turn_within: Duration,
    /// How long a stopping server waits for its connections.
    pub drain_within: Duration,
    /// Time between comments on an idle event stream.
    pub heartbeat_every: Duration,
    /// Time between checkpoints on an event stream.
    pub checkpoint_every: Duration,
}

impl Default for HttpBounds {
    fn default() -> Self {
        Self {
            body_bytes_max: 1 << 20,
            bodies_bytes_max: 64 << 20,
            answers_bytes_max: 128 << 20,
            request_within: Duration::from_secs(30),
            write_within: Duration::from_mins(1),
            connections_max: 8192,
            streams_max: 4096,
            verification_turn_within: Duration::from_secs(10),
            drain_within: Duration::from_secs(3),
            heartbeat_every: Duration::from_secs(15),
            checkpoint_every: Duration::from_mins(1),
        }
    }
}

impl HttpConfig {
    /// The defaults, on this address.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            require_key: false,
            open: false,
            rooms_per_hour: 10,
            skills_per_hour: 10,
            skills: None,
            refreshes_per_hour: 60,
            arbiter: ArbiterConfig::default(),
            messages_per_room: 1000,
            trusted_proxies: Vec::new(),
            public_url: None,
            bounds: HttpBounds::default(),
        }
    }

    /// Whether it is safe to listen (on loopback, or with keys, or open on purpose), and whether
    /// the arbiter's models can be asked.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.arbiter.check()?;
        if self.listen.ip().to_canonical().is_loopback() || self.require_key || self.open {
            return Ok(());
        }
        Err(ConfigError::OpenToTheNetwork {
            listen: self.listen,
        })
    }
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Anybody on the network could act without a key.
    #[error(
        "{listen} can be reached from other machines: add --require-key so that callers need an \
         API key, or --open if anybody may read and write"
    )]
    OpenToTheNetwork {
        /// The address asked for.
        listen: SocketAddr,
    },
    /// The bytes of shared skills cannot be reached.
    #[error("the shared skills in {}: {reason}", dir.display())]
    Skills {
        /// Their directory.
        dir: PathBuf,
        /// Why.
        reason: String,
    },
    /// The arbiter's model cannot be asked.
    #[error(transparent)]
    Arbiter(#[from] EndpointError),
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The address asked for.
        listen: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_are_let_in_on_purpose_only() {
        let config = |listen: &str| HttpConfig::new(listen.parse().unwrap());
        for local in [
            "127.0.0.1:0",
            "127.9.9.9:1",
            "[::1]:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(config(local).check().is_ok(), "{local}");
        }
        for public in ["0.0.0.0:1", "[::]:1", "192.168.1.1:1"] {
            let text = config(public).check().unwrap_err().to_string();
            assert!(
                text.contains("--require-key") && text.contains("--open"),
                "{text}"
            );
            assert!(
                HttpConfig {
                    require_key: true,
                    ..config(public)
                }
                .check()
                .is_ok()
            );
            assert!(
                HttpConfig {
                    open: true,
                    ..config(public)
                }
                .check()
                .is_ok()
            );
        }
    }
}
