//! Everything that talks to the outside, and the only writer.
//!
//! Code map
//! * `engine` is the only writer; it never imports axum or a facade.
//! * Facades (`rooms`, …) translate one dialect each and never import each other.
//! * `audit` serves the log itself, `events` the live stream, `http` the shared HTTP parts.
//! * `bundles` keeps the bytes of shared skills.
//! * `generations` keeps the rows of the projections; engine and offline commands stand on it.
//! * `models` are language models; `policies` is what the server does by itself, with them.
//! * `viewer` is the pages for people and the instructions for agents.
//! * `cli` has one file per command; `offline` is what the offline commands stand on.

pub mod audit;
pub mod auth;
pub mod bundles;
pub mod cli;
pub mod engine;
pub mod error;
pub mod events;
pub mod generations;
pub mod http;
pub mod models;
pub mod offline;
pub mod policies;
pub mod rooms;
pub mod viewer;
