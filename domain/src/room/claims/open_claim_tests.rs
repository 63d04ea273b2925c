//! Who may open a thread on what, and every reason why not.

use super::*;
use crate::{
    EventKind,
    actor::Actor,
    keys::Scope,
    room::{self, claims},
    testing::*,
};

/// One row per reason to take or refuse an opening.
pub(crate) fn rows() -> Vec<Row> {
    [
        actor_rows(),
        plain_rows(),
        text_rows(),
        signed_rows(),
        chain_rows(),
        key_rows(),
        erased_rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first opening of a room, as the rules make it.
fn first() -> ClaimOpened {
    opening(&[owner(open()), service(propose("alice"))])
}

fn sourced(n: u64) -> crate::Command {
    ask_claim(OpenClaim {
        quote: Some(Quote::parse("eight").unwrap()),
        source_msg_id: Some(n),
        ..claim("alice")
    })
}

fn actor_rows() -> Vec<Row> {
    let expected = || {
        let event = ClaimOpened {
            agent: author("alice"),
            claim: claim_id(),
            entry: first().entry,
            quote: None,
            signature: None,
            source_msg_id: None,
            subject: Subject::parse("Price per unit").unwrap(),
            subject_key: SubjectKey::derive("price per unit"),
            value: value("$8"),
        };
        makes(claims::Event::Opened(event))
    };
    let not_mine = Rejection::SpeaksForAnother { actor: name("bob") };
    let not_allowed = |actor| refused(Rejection::ActorNotAllowed { actor });
    rows! {
        "anybody opens a thread":
            [owner(open())] => agent("alice", propose("alice")) => expected();
        "for an agent a facade does": [owner(open())] => service(propose("alice")) => expected();
        "the owner too": [owner(open())] => owner(propose("alice")) => accepted();
        "the arbiter opens as itself": [owner(open())] => arbiter(propose("arbiter")) => accepted();
        "and only so":
            [owner(open())] => arbiter(propose("alice")) => not_allowed("the arbiter");
        "nobody else does":
            [owner(open())] => owner(propose("arbiter")) => not_allowed("the owner");
        "nor does an agent":
            [owner(open())] => agent("bob", propose("arbiter")) => refused(not_mine.clone());
        "nor does an agent for another":
            [owner(open())] => agent("bob", propose("alice")) => refused(not_mine.clone());
        "order: the room before the actor":
            [] => agent("bob", propose("alice")) => refused(Rejection::RoomNotFound);
        "order: the actor before the name":
            [owner(open()), service(say("Alice"))]
            => agent("bob", propose("alice")) => refused(not_mine);
    }
}

fn plain_rows() -> Vec<Row> {
    rows! {
        "no such room": [] => service(propose("alice")) => refused(Rejection::RoomNotFound);
        "not in a closed room":
            [owner(open()), owner(close())]
            => service(propose("alice")) => refused(Rejection::RoomClosed);
        "not in an erased one":
            [owner(open()), owner(erase())]
            => service(propose("alice")) => refused(Rejection::RoomErased);
        "a name is no twin of one that spoke":
            [owner(open()), service(say("Alice"))]
            => service(propose("alice"))
            => refused(Rejection::NameTwin { taken: name("Alice") });
        "and is known from then on":
            [owner(open()), service(propose("alice"))]
            => service(say("Alice"))
            => refused(Rejection::NameTwin { taken: name("alice") });
        "also when messages are erased":
            [owner(open()), service(propose("alice")), owner(erase_bodies(1, 1))]
            => service(say("Alice"))
            => refused(Rejection::NameTwin { taken: name("alice") });
        "two threads may be about the same":
            [owner(open()), service(propose("alice")).fresh(1)]
            => service(propose("bob")).fresh(2) => accepted();
        "an id is used once":
            [owner(open()), service(propose("alice"))]
            => service(propose("bob")) => refused(Rejection::ClaimAlreadyOpen);
        "a message may be its source":
            [owner(open()), service(say("bob"))] => service(sourced(1)) => accepted();
        "also one that is erased":
            [owner(open()), service(say("bob")), owner(erase_bodies(2, 2))]
            => service(sourced(1)) => accepted();
        "if it is one of the room's":
            [owner(open()), service(say("bob"))]
            => service(sourced(2)) => refused(Rejection::SourceMessageUnknown);
        "they begin at 1":
            [owner(open()), service(say("bob"))]
            => service(sourced(0)) => refused(Rejection::SourceMessageUnknown);
        "order: the id before the source":
            [owner(open()), service(propose("alice"))]
            => service(sourced(1)) => refused(Rejection::ClaimAlreadyOpen);
    }
}

fn text_rows() -> Vec<Row> {
    let padded = || OpenClaim {
        subject: Subject::parse("\u{1c} Price per unit\n").unwrap(),
        value: value("\t$8 "),
        ..claim("alice")
    };
    let as_recorded = |change: fn(&mut ClaimOpened)| {
        let mut event = first();
        change(&mut event);
        recorded(seal_opening(event))
    };
    let padded_subject = as_recorded(|event| event.subject = Subject::parse(" x").unwrap());
    let padded_value = as_recorded(|event| event.value = value("x "));
    let uncanonical = |what| refused(Rejection::TextNotCanonical { what });
    let signed = || {
        let mut event = opening(&[owner(open()), service(ask_claim(signed_claim(padded(), 7)))]);
        assert_eq!(event.subject.as_str(), "\u{1c} Price per unit\n");
        assert_eq!(event.subject_key.as_str(), "price-per-unit");
        event.quote = None;
        event
    };
    rows! {
        "what is not signed is kept without white space around it":
            [owner(open())]
            => service(ask_claim(padded())) => makes(claims::Event::Opened(first()));
        "what is signed is kept as sent":
            [owner(open())]
            => service(ask_claim(signed_claim(padded(), 7)))
            => makes(claims::Event::Opened(signed()));
        "a record has no white space around an unsigned subject":
            [owner(open())] => padded_subject => uncanonical("subject");
        "nor around an unsigned value": [owner(open())] => padded_value => uncanonical("value");
        "a short name may be given":
            [owner(open())]
            => service(ask_claim(OpenClaim {
                subject_key: Some(SubjectKey::derive("Price")),
                ..claim("alice")
            }))
            => accepted();
    }
}

fn signed_rows() -> Vec<Row> {
    let signed = |agent: &str| ask_claim(signed_claim(claim(agent), 7));
    let with = |change: fn(&mut LedgerSignature)| {
        let mut claim = signed_claim(claim("alice"), 7);
        change(claim.signature.as_mut().unwrap());
        service(ask_claim(claim))
    };
    let mut other_value = signed_claim(claim("alice"), 7);
    other_value.value = value("$9");
    let mut arbiters = signed_claim(claim("arbiter"), 7);
    arbiters.agent = Author::Arbiter;
    let invalid = || {
        let what = "the opening's minutebook-v2 bytes, the only ones it is signed with";
        refused(Rejection::LedgerSignatureInvalid { what })
    };
    let room = || [owner(open())];
    rows! {
        "an opening may be signed": room() => service(signed("alice")) => accepted();
        "over our surface only":
            room()
            => with(|s| s.surface = V1.to_owned())
            => refused(Rejection::SignatureSurfaceUnknown);
        "which is known":
            room()
            => with(|s| s.surface = "roomcomm-v2".to_owned())
            => refused(Rejection::SignatureSurfaceUnknown);
        "there is no position before it":
            room()
            => with(|s| s.position = Some(0))
            => refused(Rejection::SignaturePositionMisplaced);
        "its key is a key":
            room() => with(|s| s.pubkey.truncate(63)) => refused(Rejection::PublicKeyMalformed);
        "and not a weak one":
            room()
            => with(|s| s.pubkey = format!("01{}", "00".repeat(31)))
            => refused(Rejection::PublicKeyWeak);
        "it is 128 digits":
            room() => with(|s| s.sig.truncate(127)) => refused(Rejection::SignatureMalformed);
        "it is by the key": room() => with(|s| s.pubkey = pubkey(8)) => invalid();
        "it signs the value": room() => service(ask_claim(other_value)) => invalid();
        "it signs the room":
            [owner(open()).of_room(2)] => service(signed("alice")).of_room(2) => invalid();
        "the arbiter has a seal of its own":
            room()
            => arbiter(ask_claim(arbiters)) => refused(Rejection::SignatureNotAllowed);
        "a signature is used once":
            [owner(open()), service(signed("alice")).fresh(1)]
            => service(signed("alice")).fresh(2).after(86_400)
            => refused(Rejection::SignatureReplayed);
        "order: the signature before the room":
            [] => with(|s| s.sig.truncate(127)) => refused(Rejection::SignatureMalformed);
    }
}

fn chain_rows() -> Vec<Row> {
    let second = || {
        opening(&[
            owner(open()),
            service(propose("alice")).fresh(1),
            service(propose("bob")),
        ])
    };
    let after_first = || vec![owner(open()), service(propose("alice")).fresh(1)];
    let entry = |change: fn(&mut Entry)| {
        let mut event = second();
        change(&mut event.entry);
        recorded(claims::Event::Opened(event))
    };
    let resealed = |change: fn(&mut ClaimOpened)| {
        let mut event = second();
        change(&mut event);
        recorded(seal_opening(event))
    };
    let malformed = || refused(Rejection::LedgerEntryMalformed);
    let out_of_order = |expected, found| refused(Rejection::LedgerOutOfOrder { expected, found });
    let unsealed = |change: fn(&mut ClaimOpened)| {
        let mut event = second();
        change(&mut event);
        recorded(claims::Event::Opened(event))
    };
    rows! {
        "an entry follows the one before": after_first() => entry(|_| ()) => accepted();
        "it is numbered": after_first() => resealed(|e| e.entry.id = 3) => out_of_order(2, 3);
        "from 1": [owner(open())] => resealed(|e| e.entry.id = 0) => out_of_order(1, 0);
        "it names the one before":
            after_first()
            => resealed(|e| e.entry.prev_hash = "00".repeat(32))
            => refused(Rejection::LedgerChainBroken);
        "a hash is 64 digits":
            after_first() => resealed(|e| e.entry.prev_hash.truncate(63)) => malformed();
        "in lower case":
            after_first()
            => resealed(|e| e.entry.prev_hash.make_ascii_uppercase()) => malformed();
        "it hashes what is said":
            after_first()
            => unsealed(|e| e.value = value("$9")) => refused(Rejection::LedgerHashWrong);
        "and when":
            after_first() => entry(|_| ()).after(1) => refused(Rejection::LedgerHashWrong);
        "the arbiter's key is a key":
            after_first() => entry(|e| e.arbiter.truncate(63)) => malformed();
        "its signature is one":
            after_first() => entry(|e| e.arbiter_sig.truncate(127)) => malformed();
        "over what is said":
            after_first()
            => entry(|e| e.arbiter_sig = "00".repeat(64))
            => refused(Rejection::LedgerArbiterInvalid);
        "with the log's key":
            after_first()
            => service(propose("bob")).sealed_by(2) => refused(Rejection::LedgerKeyWrong);
        "the one it has now":
            [after_first(), vec![arbiter(rotate(2, 1, 2))]].concat()
            => service(propose("bob")).sealed_by(2) => accepted();
        "not the one it had":
            [after_first(), vec![arbiter(rotate(2, 1, 2))]].concat()
            => service(propose("bob")) => refused(Rejection::LedgerKeyWrong);
    }
}

fn key_rows() -> Vec<Row> {
    let issue_one = |scope| owner(issue(1, Some("alice"), &[scope]));
    let enrolled = |found| {
        let mut event = opening(&[
            owner(open()),
            service(ask_claim(signed_claim(claim("alice"), 7))),
        ]);
        event.signature.as_mut().unwrap().enrolled = found;
        recorded(claims::Event::Opened(event))
    };
    let wrong = |found| refused(Rejection::SignatureEnrolmentWrong { found });
    rows! {
        "a key that may speak may open":
            [owner(open()), issue_one(Scope::Agent)] => key(1, propose("alice")) => accepted();
        "as its agent":
            [owner(open()), issue_one(Scope::Agent)]
            => key(1, propose("bob"))
            => refused(Rejection::KeyBoundToAgent { agent: name("alice") });
        "with its scope":
            [owner(open()), issue_one(Scope::Auditor)]
            => key(1, propose("alice"))
            => refused(Rejection::KeyLacksScope { needed: Scope::Agent });
        "an agent with enrolled keys signs with one of them":
            [owner(open()), owner(enrol("alice", 9))]
            => service(ask_claim(signed_claim(claim("alice"), 7)))
            => refused(Rejection::SignatureKeyForeign);
        "or not at all":
            [owner(open()), owner(enrol("alice", 9))] => service(propose("alice")) => accepted();
        "a record says whether the signing key was enrolled":
            [owner(open()), owner(enrol("alice", 7))] => enrolled(true) => accepted();
        "truly": [owner(open())] => enrolled(true) => wrong(true);
        "always": [owner(open()), owner(enrol("alice", 7))] => enrolled(false) => wrong(false);
    }
}

fn erased_rows() -> Vec<Row> {
    let gone = |actor| erased(actor, EventKind::ClaimOpened);
    rows! {
        "a body may be erased": [owner(open())] => gone(Actor::Owner) => accepted();
        "also the arbiter's": [owner(open())] => gone(Actor::Arbiter) => accepted();
        "it needs a room": [] => gone(Actor::Owner) => refused(Rejection::RoomNotFound);
        "that is open":
            [owner(open()), owner(close())]
            => gone(Actor::Owner) => refused(Rejection::RoomClosed);
        "after which nothing is known for sure":
            [owner(open()), gone(Actor::Owner)]
            => recorded(seal_opening(ClaimOpened {
                source_msg_id: Some(9),
                entry: Box::new(Entry { id: 7, ..*first().entry }),
                ..first()
            }))
            => accepted();
        "and its room can be erased":
            [owner(open()), gone(Actor::Owner)] => owner(erase()) => accepted();
    }
}

#[test]
fn a_thread_is_opened_by_who_may_speak_and_sealed_in_its_place() {
    check_all(rows());
}

#[test]
fn an_erased_room_has_no_threads() {
    let (state, _) = events_of(&[owner(open()), service(propose("alice")), owner(erase())]);
    let room = state.room(&room_id(1)).unwrap();
    assert_eq!(room.claims(), &room::claims::Claims::default());
}
