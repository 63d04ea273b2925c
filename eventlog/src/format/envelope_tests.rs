//! What an envelope is and is not.

use super::*;
use proptest::prelude::*;

fn sample() -> Envelope<'static> {
    Envelope {
        actor: "agent:ada \"q\" \u{1}".into(),
        at: "2026-11-30T12:00:00.000000Z".into(),
        body: Hash::new([0xab; 32]),
        cause: None,
        cmd: "idem:1".into(),
        prev: Hash::ZERO,
        seq: 1,
        sprev: Hash::ZERO,
        sseq: 1,
        stream: "log".into(),
        kind: "log.opened".into(),
        v: 1,
    }
}

fn bytes(envelope: &Envelope<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    envelope.encode(&mut out);
    out
}

fn check_refused(from: &str, to: &str) {
    let good = String::from_utf8(bytes(&sample())).unwrap();
    assert!(good.contains(from), "{from}");
    let bad = good.replacen(from, to, 1);
    assert!(Envelope::parse(bad.as_bytes()).is_err(), "{bad}");
}

#[test]
fn the_spelling_is_fixed() {
    let zeros = "0".repeat(64);
    let expected = format!(
        "{{\"actor\":\"agent:ada \\\"q\\\" \\u0001\",\"at\":\"2026-11-30T12:00:00.000000Z\",\
         \"body\":\"{}\",\"cause\":null,\"cmd\":\"idem:1\",\"prev\":\"{zeros}\",\"seq\":1,\
         \"sprev\":\"{zeros}\",\"sseq\":1,\"stream\":\"log\",\"type\":\"log.opened\",\"v\":1}}",
        "ab".repeat(32),
    );
    assert_eq!(String::from_utf8(bytes(&sample())).unwrap(), expected);
    assert_eq!(Envelope::parse(expected.as_bytes()), Ok(sample()));
}

#[test]
fn any_other_spelling_is_refused() {
    for (from, to) in [
        ("{\"actor\"", "{ \"actor\""),
        ("\"seq\":1", "\"seq\":01"),
        ("\"seq\":1", "\"seq\":1.0"),
        ("\"seq\":1", "\"seq\":-1"),
        ("\"seq\":1", "\"seq\":\"1\""),
        ("\"seq\":1", "\"seq\":0"),
        ("\"seq\":1", "\"seq\":9007199254740992"),
        ("\"sseq\":1", "\"sseq\":null"),
        ("\"cause\":null", "\"cause\":0"),
        ("\"cause\":null", "\"cause\":nil"),
        ("\"cause\":null,", ""),
        ("\"v\":1}", "\"v\":0}"),
        ("\"v\":1}", "\"v\":4294967296}"),
        ("\"v\":1}", "\"v\":1,\"w\":1}"),
        ("\"v\":1}", "\"v\":1}\n"),
        ("\"v\":1}", "\"v\":1"),
        ("\"stream\":\"log\"", "\"stream\":\"\""),
        ("\"stream\":\"log\"", "\"stream\":\"l\\u006fg\""),
        ("\\u0001", "\u{1}"),
        ("\\u0001", "\\ud800"),
        ("T12", "t12"),
        ("11-30T", "11-31T"),
        ("abab", "ABab"),
        ("\"cmd\":\"idem:1\",", ""),
        (
            "\"cmd\":\"idem:1\"",
            "\"cmd\":\"idem:1\",\"cmd\":\"idem:1\"",
        ),
        ("\"cmd\":\"idem:1\"", "\"cmdx\":\"idem:1\""),
    ] {
        check_refused(from, to);
    }
}

