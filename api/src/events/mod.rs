//! The live stream: `GET /api/events` over Server-Sent Events.
//!
//! Invariants
//! * The `id` of an event is its log seq, so it means the same in every stream, grows strictly,
//!   and a position taken from one room's stream cannot replay another's events.
//! * The first thing sent has an id. A position this log has not reached is answered with `reset`,
//!   one that is no position with 400; neither is ever passed over in silence.
//! * A follower is a cursor: it has no queue, and one that stops reading costs the others nothing.
//! * A key that opened a stream is looked at again before every page: a revoked one gets no more.
//! * What goes into `id` and `event` is ours and holds no line break; `data` is split at any.

mod frame;
mod position;
mod stream;

pub use stream::events;

use utoipa_axum::routes;

use crate::http::routes::Routes;

/// The table of routes.
pub fn routes(routes: Routes) -> Routes {
    routes.strict(routes!(stream::events))
}
