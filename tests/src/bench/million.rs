//! A million messages through the front door; then memory, start, export, verification, rebuild.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::post::{self, Load};
use super::{probe, process, report};
use crate::server::{Options, Server};

/// Fills a log and prints what it costs to live with.
pub fn run(options: &Options, folder: &Path, messages: u64) -> Result<()> {
    println!("fsync: {}", report::times(&probe::fsync(folder, 300)?));
    let data = folder.join("data");
    let vkey = fill(options, &data, messages)?;
    let started = Instant::now();
    let server = Server::start(options, &data)?;
    println!(
        "start after a clean stop: {:.2} s",
        started.elapsed().as_secs_f64()
    );
    let (rss, _) = process::memory_mib(server.pid())?;
    println!("memory after that start: {rss:.0} MiB");
    server.kill()?;
    let started = Instant::now();
    let server = Server::start(options, &data)?;
    println!(
        "start after SIGKILL: {:.2} s",
        started.elapsed().as_secs_f64()
    );
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    let bundle = folder.join("log.ndjson");
    let data = data.to_str().context("path")?;
    offline(
        options,
        &[
            "log",
            "export",
            "--data",
            data,
            "-o",
            bundle.to_str().context("path")?,
        ],
    )?;
    println!("bundle: {} MiB", std::fs::metadata(&bundle)?.len() >> 20);
    verify(&bundle, &vkey, messages)?;
    offline(options, &["projections", "rebuild", "--data", data])
}

fn fill(options: &Options, data: &Path, messages: u64) -> Result<String> {
    let server = Server::start(options, data)?;
    let rooms = (0..100)
        .map(|n| server.open_room(&format!("room {n}")))
        .collect::<Result<Vec<_>>>()?;
    let load = Load {
        connections: 64,
        rooms: 100,
        seconds: 3600,
        bytes: 200,
        messages: Some(messages),
    };
    let outcome = post::drive(server.http, &rooms, &load)?;
    println!(
        "{} messages in {:.0} s; {}",
        outcome.acks,
        outcome.seconds,
        report::times(&outcome.latency)
    );
    let (rss, peak) = process::memory_mib(server.pid())?;
    println!("memory after them: {rss:.0} MiB now, {peak:.0} MiB at most");
    let key = server.json("GET", "/api/arbiter/pubkey", None)?.json();
    ensure!(
        server.terminate()?.success(),
        "the server did not stop cleanly"
    );
    Ok(key["vkey"].as_str().context("vkey")?.to_owned())
}

fn offline(options: &Options, args: &[&str]) -> Result<()> {
    let started = Instant::now();
    let output = Command::new(&options.program).args(args).output()?;
    ensure!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    println!(
        "{}: {:.2} s",
        args[..2].join(" "),
        started.elapsed().as_secs_f64()
    );
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// In a process of its own, for its memory.
fn verify(bundle: &Path, vkey: &str, messages: u64) -> Result<()> {
    for threads in ["1", "2"] {
        let started = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .args(["verify-child", threads, vkey])
            .arg(bundle)
            .spawn()?;
        ensure!(child.wait()?.success(), "the verifier did not say CLEAN");
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = messages as f64 / started.elapsed().as_secs_f64();
        println!("verify, {threads} thread(s): {rate:.0} events/s of wall time");
    }
    Ok(())
}

/// The child: verifies, then prints its own CPU time and memory.
pub fn verify_child(threads: usize, vkey: &str, bundle: &Path) -> Result<()> {
    use minutebook_verifier::{Options, Policy, Verdict};
    let options = Options {
        threads,
        ..Options::default()
    };
    let file = std::fs::File::open(bundle)?;
    let report = minutebook_verifier::verify(file, &Policy::of_key(vkey)?, options)?.report;
    ensure!(report.verdict == Verdict::Clean, "{}", report.explanation);
    let pid = std::process::id();
    let (cpu, (_, peak)) = (process::cpu_seconds(pid)?, process::memory_mib(pid)?);
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = report.size as f64 / cpu;
    println!("  {rate:.0} events per CPU second, {peak:.0} MiB at most");
    Ok(())
}
