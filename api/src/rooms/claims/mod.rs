//! Claim threads, their ledger and handshakes.
//!
//! Invariants
//! * The order of checks is the peer's: body, UUID, whether it repeats a write, room, thread, who
//!   owns it, the signature's spelling, the signature, the source message; of a handshake the
//!   context's hash before its signature.
//! * Threads and their openers never change, so the door may answer about them from the rows. All
//!   else is left to the rules.
//! * A long answer is read and written on a thread that may wait for the disk.

mod context;
mod handshakes;
mod heard;
mod refresh;
mod revisions;
mod threads;
mod wire;

pub(super) use heard::error as extraction_error;

use minutebook_domain::Rejection;
use minutebook_domain::actor::Actor;
use minutebook_domain::ids::{ClaimId, RoomId};
use minutebook_domain::text::AgentName;
use minutebook_projections::rooms::RoomRow;
use minutebook_projections::threads::{Place, ThreadRow};
use utoipa_axum::routes;

use super::wire::{agent_name, refused};
use super::write::Write;
use crate::error::ApiError;
use crate::http::app::{App, Shared, segment};
use crate::http::routes::Routes;

/// Most entries in one answer that are read at once without another thread.
const SHORT_MAX: u64 = 100;

/// The table of routes.
pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .with(routes!(context::read_context))
        .with(routes!(refresh::refresh))
        .with(routes!(threads::open_thread))
        .with(routes!(threads::read_thread))
        .with(routes!(revisions::list_revisions))
        .with(routes!(revisions::revise_thread))
        .with(routes!(handshakes::shake_hands))
        .with(routes!(handshakes::list_handshakes))
}

/// Who writes.
struct Writer {
    agent: AgentName,
    actor: Actor,
}

/// Who writes, from the field that names him.
fn writer(write: &Write, field: &'static str, name: &str) -> Result<Writer, ApiError> {
    let agent = agent_name(field, name)?;
    let actor = write.caller.acting_as(&agent)?;
    Ok(Writer { agent, actor })
}

/// A thread of a room that is there.
struct Found {
    room: RoomRow,
    place: Place,
    thread: ThreadRow,
}

/// The thread a path names: `/api/rooms/{id}/claims/{cid}`.
fn find(app: &App, id: RoomId, uri: &axum::http::Uri) -> Result<Found, ApiError> {
    let room = app.room(id)?;
    let claim = ClaimId::parse_canonical(&segment(uri, 4));
    let claim = claim.ok_or_else(no_thread)?;
    find_claim(app, room, claim)
}

fn find_claim(app: &App, room: RoomRow, claim: ClaimId) -> Result<Found, ApiError> {
    let found = app.threads(|threads| threads.thread(room.id, claim))?;
    let (place, thread) = found.ok_or_else(no_thread)?;
    Ok(Found {
        room,
        place,
        thread,
    })
}

fn no_thread() -> ApiError {
    refused(&Rejection::ClaimNotFound)
}

/// Reads here, or elsewhere when it is `long`.
async fn read<T: Send + 'static>(
    app: &Shared,
    entries: u64,
    read: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if entries > SHORT_MAX {
        // Until it is an answer, whose bytes are counted, it is held several times over.
        let _turn = app.long_read().await?;
        app.blocking(read).await
    } else {
        read(app)
    }
}
