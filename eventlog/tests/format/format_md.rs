//! `FORMAT.md` shows bytes that exist: each example names the vector it is taken from.

use crate::vectors;

const FORMAT_MD: &str = include_str!("../../FORMAT.md");

/// A block after `<!-- vector: FILE -->` is that file; after `<!-- vector: FILE:N -->` its line N.
fn examples() -> Vec<(&'static str, &'static str)> {
    let marked = FORMAT_MD.split("<!-- vector: ").skip(1);
    marked
        .map(|rest| {
            let (name, rest) = rest.split_once(" -->\n").expect("a marker ends its line");
            let block = rest
                .strip_prefix("```\n")
                .expect("a block follows the marker");
            (name, block.split_once("```\n").expect("a block ends").0)
        })
        .collect()
}

#[test]
fn every_example_is_a_vector() {
    let examples = examples();
    assert!(examples.len() >= 12, "{}", examples.len());
    for (name, shown) in examples {
        let (file, line) = match name.split_once(':') {
            Some((file, line)) => (file, line.parse::<usize>().ok()),
            None => (name, None),
        };
        let text = vectors::read(file);
        let expected = match line {
            Some(line) => text.lines().nth(line - 1).expect("the line exists"),
            None => text.trim_end_matches('\n'),
        };
        assert_eq!(shown.trim_end_matches('\n'), expected, "{name}");
    }
}

#[test]
fn every_vector_is_named() {
    for folder in ["c2sp", "log"] {
        for file in std::fs::read_dir(vectors::directory().join(folder)).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(
                FORMAT_MD.contains(&format!("{folder}/{name}")),
                "{folder}/{name}"
            );
        }
    }
}

#[test]
fn every_limit_is_stated() {
    use minutebook_eventlog::format::limits::*;
    for (name, value) in [
        ("actor", ACTOR_BYTES_MAX),
        ("cmd", CMD_BYTES_MAX),
        ("stream", STREAM_BYTES_MAX),
        ("type", TYPE_BYTES_MAX),
        ("envelope", ENVELOPE_BYTES_MAX),
        ("body", BODY_BYTES_MAX),
        ("bundle line", LINE_BYTES_MAX),
        ("signed note", NOTE_BYTES_MAX),
        ("signatures of a note", NOTE_SIGNATURES_MAX),
        ("key name, origin", KEY_NAME_BYTES_MAX),
        ("receipt", PROOF_BYTES_MAX),
        ("`extra` of a receipt", PROOF_EXTRA_BYTES_MAX),
        ("hashes of a proof", PROOF_HASHES_MAX),
    ] {
        let digits = value.to_string();
        let mut grouped = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let cell = format!("| {grouped} |");
        let limits = FORMAT_MD.split_once("\n## Limits\n").expect("a section").1;
        let row = limits
            .lines()
            .find(|line| line.starts_with(&format!("| {name}")));
        let row = row.unwrap_or_else(|| panic!("no row for {name}"));
        assert!(row.contains(&cell), "{name} should be {grouped}: {row}");
    }
}
