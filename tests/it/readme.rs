//! The README's walk-through runs as it stands, with the programs already built.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The block behind the mark, without the line that builds.
fn walk_through() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let block = readme
        .split("<!-- walk-through -->\n```bash\n")
        .nth(1)
        .unwrap();
    let block = block.split("\n```").next().unwrap();
    let (build, rest) = block.split_once('\n').unwrap();
    assert_eq!(
        build,
        "cargo build --release -p minutebook -p minutebook-verifier"
    );
    rest.to_owned()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn the_walk_through_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("target/release");
    std::fs::create_dir_all(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_mb-server"), programs.join("minutebook")).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_mb-verify"),
        programs.join("minutebook-verify"),
    )
    .unwrap();
    let output = Command::new("bash")
        .args(["-c", &walk_through()])
        .env("PORT", free_port().to_string())
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = format!(
        "{text}\n--- stderr\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{told}");
    let mut rest = text.as_str();
    for expected in [
        "ready {\"http\":",
        "\"agent_id\":\"alice\"",
        "\"agent_id\":\"bob\"",
        "proposed",
        "agreed",
        "\"sealed\":true",
        "CLEAN",
        "REFUTED",
        "exit code 1",
        "event: room.message_posted",
        "event: room.message_posted",
        "event: closing",
    ] {
        let at = rest
            .find(expected)
            .unwrap_or_else(|| panic!("no {expected} in\n{told}"));
        rest = &rest[at + expected.len()..];
    }
}

#[test]
fn the_demonstration_shows_clean_then_refuted() {
    let output = crate::support::minutebook(&["demo"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (clean, refuted) = (text.find("says CLEAN"), text.find("says REFUTED"));
    assert!(clean.is_some() && clean < refuted, "{text}");
}
