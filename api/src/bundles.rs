//! The bytes of shared skills, in files named after their SHA-256.
//!
//! Invariants
//! * A file is written under another name, synced, renamed, and its directory synced before
//!   anybody is told that it is kept. So a published skill's bytes are on the disk, and a crash
//!   leaves at most bytes that no event speaks of: the next start removes them.
//! * What is read is hashed before it is served. Other bytes than were published never are.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use minutebook_domain::limits::SKILL_BYTES_MAX;
use sha2::{Digest as _, Sha256};

/// What a bundle's file is called after its hash, and its address.
pub const ENDING: &str = ".tar.gz";
/// What an unfinished file's name begins with.
const UNFINISHED: &str = ".unfinished-";

/// SHA-256 of a bundle.
pub type Sha = [u8; 32];

/// The directory of bundles.
#[derive(Clone, Debug)]
pub struct Bundles {
    dir: PathBuf,
}

/// Why a bundle cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// It is not there, or cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It holds other bytes.
    #[error("the file holds other bytes than were published")]
    Damaged,
}

impl Bundles {
    /// The bundles in this directory, which is made if it is missing. Removes what a crash left:
    /// unfinished files, and bundles that are not to be kept.
    pub fn open<E: From<io::Error>>(
        dir: &Path,
        mut is_kept: impl FnMut(&Sha) -> Result<bool, E>,
    ) -> Result<Self, E> {
        match DirBuilder::new().mode(0o700).create(dir) {
            Ok(()) => sync_dir(dir.parent().unwrap_or(dir))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        let bundles = Self {
            dir: dir.to_owned(),
        };
        for entry in fs::read_dir(dir)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_left_over = match parse(name) {
                Some(sha256) => !is_kept(&sha256)?,
                None => name.starts_with(UNFINISHED),
            };
            if is_left_over {
                tracing::info!(name, "removing a skill's bytes that no event speaks of");
                fs::remove_file(dir.join(name))?;
            }
        }
        Ok(bundles)
    }

    /// Keeps a bundle: when this returns, it is on the disk. A damaged file is replaced.
    pub fn put(&self, sha256: &Sha, bytes: &[u8]) -> io::Result<()> {
        let is_here = self.get(sha256).is_ok_and(|kept| kept == bytes);
        if !is_here {
            let mut file = tempfile::Builder::new()
                .prefix(UNFINISHED)
                .tempfile_in(&self.dir)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(self.path(sha256))?;
        }
        // Also when it was here: whoever put it may not have come this far yet.
        sync_dir(&self.dir)
    }

    /// A bundle, just as it was published.
    pub fn get(&self, sha256: &Sha) -> Result<Vec<u8>, Lost> {
        let mut bytes = Vec::new();
        let file = File::open(self.path(sha256))?;
        file.take(SKILL_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if Sha::from(Sha256::digest(&bytes)) != *sha256 {
            return Err(Lost::Damaged);
        }
        Ok(bytes)
    }

    /// Removes a bundle; fine if it is gone.
    pub fn remove(&self, sha256: &Sha) -> io::Result<()> {
        match fs::remove_file(self.path(sha256)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => sync_dir(&self.dir),
        }
    }

    fn path(&self, sha256: &Sha) -> PathBuf {
        self.dir.join(name(sha256))
    }
}

/// What a bundle's file is called.
pub fn name(sha256: &Sha) -> String {
    format!("{}{ENDING}", hex::encode(sha256))
}

/// The hash in such a name, of which there is one spelling.
pub fn parse(file: &str) -> Option<Sha> {
    let mut sha256 = Sha::default();
    hex::decode_to_slice(file.strip_suffix(ENDING)?, &mut sha256).ok()?;
    (name(&sha256) == file).then_some(sha256)
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn open(dir: &Path, kept: &[Sha]) -> Bundles {
        Bundles::open::<io::Error>(dir, |sha256| Ok(kept.contains(sha256))).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_put_comes_back_until_it_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let dir = base.path().join("skills");
        let bundles = open(&dir, &[]);
        assert_eq!(
            fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let sha256 = Sha::from(Sha256::digest(b"bytes"));
        assert!(matches!(bundles.get(&sha256), Err(Lost::Io(_))));
        for _ in 0..2 {
            bundles.put(&sha256, b"bytes").unwrap();
            assert_eq!(bundles.get(&sha256).unwrap(), b"bytes");
        }
        assert_eq!(names(&dir), [name(&sha256)]);
        let file = fs::metadata(dir.join(name(&sha256))).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        for _ in 0..2 {
            bundles.remove(&sha256).unwrap();
        }
        assert!(names(&dir).is_empty());
    }

    #[test]
    fn other_bytes_are_not_served_and_are_replaced() {
        let base = tempfile::tempdir().unwrap();
        let bundles = open(base.path(), &[]);
        let sha256 = Sha::from(Sha256::digest(b"bytes"));
        for other in [&b"Bytes"[..], b"", &vec![0; 600_000]] {
            fs::write(base.path().join(name(&sha256)), other).unwrap();
            assert!(matches!(bundles.get(&sha256), Err(Lost::Damaged)));
            bundles.put(&sha256, b"bytes").unwrap();
            assert_eq!(bundles.get(&sha256).unwrap(), b"bytes");
        }
    }

    #[test]
    fn a_start_removes_what_a_crash_left_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let (kept, orphan) = ([1; 32], [2; 32]);
        let others = ["notes.txt".to_owned(), name(&kept).to_uppercase()];
        let left = [format!("{UNFINISHED}x"), name(&orphan), name(&kept)];
        for file in others.iter().chain(&left) {
            fs::write(base.path().join(file), "x").unwrap();
        }
        open(base.path(), &[kept]);
        let mut expected = [others.to_vec(), vec![name(&kept)]].concat();
        expected.sort();
        assert_eq!(names(base.path()), expected);
    }
}
