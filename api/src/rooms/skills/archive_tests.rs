//! Bundles, honest and hostile.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

use super::*;

/// An archive in the making, of raw headers: hostile ones included.
#[derive(Default)]
struct Tar(Vec<u8>);

impl Tar {
    /// An entry whose header is made by `change` and not corrected any more.
    fn raw(mut self, name: &[u8], bytes: &[u8], change: impl FnOnce(&mut Header)) -> Self {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_entry_type(EntryType::Regular);
        change(&mut header);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, name: &str, bytes: &[u8]) -> Self {
        self.raw(name.as_bytes(), bytes, |_| {})
    }

    fn kind(self, name: &str, kind: EntryType) -> Self {
        self.raw(name.as_bytes(), b"", |header| header.set_entry_type(kind))
    }

    fn dir(self, name: &str) -> Self {
        self.kind(name, EntryType::Directory)
    }

    fn extended(self, kind: EntryType, bytes: &[u8]) -> Self {
        self.raw(b"extended", bytes, |header| header.set_entry_type(kind))
    }

    fn pax(self, line: &str) -> Self {
        self.extended(EntryType::XHeader, pax(line).as_bytes())
    }

    /// The archive's bytes with its end.
    fn tar(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }

    fn bundle(self) -> Vec<u8> {
        gzip(&self.tar())
    }

    fn looked(self) -> Result<(), Refused> {
        inspect(&self.bundle())
    }
}

