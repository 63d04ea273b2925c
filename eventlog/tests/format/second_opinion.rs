//! A verifier written from `FORMAT.md` alone, in Python, agrees about the vectors.

use std::{fs, process::Command};

use crate::vectors;

fn python_is_here() -> bool {
    Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success())
}

fn check(bundle: &std::path::Path) -> (bool, String) {
    let out = Command::new("python3")
        .arg(vectors::directory().join("check.py"))
        .arg(bundle)
        .arg(vectors::read("log/vkey-1").trim_end())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    (
        out.status.success(),
        text + &String::from_utf8_lossy(&out.stderr),
    )
}

#[test]
fn a_verifier_in_another_language_agrees() {
    if !python_is_here() {
        println!("skipped: python3 is not on this machine");
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    for name in ["log/log.ndjson", "log/room.ndjson"] {
        let (good, said) = check(&vectors::directory().join(name));
        assert!(good, "{name}: {said}");
        let text = vectors::read(name);
        for (from, to) in [
            ("Thursday", "Friday"),
            ("12:00:03", "12:00:04"),
            ("agent:ada", "agent:eve"),
            ("\\n7\\n", "\\n8\\n"),
            ("\"first\":1,", "\"first\":2,"),
            ("zoë", "zoe"),
            ("\\\"sseq\\\":3", "\\\"sseq\\\":4"),
        ] {
            assert!(text.contains(from), "{name}: {from}");
            let path = temporary.path().join("tampered.ndjson");
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let (good, said) = check(&path);
            assert!(!good, "{name} with {from} as {to}: {said}");
        }
    }
}
