//! `minutebook serve`: the engine and its doors, until told to stop.
//!
//! The order of stopping: the doors close and finish what they have, event streams with a closing
//! event; then the engine commits what it accepted and saves its state; reads that still run then
//! are left behind.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::BoolishValueParser;
use ipnet::IpNet;
use minutebook_eventlog::format::key::SigningKey;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::arbiter_args::ArbiterArgs;
use super::{Exit, Failure, Global, Terminal, data_dir};
use crate::engine::{self, Handle, Health};
use crate::http::{ConfigError, HttpConfig, PublicUrl, Server};

/// How long callers are told that the log failed, before the process stops.
const FAILED_GRACE: Duration = Duration::from_secs(2);

/// How long reads that nobody waits for may still run when the process stops.
const READS_GRACE: Duration = Duration::from_millis(500);

/// Most threads for reads that may wait for the disk. Each keeps memory of its own.
const BLOCKING_THREADS_MAX: usize = 64;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
When it accepts connections it prints one line on stdout: ready {\"http\":\"http://127.0.0.1:8787\"}
Everything else goes to stderr. SIGTERM or Ctrl-C stops it within 5 seconds.
A directory that others may write to is refused; what is made there is for its owner alone.

Examples:
  minutebook serve
  minutebook serve --data /srv/minutebook --http 127.0.0.1:0 --log-format json
  minutebook serve --http 0.0.0.0:8787 --require-key --trusted-proxy 10.0.0.0/8
  minutebook serve --require-key --trusted-proxy 127.0.0.1/32 --public-url https://example.org
  minutebook serve --arbiter-url https://host/v1 --arbiter-model NAME --arbiter-key-file key")]
pub(crate) struct ServeArgs {
    /// Where to listen for HTTP; port 0 takes a free one
    #[arg(
        long,
        env = "MINUTEBOOK_HTTP",
        default_value = "127.0.0.1:8787",
        value_name = "ADDR",
        value_parser = address
    )]
    http: SocketAddr,
    /// The log's origin line, for a new log [default: a random one]
    #[arg(long, env = "MINUTEBOOK_ORIGIN", value_name = "NAME", value_parser = origin)]
    origin: Option<String>,
    /// The arbiter's key, 32 raw bytes, mode 600; made if missing [default: DIR/arbiter.key]
    #[arg(long, env = "MINUTEBOOK_ARBITER_KEY", value_name = "FILE")]
    arbiter_key: Option<PathBuf>,
    /// Ask every caller for an API key (see minutebook keys issue)
    #[arg(long, env = "MINUTEBOOK_REQUIRE_KEY", value_parser = BoolishValueParser::new())]
    require_key: bool,
    /// Let anybody who reaches the address read and write without a key
    #[arg(long, env = "MINUTEBOOK_OPEN", value_parser = BoolishValueParser::new())]
    open: bool,
    /// How to write the server's own log to stderr
    #[arg(
        long,
        env = "MINUTEBOOK_LOG_FORMAT",
        value_enum,
        default_value = "text"
    )]
    log_format: LogFormat,
    /// Rooms an address may open in an hour; 0 lifts the limit
    #[arg(
        long,
        env = "MINUTEBOOK_ROOMS_PER_HOUR",
        default_value_t = 10,
        value_name = "N"
    )]
    rooms_per_hour: u32,
    /// Skills an address may upload in an hour; 0 lifts the limit
    #[arg(
        long,
        env = "MINUTEBOOK_SKILLS_PER_HOUR",
        default_value_t = 10,
        value_name = "N"
    )]
    skills_per_hour: u32,
    /// Refreshes of contexts an address may ask for in an hour; 0 lifts the limit
    #[arg(
        long,
        env = "MINUTEBOOK_REFRESHES_PER_HOUR",
        default_value_t = 60,
        value_name = "N"
    )]
    refreshes_per_hour: u32,
    /// Messages a room opened over REST takes; 0 lifts the limit
    #[arg(
        long,
        env = "MINUTEBOOK_MESSAGES_PER_ROOM",
        default_value_t = 1000,
        value_name = "N"
    )]
    messages_per_room: u64,
    /// A proxy whose X-Forwarded-For counts; may be given several times
    #[arg(
        long,
        env = "MINUTEBOOK_TRUSTED_PROXY",
        value_delimiter = ',',
        value_name = "CIDR"
    )]
    trusted_proxy: Vec<IpNet>,
    /// What addresses in answers and documents begin with, when a proxy speaks HTTPS before this
    /// server [default: http:// and the Host of the request]
    #[arg(long, env = "MINUTEBOOK_PUBLIC_URL", value_name = "URL")]
    public_url: Option<PublicUrl>,
    /// Start although the head file is missing: events lost before this go unnoticed
    #[arg(long)]
    accept_missing_head: bool,
    // Last, because what follows would stand under its heading.
    #[command(flatten)]
    arbiter: ArbiterArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

pub(crate) fn run(
    args: &ServeArgs,
    global: &Global,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    start_logging(args.log_format);
    if args.open && args.require_key {
        let text = "--open and --require-key contradict each other (each may come from its \
                    MINUTEBOOK_ variable)";
        return Err(Failure::usage(text));
    }
    let data = global.data()?;
    let config = args.http_config(data.join("skills"))?;
    // Before the directory is touched: a refusal must not leave a log behind.
    config.check().map_err(Failure::usage)?;
    check_address(config.listen, &data)?;
    data_dir::check(&data, terminal)?;
    let (handle, running) = engine::start(&args.engine_options(data))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .map_err(Failure::error)?;
    let served = runtime.block_on(serve(config, &handle, terminal));
    handle.stop();
    let ended = running.join();
    end(runtime);
    let ended = ended.map_err(|_| Failure::error("the writer panicked"))?;
    served?;
    ended.map_err(|fatal| Failure::error(format!("{fatal}; start again to recover")))?;
    Ok(Exit::Ok)
}

