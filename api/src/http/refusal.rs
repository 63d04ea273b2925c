//! Words for the requests that are refused before there is a request.
//!
//! What cannot be parsed, or has too large a head, hyper answers itself, with a status and no body,
//! and closes the connection; HTTP/2 it does not answer at all. Here that answer is recognised on
//! its way out and written in the dialect's form.
//!
//! Invariants
//! * Only a whole write that is exactly such an answer is replaced: a head with no header but
//!   hyper's own three. Every answer of ours has others.
//! * After a refusal the rest of what the client sends is read and dropped, within limits: closing
//!   a connection with input unread resets it, and the client may lose the answer to that.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::server::HEAD_BYTES_MAX;
use crate::error::{ApiError, ErrorCode};

/// Longest answer of hyper's own, in bytes.
const ANSWER_BYTES_MAX: usize = 256;
/// What a client that knows the server speaks HTTP/2 begins with.
const HTTP_2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";
/// How much more is read from a refused client, and for how long.
const LINGER_BYTES_MAX: usize = 4 << 20;
const LINGER_WITHIN: Duration = Duration::from_secs(2);

/// A stream of a server whose parse errors get a body.
pub struct Refusal<S> {
    inner: S,
    /// Whether nothing has been read yet.
    is_new: bool,
    /// What is still to be written in place of hyper's answer.
    ours: Option<Bytes>,
    /// Runs down after a refusal.
    linger: Option<Linger>,
}

struct Linger {
    bytes_left: usize,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Refusal<S> {
    /// Wraps a stream.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            is_new: true,
            ours: None,
            linger: None,
        }
    }

    fn refuse(&mut self, error: &ApiError) {
        self.ours = Some(written(error));
        self.linger = Some(Linger {
            bytes_left: LINGER_BYTES_MAX,
            deadline: None,
        });
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Refusal<S> {
    /// Writes what is to be written in hyper's place.
    fn poll_ours(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(ours) = self.ours.as_mut().filter(|ours| !ours.is_empty()) {
            let written = ready!(Pin::new(&mut self.inner).poll_write(cx, ours))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            ours.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads on until the client has seen that nobody listens, or has had its time.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(linger) = &mut self.linger else {
            return Poll::Ready(());
        };
        let end = || Box::pin(sleep_until(Instant::now() + LINGER_WITHIN));
        let deadline = linger.deadline.get_or_insert_with(end);
        let mut dropped = [0; 4096];
        while linger.bytes_left > 0 && deadline.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buffer));
            let count = buffer.filled().len();
            if read.is_err() || count == 0 {
                break;
            }
            linger.bytes_left = linger.bytes_left.saturating_sub(count);
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Refusal<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
        let read = buf.filled().get(before..).unwrap_or_default();
        if std::mem::take(&mut this.is_new) && read.starts_with(HTTP_2_PREFACE) {
            // To hyper this is a connection on which nothing came; it ends it.
            buf.set_filled(before);
            this.refuse(&not_http_1());
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Refusal<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_ours(cx))?;
        if let Some(error) = refused_by(buf) {
            this.refuse(&error);
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut this.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = bufs.iter().filter(|buf| !buf.is_empty());
        if let (Some(one), None) = (filled.next(), filled.next()) {
            return self.poll_write(cx, one);
        }
        let this = self.get_mut();
        ready!(this.poll_ours(cx))?;
        Pin::new(&mut this.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_ours(cx))?;
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_ours(cx))?;
        ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        this.poll_linger(cx).map(Ok)
    }
}

/// The error that this answer means, if it is hyper's own.
fn refused_by(answer: &[u8]) -> Option<ApiError> {
    if answer.len() > ANSWER_BYTES_MAX || !answer.starts_with(b"HTTP/1.1 4") {
        return None;
    }
    let head = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let error = error_of(lines.next()?.split(' ').nth(1)?)?;
    let mut names: Vec<_> = lines.map(|line| line.split(':').next()).collect();
    names.sort_unstable();
    let is_bare = names == [Some("connection"), Some("content-length"), Some("date")];
    (is_bare && head.contains("\r\ncontent-length: 0")).then_some(error)
}

