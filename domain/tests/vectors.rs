//! The persisted form of every event, byte for byte.
//!
//! Compatibility-sensitive: a log holds these bytes for ever. A vector is never edited; a changed
//! body is a new version with a vector of its own.

#![expect(clippy::unwrap_used, reason = "a test's helpers")]

use minutebook_domain::{
    Event, EventKind, Fact, What,
    actor::Actor,
    ids::{RoomId, StreamId},
    intrinsic,
    room::{self, MessageKind, MessagePosted},
    signature::MessageSignature,
    text::{AgentName, MessageText},
    time::Timestamp,
};
use uuid::Uuid;

/// The room whose UUID the signed vector covers.
const ROOM: &str = "7002cc19-fc28-4472-a4ca-828206128894";

/// The vectors of a kind: one with everything it can hold, then others. A new kind does not
/// compile here until it has one.
fn vectors(kind: EventKind) -> &'static [&'static str] {
    macro_rules! files {
        ($($name:literal),*) => {
            &[$(include_str!(concat!("../vectors/", $name, ".json"))),*]
        };
    }
    match kind {
        EventKind::LogOpened => files!("log.opened.v1"),
        EventKind::KeyRotated => files!("log.key_rotated.v1"),
        EventKind::ApiKeyIssued => {
            files!("keys.api_key_issued.v1", "keys.api_key_issued.v1.min")
        }
        EventKind::ApiKeyRevoked => files!("keys.api_key_revoked.v1"),
        EventKind::AgentKeyEnrolled => files!("keys.agent_key_enrolled.v1"),
        EventKind::AgentKeyRevoked => files!("keys.agent_key_revoked.v1"),
        EventKind::RoomOpened => files!("room.opened.v1", "room.opened.v1.min"),
        EventKind::RoomRenamed => files!("room.renamed.v1", "room.renamed.v1.min"),
        EventKind::RoomJoined => files!("room.joined.v1"),
        EventKind::RoomLeft => files!("room.left.v1", "room.left.v1.disconnected"),
        EventKind::MessagePosted => {
            files!(
                "room.message_posted.v1",
                "room.message_posted.v1.min",
                "room.message_posted.v1.minutebook"
            )
        }
        EventKind::BodiesErased => files!("room.bodies_erased.v1"),
        EventKind::RoomClosed => files!("room.closed.v1"),
        EventKind::RoomErased => files!("room.erased.v1"),
        EventKind::RoomOpenedV2 => files!("room.opened.v2", "room.opened.v2.min"),
        EventKind::ClaimOpened => files!("room.claim_opened.v1", "room.claim_opened.v1.min"),
        EventKind::ClaimRevised => {
            files!(
                "room.claim_revised.v1",
                "room.claim_revised.v1.min",
                "room.claim_revised.v1.roomcomm"
            )
        }
        EventKind::HandshakeMade => {
            files!(
                "room.handshake_made.v1",
                "room.handshake_made.v1.min",
                "room.handshake_made.v1.roomcomm"
            )
        }
        EventKind::ContextExtracted => {
            files!(
                "room.context_extracted.v1",
                "room.context_extracted.v1.skipped",
                "room.context_extracted.v1.unavailable"
            )
        }
        EventKind::DiscrepancyRecorded => {
            files!(
                "room.discrepancy_recorded.v1",
                "room.discrepancy_recorded.v1.min"
            )
        }
        EventKind::SkillPublished => files!("skill.published.v1", "skill.published.v1.min"),
        EventKind::SkillWithdrawn => files!("skill.withdrawn.v1"),
    }
}

fn body(vector: &str) -> &[u8] {
    vector.strip_suffix('\n').unwrap().as_bytes()
}

fn stream(kind: EventKind) -> StreamId {
    match kind.name().split_once('.').unwrap().0 {
        "log" => StreamId::Log,
        "keys" => StreamId::Keys,
        "skill" => StreamId::Skills,
        _ => StreamId::Room(RoomId::parse_canonical(ROOM).unwrap()),
    }
}

/// When a vector of this kind was recorded: the ledger's were signed with it.
fn at(kind: EventKind) -> Timestamp {
    let text = if kind == EventKind::ClaimRevised {
        "2026-11-30T16:06:31.000000Z"
    } else {
        "2026-11-30T16:06:30.904309Z"
    };
    Timestamp::parse(text).unwrap()
}

