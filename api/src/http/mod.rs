//! The HTTP server and what its facades share.
//!
//! Invariants
//! * Nothing from outside can panic a handler, grow a buffer without bound or hold a connection
//!   for ever.
//! * Facades get what is theirs from here and never from one another.

pub mod app;
pub mod body;
pub mod client;
pub mod config;
pub mod cors;
pub mod describe;
pub mod descriptors;
pub mod docs;
pub mod fields;
pub mod health;
pub mod held;
pub mod idempotency;
pub mod json;
pub mod ledger;
pub mod limit;
pub mod message;
pub mod metrics;
pub mod page;
pub mod places;
pub mod public_url;
pub mod python;
pub mod query;
pub mod refusal;
pub mod reply;
pub mod routes;
pub mod server;
pub mod stall;
pub mod unread;
pub mod views;

pub use config::{ConfigError, HttpBounds, HttpConfig};
pub use public_url::PublicUrl;
pub use server::Server;

use axum::Router;
use utoipa_axum::routes;

use app::Shared;
use routes::Routes;

/// All routes, and the documents about them.
pub fn router(app: &Shared) -> Router {
    let facades = crate::rooms::routes(Routes::new(app.clone()));
    let facades = crate::audit::routes(crate::events::routes(facades));
    let facades = crate::viewer::routes(facades);
    let (router, openapi) = facades
        .with(routes!(health::healthz))
        .with(routes!(health::readyz))
        .with(routes!(health::metrics))
        .with(routes!(docs::openapi_json))
        .with(routes!(docs::docs_page))
        .finish();
    app.documents.get_or_init(|| docs::Documents::new(&openapi));
    router
}
