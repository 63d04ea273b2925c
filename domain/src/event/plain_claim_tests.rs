//! The one-pass way against the general one: on what is written, on that with errors put in, and
//! cut short.

use proptest::{collection::vec, prelude::*, sample::select};
use uuid::Uuid;

use super::*;
use crate::{
    Event, EventKind,
    event::plain::is_special,
    room::claims,
    signature::LedgerSignature,
    text::{AgentName, Quote},
};

const REVISED: &str = concat!(
    r#"{"agent":"alice","claim":"00000000-0000-4000-8000-0000000000ab","entry":{"arbiter":"aa","#,
    r#""arbiter_sig":"bb","id":7,"prev_hash":"cc","row_hash":"dd"},"kind":"update","#,
    r#""source_msg_id":3,"value":"Yes."}"#
);
const OPENED: &str = concat!(
    r#"{"agent":"alice","claim":"00000000-0000-4000-8000-0000000000ab","entry":{"arbiter":"aa","#,
    r#""arbiter_sig":"bb","id":7,"prev_hash":"cc","row_hash":"dd"},"source_msg_id":3,"#,
    r#""subject":"price","subject_key":"price","value":"Yes."}"#
);
const BOTH: [(EventKind, &str); 2] = [
    (EventKind::ClaimRevised, REVISED),
    (EventKind::ClaimOpened, OPENED),
];

/// Whether it is read in one pass; then the general way must read the same.
fn agrees(kind: EventKind, body: &[u8]) -> bool {
    let Some(event) = Event::decode_usual(kind, body) else {
        return false;
    };
    let general = Event::decode_general(kind, body);
    assert_eq!(general, Ok(event), "{}", body.escape_ascii());
    true
}

fn is_taken(kind: EventKind, body: &[u8]) -> bool {
    Event::decode_general(kind, body).is_ok()
}

/// Both bodies with a part replaced.
fn with(part: &str, by: &str) -> impl Iterator<Item = (EventKind, Vec<u8>)> {
    BOTH.into_iter().map(move |(kind, body)| {
        assert!(body.contains(part), "{part}");
        (kind, body.replacen(part, by, 1).into_bytes())
    })
}

