//! The log itself, for those who check it.
//!
//! Invariants
//! * Checkpoints and consistency proofs hold hashes only, and everybody may read them: they are
//!   what copies of the log are compared by.
//! * Envelopes name rooms, and a room's UUID is the key to it. So what shows envelopes or hashes
//!   of single records of the whole log needs the auditor scope; what is one room's own needs what
//!   reading the room needs, its UUID.
//! * What was served once is served again byte for byte: full tiles, and proofs for given sizes.

mod bundle;
mod proofs;
mod tiles;

use minutebook_domain::ids::RoomId;
use minutebook_domain::keys::Scope;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::error::ApiError;
use crate::http::app::App;
use crate::http::routes::Routes;

/// The table of routes.
pub fn routes(routes: Routes) -> Routes {
    routes
        .strict(routes!(proofs::checkpoint))
        .strict(routes!(proofs::consistency))
        .strict(routes!(proofs::receipt))
        .strict(routes!(tiles::tile))
        .strict(routes!(bundle::bundle))
}

/// Whether a caller may have what is a room's own. An erased room is gone for all but the auditor,
/// who sees its envelopes in the log anyway.
fn may_read(app: &App, caller: &Caller, room: RoomId) -> Result<(), ApiError> {
    match app.room(room) {
        Ok(_) => Ok(()),
        Err(gone) => caller.needs(Scope::Auditor).map_err(|_| gone),
    }
}