/// Where to listen, on the command line.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // No other name is looked up: what a name server answers must not decide who can reach us.
    let local = text.strip_prefix("localhost:").map(str::parse);
    if let Some(Ok(port)) = local {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    Err("it takes IP:PORT, [IPV6]:PORT or localhost:PORT, as 127.0.0.1:8787".to_owned())
}

/// A log's name, on the command line: what a key may be called.
fn origin(text: &str) -> Result<String, String> {
    match SigningKey::from_seed(text, [1; 32]) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("a log's origin is the name of its key: {error}")),
    }
}

/// Tries the address, so that one that is not ours leaves no directory behind. One in use may be
/// this directory's own server: who opens the directory can say so better, if it is there.
fn check_address(listen: SocketAddr, data: &Path) -> Result<(), Failure> {
    match TcpListener::bind(listen) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && data.exists() => Ok(()),
        Ok(_) => Ok(()),
        Err(source) => {
            let exit = if source.kind() == io::ErrorKind::AddrNotAvailable {
                Exit::Usage
            } else {
                Exit::Error
            };
            Err(Failure::new(exit, ConfigError::Listen { listen, source }))
        }
    }
}

/// Ends the threads. A long read that still runs has nobody left to answer and is not waited for,
/// as dropping the runtime would.
fn end(runtime: Runtime) {
    runtime.shutdown_timeout(READS_GRACE);
}

impl ServeArgs {
    /// `skills`: where their bytes are.
    fn http_config(&self, skills: PathBuf) -> Result<HttpConfig, Failure> {
        Ok(HttpConfig {
            require_key: self.require_key,
            open: self.open,
            rooms_per_hour: self.rooms_per_hour,
            skills_per_hour: self.skills_per_hour,
            skills: Some(skills),
            refreshes_per_hour: self.refreshes_per_hour,
            arbiter: self.arbiter.config()?,
            messages_per_room: self.messages_per_room,
            trusted_proxies: self.trusted_proxy.clone(),
            public_url: self.public_url.clone(),
            ..HttpConfig::new(self.http)
        })
    }

    fn engine_options(&self, data: PathBuf) -> engine::Options {
        let store = minutebook_eventlog::store::fjall::Options {
            accept_missing_head: self.accept_missing_head,
            ..Default::default()
        };
        let (origin, arbiter_key) = (self.origin.clone(), self.arbiter_key.clone());
        engine::Options {
            data,
            origin,
            arbiter_key,
            store,
        }
    }
}

/// Serves until a signal comes or the log fails.
async fn serve(
    config: HttpConfig,
    handle: &Handle,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let (stop, stopping) = watch::channel(false);
    let server = Server::bind(config, handle.clone(), stopping)
        .await
        .map_err(Failure::error)?;
    let url = format!("http://{}", server.local_addr());
    terminal.line(&format!("ready {}", serde_json::json!({ "http": url })))?;
    terminal.flush()?;
    tracing::info!(%url, origin = handle.origin(), vkey = handle.vkey().vkey(), "ready");
    let serving = tokio::spawn(server.run());
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "stopping"),
        () = failed(handle) => tokio::time::sleep(FAILED_GRACE).await,
    }
    stop.send_replace(true);
    serving
        .await
        .map_err(|error| Failure::error(format!("the HTTP server ended: {error}")))
}

/// Returns when the log cannot be written any more.
async fn failed(handle: &Handle) {
    let mut health = handle.health();
    let has_failed = |health: &Health| matches!(health, Health::Failed(_));
    if let Ok(health) = health.wait_for(has_failed).await {
        tracing::error!(?health, "the log cannot be written; stopping");
    }
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(Failure::error);
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

fn start_logging(format: LogFormat) {
    // lsm_tree warns of each old table that a reader still held when it was dropped.
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info,fjall=warn,lsm_tree=error"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_coloured(
            std::io::stderr().is_terminal(),
            std::env::var_os("NO_COLOR").as_deref(),
        ));
    // A second logger in one process, as in tests, keeps the first.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Colours are for people at a terminal who did not ask for none (<https://no-color.org>).
fn is_coloured(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_address_is_a_number_or_localhost() {
        for (text, read) in [
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:8787", "[::1]:8787"),
            ("localhost:8787", "127.0.0.1:8787"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), read);
        }
        for text in [
            "",
            "8787",
            ":8787",
            "localhost",
            "localhost:x",
            "localhost:65536",
            "a.b:1",
        ] {
            let error = address(text).unwrap_err();
            assert!(error.contains("localhost:PORT"), "{text}: {error}");
        }
    }

    #[test]
    fn colours_are_for_terminals_where_nobody_asked_for_none() {
        assert!(is_coloured(true, None));
        assert!(is_coloured(true, Some(OsStr::new(""))));
        assert!(!is_coloured(true, Some(OsStr::new("1"))));
        assert!(!is_coloured(false, None));
    }

    #[test]
    fn a_read_that_does_not_end_does_not_keep_the_process() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let (started, running) = mpsc::channel();
        let (let_go, held) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || {
            started.send(()).unwrap();
            // Ends when the test does; a wait for it would never.
            held.recv().ok();
        });
        running.recv().unwrap();
        let before = Instant::now();
        end(runtime);
        assert!(before.elapsed() < Duration::from_secs(5));
        drop(let_go);
    }
}
