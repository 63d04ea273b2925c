//! What a verification cannot show, said in words in every report.
//!
//! Invariant: the list is never empty. A log and its own keys cannot prove that nothing was cut
//! off, that there is no other version, or when anything really happened.

use crate::{
    render::{counted, listed},
    report::NotProven,
};

/// The name of the sentence about what readers are shown.
pub(crate) const PROJECTIONS: &str = "projections";

/// What the sentences depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    /// Whether this is one room's bundle.
    pub(crate) room: bool,
    /// Size of the newest checkpoint in the bundle.
    pub(crate) size: u64,
    /// Largest size an outside anchor confirms.
    pub(crate) anchored: Option<u64>,
    /// Largest cosigned size and the cosignatures' newest time.
    pub(crate) witnessed: Option<(u64, u64)>,
    /// Agents' messages, entries of threads and handshakes without their signature.
    pub(crate) unsigned: [u64; 3],
    /// Bodies erased with authority.
    pub(crate) erased: u64,
    /// Records whose type this verifier does not know.
    pub(crate) unknown: bool,
}

/// The name of the sentence about who verifies.
pub(crate) const VERIFIER: &str = "verifier";

/// What helps against a cut tail, a rollback and a rewrite.
fn keep(room: bool) -> &'static str {
    if room {
        // A checkpoint of another size cannot be compared with a room's records.
        "keep a receipt where the server cannot reach it, and check against it: \
         `minutebook-verify BUNDLE --receipt FILE`"
    } else {
        "keep a receipt or a checkpoint where the server cannot reach it, and check against it: \
         `minutebook-verify BUNDLE --receipt FILE` or `--anchor FILE`"
    }
}

/// All sentences that apply. Those that one step helps against stand together.
pub(crate) fn list(shown: &Shown) -> Vec<NotProven> {
    let known = shown.anchored.max(shown.witnessed.map(|w| w.0));
    let is_open = known.is_none_or(|known| known < shown.size);
    let keep = keep(shown.room);
    let mut out = vec![cut_tail(known, keep), rollback(known, keep)];
    if is_open {
        out.push(rewrite(known, keep));
        out.push(fork(known));
    }
    out.push(time(shown.witnessed));
    out.push(omission(shown.room));
    if shown.room {
        out.push(item(
            "other_rooms",
            "other rooms, API keys and agents' keys were not checked, only this room and the log's \
             keys",
            "verify a bundle of the whole log",
        ));
    }
    if shown.unsigned != [0; 3] {
        out.push(unsigned(shown.unsigned));
    }
    if shown.erased > 0 {
        out.push(erasure(shown.erased));
    }
    if shown.unknown {
        out.push(item(
            "unknown_events",
            "records of a type this verifier does not know may not have been allowed",
            "use the `minutebook-verify` of the server's version",
        ));
    }
    out.push(item(
        PROJECTIONS,
        "what the server shows in its views may differ: a bundle does not hold them",
        "have its operator run `minutebook projections check`, which compares them with the log",
    ));
    out.push(item(
        VERIFIER,
        "this program may not be the published one",
        "compare the SHA-256 of its file with the release's, and run `minutebook-verify \
         --selftest`",
    ));
    out
}

fn item(name: &'static str, text: impl Into<String>, remedy: &'static str) -> NotProven {
    NotProven {
        name,
        text: text.into(),
        remedy: Some(remedy),
    }
}

fn cut_tail(known: Option<u64>, keep: &'static str) -> NotProven {
    let text = match known {
        None => "records may have been cut off the end".to_owned(),
        Some(size) => format!("records after the anchored size {size} may have been cut off"),
    };
    item("cut_tail", text, keep)
}

fn rollback(known: Option<u64>, keep: &'static str) -> NotProven {
    let text = match known {
        None => "an older state of the log may have been put back".to_owned(),
        Some(size) => format!(
            "an older state of the log may have been put back, though none older than size {size}"
        ),
    };
    item("rollback", text, keep)
}

