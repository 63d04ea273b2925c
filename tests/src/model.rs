//! A language model's server as a script: it speaks the real protocol over a real socket, answers
//! what it was told to, and remembers what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long a call may let others wait for it.
const WITHIN: Duration = Duration::from_mins(1);

/// What it answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A completion with this text.
    Says(String),
    /// A completion with no text but this reasoning.
    Reasons(String),
    /// This status and body.
    Status(u16, String),
    /// A redirect to there.
    Redirect(String),
    /// So many bytes of a body that does not end where it says.
    Endless(usize),
    /// It hangs up.
    HangsUp,
}

/// What it was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The request line.
    pub line: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The body.
    pub body: Value,
}

impl Asked {
    /// What the user message says.
    pub fn user(&self) -> &str {
        self.body["messages"][1]["content"]
            .as_str()
            .unwrap_or_default()
    }
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    otherwise: Option<Reply>,
    asked: Vec<Asked>,
    /// Answers are held back while this is so.
    is_held: bool,
}

#[derive(Default)]
struct Shared {
    script: Mutex<Script>,
    changed: Condvar,
    stopped: AtomicBool,
    connections: AtomicUsize,
}

/// A running one.
pub struct Model {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

impl Model {
    /// Starts one that finds nothing in anything.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.script().otherwise = Some(Reply::Says(json!({"new_claims": []}).to_string()));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                shared.connections.fetch_add(1, Ordering::Relaxed);
                if let Ok(stream) = stream {
                    thread::spawn(move || serve(&shared, stream).ok());
                }
            }
        });
        Ok(Self { addr, shared })
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    /// Answers the next call that no earlier reply is for.
    pub fn then(&self, reply: Reply) {
        self.shared.script().replies.push_back(reply);
    }

    /// Answers the next call with this object.
    pub fn then_says(&self, answer: &Value) {
        self.then(Reply::Says(answer.to_string()));
    }

    /// What it answers when the script is at its end.
    pub fn otherwise(&self, reply: Reply) {
        self.shared.script().otherwise = Some(reply);
    }

    /// Holds all answers back, or lets them go.
    pub fn hold(&self, is_held: bool) {
        self.shared.script().is_held = is_held;
        self.shared.changed.notify_all();
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.script().asked.clone()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits until it was asked so often.
    ///
    /// # Panics
    /// When that takes too long.
    pub fn wait_for(&self, calls: usize) {
        let script = self.shared.script();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(script, WITHIN, |script| script.asked.len() < calls);
        let (script, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let asked = script.asked.len();
        assert!(asked >= calls, "asked {asked} times, {calls} expected");
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.hold(false);
        TcpStream::connect(self.addr).ok();
    }
}

impl Shared {
    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a question and waits for its answer.
    fn answer(&self, asked: Asked) -> Reply {
        let mut script = self.script();
        script.asked.push(asked);
        self.changed.notify_all();
        while script.is_held && !self.stopped.load(Ordering::Relaxed) {
            script = self
                .changed
                .wait(script)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let next = script.replies.pop_front();
        next.or_else(|| script.otherwise.clone())
            .unwrap_or(Reply::HangsUp)
    }
}

fn serve(shared: &Shared, stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    while let Some(asked) = read_request(&mut reader)? {
        match shared.answer(asked) {
            Reply::HangsUp => return Ok(()),
            Reply::Says(text) => say(&mut writer, &json!({"role": "assistant", "content": text}))?,
            Reply::Reasons(text) => {
                say(
                    &mut writer,
                    &json!({"content": "", "reasoning_content": text}),
                )?;
            }
            Reply::Status(status, body) => write_answer(&mut writer, status, "", &body)?,
            Reply::Redirect(to) => {
                write_answer(&mut writer, 307, &format!("location: {to}\r\n"), "")?;
            }
            Reply::Endless(bytes) => {
                write!(
                    writer,
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
                    usize::MAX / 2
                )?;
                writer.write_all(&vec![b' '; bytes])?;
            }
        }
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Asked>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Asked {
        line: line.trim_end().to_owned(),
        authorization,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    }))
}

fn say(writer: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let body = json!({"id": "x", "choices": [{"index": 0, "message": message}]});
    write_answer(
        writer,
        200,
        "content-type: application/json\r\n",
        &body.to_string(),
    )
}

fn write_answer(
    writer: &mut impl Write,
    status: u16,
    headers: &str,
    body: &str,
) -> std::io::Result<()> {
    let length = body.len();
    write!(
        writer,
        "HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )?;
    writer.flush()
}
