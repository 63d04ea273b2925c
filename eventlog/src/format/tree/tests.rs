//! The tree against RFC 6962 written down naively, and against published vectors.

use std::{
    cell::Cell,
    collections::HashMap,
    convert::Infallible,
    sync::{LazyLock, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use proptest::prelude::*;

use super::*;
use crate::format::hash::{Hash, empty_root, leaf_hash, node_hash};

/// RFC 6962 §2.1, word for word.
fn naive_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&naive_root(left), &naive_root(right))
        }
    }
}

fn leaves(n: u64) -> Vec<Hash> {
    (0..n).map(|i| leaf_hash(&i.to_be_bytes())).collect()
}

fn frontier(leaves: &[Hash]) -> Frontier {
    let mut frontier = Frontier::new();
    for leaf in leaves {
        frontier.push(*leaf);
    }
    frontier
}

/// What a store has: complete tiles, and entries. Counts its reads.
#[derive(Default)]
struct Stored {
    leaves: Vec<Hash>,
    tiles: HashMap<(u8, u64), Vec<u8>>,
    tiler: Tiler,
    tiles_read: Cell<usize>,
    leaves_read: Cell<usize>,
}

impl Stored {
    fn new(n: u64) -> Self {
        let mut stored = Self {
            leaves: leaves(n),
            ..Self::default()
        };
        let mut completed = Vec::new();
        for leaf in &stored.leaves {
            stored.tiler.push(*leaf, &mut completed);
        }
        for tile in completed {
            assert_eq!(tile.bytes.len(), TILE_BYTES);
            assert!(
                stored
                    .tiles
                    .insert((tile.level, tile.index), tile.bytes)
                    .is_none()
            );
        }
        stored
    }

    fn reads(&self) -> (usize, usize) {
        (self.tiles_read.take(), self.leaves_read.take())
    }
}

impl TileSource for Stored {
    type Error = Infallible;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Infallible> {
        let tile = self.tiles.get(&(level, index)).cloned();
        self.tiles_read
            .set(self.tiles_read.get() + usize::from(tile.is_some()));
        Ok(tile)
    }

    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, Infallible> {
        let first = usize::try_from(first).unwrap();
        let count = usize::from(count);
        assert_eq!(
            first / 256,
            (first + count - 1) / 256,
            "a request within one tile"
        );
        self.leaves_read.set(self.leaves_read.get() + count);
        Ok(self.leaves[first..first + count].to_vec())
    }
}

fn check_inclusion<S>(source: &S, all: &[Hash], root: &Hash, i: u64, n: u64)
where
    S: TileSource<Error = Infallible>,
{
    let proof = inclusion_proof(source, i, n).unwrap();
    let leaf = all[usize::try_from(i).unwrap()];
    assert_eq!(
        verify_inclusion(i, n, &leaf, &proof, root),
        Ok(()),
        "{i} in {n}"
    );
    assert_eq!(
        verify_inclusion(i, n, &Hash::ZERO, &proof, root),
        Err(TreeError::Root)
    );
    if i + 1 < n {
        assert!(verify_inclusion(i + 1, n, &leaf, &proof, root).is_err());
    }
    let mut longer = proof.clone();
    longer.push(*root);
    assert_eq!(
        verify_inclusion(i, n, &leaf, &longer, root),
        Err(TreeError::Length)
    );
    if let Some((_, shorter)) = proof.split_last() {
        assert_eq!(
            verify_inclusion(i, n, &leaf, shorter, root),
            Err(TreeError::Length)
        );
    }
}