#[test]
fn every_event_reads_and_writes_its_vector_byte_for_byte() {
    for kind in EventKind::ALL {
        for vector in vectors(kind) {
            let event = Event::decode(kind, body(vector)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(event.kind(), kind);
            let mut bytes = Vec::new();
            event.encode_body(&mut bytes);
            assert_eq!(
                String::from_utf8(bytes).unwrap(),
                vector.trim_end(),
                "{}",
                kind.name()
            );
        }
    }
}

#[test]
fn every_vector_is_lawful_in_itself() {
    for kind in EventKind::ALL {
        for vector in vectors(kind) {
            let event = Event::decode(kind, body(vector)).unwrap();
            let fact = Fact {
                seq: 1,
                stream: stream(kind),
                sseq: 1,
                actor: &Actor::Owner,
                at: at(kind),
                what: What::Present(&event),
            };
            assert_eq!(intrinsic(&fact), Ok(()), "{vector}");
        }
    }
}

#[test]
fn a_signed_message_means_what_its_vector_says() {
    let vector = vectors(EventKind::MessagePosted).first().unwrap();
    let event = Event::decode(EventKind::MessagePosted, body(vector)).unwrap();
    let signature = MessageSignature {
        enrolled: true,
        pubkey: "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737".to_owned(),
        sig: "92f0247e989f494602f2a88224eb43e36d3bd3241612d63d5d8390b96562e129\
              37de348c4cd37750257472efae74d3a923af77c8f5fb3146435405cb5a703408"
            .to_owned(),
        surface: "roomcomm-v1".to_owned(),
        ts_iso: "2026-05-24T18:42:01.000000Z".to_owned(),
    };
    let expected = MessagePosted {
        agent: AgentName::parse("alice").unwrap(),
        id: Uuid::from_u128(0x0191_d7a6_7c4b_7e3a_9f00_0123_4567_89ab),
        kind: MessageKind::Chat,
        memory_root: Some("deadbeef".to_owned()),
        n: 7,
        signature: Some(signature),
        text: MessageText::parse("line1\nline2").unwrap(),
    };
    assert_eq!(event, Event::Room(room::Event::MessagePosted(expected)));
}

/// Each is a body that some lenient reader would take.
#[test]
fn a_body_has_one_spelling() {
    let refused = |kind: EventKind, text: &str| {
        let error = Event::decode(kind, text.as_bytes());
        assert!(error.is_err(), "{text}");
    };
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "[\"alice\"]",
        "{\"agent\":null}",
        "{\"agent\":7}",
        "{\"agent\":\"alice\"} ",
        " {\"agent\":\"alice\"}",
        "{\"agent\": \"alice\"}",
        "{\"agent\":\"alice\"}{}",
        "{\"agent\":\"alice\",}",
        "{\"agent\":\"alice\",\"agent\":\"alice\"}",
        "{\"agent\":\"alice\",\"x\":1}",
        "{\"Agent\":\"alice\"}",
        "{\"agent\":\"\\u0061lice\"}",
        "{\"agent\":\"a\\/b\"}",
        "{\"agent\":\"\\ud800\"}",
        "{\"agent\":\" alice\"}",
        "{\"agent\":\"owner\"}",
        "{\"agent\":\"Zoe\u{308}\"}",
        "\u{feff}{\"agent\":\"alice\"}",
    ] {
        refused(EventKind::RoomJoined, text);
    }
    for text in [
        "{\"how\":\"asked\",\"agent\":\"alice\"}",
        "{\"agent\":\"alice\",\"how\":{\"asked\":null}}",
        "{\"agent\":\"alice\",\"how\":0}",
        "{\"agent\":\"alice\",\"how\":\"Asked\"}",
    ] {
        refused(EventKind::RoomLeft, text);
    }
    for text in [
        "{\"first\":2,\"last\":9.0,\"reason\":\"x\"}",
        "{\"first\":2,\"last\":9e0,\"reason\":\"x\"}",
        "{\"first\":-2,\"last\":9,\"reason\":\"x\"}",
        "{\"first\":2,\"last\":18446744073709551616,\"reason\":\"x\"}",
        "{\"first\":\"2\",\"last\":9,\"reason\":\"x\"}",
    ] {
        refused(EventKind::BodiesErased, text);
    }
    refused(EventKind::RoomRenamed, "{\"name\":null}");
    // Each version has its own fields.
    for (kind, of) in [
        (EventKind::RoomOpened, EventKind::RoomOpenedV2),
        (EventKind::RoomOpenedV2, EventKind::RoomOpened),
    ] {
        refused(kind, vectors(of).first().unwrap().trim_end());
    }
    let long = format!("{{\"reason\":\"{}\"}}", "x".repeat(512 * 1024));
    refused(EventKind::RoomClosed, &long);
}
