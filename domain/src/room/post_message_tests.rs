//! What may be said in a room, and every reason why not.

use super::*;
use crate::{
    EventKind,
    actor::Actor,
    keys::Scope,
    limits::ROOM_NAMES_GUARDED_MAX,
    room,
    testing::{self, *},
};

/// One row per reason to take or refuse a message, signed or not.
pub(crate) fn rows() -> Vec<Row> {
    [
        plain_rows(),
        order_rows(),
        twin_rows(),
        signed_rows(),
        broken_rows(),
        window_rows(),
        erased_rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn posted(n: u64, post: PostMessage) -> room::Event {
    room::Event::MessagePosted(MessagePosted {
        agent: post.agent,
        id: FRESH,
        kind: post.kind,
        memory_root: post.memory_root,
        n,
        signature: post.signature,
        text: post.text,
    })
}

fn send(post: PostMessage) -> crate::Command {
    in_room(room::Command::PostMessage(post))
}

fn plain_rows() -> Vec<Row> {
    let (what, max, unit) = ("memory_root", 128, "characters");
    let too_long = Rejection::TextTooLong { what, max, unit };
    let full = || {
        vec![
            owner(open()),
            owner(say("a")),
            owner(say("b")),
            owner(say("c")),
        ]
    };
    let long = || PostMessage {
        memory_root: Some("é".repeat(129)),
        ..post("alice")
    };
    let rooted = || PostMessage {
        memory_root: Some("é".repeat(128)),
        ..post("alice")
    };
    rows! {
        "anybody speaks": [owner(open())] => agent("a", say("a")) => makes(posted(1, post("a")));
        "messages are counted":
            [owner(open()), owner(say("bob"))]
            => service(say("alice")) => makes(posted(2, post("alice")));
        "the owner may speak as anybody": [owner(open())] => owner(say("alice")) => accepted();
        "a memory root is opaque": [owner(open())] => owner(send(rooted())) => accepted();
        "no such room": [] => service(say("alice")) => refused(Rejection::RoomNotFound);
        "not in a closed room":
            [owner(open()), owner(close())]
            => service(say("alice")) => refused(Rejection::RoomClosed);
        "not in an erased one":
            [owner(open()), owner(erase())]
            => service(say("alice")) => refused(Rejection::RoomErased);
        "not in a full one":
            full() => service(say("d")) => refused(Rejection::RoomFull { limit: 3 });
        "a room without limit is never full":
            [owner(open_unlimited()), owner(say("a")), owner(say("b")), owner(say("c"))]
            => service(say("d")) => accepted();
        "not for another":
            [owner(open())]
            => agent("bob", say("alice"))
            => refused(Rejection::SpeaksForAnother { actor: name("bob") });
        "the arbiter does not speak":
            [owner(open())]
            => arbiter(say("alice"))
            => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
        "a memory root is short":
            [owner(open())]
            => owner(send(long()))
            => refused(too_long);
        "a record counts right":
            [owner(open())]
            => recorded(posted(2, post("alice")))
            => refused(Rejection::MessageOutOfOrder { expected: 1, found: 2 });
    }
}

/// Each row breaks one rule and all after it.
fn order_rows() -> Vec<Row> {
    let weak = || {
        let mut post = signed("alice", 7, "2026-11-30T13:00:00Z");
        post.signature.as_mut().unwrap().pubkey = "00".repeat(32);
        post
    };
    let full = || {
        vec![
            owner(open()),
            owner(say("Alice")),
            owner(say("b")),
            owner(say("c")),
        ]
    };
    let late = || posted(9, signed("alice", 7, "2026-11-30T13:00:00Z"));
    let bob = || Actor::Agent(name("bob"));
    let by_bob = |event| recorded(event).by(bob());
    rows! {
        "the body first": [] => agent("bob", send(weak())) => refused(Rejection::PublicKeyWeak);
        "then the room": [] => by_bob(late()) => refused(Rejection::RoomNotFound);
        "then its limit": full() => by_bob(late()) => refused(Rejection::RoomFull { limit: 3 });
        "then the count":
            [owner(open()), owner(say("Alice"))]
            => by_bob(late()) => refused(Rejection::MessageOutOfOrder { expected: 2, found: 9 });
        "then the actor":
            [owner(open()), owner(say("Alice"))]
            => agent("bob", send(signed("alice", 7, "2026-11-30T13:00:00Z")))
            => refused(Rejection::SpeaksForAnother { actor: name("bob") });
        "then the name":
            [owner(open()), owner(say("Alice"))]
            => service(send(signed("alice", 7, "2026-11-30T13:00:00Z")))
            => refused(Rejection::NameTwin { taken: name("Alice") });
        "then the signature's window":
            [owner(open()), owner(say("alice"))]
            => service(send(signed("alice", 7, "2026-11-30T13:00:00Z")))
            => refused(Rejection::SignatureOutsideWindow { max: 300 });
    }
}

fn twin_rows() -> Vec<Row> {
    let crowd = |more: usize| -> Vec<testing::Step> {
        let speak =
            (0..ROOM_NAMES_GUARDED_MAX + more).map(|n| service(say(&format!("bot-{n:04}"))));
        std::iter::once(owner(open_unlimited()))
            .chain(speak)
            .collect()
    };
    let taken = |text| Rejection::NameTwin { taken: name(text) };
    rows! {
        "another case is a twin":
            [owner(open()), owner(say("alice"))]
            => agent("ALICE", say("ALICE")) => refused(taken("alice"));
        "another alphabet is a twin":
            [owner(open()), owner(say("alice"))]
            => agent("\u{430}lice", say("\u{430}lice")) => refused(taken("alice"));
        "the first spelling may go on":
            [owner(open()), owner(say("alice"))] => agent("alice", say("alice")) => accepted();
        "rooms do not share names":
            [owner(open()), owner(say("alice")), owner(open()).of_room(2)]
            => agent("Alice", say("Alice")).of_room(2) => accepted();
        "many names are guarded":
            crowd(0) => service(say("BOT-1023")) => refused(taken("bot-1023"));
        "but not without bound": crowd(1) => service(say("BOT-1024")) => accepted();
    }
}

fn signed_rows() -> Vec<Row> {
    let inside = || vec![owner(open())];
    let mut enrolled = signed("alice", 7, NOON_ISO);
    enrolled.signature.as_mut().unwrap().enrolled = true;
    rows! {
        "a signed message keeps its signature":
            inside()
            => agent("alice", say_signed("alice", 7, NOON_ISO))
            => makes(posted(1, signed("alice", 7, NOON_ISO)));
        "an enrolled key is recorded as such, whatever the caller says":
            [owner(open()), owner(enrol("alice", 7))]
            => agent("alice", say_signed("alice", 7, NOON_ISO))
            => makes(posted(1, enrolled.clone()));
        "and one of another agent is not":
            [owner(open()), owner(enrol("bob", 7))]
            => agent("alice", send(enrolled.clone()))
            => makes(posted(1, signed("alice", 7, NOON_ISO)));
        "a record says what is enrolled":
            inside()
            => recorded(posted(1, enrolled))
            => refused(Rejection::SignatureEnrolmentWrong { found: true });
        "and what is not":
            [owner(open()), owner(enrol("alice", 7))]
            => recorded(posted(1, signed("alice", 7, NOON_ISO)))
            => refused(Rejection::SignatureEnrolmentWrong { found: false });
    }
}

/// A signature and its key, spelled wrong or made over something else.
fn broken_rows() -> Vec<Row> {
    let inside = || vec![owner(open())];
    let with = |change: fn(&mut MessageSignature)| {
        let mut post = signed("alice", 7, NOON_ISO);
        change(post.signature.as_mut().unwrap());
        owner(send(post))
    };
    let other_text = PostMessage {
        signature: signed("alice", 7, NOON_ISO).signature,
        memory_root: Some("deadbeef".to_owned()),
        ..post("alice")
    };
    let malformed = || Rejection::PublicKeyMalformed;
    rows! {
        "the surface is known":
            inside()
            => with(|s| s.surface = "roomcomm-v2".to_owned())
            => refused(Rejection::SignatureSurfaceUnknown);
        "a key is hex": inside() => with(|s| s.pubkey = "zz".repeat(32)) => refused(malformed());
        "in lower case":
            inside() => with(|s| s.pubkey.make_ascii_uppercase()) => refused(malformed());
        "of 64 digits": inside() => with(|s| s.pubkey = "00".repeat(31)) => refused(malformed());
        "a point":
            inside()
            => with(|s| s.pubkey = format!("02{}", "00".repeat(31))) => refused(malformed());
        "in its one encoding":
            inside()
            => with(|s| s.pubkey = format!("ee{}7f", "ff".repeat(30))) => refused(malformed());
        "not a weak one":
            inside()
            => with(|s| s.pubkey = format!("01{}", "00".repeat(31)))
            => refused(Rejection::PublicKeyWeak);
        "a signature is 128 digits":
            inside() => with(|s| s.sig.truncate(127)) => refused(Rejection::SignatureMalformed);
        "in lower case too":
            inside()
            => with(|s| s.sig.make_ascii_uppercase()) => refused(Rejection::SignatureMalformed);
        "it signs the text, the time, the room and the memory root":
            inside() => owner(send(other_text)) => refused(Rejection::SignatureInvalid);
        "it signs the room":
            [owner(open()).of_room(2)]
            => owner(say_signed("alice", 7, NOON_ISO)).of_room(2)
            => refused(Rejection::SignatureInvalid);
        "it is by the key":
            inside() => with(|s| s.pubkey = pubkey(8)) => refused(Rejection::SignatureInvalid);
        "its time can be read":
            inside()
            => with(|s| s.ts_iso = "30 November".to_owned())
            => refused(Rejection::SignatureTimeUnreadable);
        "its time is short":
            inside()
            => with(|s| s.ts_iso = "2026-11-30T12:00:00.000000000000000000000Z".to_owned())
            => refused(Rejection::SignatureTimeUnreadable);
    }
}

fn window_rows() -> Vec<Row> {
    let outside = || Rejection::SignatureOutsideWindow { max: 300 };
    let used = || {
        vec![
            owner(open()),
            agent("alice", say_signed("alice", 7, NOON_ISO)),
        ]
    };
    let again = |agent: &str| service(say_signed(agent, 7, NOON_ISO));
    rows! {
        "five minutes early": [owner(open())] => again("alice").after(-300) => accepted();
        "five minutes late": [owner(open())] => again("alice").after(300) => accepted();
        "earlier": [owner(open())] => again("alice").after(-301) => refused(outside());
        "later": [owner(open())] => again("alice").after(301) => refused(outside());
        "a signature is used once":
            used() => again("alice") => refused(Rejection::SignatureReplayed);
        "under any name":
            used() => again("mallory").after(300) => refused(Rejection::SignatureReplayed);
        "after its window it is late": used() => again("alice").after(301) => refused(outside());
        "another signature is another":
            used() => service(say_signed("alice", 7, "2026-11-30T12:00:00.1Z")) => accepted();
        "erasing a message does not free its signature":
            [used(), vec![owner(erase_bodies(2, 2))]].concat()
            => again("alice") => refused(Rejection::SignatureReplayed);
    }
}

fn erased_rows() -> Vec<Row> {
    let gone = |actor| erased(actor, EventKind::MessagePosted);
    let full = || {
        vec![
            owner(open()),
            gone(Actor::Owner),
            gone(Actor::Owner),
            gone(Actor::Owner),
        ]
    };
    rows! {
        "a body may be erased": [owner(open())] => gone(Actor::Agent(name("alice"))) => accepted();
        "and still counts":
            [owner(open()), gone(Actor::Owner)]
            => owner(say("alice")) => makes(posted(2, post("alice")));
        "also toward the limit":
            full() => owner(say("alice")) => refused(Rejection::RoomFull { limit: 3 });
        "it needs a room": [] => gone(Actor::Owner) => refused(Rejection::RoomNotFound);
        "and somebody who may speak":
            [owner(open())]
            => gone(Actor::Arbiter) => refused(Rejection::ActorNotAllowed { actor: "the arbiter" });
        "a key that may not speak may not have spoken":
            [owner(open()), owner(issue(1, None, &[Scope::Auditor]))]
            => gone(Actor::Key(key_id(1)))
            => refused(Rejection::KeyLacksScope { needed: Scope::Agent });
    }
}

#[test]
fn a_message_is_taken_from_who_may_speak_and_signed_right() {
    check_all(rows());
}
