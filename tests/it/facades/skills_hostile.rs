//! Sharing skills: bundles that are traps.

use tar::EntryType;

use super::here::Here;
use super::skills::{bad, bundle, gzip, refused, sha256, skill, upload};

/// What a trap is, its bytes, and what is said about it.
type Trap = (&'static str, Vec<u8>, String);

/// A bundle with a SKILL.md and one more entry.
fn with(change: impl FnOnce(&mut tar::Header)) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..1].copy_from_slice(b"x");
    header.set_size(0);
    header.set_mode(0o644);
    header.set_entry_type(EntryType::Regular);
    change(&mut header);
    header.set_cksum();
    let mut tar = plain(b"SKILL.md");
    tar.extend_from_slice(header.as_bytes());
    tar.resize(tar.len() + 1024, 0);
    gzip(&tar)
}

/// An archive without its end: an empty file.
fn plain(name: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
    header.set_size(0);
    header.set_mode(0o644);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn named(name: &[u8]) -> Vec<u8> {
    with(|header| header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name))
}

/// A pax header that says this, and the entry it is about.
fn pax(line: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(line.len() as u64);
    header.set_entry_type(EntryType::XHeader);
    header.set_cksum();
    let mut tar = [plain(b"SKILL.md"), header.as_bytes().to_vec()].concat();
    tar.extend_from_slice(line);
    tar.resize(tar.len().next_multiple_of(512), 0);
    tar.extend_from_slice(&plain(b"x"));
    tar.resize(tar.len() + 1024, 0);
    gzip(&tar)
}

/// One entry too many.
fn entries() -> Vec<Trap> {
    let entry = |text: &str| format!("tar.gz entry 2: {text}");
    vec![
        (
            "symlink",
            with(|h| h.set_entry_type(EntryType::Symlink)),
            entry("links are not taken"),
        ),
        (
            "hardlink",
            with(|h| h.set_entry_type(EntryType::Link)),
            entry("links are not taken"),
        ),
        (
            "device",
            with(|h| h.set_entry_type(EntryType::Char)),
            entry("only files and directories are taken"),
        ),
        (
            "setuid",
            with(|h| h.set_mode(0o4755)),
            entry("it is a set-user-id or set-group-id file"),
        ),
        (
            "..",
            named(b"../../etc/SKILL.md"),
            entry("its path leaves the archive"),
        ),
        (
            "absolute",
            named(b"/etc/passwd"),
            entry("its path is absolute"),
        ),
        (
            "pax size",
            pax(b"9 size=0\n"),
            entry("an extended header changes its size, link or spelling"),
        ),
        (
            "twice",
            named(b"skill.md"),
            entry("its path comes twice, or differs in case only"),
        ),
    ]
}

/// Streams that are not one honest archive.
fn streams() -> Vec<Trap> {
    let honest = skill("honest");
    let zeros = vec![0; 100 << 20];
    let mut many = Vec::new();
    for number in 0..1001 {
        many.extend_from_slice(&plain(format!("f{number}").as_bytes()));
    }
    many.resize(many.len() + 1024, 0);
    let two = "tar.gz has several SKILL.md at its uppermost level with one; keep one there";
    let cut = honest.get(..honest.len() - 1).unwrap();
    vec![
        (
            "bomb",
            gzip(&zeros),
            "tar.gz is too large unpacked: more than 16777216 bytes".into(),
        ),
        (
            "many",
            gzip(&many),
            "tar.gz has more than 1000 entries".into(),
        ),
        (
            "size",
            with(|h| h.set_size(1 << 33)),
            "not a valid tar.gz: unexpected EOF during skip".into(),
        ),
        (
            "members",
            [&*honest, &*honest].concat(),
            "not a valid tar.gz: it has several gzip members; compress it in one go".into(),
        ),
        (
            "garbage",
            [&*honest, b"x"].concat(),
            "not a valid tar.gz: bytes after its end".into(),
        ),
        (
            "cut",
            cut.to_vec(),
            "not a valid tar.gz: the gzip stream is damaged or cut off".into(),
        ),
        (
            "directory",
            gzip(&[&plain(b"SKILL.md/")[..], &[0; 1024]].concat()),
            "tar.gz must contain a SKILL.md at any depth".into(),
        ),
        (
            "two",
            bundle(&[("a/SKILL.md", b"1"), ("b/SKILL.md", b"2")]),
            two.into(),
        ),
    ]
}

#[test]
fn hostile_bundles_are_refused_and_nothing_of_them_is_kept() {
    let here = Here::start();
    for (name, file, text) in entries().into_iter().chain(streams()) {
        assert_eq!(refused(&upload(&here, &file)), bad(&text), "{name}");
        let cdn = format!("/skills-cdn/{}.tar.gz", sha256(&file));
        assert_eq!(here.get(&cdn).status, 404, "{name}");
    }
    let kept = std::fs::read_dir(here.skills()).unwrap().count();
    assert_eq!((kept, here.reader().head().unwrap().seq), (0, 1));
}
