//! A rebuild equals the live rows, resumes after a kill, refuses to hide a difference, and never
//! touches what is live before it is done.

use std::ops::ControlFlow;

use minutebook::cli::Exit;
use minutebook::generations::{
    Catalog, Comparison, Filling, GenerationError, Outcome, RebuildOptions, Stage, Step, check,
    ensure_live, forget_others, position, rebuild, space_name, use_generation,
};
use minutebook_eventlog::store::{META_SPACE, RowOp};
use minutebook_projections::Kind;

use crate::harness::{Raw, TestLog, go_on, minutebook, small};

const ALL: [Kind; 4] = Kind::ALL;

fn stages(raw: &Raw, kind: Kind) -> Vec<(u32, Stage)> {
    let catalog = Catalog::load(&*raw.access.reader, kind).unwrap();
    catalog
        .generations()
        .iter()
        .map(|one| (one.number, one.stage))
        .collect()
}

fn options() -> RebuildOptions {
    RebuildOptions::default()
}

/// Rewrites the version of a generation in the catalog, as another build would have left it.
fn set_version(raw: &Raw, kind: Kind, number: u32, version: u32) {
    let reader = &raw.access.reader;
    let meta = reader.space(META_SPACE).unwrap();
    let key = format!("projection/{kind}").into_bytes();
    let value = reader.get(meta, &key).unwrap().unwrap();
    let mut value: serde_json::Value = serde_json::from_slice(&value).unwrap();
    for one in value["generations"].as_array_mut().unwrap() {
        if one["number"] == number {
            one["version"] = version.into();
        }
    }
    let value = Some(value.to_string().into_bytes());
    raw.access
        .maintenance
        .append_rows(vec![RowOp {
            space: meta,
            key,
            value,
        }])
        .unwrap();
}

/// Changes one row of the live generation.
fn spoil(raw: &Raw, kind: Kind) {
    let reader = &raw.access.reader;
    let live = Catalog::load(&**reader, kind).unwrap().live().unwrap();
    let space = reader.space(&space_name(kind, live.number)).unwrap();
    let (key, mut value) = reader
        .range(space, &[], &[0xff], false, 1)
        .unwrap()
        .remove(0);
    *value.last_mut().unwrap() ^= 1;
    raw.access
        .maintenance
        .append_rows(vec![RowOp {
            space,
            key,
            value: Some(value),
        }])
        .unwrap();
}

#[test]
fn a_rebuild_equals_the_live_rows_and_keeps_them() {
    let mut log = small();
    log.claim(0, "ann", "price", "$8");
    let raw = Raw::open(log.close());
    let outcomes = rebuild(&raw.access, &ALL, options(), &mut go_on).unwrap();
    for (outcome, expected) in outcomes.iter().zip(ALL) {
        let Outcome::Switched {
            kind,
            number: 2,
            kept: Some(1),
            comparison: Some(found),
        } = outcome
        else {
            panic!("{outcome:?}");
        };
        assert_eq!(*kind, expected);
        // Nobody shares a skill in this log.
        let has_rows = found.live.rows > 0 || *kind == Kind::Skills;
        assert!(found.is_equal() && has_rows, "{found:?}");
    }
    assert_eq!(
        stages(&raw, Kind::Rooms),
        [(1, Stage::Kept), (2, Stage::Live)]
    );
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    assert_eq!(
        stages(&raw, Kind::Rooms),
        [(2, Stage::Kept), (3, Stage::Live)]
    );
    let spaces = raw.access.reader.spaces().unwrap();
    assert!(
        !spaces.contains(&"rooms.g1".to_owned()),
        "the one before was dropped: {spaces:?}"
    );
}

