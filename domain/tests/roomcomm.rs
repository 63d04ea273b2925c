//! What a Roomcomm client signs and computes is taken as it is, and our ledger is the peer's, byte
//! for byte (seed 003).
//!
//! The facts (key, texts, times, signatures) were made with a known seed and checked against the
//! peer's own functions.

#![expect(clippy::unwrap_used, reason = "a test's helpers")]

use ed25519_dalek::{Signer as _, SigningKey};
use minutebook_domain::{
    Command, Event, Fact, What,
    actor::Actor,
    ids::{ClaimId, RoomId, StreamId},
    intrinsic,
    room::{
        self, MessageKind, PostMessage,
        claims::{
            self, Author, ClaimRevised, ContextThread, EMPTY_CONTEXT_HASH, Entry, ReviseClaim,
            RevisionKind, ShakeHands, context_hash,
            ledger::{GENESIS, PROPOSE, Said},
        },
    },
    signature::{LedgerSignature, MessageSignature, SURFACE_ROOMCOMM_V1, surface_roomcomm_v1},
    text::{AgentName, ClaimValue, MessageText},
    time::Timestamp,
};

const ROOM: &str = "7002cc19-fc28-4472-a4ca-828206128894";
const PUBKEY: &str = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737";

struct Signed {
    text: &'static str,
    ts_iso: &'static str,
    memory_root: Option<&'static str>,
    surface: &'static str,
    sig: &'static str,
}

const MESSAGES: [Signed; 2] = [
    Signed {
        text: "We agreed: $5/unit, délai 20 мая 🧱",
        ts_iso: "2026-05-24T18:42:01.123456Z",
        memory_root: None,
        surface: "We agreed: $5/unit, délai 20 мая 🧱2026-05-24T18:42:01.123456Z\
                  7002cc19-fc28-4472-a4ca-828206128894",
        sig: "33110b372f6a32b6b711d2136ad717c49c0ab2cf46f46a085cb991fba1fbaf42\
              b0671d617000eb08f25e27c59daa2d33c3936d47b96b772cf86f31b1513c8f08",
    },
    Signed {
        text: "line1\nline2",
        ts_iso: "2026-05-24T18:42:01.000000Z",
        memory_root: Some("deadbeef"),
        surface: "line1\nline22026-05-24T18:42:01.000000Z\
                  7002cc19-fc28-4472-a4ca-828206128894deadbeef",
        sig: "92f0247e989f494602f2a88224eb43e36d3bd3241612d63d5d8390b96562e129\
              37de348c4cd37750257472efae74d3a923af77c8f5fb3146435405cb5a703408",
    },
];

fn room_id() -> RoomId {
    RoomId::parse_canonical(ROOM).unwrap()
}

fn code(signed: &Signed, pubkey: &str, sig: &str) -> &'static str {
    let post = PostMessage {
        agent: AgentName::parse("alice").unwrap(),
        kind: MessageKind::Chat,
        memory_root: signed.memory_root.map(str::to_owned),
        signature: Some(MessageSignature::from_client(pubkey, sig, signed.ts_iso)),
        text: MessageText::parse(signed.text).unwrap(),
    };
    let command = Command::Room(room_id(), room::Command::PostMessage(post));
    command
        .check()
        .map_or_else(|rejection| rejection.code(), |_| "taken")
}

#[test]
fn the_signed_bytes_are_the_peers() {
    for message in &MESSAGES {
        let (text, ts_iso) = (message.text, message.ts_iso);
        let bytes = surface_roomcomm_v1(text, ts_iso, room_id(), message.memory_root);
        assert_eq!(String::from_utf8(bytes).unwrap(), message.surface);
    }
}

#[test]
fn the_peers_signatures_are_taken_in_either_case() {
    for message in &MESSAGES {
        assert_eq!(code(message, PUBKEY, message.sig), "taken");
        let (pubkey, sig) = (PUBKEY.to_uppercase(), message.sig.to_uppercase());
        assert_eq!(code(message, &pubkey, &sig), "taken");
    }
}

