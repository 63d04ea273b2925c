//! What the server holds for its clients, counted in bytes and bounded for all of them together:
//! bodies on their way in, and answers that nobody has taken yet.
//!
//! Invariants
//! * Bytes are counted until they are dropped, which for an answer is when the system has taken
//!   them: whoever stops reading keeps what it asked for counted.
//! * The last quarter of a budget is for small amounts. Clients that hold as much as they can
//!   leave the others their short requests and answers.
//! * Nobody waits for a budget: whoever waited would hold something meanwhile.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::{Method, Response};
use axum::response::IntoResponse;
use http_body::{Frame, SizeHint};

use crate::error::{ApiError, ErrorCode};

/// Amounts up to this are small.
pub const SMALL_BYTES: usize = 64 * 1024;
/// Amounts up to this are not worth counting: connections are bounded, too.
pub const FREE_BYTES: usize = 4 * 1024;

/// So many bytes at a time.
#[derive(Debug)]
pub struct Budget {
    held: AtomicUsize,
    most: usize,
}

/// Part of a budget, given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(most: usize) -> Arc<Self> {
        let held = AtomicUsize::new(0);
        Arc::new(Self { held, most })
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// Whether a small amount would fit.
    pub fn is_open(&self) -> bool {
        self.held().saturating_add(SMALL_BYTES) <= self.most
    }

    /// A share of so many bytes, if they fit.
    pub fn take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let mut share = Share {
            budget: Arc::clone(self),
            bytes: 0,
        };
        share.grow_to(bytes).then_some(share)
    }

    /// A share that must be: what it is for has been done.
    fn take_anyway(self: &Arc<Self>, bytes: usize) -> Share {
        self.held.fetch_add(bytes, Relaxed);
        let budget = Arc::clone(self);
        Share { budget, bytes }
    }
}

impl Share {
    /// Makes it so large, unless that does not fit. It never shrinks.
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let Self { budget, bytes: has } = self;
        let more = bytes.saturating_sub(*has);
        let most = if bytes > SMALL_BYTES {
            budget.most - budget.most / 4
        } else {
            budget.most
        };
        let grown = budget.held.fetch_update(Relaxed, Relaxed, |held| {
            held.checked_add(more).filter(|held| *held <= most)
        });
        *has += if grown.is_ok() { more } else { 0 };
        grown.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Relaxed);
    }
}

/// Bytes that keep a share until the last piece of them is gone.
pub fn with_share(bytes: Bytes, share: Arc<Share>) -> Bytes {
    struct Owner {
        bytes: Bytes,
        _share: Arc<Share>,
    }
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    let owner = Owner {
        bytes,
        _share: share,
    };
    Bytes::from_owner(owner)
}

/// An answer whose bytes are counted until they are taken; in its place a refusal, when they do not
/// fit and nothing was done for them. What streams counts for itself.
pub fn counted(budget: &Arc<Budget>, method: &Method, answer: Response<Body>) -> Response<Body> {
    let size = http_body::Body::size_hint(answer.body()).exact();
    let bytes = size.map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX));
    if bytes <= FREE_BYTES {
        return answer;
    }
    let share = if method.is_safe() {
        budget.take(bytes)
    } else {
        Some(budget.take_anyway(bytes))
    };
    let Some(share) = share else {
        return answers_full().into_response();
    };
    let share = Arc::new(share);
    answer.map(|body| Body::new(Counted { body, share }))
}

/// The refusal of what would make another answer.
pub fn answers_full() -> ApiError {
    let detail = "too many answers wait for clients that do not read them: try again later, or \
                  ask for less at a time";
    ApiError::new(ErrorCode::Busy, detail)
}

struct Counted {
    body: Body,
    share: Arc<Share>,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        let share = &this.share;
        let kept = |frame: Frame<Bytes>| frame.map_data(|data| with_share(data, Arc::clone(share)));
        Poll::Ready(frame.map(|frame| frame.map(kept)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_given_back_and_the_last_quarter_is_for_small_ones() {
        let budget = Budget::new(4 << 20);
        let mut large = budget.take(1 << 20).unwrap();
        assert!(large.grow_to(3 << 20) && large.grow_to(1));
        assert!(!large.grow_to((3 << 20) + 1), "the last quarter");
        assert!(budget.take(SMALL_BYTES + 1).is_none());
        let small: Vec<_> = std::iter::from_fn(|| budget.take(SMALL_BYTES)).collect();
        assert_eq!((small.len(), budget.held()), (16, 4 << 20));
        assert!(!budget.is_open() && budget.take(1).is_none());
        drop(small);
        assert!(budget.is_open());
        drop(large);
        assert_eq!(budget.held(), 0);
        assert!(budget.take(usize::MAX).is_none());
        assert_eq!(budget.held(), 0);
    }

    #[tokio::test]
    async fn an_answer_counts_until_its_bytes_are_dropped_and_a_write_is_always_answered() {
        use http_body_util::BodyExt;
        let budget = Budget::new(1 << 20);
        let answer = |method, size| {
            let answer = Response::new(Body::from(vec![b'x'; size]));
            counted(&budget, &method, answer)
        };
        let first = answer(Method::GET, 500_000);
        assert_eq!((first.status().as_u16(), budget.held()), (200, 500_000));
        let refused = answer(Method::GET, 500_000);
        assert_eq!(refused.status(), 503);
        assert!(refused.headers().contains_key("retry-after"));
        assert_eq!(answer(Method::GET, FREE_BYTES).status(), 200);
        assert_eq!(
            answer(Method::GET, 200_000).status(),
            200,
            "dropped at once"
        );
        assert_eq!(answer(Method::POST, 1 << 20).status(), 200);
        let mut bytes = first.into_body().collect().await.unwrap().to_bytes();
        let piece = bytes.split_to(1);
        drop(bytes);
        assert_eq!(budget.held(), 500_000);
        drop(piece);
        assert_eq!(budget.held(), 0);
    }
}
