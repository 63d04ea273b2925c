//! What a skill's bundle may be: looked over from end to end, never unpacked.
//!
//! Invariants
//! * Time and memory are bounded by what comes out of the decompressor, counted as it comes; no
//!   size that the archive states is believed.
//! * What programs read differently is refused: several gzip members, bytes after the end, sizes
//!   and names said twice, names that one system takes for another.
//! * Only files and directories, at relative paths that stay inside.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use flate2::bufread::GzDecoder;
use minutebook_domain::text::unicode::is_barred_from_names;
use tar::{Archive, Entry};
use unicode_normalization::UnicodeNormalization as _;

use super::pax;

/// Most bytes a bundle may unpack to, the archive's own headers and padding included.
pub(super) const UNPACKED_BYTES_MAX: u64 = 16 << 20;
/// Most files and directories in one.
pub(super) const ENTRIES_MAX: usize = 1_000;
/// Longest path, in bytes.
const PATH_BYTES_MAX: usize = 512;
/// Most names in a path.
const PATH_DEPTH_MAX: usize = 16;
/// Largest extended header: it carries a path, and what some programs note beside it.
const EXTENDED_BYTES_MAX: u64 = 64 * 1024;
/// What every bundle holds.
const SKILL_FILE: &str = "SKILL.md";
/// Set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;

/// Why a bundle is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("not a valid tar.gz: not a gzip file")]
    NotGzip,
    #[error("not a valid tar.gz: the gzip stream is damaged or cut off")]
    GzipDamaged,
    #[error("not a valid tar.gz: it has several gzip members; compress it in one go")]
    SeveralMembers,
    #[error("not a valid tar.gz: bytes after its end")]
    TrailingBytes,
    #[error("not a valid tar.gz: {0}")]
    TarDamaged(String),
    #[error("tar.gz is too large unpacked: more than {UNPACKED_BYTES_MAX} bytes")]
    TooLarge,
    #[error("tar.gz has more than {ENTRIES_MAX} entries")]
    TooMany,
    #[error("tar.gz entry {entry}: {problem}")]
    Entry {
        /// 1, 2, 3 …: hostile names are not repeated.
        entry: usize,
        problem: &'static str,
    },
    #[error("tar.gz must contain a SKILL.md at any depth")]
    NoSkill,
    #[error("tar.gz has several SKILL.md at its uppermost level with one; keep one there")]
    SeveralSkills,
}

/// Looks a bundle over.
pub(super) fn inspect(bundle: &[u8]) -> Result<(), Refused> {
    if !bundle.starts_with(&[0x1f, 0x8b]) {
        return Err(Refused::NotGzip);
    }
    let mut gzip = GzDecoder::new(bundle);
    let (come, failed) = (Cell::new(0), Cell::new(false));
    let counted = Counted {
        inner: &mut gzip,
        come: &come,
        failed: &failed,
    };
    let looked = look(counted);
    // What the reader met explains what the archive's reader said about it.
    if come.get() > UNPACKED_BYTES_MAX {
        return Err(Refused::TooLarge);
    }
    if failed.get() {
        return Err(Refused::GzipDamaged);
    }
    let paths = looked?;
    match gzip.into_inner() {
        [] => paths.judge(),
        [0x1f, 0x8b, ..] => Err(Refused::SeveralMembers),
        [..] => Err(Refused::TrailingBytes),
    }
}

/// Reads all entries, and the rest of the stream.
fn look(reader: impl Read) -> Result<Paths, Refused> {
    let damaged = |error: io::Error| Refused::TarDamaged(error.to_string());
    let mut archive = Archive::new(reader);
    let mut paths = Paths::default();
    let mut next = Next::default();
    let (mut count, mut headers) = (0, 0);
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        headers += 1;
        // An extended header or two may come before each entry.
        if count >= ENTRIES_MAX || headers > 3 * ENTRIES_MAX {
            return Err(Refused::TooMany);
        }
        let number = count + 1;
        let wrong = |problem| Refused::Entry {
            entry: number,
            problem,
        };
        if next.take(&mut entry).map_err(wrong)? {
            continue;
        }
        count = number;
        let is_dir = is_dir(&entry).map_err(wrong)?;
        let path = std::mem::take(&mut next).path(&entry);
        paths.add(&path, is_dir).map_err(wrong)?;
    }
    if next.is_pending() {
        return Err(Refused::TarDamaged("its last entry is missing".to_owned()));
    }
    match padding(archive.into_inner()).map_err(damaged)? {
        None => Err(Refused::TrailingBytes),
        // The first of the two blocks at the end was read as the next header.
        Some(0..512) => Err(Refused::TarDamaged("its end is missing".to_owned())),
        Some(512..) => Ok(paths),
    }
}

/// How many bytes follow, if all of them are zero.
fn padding(mut rest: impl Read) -> io::Result<Option<u64>> {
    let mut buffer = [0; 8192];
    let mut bytes = 0;
    loop {
        let read = rest.read(&mut buffer)?;
        if read == 0 {
            return Ok(Some(bytes));
        }
        if buffer.iter().take(read).any(|byte| *byte != 0) {
            return Ok(None);
        }
        bytes += read as u64;
    }
}

