//! However the log is split, restarted or erased: identical rows.

use minutebook_domain::room::claims::{Outcome, RevisionKind};
use minutebook_projections::{Kind, MemoryRows, RowOp, digest::digest, threads::is_only_read};
use proptest::{collection::vec, prelude::*};

use crate::world::{Fold, World};

#[derive(Clone, Debug)]
pub(crate) enum Move {
    Open { is_public: bool, is_named: bool },
    In { room: usize, step: Step },
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Rename {
        is_named: bool,
    },
    Join {
        agent: usize,
    },
    Leave {
        agent: usize,
    },
    Post {
        agent: usize,
        skew_seconds: Option<i8>,
    },
    EraseBodies {
        from_end: u64,
        count: u64,
    },
    Close,
    Erase,
    OpenClaim {
        agent: usize,
    },
    Revise {
        claim: usize,
        agent: usize,
        kind: usize,
        key: Option<u8>,
    },
    ShakeHands {
        agent: usize,
        key: Option<u8>,
    },
    Read {
        message: u64,
        claim: usize,
        outcome: usize,
    },
    Note {
        claim: Option<usize>,
    },
}

pub(crate) fn a_move() -> impl Strategy<Value = Move> {
    let open = any::<(bool, bool)>().prop_map(|(is_public, is_named)| Move::Open {
        is_public,
        is_named,
    });
    let agent = 0..4usize;
    let step = prop_oneof![
        1 => any::<bool>().prop_map(|is_named| Step::Rename { is_named }),
        2 => agent.clone().prop_map(|agent| Step::Join { agent }),
        1 => agent.clone().prop_map(|agent| Step::Leave { agent }),
        20 => (agent.clone(), proptest::option::of(-60..60i8))
            .prop_map(|(agent, skew_seconds)| Step::Post { agent, skew_seconds }),
        2 => (0..60u64, 1..40u64)
            .prop_map(|(from_end, count)| Step::EraseBodies { from_end, count }),
        2 => agent.clone().prop_map(|agent| Step::OpenClaim { agent }),
        12 => (0..4usize, agent.clone(), 0..6usize, proptest::option::of(0..3u8))
            .prop_map(|(claim, agent, kind, key)| Step::Revise { claim, agent, kind, key }),
        2 => (agent, proptest::option::of(0..3u8))
            .prop_map(|(agent, key)| Step::ShakeHands { agent, key }),
        3 => (1..4u64, 0..4usize, 0..4usize)
            .prop_map(|(message, claim, outcome)| Step::Read { message, claim, outcome }),
        1 => proptest::option::of(0..3usize).prop_map(|claim| Step::Note { claim }),
        1 => Just(Step::Close),
        1 => Just(Step::Erase),
    ];
    prop_oneof![
        2 => open,
        28 => (0..8usize, step).prop_map(|(room, step)| Move::In { room, step }),
    ]
}

pub(crate) fn play(moves: &[Move]) -> World {
    let mut world = World::new();
    world.open(true, None);
    for (number, step) in moves.iter().enumerate() {
        let name = format!("name-{number}");
        match step {
            Move::Open {
                is_public,
                is_named,
            } => {
                world.open(*is_public, is_named.then_some(name.as_str()));
            }
            Move::In { room, step } => {
                let room = room % world.rooms();
                // A step in a room that is no more is no step.
                if !world.is_erased(room) {
                    play_in(&mut world, room, &name, step);
                }
            }
        }
    }
    world
}

fn play_in(world: &mut World, room: usize, name: &str, step: &Step) {
    let agent = |agent: usize| format!("agent {agent}");
    match step {
        Step::Rename { is_named } => world.rename(room, is_named.then_some(name)),
        Step::Join { agent: who } => world.join(room, &agent(*who)),
        Step::Leave { agent: who } => world.leave(room, &agent(*who)),
        Step::Post {
            agent: who,
            skew_seconds,
        } => {
            let ts_iso = skew_seconds.map(signed_time);
            world.post_signed(
                room,
                &agent(*who),
                &format!("text of {name}"),
                ts_iso.as_deref(),
            );
        }
        Step::EraseBodies { from_end, count } => {
            let first = world.sseq(room).saturating_sub(*from_end).max(1);
            let last = (first + count - 1).min(world.sseq(room));
            world.erase_bodies(room, first, last);
        }
        Step::OpenClaim { agent: who } => {
            world.open_claim(room, &agent(*who), "price", name, None);
        }
        Step::Revise {
            claim,
            agent: who,
            kind,
            key,
        } => {
            // Mostly confirmations, mostly of the one value: else nothing would ever be agreed.
            let kind = [
                RevisionKind::Confirm,
                RevisionKind::Contradict,
                RevisionKind::Update,
                RevisionKind::Retract,
            ]
            .get(kind.saturating_sub(2))
            .copied()
            .unwrap_or(RevisionKind::Confirm);
            world.revise(room, *claim, &agent(*who), kind, "$8", *key);
        }
        Step::ShakeHands { agent: who, key } => world.shake_hands(room, &agent(*who), *key),
        Step::Read {
            message,
            claim,
            outcome,
        } => match outcome {
            0 => world.fail(room, *message, Outcome::Unavailable),
            1 => world.fail(room, *message, Outcome::Skipped),
            _ => world.read(room, *message, Some((*claim, RevisionKind::Confirm))),
        },
        Step::Note { claim } => {
            let id = 1000 + world.sseq(room);
            world.note(room, id, *claim);
        }
        Step::Close => world.close(room),
        Step::Erase => world.erase(room),
    }
}