fn check_consistency<S>(source: &S, roots: &dyn Fn(u64) -> Hash, m: u64, n: u64)
where
    S: TileSource<Error = Infallible>,
{
    let (old, new) = (roots(m), roots(n));
    let proof = consistency_proof(source, m, n).unwrap();
    assert_eq!(
        verify_consistency(m, n, &proof, &old, &new),
        Ok(()),
        "{m} to {n}"
    );
    let forged = [(old, Hash::ZERO), (Hash::ZERO, new)];
    for (from, to) in forged.into_iter().skip(usize::from(m == 0)) {
        assert!(
            verify_consistency(m, n, &proof, &from, &to).is_err(),
            "{m} to {n}"
        );
    }
    for at in 0..proof.len() {
        let mut changed = proof.clone();
        changed[at] = Hash::ZERO;
        assert!(verify_consistency(m, n, &changed, &old, &new).is_err());
        assert!(verify_consistency(m, n, &proof[..at], &old, &new).is_err());
    }
    let longer = [proof.as_slice(), &[new]].concat();
    assert!(verify_consistency(m, n, &longer, &old, &new).is_err());
}

fn reference_leaves() -> Vec<Hash> {
    let data = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
    ];
    let last = "606162636465666768696a6b6c6d6e6f";
    let data = data.into_iter().chain([last]);
    data.map(|hex| leaf_hash(&hex::decode(hex).unwrap()))
        .collect()
}

fn base64(hashes: &[Hash]) -> Vec<String> {
    hashes
        .iter()
        .map(|hash| BASE64.encode(hash.as_bytes()))
        .collect()
}

#[test]
fn the_reference_roots_come_out() {
    let all = reference_leaves();
    for (n, root) in [
        (
            0,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            1,
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        ),
        (
            6,
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        ),
        (
            7,
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        ),
        (
            8,
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ),
    ] {
        assert_eq!(frontier(&all[..n]).root().to_string(), root, "n={n}");
    }
}

#[test]
fn the_reference_proofs_come_out() {
    let stored = Stored {
        leaves: reference_leaves(),
        ..Stored::default()
    };
    let from_6_to_8 = [
        "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
        "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
        "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ];
    assert_eq!(
        base64(&consistency_proof(&stored, 6, 8).unwrap()),
        from_6_to_8
    );
    let from_3_to_7 = [
        "ApjRIpBtz8EIkstTpzmS/FufST6kybrbJ7eRtBJ6f+c=",
        "B1Bqhf2d0vEg62lPhgEeW7RmLlxBWmKRcDPUqWJEh+c=",
        "+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=",
        "g327FS6bB5AQcX6E6GXaTrwPoZioBtWdMb8VrM7yLQ4=",
    ];
    assert_eq!(
        base64(&consistency_proof(&stored, 3, 7).unwrap()),
        from_3_to_7
    );
    let inclusion = [from_6_to_8[0], from_6_to_8[2]];
    assert_eq!(base64(&inclusion_proof(&stored, 6, 7).unwrap()), inclusion);
}

/// The stored tiles and a tiler's partial ones as one source, as a writer that keeps its tiler
/// can have it: a proof at the newest size then reads one tile per level and no leaf.
struct TilerView<'a, S> {
    tiler: &'a Tiler,
    stored: &'a S,
}

impl<S: TileSource> TileSource for TilerView<'_, S> {
    type Error = S::Error;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, S::Error> {
        let right_edge = self
            .tiler
            .size()
            .checked_shr(8 * (u32::from(level) + 1))
            .unwrap_or(0);
        if index == right_edge {
            let hashes = self.tiler.partial(level);
            return Ok(Some(
                hashes.iter().flat_map(|hash| *hash.as_bytes()).collect(),
            ));
        }
        self.stored.tile(level, index)
    }

    fn leaves(&self, first: u64, count: u16) -> Result<Vec<Hash>, S::Error> {
        self.stored.leaves(first, count)
    }
}

fn view(stored: &Stored) -> TilerView<'_, Stored> {
    let tiler = &stored.tiler;
    TilerView { tiler, stored }
}