#[test]
fn the_engine_goes_on_from_rebuilt_rows() {
    let mut log = small();
    let raw = Raw::open(log.close());
    rebuild(&raw.access, &ALL, options(), &mut go_on).unwrap();
    drop(raw);
    log.reopen();
    log.post(0, "ann", "after the rebuild");
    log.open_room(3, true, None);
    let raw = Raw::open(log.close());
    let found = check(&raw.access, &ALL, &mut go_on).unwrap();
    assert!(
        found
            .iter()
            .all(|(_, found)| found.as_ref().unwrap().is_equal()),
        "{found:?}"
    );
    assert_eq!(
        stages(&raw, Kind::History),
        [(1, Stage::Kept), (2, Stage::Live)]
    );
}

#[test]
fn a_rebuild_killed_at_any_mark_goes_on_and_ends_equal() {
    let mut log = TestLog::new();
    for room in 0..3 {
        log.open_room(room, room > 0, None);
    }
    log.talk(3, 17_000);
    log.erase_bodies(1, 100, 3000);
    log.close();
    let pages = RebuildOptions::default();
    assert!(pages.filling.events_min > 17_000);
    let filled = RebuildOptions {
        filling: Filling {
            events_min: 1,
            batch_bytes: 2 << 20,
        },
        ..pages
    };
    for (options, kill_at) in [
        (pages, 1),
        (pages, 2),
        (pages, 3),
        (pages, 4),
        (filled, 1),
        (filled, 2),
    ] {
        let raw = Raw::open(log.dir.path());
        let mut marks = 0;
        let killed = rebuild(&raw.access, &ALL, options, &mut |_| {
            marks += 1;
            if marks == kill_at {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let Err(GenerationError::Stopped { seq }) = killed else {
            panic!("{killed:?}")
        };
        let building = Catalog::load(&*raw.access.reader, Kind::History)
            .unwrap()
            .building();
        drop(raw);

        let raw = Raw::open(log.dir.path());
        let number = building.unwrap().number;
        assert_eq!(
            position(&*raw.access.reader, Kind::History, number).unwrap(),
            seq
        );
        let mut from = None;
        let outcomes = rebuild(&raw.access, &ALL, options, &mut |progress| {
            from.get_or_insert(progress.from);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(from, Some(seq), "it went on from its mark");
        let is_equal = |outcome: &Outcome| match outcome {
            Outcome::Switched { comparison, .. } => {
                comparison.as_ref().is_some_and(Comparison::is_equal)
            }
            Outcome::Refused { .. } => false,
        };
        assert!(outcomes.iter().all(is_equal), "{outcomes:?}");
    }
}

#[test]
fn rows_that_differ_are_not_switched_to() {
    let mut log = small();
    let raw = Raw::open(log.close());
    spoil(&raw, Kind::History);
    let outcomes = rebuild(&raw.access, &ALL, options(), &mut go_on).unwrap();
    assert!(
        matches!(
            outcomes[0],
            Outcome::Switched {
                kind: Kind::Rooms,
                ..
            }
        ),
        "{outcomes:?}"
    );
    let Outcome::Refused {
        number: 2,
        comparison,
    } = &outcomes[1]
    else {
        panic!("{outcomes:?}")
    };
    assert_eq!(comparison.differing, 1);
    assert!(comparison.first_difference.is_some());
    assert_eq!(
        stages(&raw, Kind::History),
        [(1, Stage::Live), (2, Stage::Building)]
    );
    let found = check(&raw.access, &[Kind::History], &mut go_on).unwrap();
    assert!(!found[0].1.as_ref().unwrap().is_equal());
    assert_eq!(
        stages(&raw, Kind::History),
        [(1, Stage::Live)],
        "check leaves nothing behind"
    );

    let accept = RebuildOptions {
        accept_difference: true,
        ..options()
    };
    rebuild(&raw.access, &[Kind::History], accept, &mut go_on).unwrap();
    let found = check(&raw.access, &[Kind::History], &mut go_on).unwrap();
    assert!(found[0].1.as_ref().unwrap().is_equal());
}

#[test]
fn a_missing_and_a_surplus_row_are_both_differences() {
    let mut log = small();
    let raw = Raw::open(log.close());
    let space = raw.access.reader.space("history.g1").unwrap();
    let (key, _) = raw
        .access
        .reader
        .range(space, &[], &[0xff], false, 1)
        .unwrap()
        .remove(0);
    let surplus = RowOp {
        space,
        key: vec![9],
        value: Some(vec![9]),
    };
    let missing = RowOp {
        space,
        key: key.clone(),
        value: None,
    };
    raw.access
        .maintenance
        .append_rows(vec![surplus, missing])
        .unwrap();
    let found = check(&raw.access, &[Kind::History], &mut go_on).unwrap();
    let found = found[0].1.as_ref().unwrap();
    assert_eq!(
        (found.differing, found.first_difference.as_ref()),
        (2, Some(&key))
    );
    assert_eq!(found.live.rows, found.rebuilt.rows);
}

#[test]
fn rows_of_another_version_are_built_anew_beside_the_old_ones() {
    let mut log = small();
    let raw = Raw::open(log.close());
    set_version(&raw, Kind::Rooms, 1, 99);
    let found = check(&raw.access, &[Kind::Rooms], &mut go_on).unwrap();
    assert_eq!(found, [(Kind::Rooms, None)]);

    let ensured = ensure_live(&raw.access, &mut go_on).unwrap();
    let steps: Vec<_> = ensured.iter().map(|one| (one.kind, one.step)).collect();
    assert_eq!(
        steps,
        [
            (Kind::Rooms, Step::Built),
            (Kind::History, Step::Ready),
            (Kind::Threads, Step::Ready),
            (Kind::Skills, Step::Ready),
        ]
    );
    let live = Catalog::load(&*raw.access.reader, Kind::Rooms)
        .unwrap()
        .live()
        .unwrap();
    assert_eq!(
        (live.version, ensured[0].number),
        (Kind::Rooms.version(), live.number)
    );
    assert_eq!(stages(&raw, Kind::Rooms)[0], (1, Stage::Kept));
    drop(raw);
    log.reopen();
}

#[test]
fn the_older_program_goes_back_to_its_kept_rows_and_catches_up() {
    let mut log = small();
    let raw = Raw::open(log.close());
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    drop(raw);
    log.reopen();
    log.post(0, "ann", "g1 does not see this");
    let raw = Raw::open(log.close());
    set_version(&raw, Kind::Rooms, 2, 99);

    let ensured = ensure_live(&raw.access, &mut go_on).unwrap();
    assert_eq!((ensured[0].number, ensured[0].step), (1, Step::WentBack));
    assert_eq!(
        stages(&raw, Kind::Rooms),
        [(1, Stage::Live), (2, Stage::Kept)]
    );
    let found = check(&raw.access, &[Kind::Rooms], &mut go_on).unwrap();
    assert!(found[0].1.as_ref().unwrap().is_equal());
}

#[test]
fn going_back_and_forth_is_one_switch() {
    let mut log = small();
    let raw = Raw::open(log.close());
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    assert_eq!(
        use_generation(&raw.access, Kind::Rooms, 1, &mut go_on).unwrap(),
        Some(2)
    );
    assert_eq!(
        use_generation(&raw.access, Kind::Rooms, 2, &mut go_on).unwrap(),
        Some(1)
    );
    assert_eq!(
        use_generation(&raw.access, Kind::Rooms, 2, &mut go_on).unwrap(),
        None
    );
    let unknown = use_generation(&raw.access, Kind::Rooms, 9, &mut go_on);
    assert!(
        matches!(unknown, Err(GenerationError::Unknown { number: 9, .. })),
        "{unknown:?}"
    );
    set_version(&raw, Kind::Rooms, 1, 99);
    let other = use_generation(&raw.access, Kind::Rooms, 1, &mut go_on);
    assert!(
        matches!(other, Err(GenerationError::Version { found: 99, .. })),
        "{other:?}"
    );
}

#[test]
fn an_erasure_takes_every_generation_but_the_live_ones() {
    let mut log = small();
    let raw = Raw::open(log.close());
    rebuild(&raw.access, &ALL, options(), &mut go_on).unwrap();
    assert_eq!(forget_others(&raw.access).unwrap(), ALL.len());
    assert_eq!(stages(&raw, Kind::History), [(2, Stage::Live)]);
    let spaces = raw.access.reader.spaces().unwrap();
    assert!(
        !spaces.iter().any(|name| name.contains(".g1")),
        "{spaces:?}"
    );
    assert_eq!(forget_others(&raw.access).unwrap(), 0);
}

#[test]
fn a_space_that_no_catalog_names_is_dropped_and_its_number_never_used_again() {
    let mut log = small();
    let raw = Raw::open(log.close());
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    // As if the process had died between the catalog and the drop.
    let space = raw.access.reader.space("rooms.g1").unwrap();
    let row = RowOp {
        space,
        key: vec![1],
        value: Some(vec![1]),
    };
    raw.access.maintenance.append_rows(vec![row]).unwrap();
    ensure_live(&raw.access, &mut go_on).unwrap();
    assert!(
        !raw.access
            .reader
            .spaces()
            .unwrap()
            .contains(&"rooms.g1".to_owned())
    );
    rebuild(&raw.access, &[Kind::Rooms], options(), &mut go_on).unwrap();
    assert_eq!(
        stages(&raw, Kind::Rooms),
        [(3, Stage::Kept), (4, Stage::Live)]
    );
}

#[test]
fn live_rows_beyond_the_log_are_built_anew() {
    let mut log = small();
    let raw = Raw::open(log.close());
    let meta = raw.access.reader.space(META_SPACE).unwrap();
    let value = Some(1_000_000_u64.to_be_bytes().to_vec());
    let row = RowOp {
        space: meta,
        key: b"position/rooms.g1".to_vec(),
        value,
    };
    raw.access.maintenance.append_rows(vec![row]).unwrap();
    let ensured = ensure_live(&raw.access, &mut go_on).unwrap();
    assert_eq!((ensured[0].number, ensured[0].step), (2, Step::Built));
    drop(raw);
    log.reopen();
}

#[test]
fn live_rows_that_vanished_are_missed_until_they_are_rebuilt() {
    // In the order they were made, after the seven keyspaces of the log itself.
    for (keyspace, kind) in (8..).zip(ALL) {
        let mut log = small();
        let dir = log.close().to_owned();
        std::fs::remove_dir_all(dir.join(format!("db/keyspaces/{keyspace}"))).unwrap();
        // What refuses must not make them anew, empty: the next start would not miss them.
        for _ in 0..2 {
            let raw = Raw::open(&dir);
            let error = ensure_live(&raw.access, &mut go_on).unwrap_err();
            let text = error.to_string();
            assert!(error.is_damage(), "{text}");
            assert!(text.contains(&format!("v.{kind}.g1")), "{text}");
            let advice = format!("minutebook projections rebuild {kind}");
            assert!(text.contains(&advice), "{text}");
        }
        let ran = minutebook(&dir, &["projections", "check"]);
        assert!(ran.err.contains("are missing"), "{}", ran.err);
        let ran = minutebook(&dir, &["projections", "rebuild", kind.name()]);
        assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
        let raw = Raw::open(&dir);
        ensure_live(&raw.access, &mut go_on).unwrap();
        let error = use_generation(&raw.access, kind, 1, &mut go_on).unwrap_err();
        assert!(matches!(error, GenerationError::Lost { .. }), "{error}");
        let found = check(&raw.access, &ALL, &mut go_on).unwrap();
        let equal = |one: &Option<Comparison>| one.as_ref().is_some_and(Comparison::is_equal);
        assert!(found.iter().all(|(_, one)| equal(one)), "{found:?}");
    }
}
