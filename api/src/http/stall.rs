//! A connection that gives up on a peer that stops reading.
//!
//! Without it, a reader that stops holds its connection, and what is buffered for it, until the
//! kernel gives up, which for an open window of zero is never.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A stream whose writes must make progress within a limit.
pub struct Stall<S> {
    inner: S,
    within: Duration,
    /// Runs only while a write waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Stall<S> {
    /// Wraps a stream.
    pub fn new(inner: S, within: Duration) -> Self {
        Self {
            inner,
            within,
            deadline: None,
        }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.deadline = None;
            return poll;
        }
        let within = self.within;
        let start = || Box::pin(sleep_until(Instant::now() + within));
        ready!(self.deadline.get_or_insert_with(start).as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the peer stopped reading",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.inner).poll_write(cx, buf);
        this.judge(cx, poll)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.inner).poll_write_vectored(cx, bufs);
        this.judge(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.inner).poll_flush(cx);
        this.judge(cx, poll)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_reads_times_out_and_one_that_is_read_does_not() {
        let (ours, mut theirs) = tokio::io::duplex(4);
        let mut stall = Stall::new(ours, Duration::from_mins(1));
        let slow = tokio::spawn(async move {
            let mut four = [0; 4];
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(59)).await;
                theirs.read_exact(&mut four).await.unwrap();
            }
            theirs
        });
        stall.write_all(&[0; 16]).await.unwrap();
        let _open = slow.await.unwrap();
        let error = stall.write_all(&[0; 4]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