#[test]
fn every_proof_of_every_small_tree_holds_and_no_other() {
    let stored = Stored::new(40);
    let all = &stored.leaves;
    let roots: Vec<_> = (0..=40).map(|n| naive_root(&all[..n])).collect();
    let root = |n: u64| roots[usize::try_from(n).unwrap()];
    for n in 0..=40 {
        (0..n).for_each(|i| check_inclusion(&stored, all, &root(n), i, n));
        (0..=n).for_each(|m| check_consistency(&stored, &root, m, n));
    }
    let view = view(&stored);
    (0..40).for_each(|i| check_inclusion(&view, all, &root(40), i, 40));
    assert_eq!(inclusion_proof(&stored, 3, 3), Err(ProveError::Outside));
    assert_eq!(consistency_proof(&stored, 4, 3), Err(ProveError::Outside));
    assert_eq!(
        inclusion_root(3, 3, &Hash::ZERO, &[]),
        Err(TreeError::Outside)
    );
}

#[test]
fn proofs_across_tiles_hold_at_old_and_new_sizes() {
    let stored = Stored::new(66_000);
    let mut frontier = Frontier::new();
    let mut roots = vec![frontier.root()];
    for leaf in &stored.leaves {
        frontier.push(*leaf);
        roots.push(frontier.root());
    }
    let root = |n: u64| roots[usize::try_from(n).unwrap()];
    let view = view(&stored);
    for n in [256, 257, 511, 512, 1_000, 65_535, 65_536, 65_537, 66_000] {
        for i in [0, 1, 255, n / 2, n - 2, n - 1] {
            check_inclusion(&stored, &stored.leaves, &root(n), i, n);
            check_inclusion(&view, &stored.leaves, &root(n), i, n);
        }
        for m in [0, 1, 255, 256, n / 3, n / 2, n - 1, n] {
            check_consistency(&stored, &root, m, n);
            check_consistency(&view, &root, m, n);
        }
    }
}

#[test]
fn a_proof_at_the_newest_size_reads_a_few_tiles_and_no_entries() {
    let stored = Stored::new(66_000);
    stored.reads();
    for i in [0, 70_000 / 2, 65_999] {
        inclusion_proof(&view(&stored), i, 66_000).unwrap();
        let (tiles, entries) = stored.reads();
        assert!(tiles <= 16, "{tiles}");
        assert_eq!(entries, 0);
        inclusion_proof(&stored, i, 66_000).unwrap();
        assert!(stored.reads().1 <= 2 * 256);
    }
}

#[test]
fn a_tiler_made_again_is_the_same_and_so_is_its_frontier() {
    for n in [0, 1, 255, 256, 257, 1_000, 65_535, 65_536, 66_000] {
        let stored = Stored::new(n);
        assert_eq!(
            Tiler::restore(&stored, n).unwrap().frontier(),
            frontier(&stored.leaves)
        );
        assert_eq!(stored.tiler.frontier(), frontier(&stored.leaves));
        let again = Tiler::restore(&stored, n).unwrap();
        assert_eq!(again.size(), n);
        for level in 0..8 {
            assert_eq!(
                again.partial(level),
                stored.tiler.partial(level),
                "{n} level {level}"
            );
        }
    }
}

#[test]
fn tiles_are_completed_once_each_and_hold_the_hashes_of_their_level() {
    let stored = Stored::new(65_536 + 300);
    assert_eq!(stored.tiles.len(), 257 + 1);
    let level_1 = stored.tiles[&(1, 0)].as_chunks::<32>().0;
    assert_eq!(Hash::new(level_1[3]), naive_root(&stored.leaves[768..1024]));
    assert_eq!(
        stored.tiles[&(0, 256)][..32],
        *stored.leaves[65_536].as_bytes()
    );
}