fn error_of(status: &str) -> Option<ApiError> {
    let (code, detail) = match status {
        "400" => return Some(not_http_1()),
        "414" => (
            ErrorCode::UriTooLong,
            format!("the address is too long: send less than {HEAD_BYTES_MAX} bytes"),
        ),
        "431" => (
            ErrorCode::HeadTooLarge,
            format!(
                "the request line and headers together may have {HEAD_BYTES_MAX} bytes, and 100 \
                 headers: send fewer or shorter ones"
            ),
        ),
        _ => return None,
    };
    Some(ApiError::new(code, detail))
}

fn not_http_1() -> ApiError {
    let detail = "this is no HTTP/1.1 request: look at the request line and the headers, and \
                  whether the client speaks https or HTTP/2 to a server that speaks plain HTTP/1.1";
    ApiError::new(ErrorCode::InvalidRequest, detail)
}

/// An error as a whole answer, after which the connection is closed.
pub fn written(error: &ApiError) -> Bytes {
    let body = error.to_json();
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let retry = error.retry_after;
    let retry = retry.map_or_else(String::new, |seconds| format!("retry-after: {seconds}\r\n"));
    let mut answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{retry}\
         content-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    answer.into()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const HYPERS: &str = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\
                          date: Mon, 30 Nov 2026 12:00:00 GMT\r\n\r\n";

    #[test]
    fn only_an_answer_that_is_exactly_hypers_is_replaced() {
        assert!(refused_by(HYPERS.as_bytes()).is_some());
        for ours in [
            HYPERS.replace("400", "404"),
            HYPERS.replace("400", "200"),
            HYPERS.replace("length: 0", "length: 1"),
            HYPERS.replace("date:", "vary: Origin\r\ndate:"),
            HYPERS.replace("connection: close\r\n", ""),
            format!("{HYPERS}x"),
            format!("x{HYPERS}"),
            HYPERS.trim_end().to_owned(),
            String::new(),
        ] {
            assert_eq!(refused_by(ours.as_bytes()), None, "{ours}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_written_whole_to_a_slow_reader_who_may_go_on_sending() {
        let (ours, theirs) = tokio::io::duplex(7);
        let mut refusal = Refusal::new(ours);
        let (mut reading, mut writing) = tokio::io::split(theirs);
        let sending = tokio::spawn(async move { writing.write_all(&[b'x'; 1000]).await });
        let reading = tokio::spawn(async move {
            let mut answer = String::new();
            reading.read_to_string(&mut answer).await.map(|_| answer)
        });
        refusal.write_all(b"before").await.unwrap();
        refusal.write_all(HYPERS.as_bytes()).await.unwrap();
        refusal.shutdown().await.unwrap();
        sending.await.unwrap().unwrap();
        let answer = reading.await.unwrap().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("beforeHTTP/1.1 400 Bad Request\r\n"),
            "{head}"
        );
        assert!(head.contains(&format!("content-length: {}", body.len())));
        assert!(
            body.starts_with("{\"detail\":\"this is no HTTP/1.1 request"),
            "{body}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_client_that_never_stops_is_left() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        let mut refusal = Refusal::new(ours);
        refusal.write_all(HYPERS.as_bytes()).await.unwrap();
        refusal.shutdown().await.unwrap();
        let flood =
            tokio::spawn(async move { while theirs.write_all(&[0; 4096]).await.is_ok() {} });
        refusal.linger = Some(Linger {
            bytes_left: LINGER_BYTES_MAX,
            deadline: None,
        });
        std::future::poll_fn(|cx| refusal.poll_linger(cx)).await;
        drop(refusal);
        flood.await.unwrap();
    }
}