/// A pax line with its length before it.
fn pax(line: &str) -> String {
    let with = |digits: usize| digits + line.len() + 2;
    let digits = (1..9).find(|n| with(*n).to_string().len() == *n).unwrap();
    format!("{} {line}\n", with(digits))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn skill() -> Tar {
    Tar::default().file("SKILL.md", b"# skill")
}

fn problem(tar: Tar) -> &'static str {
    match tar.looked() {
        Err(Refused::Entry { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_bundle_is_files_and_directories_with_a_skill_md_at_any_depth() {
    for tar in [
        skill(),
        Tar::default().file("a/b/SKILL.md", b""),
        Tar::default()
            .dir("./")
            .dir("./a/")
            .file("./a/SKILL.md", b"x"),
        skill().dir("a").dir("b/").file("b/c", &[7; 5000]),
        skill()
            .file("examples/SKILL.md", b"one")
            .file("more/SKILL.md", b"two"),
        // As git archive and others begin.
        Tar::default()
            .extended(EntryType::XGlobalHeader, pax("comment=00ff").as_bytes())
            .file("SKILL.md", b"x"),
        Tar::default().pax("path=é/SKILL.md").file("cut", b"x"),
        Tar::default().pax("mtime=1.5").file("SKILL.md", b"x"),
        Tar::default()
            .extended(EntryType::GNULongName, b"dir/SKILL.md\0")
            .file("dir", b"x"),
    ] {
        assert_eq!(tar.looked(), Ok(()));
    }
}

#[test]
fn what_real_tools_make_is_taken() {
    let long = format!("{}/SKILL.md", "d".repeat(120));
    let mut builder = tar::Builder::new(Vec::new());
    for path in ["skill/scripts/run.py", &long] {
        let mut header = Header::new_gnu();
        header.set_size(3);
        header.set_mode(0o755);
        builder.append_data(&mut header, path, &b"abc"[..]).unwrap();
    }
    let mut tar = builder.into_inner().unwrap();
    // GNU tar fills up to its record of 10 KiB.
    tar.resize(tar.len().next_multiple_of(10_240), 0);
    assert_eq!(inspect(&gzip(&tar)), Ok(()));
}

#[test]
fn without_a_skill_md_that_is_a_file_of_that_name_it_is_none() {
    for tar in [
        Tar::default(),
        Tar::default().file("README.md", b"x"),
        Tar::default().file("xSKILL.md", b"x"),
        Tar::default().file("skill.md", b"x"),
        Tar::default().file("SKILL.md.txt", b"x"),
        Tar::default().dir("SKILL.md"),
        Tar::default().raw(b"SKILL.md/", b"", |_| {}),
        Tar::default().file("SKILL.md/readme", b"x"),
    ] {
        assert_eq!(tar.looked(), Err(Refused::NoSkill));
    }
}

#[test]
fn one_skill_md_speaks_for_the_whole() {
    let two = || {
        Tar::default()
            .file("a/SKILL.md", b"1")
            .file("b/SKILL.md", b"2")
    };
    assert_eq!(two().looked(), Err(Refused::SeveralSkills));
    assert_eq!(two().file("SKILL.md", b"0").looked(), Ok(()));
}

#[test]
fn only_files_and_directories_are_taken() {
    for kind in [EntryType::Symlink, EntryType::Link] {
        assert_eq!(problem(skill().kind("x", kind)), "links are not taken");
    }
    for kind in [
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::GNULongLink,
        EntryType::Continuous,
        EntryType::new(b'V'),
    ] {
        let text = "only files and directories are taken";
        assert_eq!(problem(skill().kind("x", kind)), text, "{kind:?}");
    }
    for mode in [0o4755, 0o2755] {
        let tar = skill().raw(b"x", b"", |header| header.set_mode(mode));
        assert_eq!(problem(tar), "it is a set-user-id or set-group-id file");
    }
    let full = skill().raw(b"d", b"x", |header| {
        header.set_entry_type(EntryType::Directory);
    });
    assert_eq!(problem(full), "a directory has no bytes");
}

#[test]
fn a_path_stays_inside_and_is_plain() {
    let deep = ["d"; 17].join("/");
    for (path, text) in [
        ("/etc/passwd", "its path is absolute"),
        ("C:/x", "its path is absolute"),
        ("../x", "its path leaves the archive"),
        ("a/../../x", "its path leaves the archive"),
        ("a/..", "its path leaves the archive"),
        ("a//b", "its path holds an empty name"),
        ("a\\b", "its path holds a backslash"),
        ("a\u{1b}[2J", "its path holds a control or format character"),
        ("a\u{202e}b", "its path holds a control or format character"),
        (".", "its path is empty"),
        ("", "its path holds an empty name"),
        (&deep, "its path is too deep"),
    ] {
        assert_eq!(problem(skill().file(path, b"")), text, "{path}");
        let line = pax(&format!("path={path}"));
        let tar = skill().extended(EntryType::XHeader, line.as_bytes());
        assert_eq!(problem(tar.file("x", b"")), text, "pax {path}");
        let tar = skill().extended(EntryType::GNULongName, path.as_bytes());
        assert_eq!(problem(tar.file("x", b"")), text, "long {path}");
    }
    let bad = skill().raw(b"a\xff", b"", |_| {});
    assert_eq!(problem(bad), "its path is not UTF-8");
    let nul = skill().pax("path=a\0b").file("x", b"");
    assert_eq!(problem(nul), "its path holds a control or format character");
    let long = skill().pax(&format!("path={}", "x".repeat(513)));
    assert_eq!(problem(long.file("x", b"")), "its path is too long");
}

#[test]
fn a_path_comes_once_on_every_file_system() {
    let twice = "its path comes twice, or differs in case only";
    for (one, two) in [
        ("a", "a"),
        ("a", "./a"),
        ("README", "readme"),
        ("\u{e9}", "E\u{301}"),
    ] {
        let tar = skill().file(one, b"1").file(two, b"2");
        assert_eq!(problem(tar), twice, "{one} {two}");
    }
    assert_eq!(problem(skill().dir("a").dir("a/")), twice);
    assert_eq!(problem(skill().file("SKILL.md", b"other")), twice);
    let both = "one path is both a file and a directory";
    assert_eq!(problem(skill().file("a", b"").file("a/b", b"")), both);
    assert_eq!(problem(skill().file("a/b", b"").file("A", b"")), both);
    assert_eq!(skill().file("a/b", b"").dir("a").looked(), Ok(()));
}

#[test]
fn an_extended_header_renames_once_and_changes_nothing_else() {
    let changes = "an extended header changes its size, link or spelling";
    for line in [
        "size=0",
        "linkpath=/etc",
        "GNU.sparse.name=x",
        "hdrcharset=BINARY",
    ] {
        assert_eq!(problem(skill().pax(line).file("x", b"")), changes);
        let global = pax(line);
        let tar = skill().extended(EntryType::XGlobalHeader, global.as_bytes());
        assert_eq!(problem(tar.file("x", b"")), changes);
    }
    let twice = skill().pax("mtime=1").pax("mtime=2");
    assert_eq!(problem(twice), "two extended headers for one entry");
    let names = skill().pax("path=a").extended(EntryType::GNULongName, b"b");
    assert_eq!(problem(names), "two names for one entry");
    let names = skill().extended(EntryType::GNULongName, b"b");
    let names = names.extended(EntryType::GNULongName, b"c");
    assert_eq!(problem(names), "two names for one entry");
    let global = skill().extended(EntryType::XGlobalHeader, pax("path=a").as_bytes());
    assert_eq!(problem(global), "a global header names a path");
    let big = skill().extended(EntryType::XHeader, &vec![b'1'; 65_537]);
    assert_eq!(problem(big), "an extended header is too large");
    let alone = skill().pax("path=a").looked();
    assert!(matches!(alone, Err(Refused::TarDamaged(_))), "{alone:?}");
}

#[test]
fn a_size_is_what_comes_not_what_is_said() {
    for size in [513, 1 << 30, u64::MAX >> 2] {
        let lie = skill()
            .raw(b"x", b"y", |header| header.set_size(size))
            .looked();
        assert!(
            matches!(lie, Err(Refused::TarDamaged(_))),
            "{size}: {lie:?}"
        );
    }
    let less = skill()
        .raw(b"x", &[b'z'; 600], |header| header.set_size(1))
        .looked();
    assert!(matches!(less, Err(Refused::TarDamaged(_))), "{less:?}");
    let extended = skill().raw(b"x", b"y", |header| {
        header.set_size(60_000);
        header.set_entry_type(EntryType::XHeader);
    });
    assert_eq!(problem(extended), "an extended header is cut off");
}

#[test]
fn a_bomb_is_refused_soon() {
    let started = Instant::now();
    let zeros = vec![0; 200 << 20];
    let bomb = gzip(&skill().file("zeros", &zeros).tar());
    let bombs = [bomb, gzip(&zeros)];
    let made = started.elapsed();
    for bomb in bombs {
        // The best of some: others may need the machine meanwhile.
        let took = (0..5).map(|_| {
            let started = Instant::now();
            assert_eq!(inspect(&bomb), Err(Refused::TooLarge));
            started.elapsed()
        });
        let took = took.min().unwrap_or_default();
        // Not by the clock alone: a slow machine made the bomb slowly too.
        assert!(
            took < made.max(Duration::from_secs(1)),
            "{took:?} of {made:?}"
        );
    }
    let fits = skill().file("x", &vec![1; (16 << 20) - 8 * 1024]);
    assert_eq!(fits.looked(), Ok(()));
}

#[test]
fn entries_are_counted() {
    let many = |count| (0..count).fold(skill(), |tar, number| tar.dir(&format!("d{number}")));
    assert_eq!(many(999).looked(), Ok(()));
    assert_eq!(many(1000).looked(), Err(Refused::TooMany));
    let global = pax("comment=x");
    let headers = (0..3000).fold(Tar::default(), |tar, _| {
        tar.extended(EntryType::XGlobalHeader, global.as_bytes())
    });
    assert_eq!(
        headers.file("SKILL.md", b"").looked(),
        Err(Refused::TooMany)
    );
}

#[test]
fn one_gzip_member_and_nothing_after_it() {
    let good = skill().bundle();
    let and = |more: &[u8]| [&good, more].concat();
    assert_eq!(inspect(&and(&good)), Err(Refused::SeveralMembers));
    assert_eq!(inspect(&and(&gzip(b""))), Err(Refused::SeveralMembers));
    for more in [&b"x"[..], &[0], &[0; 512], &[0x1f]] {
        assert_eq!(inspect(&and(more)), Err(Refused::TrailingBytes));
    }
    let mut tar = skill().tar();
    tar.extend_from_slice(&skill().tar());
    assert_eq!(inspect(&gzip(&tar)), Err(Refused::TrailingBytes));
}

#[test]
fn what_is_no_tar_gz_is_refused() {
    let good = skill().bundle();
    for bytes in [&b""[..], b"PK\x03\x04", b"BZh9", b"\x1f", &skill().tar()] {
        assert_eq!(inspect(bytes), Err(Refused::NotGzip));
    }
    for end in 2..good.len() {
        let cut = inspect(good.get(..end).unwrap());
        assert_eq!(cut, Err(Refused::GzipDamaged), "{end} of {}", good.len());
    }
    for at in good.len() - 8..good.len() {
        let mut flipped = good.clone();
        flipped[at] ^= 1;
        assert_eq!(inspect(&flipped), Err(Refused::GzipDamaged), "{at}");
    }
    let text = inspect(&gzip(&[b'x'; 2000]));
    assert!(matches!(text, Err(Refused::TarDamaged(_))), "{text:?}");
    let tar = skill().tar();
    for end in [700, 1024, 1535, 1536, 2047] {
        let cut = inspect(&gzip(&tar[..end]));
        assert!(matches!(cut, Err(Refused::TarDamaged(_))), "{end}: {cut:?}");
    }
    assert_eq!(tar.len(), 2048);
}

#[test]
fn no_flipped_bit_panics() {
    let tar = skill().pax("path=a/b").file("x", b"1").dir("d").tar();
    for at in 0..tar.len() {
        let mut flipped = tar.clone();
        flipped[at] ^= 1 << (at % 8);
        // Any answer will do.
        let _ = inspect(&gzip(&flipped));
    }
}
