//! The real server as a child process on a temporary directory and a free port.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::http::{Answer, Connection};

/// How to start it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its leading arguments.
    pub program: PathBuf,
    /// Arguments before `serve`.
    pub leading: Vec<String>,
    /// Arguments after `serve --data … --http …`.
    pub args: Vec<String>,
    /// Where it is to listen; a free port when none is named.
    pub http: Option<String>,
}

/// A running server. Killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub http: SocketAddr,
    data: PathBuf,
}

impl Server {
    /// Starts it on this data directory and waits for its ready line.
    pub fn start(options: &Options, data: &Path) -> Result<Self> {
        let mut child = Command::new(&options.program)
            .args(&options.leading)
            .arg("serve")
            .arg("--data")
            .arg(data)
            .args(["--http", options.http.as_deref().unwrap_or("127.0.0.1:0")])
            .args(&options.args)
            .env_remove("RUST_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("start {}", options.program.display()))?;
        let stdout = child.stdout.take().context("stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(ready) = line.strip_prefix("ready ") else {
            let _ = child.kill();
            bail!("no ready line but {line:?}, exit {:?}", child.wait());
        };
        let ready: Value = serde_json::from_str(ready).context("ready line")?;
        let url = ready
            .get("http")
            .and_then(Value::as_str)
            .context("http in the ready line")?;
        let http = url.strip_prefix("http://").context("http URL")?.parse()?;
        Ok(Self {
            child,
            http,
            data: data.to_owned(),
        })
    }

    /// The data directory.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A fresh connection.
    pub fn connect(&self) -> Result<Connection> {
        Connection::open(self.http)
    }

    /// One request on a fresh connection, JSON in and out.
    pub fn json(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer> {
        let bytes = body.map(serde_json::to_vec).transpose()?;
        let headers = [("content-type", "application/json")];
        self.connect()?
            .send(method, path, &headers, bytes.as_deref())
    }

    /// Opens a room and returns its UUID.
    pub fn open_room(&self, description: &str) -> Result<String> {
        let body = serde_json::json!({ "description": description, "is_public": true });
        let answer = self.json("POST", "/api/rooms", Some(&body))?;
        ensure!(
            answer.status == 201,
            "open room: {} {}",
            answer.status,
            answer.text()
        );
        Ok(answer.json()["uuid"].as_str().context("uuid")?.to_owned())
    }

    /// Posts a plain message.
    pub fn post(&self, room: &str, agent: &str, text: &str) -> Result<Answer> {
        let body = serde_json::json!({ "agent_id": agent, "text": text });
        self.json("POST", &format!("/api/rooms/{room}/messages"), Some(&body))
    }

    /// Kills it without a warning, as a power cut would.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sends SIGTERM and waits for its exit.
    pub fn terminate(mut self) -> Result<ExitStatus> {
        signal(self.child.id(), "TERM")?;
        Ok(self.child.wait()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal by name.
pub fn signal(pid: u32, name: &str) -> Result<()> {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()?;
    ensure!(status.success(), "kill -{name} {pid}: {status}");
    Ok(())
}
