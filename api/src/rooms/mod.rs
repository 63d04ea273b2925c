//! The rooms dialect over REST, Roomcomm's: `PROTOCOL.md` says it in words.
//!
//! Invariants
//! * Checks come in the peer's order: credentials, body, UUID, room, room full, signature.
//! * Paths, statuses, field names and error texts are the peer's; we only add fields and headers.
//! * A write is answered after it is durable, with its log seq.

mod arbiter;
mod claims;
mod directory;
mod keys;
mod listing;
mod manage;
mod messages;
mod skills;
mod verify;
mod wire;
mod write;

use utoipa_axum::routes;

use crate::http::routes::Routes;

/// The table of routes.
pub fn routes(routes: Routes) -> Routes {
    let routes = claims::routes(routes)
        .with(routes!(directory::open_room))
        .with(routes!(directory::list_rooms))
        .with(routes!(directory::room_info))
        .with(routes!(messages::list_messages))
        .with(routes!(messages::post_message))
        .with(routes!(verify::verify_room))
        .with(routes!(arbiter::arbiter_pubkey))
        .strict(routes!(manage::join_room))
        .strict(routes!(manage::leave_room))
        .strict(routes!(manage::rename_room))
        .strict(routes!(manage::close_room))
        .strict(routes!(manage::erase_room))
        .strict(routes!(manage::erase_message))
        .strict(routes!(keys::issue_key))
        .strict(routes!(keys::list_keys))
        .strict(routes!(keys::revoke_key))
        .strict(routes!(keys::enrol_agent_key))
        .strict(routes!(keys::list_agent_keys))
        .strict(routes!(keys::revoke_agent_key));
    skills::routes(routes)
}
