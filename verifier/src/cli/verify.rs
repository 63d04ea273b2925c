//! `minutebook-verify BUNDLE`.

use std::{
    fs::{self, File},
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use minutebook_verifier::{
    Anchor, Options, OutsideReceipt, Policy, Progress, Saved, Tool, render::render,
    selftest::Vector, verify,
};
use sha2::{Digest as _, Sha256};

use super::{
    Usage,
    args::{TrustArgs, VerifyArgs},
    open, print, read_small,
};

/// Longest policy, checkpoint or receipt file read.
const SMALL_BYTES_MAX: usize = 1 << 20;
/// Bytes of a log's secret key file.
const SEED_BYTES: usize = 32;
/// Shorter runs show no progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

pub(super) fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    if args.selftest {
        return selftest();
    }
    let Some(bundle) = &args.bundle else {
        return Err(Usage("no bundle was given".to_owned()).into());
    };
    let policy = policy(&args.trust)?;
    let state = args.state.as_deref().map(load_state).transpose()?.flatten();
    let threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let (source, size) = open(bundle)?;
    let mut meter = Meter::new(size);
    let mut show = |progress| meter.show(progress);
    let options = Options {
        anchors: anchors(&args.anchor)?,
        receipts: receipts(&args.receipt)?,
        keep_state: args.state.is_some(),
        state,
        threads,
        tool: tool(),
        progress: Some(&mut show),
        ..Options::default()
    };
    let outcome = verify(source, &policy, options);
    meter.clear();
    let outcome = outcome.with_context(|| bundle.display().to_string())?;
    if let (Some(path), Some(state)) = (&args.state, &outcome.state) {
        save_state(path, state)?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&outcome.report)? + "\n"))?;
    } else if !args.quiet {
        print(&render(&outcome.report))?;
    }
    Ok(outcome.report.exit)
}

/// The policy that the arguments name.
pub(super) fn policy(args: &TrustArgs) -> anyhow::Result<Policy> {
    match (&args.key, &args.policy) {
        (Some(key), None) => of_key(key),
        (None, Some(path)) => {
            let file = read_small(path, SMALL_BYTES_MAX)?;
            Policy::parse(&file).with_context(|| path.display().to_string())
        }
        _ => {
            let text = "say whom to trust: --key VKEY or --policy FILE (the operator publishes \
                        the log's key; a server shows it at /api/arbiter/pubkey)";
            Err(Usage(text.to_owned()).into())
        }
    }
}

/// The policy of one key: the argument itself, or the file it names.
fn of_key(key: &str) -> anyhow::Result<Policy> {
    let refused = match Policy::of_key(key) {
        Ok(policy) => return Ok(policy),
        Err(refused) => refused,
    };
    let path = Path::new(key);
    if !path.is_file() {
        let missing = if path.exists() {
            "it is not a file either"
        } else {
            "there is no such file either"
        };
        let text = format!(
            "{refused}, and {missing}: {key}. --key takes a vkey, NAME+ID+KEY, or a file that \
             holds one"
        );
        return Err(Usage(text).into());
    }
    let file = read_small(path, SMALL_BYTES_MAX)?;
    if file.len() == SEED_BYTES {
        let text = format!(
            "{key} looks like a secret key, which signs; --key takes the public vkey (a server \
             shows it at /api/arbiter/pubkey)"
        );
        return Err(Usage(text).into());
    }
    let text = String::from_utf8_lossy(&file);
    Policy::of_key(text.trim()).with_context(|| {
        format!("{key} does not hold one vkey and nothing else (a policy goes with --policy)")
    })
}

fn anchors(paths: &[PathBuf]) -> anyhow::Result<Vec<Anchor>> {
    let read = |path: &PathBuf| {
        let file = read_small(path, SMALL_BYTES_MAX)?;
        Ok(Anchor::parse(&path.display().to_string(), &file)?)
    };
    paths.iter().map(read).collect()
}

fn receipts(paths: &[PathBuf]) -> anyhow::Result<Vec<OutsideReceipt>> {
    let read = |path: &PathBuf| {
        let file = read_small(path, SMALL_BYTES_MAX)?;
        Ok(OutsideReceipt::parse(&path.display().to_string(), &file)?)
    };
    paths.iter().map(read).collect()
}

/// The saved state; none when there is no file yet.
fn load_state(path: &Path) -> anyhow::Result<Option<Saved>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot open {}", path.display())),
        Ok(file) => {
            let saved = Saved::read(file).with_context(|| path.display().to_string())?;
            Ok(Some(saved))
        }
    }
}

/// Replaces the file at once, so that a crash leaves the old one or the new one.
fn save_state(path: &Path, state: &Saved) -> anyhow::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let write = || -> anyhow::Result<()> {
        let mut file = File::create(&fresh)?;
        file.write_all(&state.to_bytes()?)?;
        file.sync_all()?;
        Ok(fs::rename(&fresh, path)?)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// This program, with the hash of its file.
fn tool() -> Tool {
    let hash = || -> io::Result<String> {
        let mut file = File::open(std::env::current_exe()?)?;
        let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(format!("sha256:{}", hex::encode(hasher.finalize()))),
                read => hasher.update(buffer.get(..read).unwrap_or_default()),
            }
        }
    };
    Tool {
        name: "minutebook-verify".to_owned(),
        binary_hash: hash().ok(),
        ..Tool::default()
    }
}

fn selftest() -> anyhow::Result<u8> {
    let mut failed = 0;
    for vector in Vector::ALL {
        let holds = vector.holds();
        failed += u8::from(!holds);
        let verdict = if holds { "ok    " } else { "FAILED" };
        print(&format!("{verdict} {}\n", vector.name))?;
    }
    let tool = tool();
    let hash = tool.binary_hash.unwrap_or_default();
    print(&format!("{} {} {hash}\n", tool.name, tool.version))?;
    Ok(u8::from(failed > 0))
}

/// Progress on standard error, when somebody looks at it.
struct Meter {
    size: Option<u64>,
    started: Instant,
    shown: Option<Instant>,
    enabled: bool,
}

impl Meter {
    fn new(size: Option<u64>) -> Self {
        Self {
            size,
            started: Instant::now(),
            shown: None,
            enabled: io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, progress: Progress) {
        const EVERY: Duration = Duration::from_millis(200);
        let elapsed = self.started.elapsed();
        let fresh = self.shown.is_some_and(|shown| shown.elapsed() < EVERY);
        if !self.enabled || elapsed < PROGRESS_AFTER || fresh {
            return;
        }
        self.shown = Some(Instant::now());
        let rate =
            progress.records * 1_000 / u64::try_from(elapsed.as_millis()).unwrap_or(1).max(1);
        let percent = match self.size {
            Some(size) if size > 0 => format!("{} %, ", progress.bytes * 100 / size),
            _ => String::new(),
        };
        // A terminal that cannot be written to is no reason to stop.
        let _ = write!(
            io::stderr(),
            "\r{percent}{} records, {rate} per second\x1b[K",
            progress.records
        );
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