#[test]
fn a_source_that_lies_about_lengths_is_noticed() {
    struct Short;
    impl TileSource for Short {
        type Error = Infallible;
        fn tile(&self, _: u8, _: u64) -> Result<Option<Vec<u8>>, Infallible> {
            Ok(Some(vec![0; 33]))
        }
        fn leaves(&self, _: u64, _: u16) -> Result<Vec<Hash>, Infallible> {
            Ok(Vec::new())
        }
    }
    let damaged = Err(ProveError::Damaged { level: 0, index: 0 });
    assert_eq!(inclusion_proof(&Short, 5, 10), damaged);
    assert!(Tiler::restore(&Short, 10).is_err());
}

#[test]
fn a_frontier_restores_only_with_as_many_hashes_as_its_size_needs() {
    let frontier = frontier(&leaves(13));
    let restored = Frontier::restore(13, frontier.hashes().to_vec());
    assert_eq!(restored.as_ref(), Some(&frontier));
    assert_eq!(Frontier::restore(14, frontier.hashes()[1..].to_vec()), None);
    assert_eq!(Frontier::restore(0, vec![]), Some(Frontier::new()));
}

#[test]
fn a_tile_path_has_one_spelling() {
    use TileLevel::{Entries, Hashes};
    for (text, level, index, width) in [
        ("tile/0/000", Hashes(0), 0, 256),
        ("tile/0/x001/x234/067", Hashes(0), 1_234_067, 256),
        ("tile/1/999", Hashes(1), 999, 256),
        ("tile/1/x001/000", Hashes(1), 1_000, 256),
        ("tile/63/000.p/1", Hashes(63), 0, 1),
        ("tile/entries/x001/x000/000.p/255", Entries, 1_000_000, 255),
    ] {
        let path = TilePath {
            level,
            index,
            width,
        };
        assert_eq!(path.to_string(), text);
        assert_eq!(TilePath::parse(text), Some(path));
    }
    for text in [
        "tile/64/000",
        "tile/00/000",
        "tile/+0/000",
        "tile/0/x000/000",
        "tile/0/1",
        "tile/0/0000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/000.p/",
        "tile/0/",
        "tile/0/001/002",
        "tile/0/x001/x002",
        "tile/0/x001//002",
        "/tile/0/000",
        "tile/0/000/",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        "tile/0/000.p/1.p/1",
        "tile/entry/000",
        "",
    ] {
        assert_eq!(TilePath::parse(text), None, "{text}");
    }
    let last = TilePath {
        level: Hashes(0),
        index: u64::MAX,
        width: 256,
    };
    assert_eq!(TilePath::parse(&last.to_string()), Some(last));
}

proptest! {
    #[test]
    fn the_frontier_agrees_with_the_definition(n in 0u64..600) {
        let all = leaves(n);
        prop_assert_eq!(frontier(&all).root(), naive_root(&all));
    }

    #[test]
    fn any_subtree_comes_out_of_tiles(height in 0u32..10, k in 0u64..8, cut in 0u64..512) {
        static STORED: LazyLock<Mutex<Stored>> = LazyLock::new(|| Mutex::new(Stored::new(4096)));
        let stored = STORED.lock().unwrap();
        let (low, len) = ((k << height) % 2048, (1 << height) - cut % (1 << height));
        let range = usize::try_from(low).unwrap()..usize::try_from(low + len).unwrap();
        let root = subtree_root(&*stored, low, low + len).unwrap();
        prop_assert_eq!(root, naive_root(&stored.leaves[range]));
    }

    #[test]
    fn no_proof_makes_verifying_panic(i: u64, m: u64, n: u64, len in 0usize..70) {
        let proof = vec![Hash::ZERO; len];
        let _ = inclusion_root(i, n, &Hash::ZERO, &proof);
        let _ = verify_consistency(m, n, &proof, &Hash::ZERO, &Hash::ZERO);
    }

    #[test]
    fn no_text_makes_a_tile_path_panic(text in "(tile|entries|[0-9x/.p]){0,20}") {
        if let Some(path) = TilePath::parse(&text) {
            prop_assert_eq!(path.to_string(), text);
        }
    }
}
