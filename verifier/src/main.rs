//! `minutebook-verify`: checks a bundle without network, server or trust in either.
//!
//! Exit codes: 0 CLEAN, 1 REFUTED, 2 INCONCLUSIVE, 64 usage, 65 unreadable input.

mod cli;

/// Records are made ready on several threads and judged on one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
