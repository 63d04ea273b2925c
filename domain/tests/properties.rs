//! What holds for every event, every name and every history.

#![expect(clippy::unwrap_used, reason = "a test's helpers")]

mod histories;
mod negotiations;

use std::collections::BTreeMap;

use minutebook_domain::{
    Event, EventKind, Fact, State, What, evolve,
    ids::StreamId,
    lawful,
    room::{self, RoomState},
    text::{AgentName, Description, Reason, RoomName},
    time::Timestamp,
};
use proptest::prelude::*;

use histories::{Entry, asks, play};

/// Texts that tempt a name parser: blanks, look-alikes, combining and format characters.
fn tempting() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        'a',
        'B',
        'm',
        '1',
        'l',
        'I',
        '0',
        'O',
        ' ',
        '\t',
        '\u{1c}',
        '\u{a0}',
        '\u{2003}',
        '\u{308}',
        '\u{301}',
        '\u{323}',
        'e',
        'o',
        '\u{212b}',
        '\u{1100}',
        '\u{1161}',
        '\u{200b}',
        '\u{3164}',
        '\u{430}',
        '\u{ff21}',
        '\u{130}',
        '\u{1e9e}',
        '\u{3a3}',
        '\u{fe0f}',
        '\u{1f9f1}',
        '\u{fb01}',
        '\u{2028}',
        '\0',
    ]);
    prop_oneof![
        prop::collection::vec(odd, 0..12).prop_map(|chars| chars.into_iter().collect()),
        any::<String>(),
    ]
}

fn facts(entries: &[Entry]) -> impl Iterator<Item = Fact<'_>> {
    entries.iter().map(Entry::fact)
}

/// A replay: every fact must be lawful where it stands.
fn replay<'a>(facts: impl Iterator<Item = Fact<'a>>) -> State {
    let mut state = State::default();
    for fact in facts {
        let verdict = lawful(&state, &fact);
        assert_eq!(verdict, Ok(()), "seq {} {:?}", fact.seq, fact.what);
        evolve(&mut state, &fact);
    }
    state
}

/// The same log after everything that may be erased has been.
fn without_erased_bodies(entries: &[Entry]) -> impl Iterator<Item = Fact<'_>> {
    entries.iter().map(|entry| {
        let mut fact = entry.fact();
        if is_erased(entry, entries) {
            fact.what = What::Erased(entry.event.kind());
        }
        fact
    })
}

fn is_erased(entry: &Entry, entries: &[Entry]) -> bool {
    let later = entries
        .iter()
        .filter(|e| e.stream == entry.stream && e.sseq > entry.sseq);
    later.into_iter().any(|later| match &later.event {
        Event::Room(room::Event::Erased(_)) => true,
        Event::Room(room::Event::BodiesErased(range)) => {
            entry.event.kind() == EventKind::MessagePosted
                && (range.first..=range.last).contains(&entry.sseq)
        }
        Event::Room(_) | Event::Keys(_) | Event::Skills(_) => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_replay_ends_in_the_writers_state(asks in asks()) {
        let (state, entries) = play(asks);
        let replayed = replay(facts(&entries));
        prop_assert_eq!(&replayed, &state);
        prop_assert_eq!(replayed.digest(), state.digest());
    }

    #[test]
    fn a_replay_without_erased_bodies_is_lawful_and_ends_there_too(asks in asks()) {
        let (state, entries) = play(asks);
        let replayed = replay(without_erased_bodies(&entries));
        prop_assert_eq!(replayed.digest(), state.digest());
    }

    #[test]
    fn a_room_can_be_checked_alone(asks in asks()) {
        let (state, entries) = play(asks);
        let mut rooms: BTreeMap<StreamId, Option<RoomState>> = BTreeMap::new();
        for fact in facts(&entries) {
            if let StreamId::Room(_) = fact.stream {
                let room = rooms.entry(fact.stream).or_default();
                prop_assert_eq!(room::lawful(room.as_ref(), &fact), Ok(()));
                room::evolve(room, &fact);
            }
        }
        prop_assert_eq!(rooms.len(), state.rooms().count());
        for (id, room) in state.rooms() {
            prop_assert_eq!(rooms.get(&StreamId::Room(id)).unwrap().as_ref(), Some(room));
        }
    }

    #[test]
    fn a_snapshot_gives_the_state_back(asks in asks()) {
        let (state, _) = play(asks);
        let bytes = state.to_snapshot().unwrap();
        prop_assert_eq!(State::from_snapshot(&bytes), Ok(state));
    }

    #[test]
    fn every_event_reads_back_as_written(asks in asks()) {
        let (_, entries) = play(asks);
        for entry in entries {
            let mut body = Vec::new();
            entry.event.encode_body(&mut body);
            prop_assert_eq!(Event::decode(entry.event.kind(), &body), Ok(entry.event));
        }
    }

    #[test]
    fn a_changed_body_is_another_event_or_none(
        asks in asks(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (_, entries) = play(asks);
        for entry in entries {
            let mut body = Vec::new();
            entry.event.encode_body(&mut body);
            let place = at.index(body.len());
            let before = std::mem::replace(&mut body[place], byte);
            if before != byte {
                prop_assert_ne!(Event::decode(entry.event.kind(), &body), Ok(entry.event));
            }
        }
    }

    #[test]
    fn a_name_parses_to_itself(text in tempting()) {
        if let Ok(name) = AgentName::parse(&text) {
            prop_assert_eq!(AgentName::parse(name.as_str()), Ok(name));
        }
        if let Ok(name) = RoomName::parse(&text) {
            prop_assert_eq!(RoomName::parse(name.as_str()), Ok(name));
        }
        if let Ok(text) = Description::parse(&text) {
            prop_assert_eq!(Description::parse(text.as_str()), Ok(text));
        }
        if let Ok(text) = Reason::parse(&text) {
            prop_assert_eq!(Reason::parse(text.as_str()), Ok(text));
        }
    }

    #[test]
    fn a_moment_reads_back_as_written(micros in any::<i64>()) {
        let moment = Timestamp::from_micros(micros);
        prop_assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
        prop_assert_eq!(Timestamp::parse_rfc3339(&moment.to_string()), Some(moment));
    }

    #[test]
    fn no_text_makes_a_time_parser_panic(text in "[0-9TZ:.+-]{0,40}") {
        let _ = Timestamp::parse(&text);
        let _ = Timestamp::parse_rfc3339(&text);
    }

    #[test]
    fn no_bytes_make_decode_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for kind in EventKind::ALL {
            let _ = Event::decode(kind, &bytes);
        }
        let _ = State::from_snapshot(&bytes);
    }

    #[test]
    fn no_json_makes_decode_panic(
        text in "[{}\\[\\]\":,a-z0-9\\\\_.-]{0,120}",
    ) {
        for kind in EventKind::ALL {
            let _ = Event::decode(kind, text.as_bytes());
        }
    }
}
