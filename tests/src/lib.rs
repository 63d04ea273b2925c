//! What the integration tests and the benches stand on: the real server as a child process, real
//! sockets, and nothing that sleeps.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a harness stops at what it did not expect, like the tests it serves"
)]

pub mod bench;
pub mod http;
pub mod model;
pub mod server;
pub mod sim;
