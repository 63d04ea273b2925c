//! Dropping spaces costs no other.

use crate::store::{
    LogReader, LogWriter, Maintenance, RowOp,
    fjall::{FjallStore, Options},
};

/// Opens the store, and shows its spaces.
fn session(dir: &std::path::Path, work: impl FnOnce(&dyn Maintenance, &dyn LogReader)) {
    let (writer, reader) = FjallStore::open(dir, &Options::default()).unwrap();
    work(&*writer.maintenance(), &*reader);
}

#[test]
fn a_space_made_after_a_drop_and_a_reopening_is_there_for_good() {
    let dir = tempfile::tempdir().unwrap();
    // Whatever was dropped: the newest, two of them, all but one.
    for round in 0..4 {
        session(dir.path(), |maintenance, reader| {
            for number in 0..=round {
                reader.space(&format!("dropped.g{number}")).unwrap();
            }
            for number in 0..=round {
                maintenance
                    .drop_space(&format!("dropped.g{number}"))
                    .unwrap();
            }
        });
        let name = format!("kept.g{round}");
        session(dir.path(), |maintenance, reader| {
            let row = RowOp {
                space: reader.space(&name).unwrap(),
                key: vec![7],
                value: Some(vec![round]),
            };
            maintenance.append_rows(vec![row]).unwrap();
            maintenance.persist().unwrap();
        });
        session(dir.path(), |_, reader| {
            for earlier in 0..=round {
                let space = reader.space(&format!("kept.g{earlier}")).unwrap();
                let row = reader.get(space, &[7]).unwrap();
                assert_eq!(row, Some(vec![earlier]), "round {round}");
            }
            assert_eq!(reader.spaces().unwrap().len(), usize::from(round) + 2);
        });
    }
}