type Setter = fn(&mut Envelope<'_>, String);

#[test]
fn every_field_is_bounded() {
    let cases: [(Setter, usize); 4] = [
        (|e, s| e.actor = s.into(), ACTOR_BYTES_MAX),
        (|e, s| e.cmd = s.into(), CMD_BYTES_MAX),
        (|e, s| e.stream = s.into(), STREAM_BYTES_MAX),
        (|e, s| e.kind = s.into(), TYPE_BYTES_MAX),
    ];
    for (set, max) in cases {
        for (len, good) in [(0, false), (1, true), (max, true), (max + 1, false)] {
            let mut envelope = sample();
            set(&mut envelope, "x".repeat(len));
            assert_eq!(
                Envelope::parse(&bytes(&envelope)).is_ok(),
                good,
                "{len} of {max}"
            );
            assert_eq!(envelope.check().is_ok(), good, "{len} of {max}");
        }
    }
}

#[test]
fn the_worst_envelope_within_the_field_limits_fits() {
    let worst = Envelope {
        actor: "\u{1}".repeat(ACTOR_BYTES_MAX).into(),
        cmd: "\u{1}".repeat(CMD_BYTES_MAX).into(),
        stream: "\u{1}".repeat(STREAM_BYTES_MAX).into(),
        kind: "\u{1}".repeat(TYPE_BYTES_MAX).into(),
        cause: Some(INTEGER_MAX),
        seq: INTEGER_MAX,
        sseq: INTEGER_MAX,
        v: u32::MAX,
        ..sample()
    };
    let bytes = bytes(&worst);
    assert!(bytes.len() <= ENVELOPE_BYTES_MAX, "{}", bytes.len());
    assert_eq!(Envelope::parse(&bytes), Ok(worst));
}

#[test]
fn plain_fields_are_borrowed() {
    let bytes = bytes(&sample());
    let envelope = Envelope::parse(&bytes).unwrap();
    assert!(matches!(envelope.stream, Cow::Borrowed("log")));
    assert!(matches!(envelope.actor, Cow::Owned(_)));
}

fn envelopes() -> impl Strategy<Value = Envelope<'static>> {
    let text = |max: usize| {
        "(\\PC|[\u{0}-\u{1f}\"\\\\]){1,40}".prop_filter("too long", move |s| s.len() <= max)
    };
    let position = 1..=INTEGER_MAX;
    (
        (
            text(ACTOR_BYTES_MAX),
            text(CMD_BYTES_MAX),
            text(STREAM_BYTES_MAX),
            text(TYPE_BYTES_MAX),
        ),
        (any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>()),
        (
            position.clone(),
            position.clone(),
            proptest::option::of(position),
            1..=u32::MAX,
        ),
        (
            1970..=9999u32,
            1..=12u32,
            1..=28u32,
            0..24u32,
            0..60u32,
            0..1_000_000u32,
        ),
    )
        .prop_map(|(texts, hashes, numbers, t)| Envelope {
            actor: texts.0.into(),
            at: format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                t.0, t.1, t.2, t.3, t.4, t.4, t.5
            )
            .into(),
            body: Hash::new(hashes.0),
            cause: numbers.2,
            cmd: texts.1.into(),
            prev: Hash::new(hashes.1),
            seq: numbers.0,
            sprev: Hash::new(hashes.2),
            sseq: numbers.1,
            stream: texts.2.into(),
            kind: texts.3.into(),
            v: numbers.3,
        })
}

proptest! {
    #[test]
    fn encoding_then_parsing_gives_the_same(envelope in envelopes()) {
        prop_assert_eq!(envelope.check(), Ok(()));
        let bytes = bytes(&envelope);
        prop_assert_eq!(Envelope::parse(&bytes).unwrap(), envelope);
    }

    #[test]
    fn what_parses_encodes_to_the_same_bytes(
        envelope in envelopes(),
        at: prop::sample::Index,
        byte: u8,
        how in 0..3,
    ) {
        let mut bytes = bytes(&envelope);
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => { bytes.remove(at); }
        }
        if let Ok(parsed) = Envelope::parse(&bytes) {
            prop_assert_eq!(self::bytes(&parsed), bytes);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = Envelope::parse(&bytes);
    }
}