/// Whether an entry is a directory; an error if it is no file either.
fn is_dir(entry: &Entry<'_, impl Read>) -> Result<bool, &'static str> {
    let header = entry.header();
    let kind = header.entry_type();
    if kind.is_symlink() || kind.is_hard_link() {
        return Err("links are not taken");
    }
    if !kind.is_file() && !kind.is_dir() {
        return Err("only files and directories are taken");
    }
    if kind.is_dir() || header.path_bytes().ends_with(b"/") {
        return match entry.size() {
            0 => Ok(true),
            _ => Err("a directory has no bytes"),
        };
    }
    match header.mode().map(|mode| mode & SET_ID) {
        Ok(0) => Ok(false),
        Ok(_) => Err("it is a set-user-id or set-group-id file"),
        Err(_) => Err("its mode is not a number"),
    }
}

/// What extended headers said of the entry to come.
#[derive(Default)]
struct Next {
    path: Option<Vec<u8>>,
    has_pax: bool,
}

impl Next {
    /// Takes an extended header; false if this is an entry of its own.
    fn take(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<bool, &'static str> {
        let kind = entry.header().entry_type();
        let is_pax = kind.is_pax_local_extensions();
        let is_global = kind.is_pax_global_extensions();
        if !(is_pax || is_global || kind.is_gnu_longname()) {
            return Ok(false);
        }
        let header = entry.header();
        if header.as_ustar().is_none() && header.as_gnu().is_none() {
            return Err("an extended header in an archive of the old kind");
        }
        let bytes = extended(entry)?;
        let path = if is_pax || is_global {
            let path = pax::path(&bytes)?;
            if is_global && path.is_some() {
                return Err("a global header names a path");
            }
            if is_pax && std::mem::replace(&mut self.has_pax, true) {
                return Err("two extended headers for one entry");
            }
            path
        } else {
            Some(bytes.strip_suffix(&[0]).unwrap_or(&bytes).to_vec())
        };
        if path.is_some() && std::mem::replace(&mut self.path, path).is_some() {
            return Err("two names for one entry");
        }
        Ok(true)
    }

    fn is_pending(&self) -> bool {
        self.has_pax || self.path.is_some()
    }

    /// The path of the entry that came.
    fn path(self, entry: &Entry<'_, impl Read>) -> Vec<u8> {
        let header = || entry.header().path_bytes().into_owned();
        self.path.unwrap_or_else(header)
    }
}

/// All of an extended header.
fn extended(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, &'static str> {
    let size = entry.size();
    if size > EXTENDED_BYTES_MAX {
        return Err("an extended header is too large");
    }
    let mut bytes = Vec::new();
    let read = entry.read_to_end(&mut bytes);
    match read {
        Ok(read) if read as u64 == size => Ok(bytes),
        Ok(_) | Err(_) => Err("an extended header is cut off"),
    }
}

/// Paths seen, as a file system that takes case and composition lightly would tell them apart.
#[derive(Default)]
struct Paths {
    /// Whether each is a directory; those that other paths only imply are too.
    seen: BTreeMap<String, Seen>,
    /// Depths at which a SKILL.md lies, the uppermost first, and how many.
    skills: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    File,
    Dir,
    /// A directory that has no entry yet.
    ImpliedDir,
}

impl Paths {
    fn add(&mut self, path: &[u8], is_dir: bool) -> Result<(), &'static str> {
        let parts = parts(path)?;
        let Some((name, _)) = parts.split_last() else {
            return if is_dir {
                Ok(())
            } else {
                Err("its path is empty")
            };
        };
        let mut folded = String::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                folded.push('/');
            }
            folded.extend(part.nfc().flat_map(char::to_lowercase).nfc());
            let is_last = index + 1 == parts.len();
            let known = self.seen.get(&folded).copied();
            let now = match (known, is_last, is_dir) {
                (None, false, _) => Seen::ImpliedDir,
                (Some(known @ (Seen::Dir | Seen::ImpliedDir)), false, _) => known,
                (Some(Seen::File), false, _) | (Some(Seen::ImpliedDir), true, false) => {
                    return Err("one path is both a file and a directory");
                }
                (None | Some(Seen::ImpliedDir), true, true) => Seen::Dir,
                (None, true, false) => Seen::File,
                (Some(Seen::File | Seen::Dir), true, _) => {
                    return Err("its path comes twice, or differs in case only");
                }
            };
            self.seen.insert(folded.clone(), now);
        }
        if !is_dir && *name == SKILL_FILE {
            *self.skills.entry(parts.len()).or_default() += 1;
        }
        Ok(())
    }

    /// Whether there is one SKILL.md that speaks for the whole: others may lie deeper.
    fn judge(&self) -> Result<(), Refused> {
        match self.skills.first_key_value() {
            None => Err(Refused::NoSkill),
            Some((_, 1)) => Ok(()),
            Some(_) => Err(Refused::SeveralSkills),
        }
    }
}

/// The names in a path, without `.`.
fn parts(path: &[u8]) -> Result<Vec<&str>, &'static str> {
    if path.len() > PATH_BYTES_MAX {
        return Err("its path is too long");
    }
    let path = std::str::from_utf8(path).map_err(|_| "its path is not UTF-8")?;
    if path.contains('\\') {
        return Err("its path holds a backslash");
    }
    if path.chars().any(is_barred_from_names) {
        return Err("its path holds a control or format character");
    }
    if path.starts_with('/') || has_drive(path) {
        return Err("its path is absolute");
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => return Err("its path leaves the archive"),
            "" => return Err("its path holds an empty name"),
            "." => {}
            part => parts.push(part),
        }
    }
    if parts.len() > PATH_DEPTH_MAX {
        return Err("its path is too deep");
    }
    Ok(parts)
}

/// Whether a path begins as `C:`.
fn has_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
}

/// A reader that counts what comes and stops beyond the most that may.
struct Counted<'a, R> {
    inner: R,
    come: &'a Cell<u64>,
    /// Whether the reader below failed.
    failed: &'a Cell<bool>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        let read = read.inspect_err(|error| {
            self.failed
                .set(error.kind() != io::ErrorKind::Interrupted || self.failed.get());
        })?;
        self.come.set(self.come.get() + read as u64);
        if self.come.get() > UNPACKED_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(read)
    }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
