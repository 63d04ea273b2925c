//! The one-pass way against the general one: on what is written, on that with errors put in, and
//! on pieces thrown together.

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;
use crate::{
    Event, EventKind,
    room::{self},
    signature::MessageSignature,
};

const USUAL: &str = concat!(
    r#"{"agent":"alice","id":"00000000-0000-4000-8000-0000000000ab","kind":"chat","n":7,"#,
    r#""text":"Yes."}"#
);

fn general(body: &[u8]) -> Result<Event, String> {
    Event::decode_general(EventKind::MessagePosted, body)
}

/// Whether it is read in one pass; then the general way must read the same.
fn agrees(body: &[u8]) -> bool {
    let Some(message) = read(body) else {
        return false;
    };
    let event = room::Event::MessagePosted(message).into();
    assert_eq!(general(body), Ok(event), "{}", body.escape_ascii());
    true
}

/// The usual body with a part of it replaced.
fn with(part: &str, by: &str) -> Vec<u8> {
    assert!(USUAL.contains(part), "{part}");
    USUAL.replacen(part, by, 1).into_bytes()
}

#[test]
fn what_is_usual_is_read_in_one_pass() {
    for (part, by) in [
        ("Yes.", "Yes."),
        ("Yes.", r#"\"\\\b\t\n\f\r\u0000\u000b\u001f"#),
        ("Yes.", "\u{7f}/\u{e9}\u{2028}\u{1f9f1}\\n"),
        ("Yes.", r"ends with \\"),
        ("alice", "agent 1"),
        ("alice", "Zo\u{eb}"),
        (":7,", ":0,"),
        (":7,", ":9999999999999999999,"),
    ] {
        assert!(agrees(&with(part, by)), "{by}");
    }
}

#[test]
fn what_is_rare_is_left_to_the_general_way_and_taken() {
    for (part, by) in [
        (r#""n":7"#, r#""memory_root":"x","n":7"#),
        (":7,", ":18446744073709551615,"),
        ("alice", r#"a\"b"#),
    ] {
        let body = with(part, by);
        assert!(!agrees(&body), "{by}");
        assert!(general(&body).is_ok(), "{by}");
    }
}

#[test]
fn what_is_wrong_is_taken_by_neither_way() {
    for (part, by) in [
        ("Yes.", ""),
        ("Yes.", "a\"b"),
        ("Yes.", "a\nb"),
        ("Yes.", r"\u000a"),
        ("Yes.", r"\u001F"),
        ("Yes.", r"\u0020"),
        ("Yes.", r"\u0"),
        ("Yes.", r"\/"),
        ("Yes.", "\\"),
        ("alice", ""),
        ("alice", " alice"),
        ("alice", "owner"),
        ("alice", "Zoe\u{308}"),
        ("alice", "al\u{1}ice"),
        ("ab\"", "AB\""),
        ("ab\"", "a\""),
        ("00000000-0000", "000000000-000"),
        ("00000000-", "{0000000-"),
        (":7,", ":07,"),
        (":7,", ":-7,"),
        (":7,", ":7.0,"),
        (":7,", ":,"),
        (":7,", ":18446744073709551616,"),
        (":7,", ":99999999999999999999999,"),
        ("chat", "Chat"),
        ("{", " {"),
        ("}", "} "),
        ("}", ""),
        (":7,", ":7, "),
        ("\"}", "\",\"text\":\"again\"}"),
        ("\"}", "\",\"z\":1}"),
    ] {
        let body = with(part, by);
        assert!(!agrees(&body), "{by}");
        assert!(general(&body).is_err(), "{by}");
    }
    for cut in 0..USUAL.len() {
        assert!(!agrees(&USUAL.as_bytes()[..cut]), "{cut}");
    }
}

fn names() -> impl Strategy<Value = AgentName> {
    prop_oneof!["[a-z0-9 \"\\\\]{1,12}", any::<String>()]
        .prop_filter_map("no name", |name| AgentName::parse(&name).ok())
}

fn texts() -> impl Strategy<Value = MessageText> {
    prop_oneof!["[ -~]{1,80}", "[\\x00-\\x7f]{1,40}", any::<String>()]
        .prop_filter_map("no text", |text| MessageText::parse(&text).ok())
}

fn messages() -> impl Strategy<Value = MessagePosted> {
    let signature = any::<String>().prop_map(|sig| MessageSignature::from_client("00", &sig, ""));
    (
        names(),
        any::<u128>().prop_map(Uuid::from_u128),
        proptest::option::weighted(0.2, any::<String>()),
        prop_oneof![0..1000u64, any::<u64>()],
        proptest::option::weighted(0.2, signature),
        texts(),
    )
        .prop_map(
            |(agent, id, memory_root, n, signature, text)| MessagePosted {
                agent,
                id,
                kind: MessageKind::Chat,
                memory_root,
                n,
                signature,
                text,
            },
        )
}

fn encoded(message: &MessagePosted) -> Vec<u8> {
    let mut body = Vec::new();
    Event::from(room::Event::MessagePosted(message.clone())).encode_body(&mut body);
    body
}

/// A change in a place, as a fraction of the length.
fn changes() -> impl Strategy<Value = Vec<(u16, u8, Vec<u8>)>> {
    let bytes = prop_oneof![
        select(vec![
            "\"", "\\", "\\\"", "\\u00", "\\u001f", "\\n", "\n", "{", "}", "\"}", ",", ":", "0",
            "A", " ", "\u{308}", "\"n\":1", "null", "\u{0}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 1..3),
    ];
    vec((any::<u16>(), 0..4u8, bytes), 1..4)
}

fn changed(mut body: Vec<u8>, changes: &[(u16, u8, Vec<u8>)]) -> Vec<u8> {
    for (place, removed, put) in changes {
        let from = usize::from(*place) * (body.len() + 1) / (usize::from(u16::MAX) + 1);
        let to = (from + usize::from(*removed)).min(body.len());
        body.splice(from..to, put.iter().copied());
    }
    body
}

/// Pieces of bodies in any order.
fn heaps() -> impl Strategy<Value = Vec<u8>> {
    let pieces = vec![
        "{",
        "}",
        ",",
        "\"agent\":\"alice\"",
        "\"agent\":\"a",
        "\"id\":\"00000000-0000-4000-8000-0000000000ab\"",
        "\"kind\":\"chat\"",
        "\"n\":1",
        "\"n\":01",
        "\"text\":\"x",
        "\\n",
        "\\u0001",
        "\"",
        "\"}",
        "\"text\":\"x\"}",
        "{\"agent\":\"a\",\"id\":\"00000000-0000-4000-8000-0000000000ab\",\"kind\":\"chat\",",
        "\"n\":1,\"text\":\"",
    ];
    vec(select(pieces), 0..14).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_written_is_read_back_whichever_way(message in messages()) {
        let body = encoded(&message);
        let event = room::Event::MessagePosted(message.clone()).into();
        prop_assert_eq!(general(&body), Ok(event));
        let is_named_plainly = !message.agent.as_str().bytes().any(is_special);
        let is_usual = message.memory_root.is_none()
            && message.signature.is_none()
            && is_named_plainly
            && message.n < 10_u64.pow(19);
        prop_assert_eq!(agrees(&body), is_usual);
    }

    #[test]
    fn a_changed_body_is_read_in_one_pass_only_as_the_general_way_reads_it(
        message in messages(),
        changes in changes(),
    ) {
        agrees(&changed(encoded(&message), &changes));
    }

    #[test]
    fn pieces_thrown_together_are_read_in_one_pass_only_as_the_general_way_reads_them(
        body in heaps(),
    ) {
        agrees(&body);
    }
}
