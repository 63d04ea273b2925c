//! The `minutebook` program: everything is in the library.

/// A message makes some fifty short-lived allocations on three threads; the system's allocator
/// took a sixth of the server's time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    minutebook::cli::main()
}
