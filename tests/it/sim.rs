//! The seeded world: what was promised holds whatever fails, and the same seed gives the same log.

use std::collections::BTreeMap;

use minutebook::generations::{Live, each_fact};
use minutebook_domain::{State, evolve, lawful};
use minutebook_eventlog::format::envelope::Envelope;
use minutebook_eventlog::store::LogReader;
use minutebook_tests::sim::{self, Outcome};

/// Seeds every run tries; a failure names the seed.
const SEEDS: std::ops::Range<u64> = 0..12;
const STEPS: u32 = 600;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (first, second) = (sim::run(1, STEPS).unwrap(), sim::run(1, STEPS).unwrap());
    assert_eq!(transcript(&first), transcript(&second));
    assert_ne!(transcript(&first), transcript(&sim::run(2, STEPS).unwrap()));
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_whatever_the_store_does() {
    let mut crashes = 0;
    for seed in SEEDS {
        let outcome = sim::run(seed, STEPS).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        crashes += outcome.crashes;
        check_acknowledged(seed, &outcome);
        check_followers(seed, &outcome);
        check_lawful_and_views(seed, &outcome);
    }
    assert!(
        crashes >= 20,
        "the worlds crashed only {crashes} times: the test tests nothing"
    );
}

/// Every byte of the log, and what followers saw of it.
fn transcript(outcome: &Outcome) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (_, record) in everything(&*outcome.reader) {
        bytes.extend(record.envelope);
        bytes.extend(
            record
                .body
                .into_iter()
                .flat_map(|body| [body.salt.to_vec(), body.bytes])
                .flatten(),
        );
    }
    bytes.extend(outcome.reader.head().unwrap().checkpoint.into_bytes());
    bytes.extend(format!("{:?}", outcome.followed).into_bytes());
    bytes
}

fn everything(reader: &dyn LogReader) -> minutebook_eventlog::store::Page {
    reader.read(1, usize::MAX).unwrap()
}

fn check_acknowledged(seed: u64, outcome: &Outcome) {
    let mut by_command: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (seq, record) in everything(&*outcome.reader) {
        let envelope = Envelope::parse(&record.envelope).unwrap();
        if let Some(key) = envelope.cmd.strip_prefix("idem:") {
            by_command.entry(key.to_owned()).or_default().push(seq);
        }
    }
    for (key, seq) in &outcome.acknowledged {
        assert_eq!(by_command.get(key), Some(&vec![*seq]), "seed {seed}: {key}");
    }
}

/// A follower's first entry is the seq it started after; what it saw then has no gap in its scope.
fn check_followers(seed: u64, outcome: &Outcome) {
    let mut streams: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    for (seq, record) in everything(&*outcome.reader) {
        let envelope = Envelope::parse(&record.envelope).unwrap();
        streams.insert(seq, (envelope.stream.into_owned(), envelope.sseq));
    }
    for seen in &outcome.followed {
        assert!(
            seen.is_sorted_by(|a, b| a < b),
            "seed {seed}: out of order or doubled {seen:?}"
        );
        let [_, rest @ ..] = seen.as_slice() else {
            continue;
        };
        let all = rest.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let room = rest.windows(2).all(|pair| {
            let (before, after) = (&streams[&pair[0]], &streams[&pair[1]]);
            before.0 == after.0 && before.1 + 1 == after.1
        });
        assert!(all || room, "seed {seed}: a gap in {seen:?}");
    }
}

fn check_lawful_and_views(seed: u64, outcome: &Outcome) {
    let reader = &*outcome.reader;
    let head = reader.head().unwrap().seq;
    let mut state = State::default();
    each_fact(reader, 1, head, |facts| {
        for fact in facts {
            let fact = fact.fact();
            lawful(&state, &fact).unwrap_or_else(|e| panic!("seed {seed}: {} {e}", fact.seq));
            evolve(&mut state, &fact);
        }
        Ok(())
    })
    .unwrap();
    assert!(
        Live::open(reader, head).is_ok(),
        "seed {seed}: the views are not at the head"
    );
}
