//! A small blocking HTTP/1.1 client that shows exactly what came over the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::net::TcpSocket;

/// Longest wait for any one read; a hang is a failure, not a pause.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A keep-alive connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

/// An answer, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body bytes.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("not JSON ({error}): {}", self.text());
        })
    }
}

impl Connection {
    /// Connects.
    pub fn open(host: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(host).with_context(|| format!("connect to {host}"))?;
        Self::over(stream, host)
    }

    /// Connects from another address of this machine.
    pub fn open_from(from: IpAddr, host: SocketAddr) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let connecting = async {
            let socket = TcpSocket::new_v4()?;
            socket.bind((from, 0).into())?;
            socket.connect(host).await?.into_std()
        };
        let connected = runtime.block_on(connecting);
        let stream = connected.with_context(|| format!("connect from {from} to {host}"))?;
        stream.set_nonblocking(false)?;
        Self::over(stream, host)
    }

    fn over(stream: TcpStream, host: SocketAddr) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Self {
            stream: BufReader::new(stream),
            host,
        })
    }

    /// Sends a request with these extra header lines and reads the answer.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Answer> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.host);
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = body {
            request.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
        }
        request.push_str("\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        self.send_raw(&bytes)?;
        self.read_answer(method == "HEAD")
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream
            .get_mut()
            .write_all(bytes)
            .context("write request")
    }

    /// Reads one answer.
    pub fn read_answer(&mut self, head_only: bool) -> Result<Answer> {
        let (status, headers) = self.read_head()?;
        if head_only || status == 204 || status == 304 {
            let body = Vec::new();
            return Ok(Answer {
                status,
                headers,
                body,
            });
        }
        self.read_rest(status, headers)
    }

    /// Reads the body of an answer whose head has been read.
    pub fn read_rest(&mut self, status: u16, headers: Vec<(String, String)>) -> Result<Answer> {
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.read_chunk()? {
                answer.body.extend(chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            answer.body = vec![0; length.parse().context("content-length")?];
            self.stream
                .read_exact(&mut answer.body)
                .context("read body")?;
        } else {
            self.stream
                .read_to_end(&mut answer.body)
                .context("read body to the end")?;
        }
        Ok(answer)
    }

    /// Reads the status line and the headers.
    pub fn read_head(&mut self) -> Result<(u16, Vec<(String, String)>)> {
        let line = self.read_line()?;
        let status = line
            .split(' ')
            .nth(1)
            .context("status line")?
            .parse()
            .context("status")?;
        let mut headers = Vec::new();
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                return Ok((status, headers));
            }
            let (name, value) = line.split_once(':').context("header line")?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Reads one chunk of a chunked body; none at the end.
    pub fn read_chunk(&mut self) -> Result<Option<Vec<u8>>> {
        let line = self.read_line()?;
        let size = usize::from_str_radix(line.split(';').next().unwrap_or(""), 16)
            .with_context(|| format!("chunk size {line:?}"))?;
        let mut chunk = vec![0; size];
        self.stream.read_exact(&mut chunk)?;
        self.read_line()?;
        Ok((size > 0).then_some(chunk))
    }

    fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).context("read line")? == 0 {
            bail!("connection closed");
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}
