//! What no log can show of itself: an end that was cut off without a trace (rows 4 to 6), and a
//! ledger written anew with the log's own key (row 24). The report names it as not proven, and a
//! checkpoint that somebody kept shows it.

use std::path::{Path, PathBuf};

use minutebook_tests::server::Server;

use super::scene::Scene;
use super::{get, verify};
use crate::support::{self, copy, vkey};

/// A directory of a stopped server as it was at some time, and what a server on it says of a room.
struct Kept(tempfile::TempDir);

impl Kept {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Lets a server do something, and keeps its directory under a name.
    fn after(&self, name: &str, act: impl FnOnce(&Server)) {
        let server = support::start(&self.path("data"));
        act(&server);
        assert!(server.terminate().unwrap().success());
        copy(&self.path("data"), &self.path(name));
    }

    /// The server calls the room clean, names what it cannot know, and so does the verifier of
    /// the bundle, which is kept.
    fn assert_clean_but_for(&self, data: &str, room: &str, bundle: &str, open: &[&str]) -> String {
        let server = support::start(&self.path(data));
        let verdict = verify(&server, room);
        assert_eq!(verdict["verdict"], "CLEAN", "{verdict}");
        let named = verdict["not_proven"].as_array().unwrap();
        let is_named = |name: &&str| named.iter().any(|item| item["name"] == **name);
        assert!(open.iter().all(is_named), "{verdict}");
        std::fs::write(self.path("bundle"), get(&server, bundle)).unwrap();
        let vkey = vkey(&server);
        let (code, text) = self.judge(&vkey, None);
        assert_eq!(code, Some(0), "{text}");
        assert!(open.iter().all(|name| text.contains(name)), "{text}");
        vkey
    }

    /// What the verifier, as a process, says of the kept bundle.
    fn judge(&self, vkey: &str, anchor: Option<&Path>) -> (Option<i32>, String) {
        let bundle = self.path("bundle");
        let mut args = vec![bundle.to_str().unwrap(), "--key", vkey];
        if let Some(anchor) = anchor {
            args.extend(["--anchor", anchor.to_str().unwrap()]);
        }
        let told = support::verify(&args);
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        (told.status.code(), text)
    }
}

fn keep_anchor(server: &Server, path: &Path) {
    std::fs::write(path, get(server, "/api/log/checkpoint")).unwrap();
}

#[test]
fn a_ledger_cut_at_its_end_is_named_as_not_proven_and_an_anchor_refutes_it() {
    let kept = Kept(tempfile::tempdir().unwrap());
    let anchor = kept.path("anchor");
    let mut scene = None;
    // Before all of its 6 entries, before the last two, before the last.
    kept.after("row 6", |server| scene = Some(Scene::begin(server)));
    let mut scene = scene.unwrap();
    kept.after("row 5", |server| {
        (1..=4).for_each(|entry| scene.enter(server, entry, None));
    });
    kept.after("row 4", |server| scene.enter(server, 5, None));
    kept.after("whole", |server| {
        scene.enter(server, 6, None);
        scene.end(server);
        keep_anchor(server, &anchor);
    });
    for row in ["row 4", "row 5", "row 6"] {
        let path = format!("/api/log/bundle?room={}", scene.room);
        let open = ["cut_tail", "rollback"];
        let vkey = kept.assert_clean_but_for(row, &scene.room, &path, &open);
        let (code, text) = kept.judge(&vkey, Some(&anchor));
        assert_eq!(code, Some(1), "{row}: {text}");
        assert!(text.contains("truncated_below_anchor"), "{row}: {text}");
    }
}

#[test]
fn a_ledger_written_anew_with_the_logs_key_is_named_as_not_proven_and_an_anchor_refutes_it() {
    let kept = Kept(tempfile::tempdir().unwrap());
    let anchor = kept.path("anchor");
    let mut scene = None;
    kept.after("forged", |server| {
        let mut begun = Scene::begin(server);
        (1..=4).for_each(|entry| begun.enter(server, entry, None));
        scene = Some(begun);
    });
    let mut scene = scene.unwrap();
    kept.after("whole", |server| {
        (5..=6).for_each(|entry| scene.enter(server, entry, None));
        scene.end(server);
        keep_anchor(server, &anchor);
    });
    let server = support::start(&kept.path("forged"));
    (5..=6).for_each(|entry| scene.enter(&server, entry, Some("what was never said")));
    scene.end(&server);
    scene.say(
        &server,
        "bob",
        "so it is longer than what it was forged from",
    );
    assert!(server.terminate().unwrap().success());
    let open = ["rewrite", "fork"];
    let vkey = kept.assert_clean_but_for("forged", &scene.room, "/api/log/bundle", &open);
    let (code, text) = kept.judge(&vkey, Some(&anchor));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("fork"), "{text}");
    // A room's bundle has not what it takes to compare the two, and says that, too.
    let path = format!("/api/log/bundle?room={}", scene.room);
    kept.assert_clean_but_for("forged", &scene.room, &path, &open);
    let (code, text) = kept.judge(&vkey, Some(&anchor));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("anchor_not_comparable"), "{text}");
}
