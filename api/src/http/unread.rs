//! What is left of a request's body when it is answered.
//!
//! Closing a connection with input unread resets it, and the client may lose the answer: most send
//! to the end before they read. So the rest is read and dropped first.
//!
//! Invariants
//! * An answer waits for that at most [`WITHIN`], and at most [`BYTES_MAX`] are read; what is read
//!   is dropped at once.
//! * A client that asked whether to send its body (`Expect: 100-continue`) and was not told to has
//!   sent nothing, and is not waited for.
//! * A body that somebody still reads is left to them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::oneshot;

/// How long the rest is read.
const WITHIN: Duration = Duration::from_secs(1);
/// How much of it, in bytes.
const BYTES_MAX: usize = 8 << 20;

/// A body that goes back to its lender when it is dropped before its end.
#[derive(Debug)]
pub struct Lent<B> {
    body: Option<B>,
    back: Option<oneshot::Sender<Rest<B>>>,
    is_begun: bool,
}

/// What came back.
#[derive(Debug)]
struct Rest<B> {
    body: B,
    is_begun: bool,
}

/// Where it comes back to.
#[derive(Debug)]
pub struct Lender<B> {
    rest: oneshot::Receiver<Rest<B>>,
    is_asking: bool,
}

/// Lends a request's body.
pub fn lend<B>(body: B, headers: &HeaderMap) -> (Lent<B>, Lender<B>) {
    let (back, rest) = oneshot::channel();
    let lent = Lent {
        body: Some(body),
        back: Some(back),
        is_begun: false,
    };
    let is_asking = headers.contains_key(header::EXPECT);
    (lent, Lender { rest, is_asking })
}

impl<B: Body<Data = Bytes> + Unpin> Lender<B> {
    /// Reads the rest, if it is back.
    pub async fn drain(mut self) {
        let Ok(Rest { body, is_begun }) = self.rest.try_recv() else {
            return;
        };
        if is_begun || !self.is_asking {
            tokio::time::timeout(WITHIN, drop_frames(body)).await.ok();
        }
    }
}

async fn drop_frames<B: Body<Data = Bytes> + Unpin>(mut body: B) {
    let mut left = BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let count = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(count) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Lent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.is_begun = true;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            // Nothing to give back.
            self.back = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl<B> Drop for Lent<B> {
    fn drop(&mut self) {
        let is_begun = self.is_begun;
        if let (Some(body), Some(back)) = (self.body.take(), self.back.take()) {
            // Nobody waits for it any more when the connection is gone.
            back.send(Rest { body, is_begun }).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    /// A body of so many pieces of 64 KiB, which counts how many were read.
    struct Pieces(usize, Arc<AtomicUsize>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            let Some(left) = self.0.checked_sub(1) else {
                return Poll::Ready(None);
            };
            self.0 = left;
            self.1.fetch_add(1, Relaxed);
            Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0; 64 << 10])))))
        }
    }

    /// How many of these pieces are read in all, when a handler reads some and answers.
    async fn read_in_all(pieces: usize, by_handler: usize, headers: &HeaderMap) -> usize {
        let count = Arc::new(AtomicUsize::new(0));
        let (mut lent, lender) = lend(Pieces(pieces, Arc::clone(&count)), headers);
        for _ in 0..by_handler {
            lent.frame().await;
        }
        drop(lent);
        lender.drain().await;
        count.load(Relaxed)
    }

    #[tokio::test]
    async fn the_rest_of_a_body_is_read_within_a_limit() {
        let none = HeaderMap::new();
        assert_eq!(read_in_all(5, 0, &none).await, 5);
        assert_eq!(read_in_all(5, 2, &none).await, 5);
        assert_eq!(read_in_all(5, 9, &none).await, 5, "it was at its end");
        assert_eq!(
            read_in_all(1000, 0, &none).await,
            BYTES_MAX / (64 << 10) + 1
        );
    }

    #[tokio::test]
    async fn who_asked_and_was_not_told_to_send_is_not_waited_for() {
        let mut headers = HeaderMap::new();
        headers.insert(header::EXPECT, "100-continue".parse().unwrap());
        assert_eq!(read_in_all(5, 0, &headers).await, 0);
        assert_eq!(read_in_all(5, 1, &headers).await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_left() {
        let never = http_body_util::StreamBody::new(futures_util::stream::pending::<
            Result<Frame<Bytes>, std::io::Error>,
        >());
        let (lent, lender) = lend(never, &HeaderMap::new());
        drop(lent);
        lender.drain().await;
    }

    #[tokio::test]
    async fn a_body_that_is_still_read_is_not_waited_for() {
        let count = Arc::new(AtomicUsize::new(0));
        let (lent, lender) = lend(Pieces(5, count), &HeaderMap::new());
        lender.drain().await;
        assert!(!lent.is_end_stream());
    }
}
