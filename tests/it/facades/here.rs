//! The server in this process, over a log in memory: real sockets, and on disk only the bytes of
//! shared skills.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use minutebook::engine::{Committer, Entropy, Handle, Parts, SystemClock, launch};
use minutebook::http::{HttpConfig, Server};
use minutebook::policies::arbiter::ArbiterConfig;
use minutebook_eventlog::store::memory::MemoryStore;
use minutebook_eventlog::store::{LogReader, LogWriter, Maintenance};
use minutebook_tests::http::{Answer, Connection};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use super::gate::{Gate, GateReader};

/// A running server.
pub(super) struct Here {
    addr: SocketAddr,
    engine: Handle,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
    rows: Arc<dyn Maintenance>,
    /// Where the bytes of shared skills are.
    skills: TempDir,
}

/// Nobody reads but who is let in, and whoever waits does so as long as the gate is shut: the
/// arbiter looks at rooms of its own accord.
fn patient(config: &mut HttpConfig) {
    config.arbiter = ArbiterConfig::Off;
    config.bounds.verification_turn_within = Duration::from_mins(5);
}

/// Headers of a JSON request.
pub(super) const JSON: (&str, &str) = ("content-type", "application/json");

impl Here {
    /// A server with the defaults, without the limit on rooms.
    pub(super) fn start() -> Self {
        Self::with(|_| {})
    }

    /// A server with other settings.
    pub(super) fn with(change: impl FnOnce(&mut HttpConfig)) -> Self {
        Self::over(change, |reader| reader)
    }

    /// A server whose reads can be held up.
    pub(super) fn gated() -> (Self, Arc<Gate>) {
        let gate = Arc::new(Gate::default());
        let reads = Arc::clone(&gate);
        let here = Self::over(patient, |inner| Arc::new(GateReader { inner, gate: reads }));
        (here, gate)
    }

    fn over(
        change: impl FnOnce(&mut HttpConfig),
        wrap: impl FnOnce(Arc<dyn LogReader>) -> Arc<dyn LogReader>,
    ) -> Self {
        let mut config = HttpConfig::new(([127, 0, 0, 1], 0).into());
        config.rooms_per_hour = 0;
        config.skills_per_hour = 0;
        let skills = tempfile::tempdir().unwrap();
        config.skills = Some(skills.path().to_owned());
        change(&mut config);
        let (writer, reader) = MemoryStore::new().open().unwrap();
        let reader = wrap(reader);
        let rows = writer.maintenance();
        let origin = Some("example.org/here".to_owned());
        let entropy = Entropy::from_seed([7; 32]);
        let parts = Parts {
            writer,
            reader,
            seed: [9; 32],
            origin,
            entropy,
        };
        let mut committer = Committer::recover(parts).unwrap();
        committer.found(&SystemClock).unwrap();
        let (engine, running) = launch(committer, Box::new(SystemClock)).unwrap();
        let (stop, stopping) = watch::channel(false);
        let (ready, bound) = oneshot::channel();
        let handle = engine.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind(config, handle.clone(), stopping)
                    .await
                    .unwrap();
                ready.send(server.local_addr()).unwrap();
                server.run().await;
                handle.stop();
            });
            running.join().unwrap().unwrap();
        });
        let addr = bound.blocking_recv().unwrap();
        Self {
            addr,
            engine,
            stop,
            thread: Some(thread),
            rows,
            skills,
        }
    }

    /// Where it listens.
    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where it keeps the bytes of shared skills.
    pub(super) fn skills(&self) -> &Path {
        self.skills.path()
    }

    /// Its engine.
    pub(super) fn engine(&self) -> &Handle {
        &self.engine
    }

    /// A new connection.
    pub(super) fn connect(&self) -> Connection {
        Connection::open(self.addr).unwrap()
    }

    /// One request on a connection of its own.
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let body = (!body.is_empty()).then_some(body.as_bytes());
        self.connect().send(method, path, headers, body).unwrap()
    }

    /// A GET.
    pub(super) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// A request with a JSON body.
    pub(super) fn json(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask(method, path, &[JSON], body)
    }

    /// Opens a room and returns its UUID.
    pub(super) fn room(&self) -> String {
        let answer = self.json("POST", "/api/rooms", "{}");
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["uuid"].as_str().unwrap().to_owned()
    }

    /// Posts a plain message and returns its log seq.
    pub(super) fn post(&self, room: &str, agent: &str, text: &str) -> u64 {
        let body = serde_json::json!({ "agent_id": agent, "text": text }).to_string();
        let answer = self.json("POST", &format!("/api/rooms/{room}/messages"), &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["log_seq"].as_u64().unwrap()
    }

    /// Begins to stop the server.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Writes rows behind the engine's back.
    pub(super) fn rows(&self) -> &dyn Maintenance {
        &*self.rows
    }

    /// A second owner of the engine's reading half.
    pub(super) fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(self.engine.reader())
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(
                matches!(ended, Some(Ok(()))),
                "the server's thread panicked"
            );
        }
    }
}

/// The error's words, after its form has been checked: the dialect's `detail`, and the members of
/// RFC 9457 that fit the status.
pub(super) fn detail(answer: &Answer) -> String {
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(
        answer.body.starts_with(b"{\"detail\":"),
        "{}",
        answer.text()
    );
    let json = answer.json();
    assert_eq!(json["status"].as_u64(), Some(u64::from(answer.status)));
    assert_eq!(
        json["type"],
        format!("/docs#{}", json["code"].as_str().unwrap())
    );
    json["detail"].as_str().unwrap().to_owned()
}

/// A text with what changes from run to run replaced by its kind.
pub(super) fn redact(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((length, name)) = shape(rest) {
            out.push_str(name);
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Length and name of the changing thing that stands here.
fn shape(text: &str) -> Option<(usize, &'static str)> {
    let fits = |pattern: &str| {
        text.len() >= pattern.len()
            && text
                .bytes()
                .zip(pattern.bytes())
                .all(|(byte, kind)| match kind {
                    b'x' => byte.is_ascii_hexdigit(),
                    b'0' => byte.is_ascii_digit(),
                    other => byte == other,
                })
    };
    [
        ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "<uuid>"),
        ("0000-00-00T00:00:00.000000Z", "<micros>"),
        ("0000-00-00T00:00:00Z", "<seconds>"),
    ]
    .into_iter()
    .find(|(pattern, _)| fits(pattern))
    .map(|(pattern, name)| (pattern.len(), name))
}