#[test]
fn what_is_usual_is_read_in_one_pass() {
    for (part, by) in [
        ("Yes.", "Yes."),
        ("Yes.", r#"\"\\\b\t\n\f\r\u0000\u000b\u001f"#),
        ("Yes.", "\u{7f}/\u{e9}\u{2028}\u{1f9f1}\\n"),
        ("Yes.", " with white space "),
        ("alice", "arbiter"),
        ("alice", "Zo\u{eb}"),
        (":7,", ":0,"),
        (":7,", ":9999999999999999999,"),
        (r#""source_msg_id":3,"#, ""),
        ("\"aa\"", "\"\""),
        ("\"aa\"", "\"\u{e9}\""),
    ] {
        for (kind, body) in with(part, by) {
            assert!(agrees(kind, &body), "{by}");
        }
    }
    for name in ["update", "confirm", "contradict", "retract"] {
        let body = REVISED.replacen("update", name, 1);
        assert!(agrees(EventKind::ClaimRevised, body.as_bytes()), "{name}");
    }
}

#[test]
fn what_is_rare_is_left_to_the_general_way_and_taken() {
    let signature = r#""signature":{"enrolled":false,"pubkey":"","sig":"","surface":""}"#;
    for (part, by) in [
        (r#""source_msg_id""#, r#""quote":"x","source_msg_id""#),
        (
            r#""source_msg_id""#,
            &format!(r#"{signature},"source_msg_id""#),
        ),
        (":7,", ":18446744073709551615,"),
        ("alice", r#"a\"b"#),
        ("\"aa\"", r#""a\n""#),
    ] {
        for (kind, body) in with(part, by) {
            assert!(!agrees(kind, &body), "{by}");
            assert!(is_taken(kind, &body), "{by}");
        }
    }
}

#[test]
fn what_is_wrong_is_taken_by_neither_way() {
    for (part, by) in [
        ("Yes.", ""),
        ("Yes.", "  "),
        ("Yes.", "a\"b"),
        ("Yes.", "a\nb"),
        ("Yes.", r"\u000a"),
        ("Yes.", r"\u001F"),
        ("Yes.", r"\/"),
        ("Yes.", "\\"),
        ("alice", ""),
        ("alice", " alice"),
        ("alice", "owner"),
        ("alice", "Zoe\u{308}"),
        ("alice", "al\u{1}ice"),
        ("ab\"", "AB\""),
        ("ab\"", "a\""),
        ("00000000-", "{0000000-"),
        (":7,", ":07,"),
        (":7,", ":-7,"),
        (":7,", ":18446744073709551616,"),
        (":3,", ":null,"),
        ("\"entry\":{", "\"entry\":{ "),
        ("dd\"}", "dd\",\"z\":1}"),
        ("dd\"}", "dd\"}}"),
        ("\"prev_hash\":\"cc\",", ""),
        ("{", " {"),
        ("\"}", "\",\"value\":\"again\"}"),
        ("Yes.\"}", "Yes.\",\"value\":\"again\"}"),
        ("Yes.\"}", "Yes.\",\"z\":1}"),
        ("Yes.\"}", "Yes.\"} "),
        ("Yes.\"}", "Yes.\""),
    ] {
        for (kind, body) in with(part, by) {
            assert!(!agrees(kind, &body), "{by}");
            assert!(!is_taken(kind, &body), "{by}");
        }
    }
    for (from, to) in [
        ("update", "Update"),
        ("update", "propose"),
        ("\"update\"", "1"),
    ] {
        let body = REVISED.replacen(from, to, 1);
        assert!(!agrees(EventKind::ClaimRevised, body.as_bytes()), "{to}");
        assert!(!is_taken(EventKind::ClaimRevised, body.as_bytes()), "{to}");
    }
    for (from, to) in [
        ("\"subject_key\":\"price", "\"subject_key\":\"Price"),
        ("t\":\"price", "t\":\""),
    ] {
        let body = OPENED.replacen(from, to, 1);
        assert!(!agrees(EventKind::ClaimOpened, body.as_bytes()), "{to}");
        assert!(!is_taken(EventKind::ClaimOpened, body.as_bytes()), "{to}");
    }
    for (kind, body) in BOTH {
        for cut in 0..body.len() {
            assert!(!agrees(kind, &body.as_bytes()[..cut]), "{cut}");
        }
    }
}

#[test]
fn a_body_is_no_body_of_the_other_kind() {
    for (kind, _) in BOTH {
        for (other, body) in BOTH {
            assert_eq!(agrees(kind, body.as_bytes()), kind == other);
        }
    }
}

fn authors() -> impl Strategy<Value = Author> {
    let names = prop_oneof!["[a-z0-9 \"\\\\]{1,12}", any::<String>()]
        .prop_filter_map("no name", |name| AgentName::parse(&name).ok());
    prop_oneof![9 => names.prop_map(Author::Agent), 1 => Just(Author::Arbiter)]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9a-f]{1,64}",
        "[ -~]{1,80}",
        "[\\x00-\\x7f]{1,40}",
        any::<String>()
    ]
}

fn values() -> impl Strategy<Value = ClaimValue> {
    texts().prop_filter_map("blank", |text| ClaimValue::parse(&text).ok())
}

fn entries() -> impl Strategy<Value = Box<Entry>> {
    let number = prop_oneof![0..1000u64, any::<u64>()];
    (texts(), "[0-9a-f]{128}", number, "[0-9a-f]{64}", texts()).prop_map(
        |(arbiter, arbiter_sig, id, prev_hash, row_hash)| {
            Box::new(Entry {
                arbiter,
                arbiter_sig,
                id,
                prev_hash,
                row_hash,
            })
        },
    )
}

fn signatures() -> impl Strategy<Value = Option<Box<LedgerSignature>>> {
    let signature = texts().prop_map(|sig| {
        Box::new(LedgerSignature {
            enrolled: false,
            position: None,
            pubkey: "00".to_owned(),
            sig,
            surface: String::new(),
        })
    });
    proptest::option::weighted(0.2, signature)
}

prop_compose! {
    fn revisions()(
        agent in authors(),
        claim in any::<u128>(),
        entry in entries(),
        kind in select(KINDS.to_vec()),
        quote in proptest::option::weighted(0.2, "[a-z]{1,9}"),
        signature in signatures(),
        source_msg_id in proptest::option::of(any::<u64>()),
        value in values(),
    ) -> ClaimRevised {
        let quote = quote.map(|quote| Quote::parse(&quote).unwrap());
        let claim = ClaimId::new(Uuid::from_u128(claim));
        ClaimRevised { agent, claim, entry, kind, quote, signature, source_msg_id, value }
    }
}

prop_compose! {
    fn openings()(
        said in revisions(),
        subject in texts().prop_filter_map("blank", |text| Subject::parse(&text).ok()),
    ) -> ClaimOpened {
        ClaimOpened {
            agent: said.agent,
            claim: said.claim,
            entry: said.entry,
            quote: said.quote,
            signature: said.signature,
            source_msg_id: said.source_msg_id,
            subject_key: SubjectKey::derive(subject.as_str()),
            subject,
            value: said.value,
        }
    }
}

fn encoded(event: &Event) -> Vec<u8> {
    let mut body = Vec::new();
    event.encode_body(&mut body);
    body
}

/// Whether the one-pass way takes the event; if not, the general way does.
fn is_read_back(event: &Event) -> bool {
    let body = encoded(event);
    assert_eq!(Event::decode(event.kind(), &body).as_ref(), Ok(event));
    agrees(event.kind(), &body)
}

fn is_usual(agent: &Author, entry: &Entry, source: Option<u64>) -> bool {
    let is_plain = |text: &str| !text.bytes().any(is_special);
    let fits = |number: u64| number < 10_u64.pow(19);
    is_plain(agent.as_str())
        && is_plain(&entry.arbiter)
        && is_plain(&entry.row_hash)
        && fits(entry.id)
        && source.is_none_or(fits)
}

/// A change in a place, as a fraction of the length.
fn changes() -> impl Strategy<Value = Vec<(u16, u8, Vec<u8>)>> {
    let bytes = prop_oneof![
        select(vec![
            "\"", "\\", "\\\"", "\\u001f", "\\n", "\n", "{", "}", "\"}", ",", ":", "0", "A", " ",
            "\u{308}", "null", "\u{0}",
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_revision_is_read_back_whichever_way(revision in revisions()) {
        let usual = revision.quote.is_none()
            && revision.signature.is_none()
            && is_usual(&revision.agent, &revision.entry, revision.source_msg_id);
        let event = claims::Event::Revised(revision).into();
        prop_assert_eq!(is_read_back(&event), usual);
    }

    #[test]
    fn an_opening_is_read_back_whichever_way(opening in openings()) {
        let usual = opening.quote.is_none()
            && opening.signature.is_none()
            && !opening.subject.as_str().bytes().any(is_special)
            && is_usual(&opening.agent, &opening.entry, opening.source_msg_id);
        let event = claims::Event::Opened(opening).into();
        prop_assert_eq!(is_read_back(&event), usual);
    }

    #[test]
    fn a_changed_body_is_read_in_one_pass_only_as_the_general_way_reads_it(
        revision in revisions(),
        opening in openings(),
        changes in changes(),
    ) {
        let revised = encoded(&claims::Event::Revised(revision).into());
        agrees(EventKind::ClaimRevised, &changed(revised, &changes));
        let opened = encoded(&claims::Event::Opened(opening).into());
        agrees(EventKind::ClaimOpened, &changed(opened, &changes));
    }
}
