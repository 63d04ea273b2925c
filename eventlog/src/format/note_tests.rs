//! The C2SP signed-note rules, one by one.

use super::*;
use proptest::prelude::*;

/// The signed-note specification's own example.
const SPEC_VKEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const SPEC_NOTE: &str = "This is an example message.\n\n\u{2014} example.com/foo \
    Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

fn key(name: &str, seed: u8) -> SigningKey {
    SigningKey::from_seed(name, [seed; 32]).unwrap()
}

fn line(note: &str) -> &str {
    note.split_once("\n\n").unwrap().1
}

#[test]
fn what_was_signed_verifies_and_nothing_else_does() {
    let key = key("log.example", 1);
    let note = sign("a\n\nb\n", &key);
    let parsed = Note::parse(&note).unwrap();
    assert_eq!(parsed.text(), "a\n\nb\n");
    let signers = parsed.verify(&[key.verifying_key()]).unwrap();
    assert_eq!(
        signers,
        [Signer {
            key: key.verifying_key(),
            time: None
        }]
    );
    let changed = note.replacen('a', "c", 1);
    let refused = Note::parse(&changed)
        .unwrap()
        .verify(&[key.verifying_key()]);
    assert_eq!(refused, Err(NoteError::BadSignature("log.example".into())));
}

#[test]
fn unknown_lines_are_ignored_even_when_name_or_id_is_known() {
    let (log, namesake, other) = (key("log.example", 1), key("log.example", 2), key("b", 3));
    let note = sign("text\n", &log) + line(&sign("else\n", &namesake)) + line(&sign("x\n", &other));
    let parsed = Note::parse(&note).unwrap();
    assert_eq!(parsed.signatures().len(), 3);
    assert_eq!(parsed.verify(&[log.verifying_key()]).unwrap().len(), 1);
    assert_eq!(
        parsed.verify(&[key("c", 1).verifying_key()]),
        Err(NoteError::NoKnownKey)
    );
    assert_eq!(
        parsed.verify_any(&[key("c", 1).verifying_key()]),
        Ok(vec![])
    );
}

#[test]
fn a_known_key_that_fails_refuses_the_note_wherever_its_line_stands() {
    let (good, bad) = (key("good", 1), key("bad", 2));
    let keys = [good.verifying_key(), bad.verifying_key()];
    let forged = line(&sign("other\n", &bad)).to_owned();
    let signed = sign("text\n", &good);
    for note in [
        format!("{signed}{forged}"),
        format!("text\n\n{forged}{}", line(&signed)),
    ] {
        let refused = Note::parse(&note).unwrap().verify(&keys);
        assert_eq!(
            refused,
            Err(NoteError::BadSignature("bad".into())),
            "{note}"
        );
    }
    let twice = sign("text\n", &bad) + &forged;
    assert!(Note::parse(&twice).unwrap().verify(&keys).is_err());
}

#[test]
fn sixteen_signatures_are_handled_and_each_signer_counts_once() {
    let keys: Vec<_> = (0..16).map(|i| key(&format!("key-{i}"), i)).collect();
    let mut note = sign("text\n", &keys[0]);
    for key in &keys {
        note += line(&sign("text\n", key));
    }
    let public: Vec<_> = keys.iter().map(SigningKey::verifying_key).collect();
    let signers = Note::parse(&note).unwrap().verify(&public).unwrap();
    assert_eq!(signers.len(), 16);
}

#[test]
fn size_and_number_of_signatures_are_capped() {
    let key = key("log.example", 1);
    let signed = sign("text\n", &key);
    let many = |n: usize| signed.clone() + &line(&signed).repeat(n - 1);
    assert!(Note::parse(&many(NOTE_SIGNATURES_MAX)).is_ok());
    assert_eq!(
        Note::parse(&many(NOTE_SIGNATURES_MAX + 1)),
        Err(NoteError::TooManySignatures)
    );
    let large = sign(&format!("{}\n", "x".repeat(NOTE_BYTES_MAX)), &key);
    assert_eq!(Note::parse(&large), Err(NoteError::TooLarge));
}

#[test]
fn what_is_not_a_note_is_refused() {
    let good = sign("text\n", &key("log.example", 1));
    assert!(Note::parse(&good).is_ok());
    for (from, to) in [
        ("text\n\n", "text\n"),
        ("text\n\n", "text\r\n\n"),
        ("text", "te\u{7}xt"),
        ("text", "te\0xt"),
        ("text", "te\txt"),
        ("\u{2014} log", "- log"),
        ("\u{2014} log", "\u{2014}  log"),
        ("\u{2014} log", "\u{2014}log"),
        ("log.example ", "log+example "),
        ("log.example ", "log\u{2003}example "),
        ("=\n", "=\n\n"),
        ("=\n", "= \n"),
        ("=\n", "="),
        ("=\n", "\n"),
        ("log.example ", "log.example AAAAAA=="),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replacen(from, to, 1);
        assert!(Note::parse(&bad).is_err(), "{bad:?}");
    }
    for bad in [
        "",
        "\n",
        "\n\n",
        "\n\n\n",
        "text",
        "text\n",
        "text\n\n",
        "text\n\n\u{2014} n AAAAAA==\n",
    ] {
        assert!(Note::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn the_specification_s_own_note_verifies() {
    let key = VerifyingKey::parse(SPEC_VKEY).unwrap();
    assert_eq!(key.vkey(), SPEC_VKEY);
    let note = Note::parse(SPEC_NOTE).unwrap();
    assert_eq!(note.text(), "This is an example message.\n");
    assert_eq!(note.verify(&[&key]).unwrap().len(), 1);
}

proptest! {
    #[test]
    fn any_change_to_a_signed_note_is_noticed(at: prop::sample::Index, byte in 0u8..0x80) {
        let key = key("log.example", 1);
        let note = sign("log.example\n8\nroot\n", &key);
        let mut bytes = note.clone().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        if let Ok(changed) = String::from_utf8(bytes) {
            let verified = |n: Note<'_>| n.verify(&[key.verifying_key()]).is_ok();
            let trusted = Note::parse(&changed).is_ok_and(verified);
            prop_assert!(!trusted, "{changed:?}");
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|\n|\n\n\u{2014} ){0,60}") {
        let _ = Note::parse(&text);
    }
}
