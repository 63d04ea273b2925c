//! The bytes of every kind of row, for ever as long as its projection's version stays the same.
//!
//! When this fails because a row was changed on purpose: raise the projection's `VERSION`, so that
//! servers build a new generation, then put the new bytes into the file. Reading old bytes with
//! new fields would succeed and say wrong things.

use std::fmt::Write as _;

use minutebook_domain::room::claims::{Outcome, RevisionKind};
use minutebook_projections::{Kind, MemoryRows};

use crate::world::World;

fn every_row() -> World {
    let mut world = World::new();
    world.open(true, Some("lobby"));
    world.join(0, "ann");
    world.post(0, "ann", "hello");
    world.post_signed(0, "bob", "signed", Some("2026-11-30T11:59:30Z"));
    for _ in 0..14 {
        world.post(0, "ann", "x");
    }
    world.erase_bodies(0, 17, 17);
    world.open(false, None);
    world.close(1);
    world.open(true, None);
    world.erase(2);
    every_ledger_row(&mut world);
    world.publish(1);
    world.publish(2);
    world.withdraw(2);
    world
}

fn every_ledger_row(world: &mut World) {
    let room = world.open_needing(false, None, Some(1));
    let claim = world.open_claim(room, "ann", "price", "$8", Some(1));
    world.revise(room, claim, "bob", RevisionKind::Confirm, "$8", Some(2));
    world.revise(room, claim, "cid", RevisionKind::Contradict, "$7", None);
    world.shake_hands(room, "bob", Some(2));
    let agreed = world.open_claim(room, "ann", "date", "May", None);
    world.revise(room, agreed, "bob", RevisionKind::Confirm, "May", None);
    world.revise(room, agreed, "cid", RevisionKind::Contradict, "May", None);
    world.revise(room, agreed, "cid", RevisionKind::Confirm, "May", None);
    for _ in 0..3 {
        world.post(room, "bob", "x");
    }
    world.read(room, 1, Some((claim, RevisionKind::Confirm)));
    world.note(room, 3, Some(claim));
    world.fail(room, 2, Outcome::Skipped);
    world.fail(room, 3, Outcome::Unavailable);
}

fn dump(kind: Kind, rows: &MemoryRows) -> String {
    let mut text = format!("{kind} version {}\n", kind.version());
    for (key, value) in rows.iter() {
        // Plain messages are all alike; two of them and the special ones show the format.
        if kind == Kind::History && (3..16).contains(&key[24]) {
            continue;
        }
        writeln!(text, "{} {}", hex(key), hex(value)).unwrap();
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn row_bytes_are_pinned() {
    let world = every_row();
    let found: String = Kind::ALL
        .into_iter()
        .map(|kind| dump(kind, &world.fold(kind)))
        .collect();
    let tags: std::collections::BTreeSet<&str> = found
        .lines()
        .filter_map(|line| line.get(..2))
        .filter(|tag| tag.starts_with('0'))
        .collect();
    assert_eq!(
        tags.into_iter().collect::<Vec<_>>(),
        ["00", "01", "02", "03", "04", "05", "06", "07"]
    );
    let of_threads = world.fold(Kind::Threads);
    let tags: std::collections::BTreeSet<u8> = of_threads.iter().map(|(key, _)| key[17]).collect();
    assert_eq!(
        tags.into_iter().collect::<Vec<_>>(),
        (1..=13).collect::<Vec<_>>()
    );
    assert!(
        found == include_str!("golden/rows.txt"),
        "rows changed; now they are\n{found}"
    );
}
