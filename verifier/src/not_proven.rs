//! What a verification cannot show, said in words in every report.
//!
//! Invariant: the list is never empty. A log and its own keys cannot prove that nothing was cut
//! off, that there is no other version, or when anything really happened.

use crate::{render::counted, report::NotProven};

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
    /// Messages without an agent's signature.
    pub(crate) unsigned: u64,
    /// Bodies erased with authority.
    pub(crate) erased: u64,
    /// Records whose type this verifier does not know.
    pub(crate) unknown: bool,
}

/// All sentences that apply.
pub(crate) fn list(shown: &Shown) -> Vec<NotProven> {
    let known = shown.anchored.max(shown.witnessed.map(|w| w.0));
    let mut out = vec![cut_tail(known), rollback(known)];
    if known.is_none_or(|known| known < shown.size) {
        out.push(rewrite(known));
        out.push(fork(known));
    }
    out.push(time(shown.witnessed));
    out.push(omission(shown.room));
    if shown.room {
        out.push(item(
            "other_rooms",
            "only this room and the log's keys were checked; other rooms, API keys and agents' \
             keys were not",
        ));
    }
    if shown.unsigned > 0 {
        out.push(item(
            "unsigned_authorship",
            format!(
                "{} no agent's signature: that the named agent wrote them rests on the server's \
                 word",
                counted(shown.unsigned, "message carries", "messages carry")
            ),
        ));
    }
    if shown.erased > 0 {
        out.push(item(
            "erasure",
            format!(
                "{} erased with authority: what was said, whether it was allowed, and that no copy \
                 is left elsewhere cannot be shown",
                counted(shown.erased, "body was", "bodies were")
            ),
        ));
    }
    if shown.unknown {
        out.push(item(
            "unknown_events",
            "some records are of a type this verifier does not know, so whether they were allowed \
             was not checked",
        ));
    }
    out.push(item(
        PROJECTIONS,
        "what the server shows in its views is not in a bundle: `minutebook projections check` \
         compares them with the log",
    ));
    out.push(item(
        "verifier",
        "that this program is the published one: compare the SHA-256 of its file with the \
         release's and run minutebook-verify --selftest",
    ));
    out
}

fn item(name: &'static str, text: impl Into<String>) -> NotProven {
    NotProven {
        name,
        text: text.into(),
    }
}

fn cut_tail(known: Option<u64>) -> NotProven {
    item(
        "cut_tail",
        match known {
            None => "no outside anchor was given: records may have been cut off the end".to_owned(),
            Some(size) => format!(
                "nothing is known here beyond the anchored size {size}: later records may have \
                 been cut off the end"
            ),
        },
    )
}

fn rollback(known: Option<u64>) -> NotProven {
    item(
        "rollback",
        match known {
            None => "no outside anchor was given: this may be an older state of the log put back"
                .to_owned(),
            Some(size) => format!(
                "this may be an older state of the log put back, though none older than size {size}"
            ),
        },
    )
}

fn rewrite(known: Option<u64>) -> NotProven {
    item(
        "rewrite",
        match known {
            None => "no outside anchor was given: the holder of the log's key may have rewritten \
                     the log from any record on"
                .to_owned(),
            Some(size) => format!(
                "the holder of the log's key may have rewritten the records after the anchored \
                 size {size}"
            ),
        },
    )
}

fn fork(known: Option<u64>) -> NotProven {
    item(
        "fork",
        match known {
            None => "no outside anchor was given: others may have been shown another version of \
                     this log (compare checkpoints with them: `compare A B`)"
                .to_owned(),
            Some(size) => format!(
                "others may have been shown another version of the records after the anchored \
                 size {size} (compare checkpoints with them: `compare A B`)"
            ),
        },
    )
}

fn time(witnessed: Option<(u64, u64)>) -> NotProven {
    item(
        "time",
        match witnessed {
            None => "times are the server's own word; only that they never decrease was checked, \
                     so records may be backdated or postdated"
                .to_owned(),
            Some((size, time)) => format!(
                "times are the server's own word; witnesses show only that the records up to \
                 {size} existed at Unix time {time}"
            ),
        },
    )
}

fn omission(room: bool) -> NotProven {
    item(
        "omission",
        if room {
            "messages that were sent but never recorded, and later records of this room left out \
             of the bundle, cannot be seen here"
        } else {
            "messages that were sent but never recorded cannot be seen in a log; a sender's signed \
             copy or receipt shows them"
        },
    )
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
}