#[test]
fn a_changed_message_is_refused() {
    for message in &MESSAGES {
        for changed in [
            Signed {
                text: "We agreed: $6/unit",
                ..*message
            },
            Signed {
                ts_iso: "2026-05-24T18:42:02.000000Z",
                ..*message
            },
            Signed {
                memory_root: Some("deadbeee"),
                ..*message
            },
        ] {
            assert_eq!(code(&changed, PUBKEY, message.sig), "signature_invalid");
        }
        let flipped = message.sig.replacen('0', "1", 1);
        assert_eq!(code(message, PUBKEY, &flipped), "signature_invalid");
        let newline = format!("{}\n", message.sig);
        assert_eq!(code(message, PUBKEY, &newline), "signature_malformed");
    }
}

/// A peer stored the parsed time and rebuilt its text, so these made a room unverifiable there.
#[test]
fn a_time_is_signed_as_it_was_spelled() {
    let key = SigningKey::from_bytes(&[0x11; 32]);
    for ts_iso in [
        "2026-05-24T18:42:01Z",
        "2026-05-24T18:42:01.404Z",
        "2026-05-24T21:42:01.431854+03:00",
        "2026-05-24T18:42:01.123456789Z",
    ] {
        let message = Signed {
            ts_iso,
            ..MESSAGES[0]
        };
        let bytes = surface_roomcomm_v1(message.text, ts_iso, room_id(), None);
        let sig = hex::encode(key.sign(&bytes).to_bytes());
        assert_eq!(code(&message, PUBKEY, &sig), "taken", "{ts_iso}");
    }
}

const CLAIM: &str = "19b1ea50-0ef3-4b25-8ffc-7fbb5192d571";
const ARBITER: &str = "a09aa5f47a6759802ff955f8dc2d2a14a5c99d23be97f864127ff9383455a4f0";
const FIRST_VALUE: &str = "$8 \"q\" \\ \t  é🧱";
const FIRST_HASH: &str = "0e7938f3a501bf87089b111b7763f40e8782d23393e9c5f9e57d6120ec8ef256";
const SECOND_HASH: &str = "f2e4a4ba6fa7e44691f980fc21ab2bd1faa548656f76ee012254c82a8fb0f50a";
const SECOND_SIG: &str = "8ef2d36326b87113123108febf60d8a439d8e45e49e24848afc5593b423c3fd9\
                          a119f40ef28fb5088e6102431a51e28194c79b529f065cf461f74d0cb9168409";
const CONTEXT: &str = "0cf3a35b488d57909ebfcb86bdf7f80d4431b085a431a00bc1ea366942a9e7f7";
const REVISION_SIG: &str = "8e3e0fa656f7500dd576e841107511b2cf0ed1f4ec6b5a726e74786e084cffd1\
                            e33aac308b8042d10b059cd6a7694db12e6b99c0db0432451699726949147a0a";
const HANDSHAKE_SIG: &str = "4c9a44040bb017f271c078f93ce98f46c0f1eb284133a46ac862c5809238886f\
                             835a77a07a5467fb09fea6b2804e2e1df1bf94ec7a8515e97502d38c89907a01";

fn claim_id() -> ClaimId {
    ClaimId::parse_canonical(CLAIM).unwrap()
}

fn author(name: &str) -> Author {
    AgentName::parse(name).unwrap().into()
}

fn moment(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn the_payload_is_the_peers() {
    let said = Said {
        author: "alice",
        claim: claim_id(),
        at: moment("2026-11-30T16:06:30.904309Z"),
        kind: PROPOSE,
        source_msg_id: Some(4),
        value: FIRST_VALUE,
    };
    let payload = String::from_utf8(said.in_place(1, GENESIS).payload()).unwrap();
    assert_eq!(
        payload,
        "{\"author_agent_id\":\"alice\",\"claim_id\":\"19b1ea50-0ef3-4b25-8ffc-7fbb5192d571\",\
         \"created_at\":\"2026-11-30T16:06:30.904309Z\",\"kind\":\"propose\",\"prev_hash\":\
         \"0000000000000000000000000000000000000000000000000000000000000000\",\"revision_id\":1,\
         \"source_msg_id\":4,\"value\":\"$8 \\\"q\\\" \\\\ \\t  é🧱\"}"
    );
}

/// The peer's second row: another thread's row had the number between.
fn second_row() -> ClaimRevised {
    ClaimRevised {
        agent: author("bob"),
        claim: claim_id(),
        entry: Box::new(Entry {
            arbiter: ARBITER.to_owned(),
            arbiter_sig: SECOND_SIG.to_owned(),
            id: 3,
            prev_hash: FIRST_HASH.to_owned(),
            row_hash: SECOND_HASH.to_owned(),
        }),
        kind: RevisionKind::Confirm,
        quote: None,
        signature: None,
        source_msg_id: None,
        value: ClaimValue::parse("$8").unwrap(),
    }
}

fn row_code(row: ClaimRevised, at: &str) -> &'static str {
    let event = Event::from(claims::Event::Revised(row));
    let fact = Fact {
        seq: 9,
        stream: StreamId::Room(room_id()),
        sseq: 9,
        actor: &Actor::Owner,
        at: moment(at),
        what: What::Present(&event),
    };
    intrinsic(&fact).map_or_else(|rejection| rejection.code(), |()| "taken")
}

