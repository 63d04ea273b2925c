//! Checkpoints and cosignatures.

use super::*;
use crate::format::cosignature::cosign;

const ORIGIN: &str = "log.example/room-1";

fn checkpoint() -> Checkpoint {
    Checkpoint {
        origin: ORIGIN.into(),
        size: 8,
        root: Hash::new([7; 32]),
    }
}

fn log() -> SigningKey {
    SigningKey::from_seed(ORIGIN, [1; 32]).unwrap()
}

fn witness() -> SigningKey {
    SigningKey::witness_from_seed("witness.example/w1", [2; 32]).unwrap()
}

#[test]
fn a_signed_checkpoint_opens_with_the_log_s_key() {
    let (log, note) = (log(), checkpoint().sign(&log()));
    let opened = Checkpoint::open(&note, ORIGIN, &[log.verifying_key()]).unwrap();
    assert_eq!(opened.checkpoint, checkpoint());
    assert_eq!(Checkpoint::peek(&note), Ok(checkpoint()));
}

#[test]
fn only_the_log_s_own_key_makes_a_checkpoint() {
    let (log, witness) = (log(), witness());
    let other = SigningKey::from_seed("log.example/room-2", [1; 32]).unwrap();
    let by_other = checkpoint().sign(&other);
    let opened = Checkpoint::open(&by_other, ORIGIN, &[other.verifying_key()]);
    assert_eq!(opened, Err(CheckpointError::NoLogKey));
    let note = cosign(&checkpoint().sign(&log), 5, &witness).unwrap();
    let opened = Checkpoint::open(&note, ORIGIN, &[witness.verifying_key()]);
    assert_eq!(opened, Err(CheckpointError::NoLogKey));
    let opened = Checkpoint::open(&note, "elsewhere", &[log.verifying_key()]);
    assert!(matches!(opened, Err(CheckpointError::Origin { .. })));
}

#[test]
fn a_cosignature_gives_its_time_and_covers_text_and_time() {
    let (log, witness) = (log(), witness());
    let keys = [log.verifying_key(), witness.verifying_key()];
    let note = cosign(&checkpoint().sign(&log), 1_764_547_200, &witness).unwrap();
    let opened = Checkpoint::open(&note, ORIGIN, &keys).unwrap();
    let times: Vec<_> = opened.signers.iter().map(|s| s.time).collect();
    assert_eq!(times, [None, Some(1_764_547_200)]);

    let (head, line) = note.trim_end().rsplit_once(' ').unwrap();
    for byte in 4..76 {
        let mut blob = BASE64.decode(line).unwrap();
        assert_eq!(blob.len(), 76);
        blob[byte] ^= 1;
        let changed = format!("{head} {}\n", BASE64.encode(blob));
        assert!(
            Checkpoint::open(&changed, ORIGIN, &keys).is_err(),
            "byte {byte}"
        );
    }
}

#[test]
fn what_is_not_a_checkpoint_text_is_refused() {
    let root = BASE64.encode([7; 32]);
    for (text, good) in [
        (format!("o\n8\n{root}\n"), true),
        (format!("o\n0\n{root}\n"), true),
        (format!("an origin with spaces\n8\n{root}\n"), true),
        (format!("o\n9223372036854775807\n{root}\n"), true),
        (format!("o\n8\n{root}\nextension\n"), true),
        (format!("o\n8\n{root}\nextension\n\nmore\n"), false),
        (format!("o\n8\n{root}\n\n"), false),
        (format!("o\n8\n{root}"), false),
        (format!("\n8\n{root}\n"), false),
        (format!("o\n08\n{root}\n"), false),
        (format!("o\n+8\n{root}\n"), false),
        (format!("o\n\n{root}\n"), false),
        (format!("o\n9223372036854775808\n{root}\n"), false),
        (format!("o\n8\n{}\n", root.trim_end_matches('=')), false),
        (format!("o\n8\n{root}A\n"), false),
        (format!("o\n8\n{}\n", BASE64.encode([7; 33])), false),
        (
            "o\n8\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwd=\n".to_owned(),
            false,
        ),
        ("o\n8\n\n".to_owned(), false),
        ("o\n8\n".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(Checkpoint::parse_text(&text).is_ok(), good, "{text:?}");
    }
}
