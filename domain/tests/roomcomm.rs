//! Messages signed by a Roomcomm client are taken as they are (seed 003).
//!
//! The facts (key, texts, times, signatures) were made with a known seed and checked against the
//! peer's own functions.

#![expect(clippy::unwrap_used, reason = "a test's helpers")]

use ed25519_dalek::{Signer as _, SigningKey};
use minutebook_domain::{
    Command,
    ids::RoomId,
    room::{self, MessageKind, PostMessage},
    signature::{MessageSignature, surface_roomcomm_v1},
    text::{AgentName, MessageText},
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