fn signed_time(skew: i8) -> String {
    format!(
        "2026-11-30T12:{:02}:{:02}Z",
        if skew < 0 { 29 } else { 30 },
        skew.rem_euclid(60)
    )
}

fn assert_same(kind: Kind, expected: &MemoryRows, rows: &MemoryRows, how: &str) {
    assert_eq!(
        digest(expected).unwrap(),
        digest(rows).unwrap(),
        "{kind} {how}"
    );
    assert_eq!(expected, rows, "{kind} {how}");
}

/// A fresh fold for every batch: what a restart does.
fn restarted(world: &World, kind: Kind, batch: usize) -> MemoryRows {
    let mut rows = MemoryRows::default();
    for entries in world.log.chunks(batch) {
        let mut fold = Fold {
            rows,
            fold: kind.fold(),
        };
        fold.batch(entries);
        rows = fold.rows;
    }
    rows
}

/// The rows without those that are only read.
fn pruned(mut rows: MemoryRows) -> MemoryRows {
    let keys = rows.iter().map(|(key, _)| key.to_owned());
    let keys: Vec<_> = keys.filter(|key| is_only_read(key)).collect();
    rows.write(keys.into_iter().map(|key| RowOp { key, value: None }));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn any_split_into_batches_makes_the_same_rows(
        moves in vec(a_move(), 1..160),
        sizes in vec(1..40usize, 1..6),
    ) {
        let world = play(&moves);
        for kind in Kind::ALL {
            let at_once = world.rows(kind, &[usize::MAX]);
            assert_same(kind, &at_once, &world.rows(kind, &[1]), "one by one");
            assert_same(kind, &at_once, &world.rows(kind, &sizes), "in batches");
            assert_same(kind, &at_once, &restarted(&world, kind, sizes[0]), "restarted");
        }
    }

    #[test]
    fn the_fold_of_threads_does_without_rows_that_are_only_read(
        moves in vec(a_move(), 1..160),
        batch in 1..40usize,
    ) {
        let world = play(&moves);
        let kind = Kind::Threads;
        let mut rows = MemoryRows::default();
        for entries in world.log.chunks(batch) {
            let mut fold = Fold { rows, fold: kind.fold() };
            fold.batch(entries);
            rows = pruned(fold.rows);
        }
        assert_same(kind, &pruned(world.fold(kind)), &rows, "pruned");
    }

    #[test]
    fn rows_after_erasure_are_those_of_the_erased_log(
        moves in vec(a_move(), 1..160),
        sizes in vec(1..40usize, 1..6),
    ) {
        let mut world = play(&moves);
        for kind in Kind::ALL {
            let live = world.rows(kind, &sizes);
            world.erase_log();
            assert_same(kind, &live, &world.rows(kind, &[7]), "rebuilt from the erased log");
            assert_same(kind, &live, &restarted(&world, kind, 5), "rebuilt with restarts");
        }
    }
}

#[test]
fn a_digest_covers_keys_and_values_apart() {
    use minutebook_projections::digest::Digester;
    let of = |pairs: &[(&[u8], &[u8])]| {
        let mut digester = Digester::default();
        for (key, value) in pairs {
            digester.add(key, value);
        }
        digester.finish()
    };
    assert_ne!(of(&[(b"ab", b"c")]), of(&[(b"a", b"bc")]));
    assert_ne!(of(&[(b"a", b"b"), (b"c", b"d")]), of(&[(b"a", b"b")]));
    assert_eq!(of(&[(b"a", b"b")]).rows, 1);
}
