//! The project's own rules, held by a test: who may import whom, sizes, words that are not used.

use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_LINES_MAX: usize = 400;
const TEST_FILE_LINES_MAX: usize = 600;
const LINE_CHARS_MAX: usize = 100;

/// Which of our crates a crate may name, besides in tests.
const IMPORTS: [(&str, &[&str]); 5] = [
    ("domain", &[]),
    ("eventlog", &[]),
    ("projections", &["minutebook-domain", "minutebook-eventlog"]),
    (
        "verifier",
        &[
            "minutebook-domain",
            "minutebook-eventlog",
            "minutebook-projections",
        ],
    ),
    (
        "api",
        &[
            "minutebook-domain",
            "minutebook-eventlog",
            "minutebook-projections",
            "minutebook-verifier",
        ],
    ),
];

/// `(where, what may not appear there, why)`.
const BANNED: [(&str, &str, &str); 7] = [
    (
        "api/src",
        "use fjall",
        "only eventlog/src/store names the storage engine's types",
    ),
    (
        "api/src/engine",
        "axum",
        "the engine does not know about HTTP",
    ),
    (
        "api/src/engine",
        "crate::rooms",
        "the engine does not know its facades",
    ),
    (
        "api/src/engine",
        "crate::http",
        "the engine does not know its facades",
    ),
    ("domain/src", "std::fs", "the rules do no I/O"),
    (
        "projections/src",
        "store::",
        "folds reach rows through their own trait",
    ),
    (
        "verifier/src",
        "store::",
        "the verifier knows the format, not the store",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every tracked kind of file below a folder, as (path from the root, text).
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(
        !found.is_empty(),
        "nothing ends with {ending} below {folder}"
    );
    found
}

fn is_test_file(path: &str) -> bool {
    let testing = ["tests.rs", "testing.rs", "conformance.rs"];
    path.starts_with("tests/")
        || path.contains("/tests/")
        || testing.iter().any(|ending| path.ends_with(ending))
}

#[test]
fn crates_import_only_what_they_may() {
    for (name, allowed) in IMPORTS {
        let manifest = std::fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let section = manifest.split("[dependencies]").nth(1).unwrap();
        let section = section.split("\n[").next().unwrap();
        let ours = section
            .lines()
            .filter(|line| line.starts_with("minutebook"));
        for line in ours {
            let dependency = line.split(['.', ' ']).next().unwrap();
            assert!(
                allowed.contains(&dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn the_verifier_links_no_storage_engine_runtime_or_server() {
    let arguments = [
        "tree",
        "--offline",
        "--locked",
        "-e",
        "normal",
        "--prefix",
        "none",
    ];
    let tree = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["-p", "minutebook-verifier"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(
        tree.contains("ed25519-dalek"),
        "the tree is not what was asked for:\n{tree}"
    );
    for banned in ["fjall", "tokio", "axum", "hyper"] {
        let line = tree.lines().find(|line| line.starts_with(banned));
        assert!(line.is_none(), "the verifier must not link {line:?}");
    }
}

#[test]
fn layers_do_not_reach_across() {
    for (folder, banned, why) in BANNED {
        for (path, text) in files(folder, ".rs") {
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                assert!(!line.contains(banned), "{path}: {why}: {line}");
            }
        }
    }
    for (path, text) in files("eventlog/src/format", ".rs") {
        assert!(
            !text.contains("fjall::"),
            "{path}: the format does not know the store"
        );
    }
}

#[test]
fn files_and_lines_stay_short() {
    for (path, text) in files("", ".rs") {
        let limit = if is_test_file(&path) {
            TEST_FILE_LINES_MAX
        } else {
            FILE_LINES_MAX
        };
        let lines = text.lines().count();
        assert!(
            lines <= limit,
            "{path} has {lines} lines, at most {limit}: split it by meaning"
        );
        for (number, line) in text.lines().enumerate() {
            let long = line.chars().count() > LINE_CHARS_MAX;
            assert!(
                !long,
                "{path}:{}: over {LINE_CHARS_MAX} characters",
                number + 1
            );
        }
    }
}

#[test]
fn modules_open_by_saying_what_they_are() {
    for (path, text) in files("", ".rs") {
        assert!(text.starts_with("//!"), "{path} does not open with //!");
    }
}

#[test]
fn tests_can_fail_and_do_not_wait() {
    // Spelled in two parts, or this file would find itself.
    let banned = [
        concat!("#[", "ignore"),
        concat!("#[", "should_panic"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
    ];
    for (path, text) in files("", ".rs") {
        for (number, line) in text.lines().enumerate() {
            for word in banned {
                assert!(!line.contains(word), "{path}:{}: {word}", number + 1);
            }
            let sleeps = is_test_file(&path) && line.contains(concat!("thread::", "sleep"));
            assert!(!sleeps, "{path}:{}: a test that sleeps", number + 1);
            let vacuous = line.trim_start().starts_with("matches!(") && line.ends_with(';');
            assert!(
                !vacuous,
                "{path}:{}: a matches! that nobody looks at",
                number + 1
            );
        }
    }
}

#[test]
fn a_change_to_what_goes_over_the_wire_shows_in_the_protocol_document() {
    for (path, text) in files("api/src", "wire.rs") {
        let document = root().join(&path).with_file_name("PROTOCOL.md");
        let document = std::fs::read_to_string(&document)
            .unwrap_or_else(|error| panic!("{}: {error}", document.display()));
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let mark = format!("<!-- wire.rs {hash} -->");
        assert!(
            document.contains(&mark),
            "{path} changed: bring PROTOCOL.md up to date, then end it with {mark}"
        );
    }
}

#[test]
fn the_repository_names_no_machine() {
    for ending in [".rs", ".md", ".toml", ".py"] {
        for (path, text) in files("", ending) {
            let word = concat!("/wo", "rk/");
            assert!(!text.contains(word), "{path} names a path of some machine");
        }
    }
}