fn rewrite(known: Option<u64>, keep: &'static str) -> NotProven {
    let text = match known {
        None => "whoever holds the log's key may have rewritten it, from any record on".to_owned(),
        Some(size) => format!(
            "whoever holds the log's key may have rewritten the records after the anchored size \
             {size}"
        ),
    };
    item("rewrite", text, keep)
}

fn fork(known: Option<u64>) -> NotProven {
    let text = match known {
        None => "others may have been shown another version of this log".to_owned(),
        Some(size) => format!(
            "others may have been shown another version of the records after the anchored size \
             {size}"
        ),
    };
    let compare = "compare checkpoints with them: `minutebook-verify compare A B`";
    item("fork", text, compare)
}

fn time(witnessed: Option<(u64, u64)>) -> NotProven {
    let text = match witnessed {
        None => {
            "times are the server's word: they never decrease, but records may be backdated or \
                 postdated"
                .to_owned()
        }
        Some((size, time)) => format!(
            "times are the server's word, but for this: witnesses saw the records up to {size} at \
             Unix time {time}"
        ),
    };
    let witness = "have independent witnesses cosign the log's checkpoints, and name them in a \
                   policy: `--policy FILE`";
    item("time", text, witness)
}

fn omission(room: bool) -> NotProven {
    let text = if room {
        "messages that were sent but never recorded, and later records of this room left out of \
         the bundle, cannot be seen here"
    } else {
        "messages that were sent but never recorded cannot be seen in a log"
    };
    let keep = "have senders keep their receipts, or signed copies: they show what is missing";
    item("omission", text, keep)
}

fn unsigned(acts: [u64; 3]) -> NotProven {
    let what = listed(&acts_of(acts));
    let carry = if acts.iter().sum::<u64>() == 1 {
        "carries"
    } else {
        "carry"
    };
    item(
        "unsigned_authorship",
        format!("{what} {carry} no agent's signature: whose they are is the server's word"),
        "have agents sign what matters",
    )
}

/// What agents do, in numbers: messages, entries of threads, handshakes.
pub(crate) fn acts_of([messages, entries, handshakes]: [u64; 3]) -> Vec<String> {
    [
        (messages, "message", "messages"),
        (entries, "thread entry", "thread entries"),
        (handshakes, "handshake", "handshakes"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| counted(count, one, many))
    .collect()
}

fn erasure(bodies: u64) -> NotProven {
    let were = counted(bodies, "body was", "bodies were");
    NotProven {
        name: "erasure",
        text: format!(
            "{were} erased with authority: what they said and whether it was allowed cannot be \
             shown, nor that no copy is left elsewhere"
        ),
        remedy: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(shown: Shown) -> Vec<&'static str> {
        list(&shown).iter().map(|item| item.name).collect()
    }

    #[test]
    fn an_anchor_at_the_end_excludes_rewrite_and_fork_but_never_a_cut_tail() {
        let shown = Shown {
            size: 9,
            ..Shown::default()
        };
        for name in [
            "cut_tail", "rollback", "rewrite", "fork", "time", "omission",
        ] {
            assert!(names(shown).contains(&name), "{name}");
        }
        let part = Shown {
            anchored: Some(5),
            ..shown
        };
        assert!(names(part).contains(&"rewrite"));
        let whole = Shown {
            anchored: Some(9),
            ..shown
        };
        assert!(!names(whole).contains(&"rewrite") && !names(whole).contains(&"fork"));
        assert!(names(whole).contains(&"cut_tail") && names(whole).contains(&"rollback"));
    }

    #[test]
    fn sentences_are_short_and_name_commands_as_code() {
        let all = Shown {
            room: true,
            size: 9,
            unsigned: [1; 3],
            erased: 1,
            unknown: true,
            ..Shown::default()
        };
        for anchored in [None, Some(5)] {
            for item in list(&Shown { anchored, ..all }) {
                for text in [Some(item.text.as_str()), item.remedy]
                    .into_iter()
                    .flatten()
                {
                    assert!(text.chars().count() <= 170, "{text}");
                    assert_eq!(text.matches('`').count() % 2, 0, "{text}");
                }
            }
        }
    }
}
