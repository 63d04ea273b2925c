//! The text report: verdict first, then the findings, what was shown and what was not.
//!
//! Invariant: every text that may come from outside passes [`neutralise`], so a bundle cannot
//! move the cursor, recolour or rewrite the reader's terminal.

use std::fmt::Write as _;

use minutebook_domain::text::unicode::is_unsafe_on_a_terminal;

use crate::{
    finding::Finding,
    report::{Counts, Report, Verdict},
};

/// The text with control, format and bidirectional characters made visible.
pub fn neutralise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe_on_a_terminal(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// The whole report as text, ending with a newline.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} — {}",
        report.verdict.name(),
        neutralise(&report.explanation)
    );
    facts(&mut out, report);
    findings(&mut out, report);
    if !report.proven.is_empty() {
        let _ = writeln!(out, "\nProven");
        for line in &report.proven {
            let _ = writeln!(out, "  + {}", neutralise(line));
        }
    }
    let _ = writeln!(out, "\nNot proven");
    not_proven(&mut out, report);
    let _ = writeln!(
        out,
        "\n{} {}{}; policy sha256:{}",
        report.tool.name,
        report.tool.version,
        report
            .tool
            .binary_hash
            .as_deref()
            .map_or(String::new(), |hash| format!(" ({hash})")),
        report.policy_hash
    );
    out
}

fn facts(out: &mut String, report: &Report) {
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<12}{}", neutralise(value));
    };
    if let Some(origin) = &report.origin {
        fact("log", origin);
    }
    if let Some(room) = &report.room {
        fact("room", room);
    }
    if let Some(root) = &report.root {
        fact(
            "tree",
            &format!("{}, root {root}", counted(report.size, "record", "records")),
        );
    }
    if let (Some(first), Some(last)) = (&report.first, &report.last) {
        fact(
            "records",
            &format!("{} ({}) to {} ({})", first.seq, first.at, last.seq, last.at),
        );
    }
    for key in &report.keys {
        let until = key.last_seq.map_or("now".to_owned(), |seq| seq.to_string());
        let pinned = if key.pinned { " (trusted)" } else { "" };
        let range = format!("epoch {}, records {} to {until}", key.epoch, key.first_seq);
        fact("key", &format!("{} — {range}{pinned}", key.vkey));
    }
    checked(&report.counts, &mut fact);
    for anchor in &report.anchors {
        let text = format!(
            "{} ({}, size {}): {}",
            anchor.label, anchor.kind, anchor.size, anchor.result
        );
        fact("anchor", &text);
    }
    for witness in &report.witnesses {
        fact(
            "witness",
            &format!(
                "{} at size {}, time {}",
                witness.name, witness.size, witness.time
            ),
        );
    }
}

/// How much was checked, and when: a saved state's records were judged by an earlier run.
fn checked(counts: &Counts, fact: &mut impl FnMut(&str, &str)) {
    let list = |parts: &[(u64, &str, &str)]| {
        let parts = parts.iter().map(|(n, one, many)| counted(*n, one, many));
        parts.collect::<Vec<_>>().join(", ")
    };
    let mut said = vec![(counts.messages, "message", "messages")];
    let ledger = [
        (counts.revisions, "thread entry", "thread entries"),
        (counts.handshakes, "handshake", "handshakes"),
    ];
    said.extend(ledger.into_iter().filter(|(count, ..)| *count > 0));
    said.push((counts.agents, "agent", "agents"));
    let signatures = counts.signed().iter().sum();
    said.push((signatures, "agent signature", "agent signatures"));
    let said = list(&said);
    let around = list(&[
        (counts.rooms, "room", "rooms"),
        (counts.checkpoints, "checkpoint", "checkpoints"),
        (counts.receipts, "receipt", "receipts"),
        (counts.bodies_erased, "body erased", "bodies erased"),
    ]);
    let records = |n| counted(n, "record", "records");
    if counts.events_before == 0 {
        let text = format!("{}, {said}, {around}", records(counts.events));
        return fact("checked", &text);
    }
    let again = match counts.events_trusted {
        0 => "they are not in this bundle".to_owned(),
        n => format!("{} found unchanged here by hash", records(n)),
    };
    let before = records(counts.events_before);
    fact(
        "earlier",
        &format!("{before} verified by an earlier run (--state); {again}"),
    );
    let new = counts.events.saturating_sub(counts.events_trusted);
    fact("now", &format!("{} verified: {said}", records(new)));
    let total = records(counts.events_before.saturating_add(new));
    fact(
        "together",
        &format!("{total}, {around}: the verdict is on both"),
    );
}

/// Several things as words.
pub(crate) fn listed(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A number and its noun.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn findings(out: &mut String, report: &Report) {
    if report.findings.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nFindings");
    if let (Verdict::Refuted, Some(seq)) = (report.verdict, report.first_bad_seq) {
        let _ = writeln!(out, "  first bad record: {seq}");
    }
    for finding in &report.findings {
        let _ = writeln!(
            out,
            "  ! {}{}: {}",
            finding.name.name(),
            place(finding),
            neutralise(&finding.message)
        );
        if let (Some(expected), Some(found)) = (&finding.expected, &finding.found) {
            let _ = writeln!(out, "      expected {}", neutralise(expected));
            let _ = writeln!(out, "      found    {}", neutralise(found));
        }
    }
    if report.findings_beyond > 0 {
        let more = counted(report.findings_beyond, "more finding", "more findings");
        let _ = writeln!(out, "  … and {more}");
    }
}

/// What was not shown; what helps stands once, below those it helps against.
fn not_proven(out: &mut String, report: &Report) {
    let mut items = report.not_proven.iter().peekable();
    while let Some(item) = items.next() {
        let _ = writeln!(out, "  - {}: {}", item.name, neutralise(&item.text));
        if let Some(remedy) = item.remedy
            && items.peek().is_none_or(|next| next.remedy != item.remedy)
        {
            let _ = writeln!(out, "      to do: {}", neutralise(remedy));
        }
    }
}

fn place(finding: &Finding) -> String {
    let mut parts = Vec::new();
    match (finding.seq, finding.seq_last) {
        (Some(first), Some(last)) => parts.push(format!("records {first} to {last}")),
        (Some(seq), None) => parts.push(format!("record {seq}")),
        (None, _) => {}
    }
    if let Some(stream) = &finding.stream {
        parts.push(neutralise(stream));
    }
    if let Some(line) = finding.line {
        parts.push(format!("line {line}"));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" [{}]", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_overrides_are_made_visible() {
        let text = neutralise("\u{1b}[2Jok\r\u{202e}x\u{9b}\u{7f}\u{e0041}");
        assert_eq!(text, "\\u{1b}[2Jok\\u{d}\\u{202e}x\\u{9b}\\u{7f}\\u{e0041}");
        for plain in ["Grüße, 日本 🙂", "👩\u{200d}💻", "می\u{200c}خواهم"] {
            assert_eq!(neutralise(plain), plain);
        }
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1, "room", "rooms"), "1 room");
        assert_eq!(counted(0, "room", "rooms"), "0 rooms");
        assert_eq!(counted(2, "body", "bodies"), "2 bodies");
    }
}