#[test]
fn the_peers_rows_hold_and_changed_ones_do_not() {
    let at = "2026-11-30T16:06:31.000000Z";
    assert_eq!(row_code(second_row(), at), "taken");
    let later = "2026-11-30T16:06:31.000001Z";
    assert_eq!(row_code(second_row(), later), "ledger_hash_wrong");
    let mut changed = second_row();
    changed.source_msg_id = Some(1);
    assert_eq!(row_code(changed, at), "ledger_hash_wrong");
    let mut changed = second_row();
    changed.entry.arbiter_sig = SECOND_SIG.replacen('8', "9", 1);
    assert_eq!(row_code(changed, at), "ledger_arbiter_invalid");
    let mut changed = second_row();
    changed.entry.arbiter = PUBKEY.to_owned();
    assert_eq!(row_code(changed, at), "ledger_arbiter_invalid");
}

#[test]
fn the_context_is_hashed_as_the_peer_does() {
    let threads = [
        ContextThread {
            current_value: "$8 \"q\"",
            id: claim_id(),
            status: "proposed",
            subject: "Café Délai №7 — Price/kg!!",
            subject_key: "caf-d-lai-7-price-kg",
        },
        ContextThread {
            current_value: "b1",
            id: ClaimId::parse_canonical("2a5972d0-2cec-4c01-b7d4-f1a59e95c3c7").unwrap(),
            status: "agreed",
            subject: "B",
            subject_key: "b",
        },
    ];
    assert_eq!(context_hash(threads), CONTEXT);
    assert_eq!(context_hash([]), EMPTY_CONTEXT_HASH);
    assert_eq!(
        EMPTY_CONTEXT_HASH,
        "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    );
}

fn claim_code(command: claims::Command) -> &'static str {
    let command = Command::Room(room_id(), room::Command::Claim(command));
    command
        .check()
        .map_or_else(|rejection| rejection.code(), |_| "taken")
}

#[test]
fn the_peers_revision_signatures_are_taken_in_either_case() {
    let confirm = |value: &str, pubkey: &str, sig: &str| {
        claim_code(claims::Command::Revise(ReviseClaim {
            // The seed's surface leaves the name out.
            agent: author("anybody"),
            claim: claim_id(),
            kind: RevisionKind::Confirm,
            quote: None,
            signature: Some(LedgerSignature::from_client(
                SURFACE_ROOMCOMM_V1,
                None,
                pubkey,
                sig,
            )),
            source_msg_id: None,
            value: ClaimValue::parse(value).unwrap(),
        }))
    };
    let value = "$8 — да";
    assert_eq!(confirm(value, PUBKEY, REVISION_SIG), "taken");
    let (pubkey, sig) = (PUBKEY.to_uppercase(), REVISION_SIG.to_uppercase());
    assert_eq!(confirm(value, &pubkey, &sig), "taken");
    for changed in ["$8 — да ", "$9 — да"] {
        let code = confirm(changed, PUBKEY, REVISION_SIG);
        assert_eq!(code, "ledger_signature_invalid");
    }
}

#[test]
fn the_peers_handshake_signatures_are_taken() {
    let shake = |context_hash: &str| {
        claim_code(claims::Command::ShakeHands(ShakeHands {
            agent: AgentName::parse("anybody").unwrap(),
            context_hash: context_hash.to_owned(),
            signature: Some(LedgerSignature::from_client(
                SURFACE_ROOMCOMM_V1,
                None,
                PUBKEY,
                HANDSHAKE_SIG,
            )),
        }))
    };
    assert_eq!(shake(CONTEXT), "taken");
    assert_eq!(shake(EMPTY_CONTEXT_HASH), "ledger_signature_invalid");
}
