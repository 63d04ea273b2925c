//! Extended headers as POSIX has them: lines of `length key=value`, the length counting all of it.

/// What changes how an entry is read, besides its path: programs that know it and programs that do
/// not would see different archives.
const CHANGING: [&[u8]; 5] = [
    b"size",
    b"linkpath",
    b"charset",
    b"hdrcharset",
    b"GNU.sparse.",
];

/// The path an extended header gives, if any.
pub(super) fn path(mut header: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut path = None;
    while !header.is_empty() {
        let (key, value, rest) = record(header).ok_or("an extended header is malformed")?;
        let changes = |word: &&[u8]| key == *word || word.ends_with(b".") && key.starts_with(word);
        if CHANGING.iter().any(changes) {
            return Err("an extended header changes its size, link or spelling");
        }
        if key == b"path" && path.replace(value.to_vec()).is_some() {
            return Err("two names for one entry");
        }
        header = rest;
    }
    Ok(path)
}

/// Key and value of the first record, and what follows it.
fn record(header: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = header.iter().take(8).position(|byte| *byte == b' ')?;
    let digits = std::str::from_utf8(header.get(..space)?).ok()?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.starts_with('0') {
        return None;
    }
    let (record, rest) = header.split_at_checked(digits.parse().ok()?)?;
    let line = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = line.iter().position(|byte| *byte == b'=')?;
    let (key, value) = (line.get(..equals)?, line.get(equals + 1..)?);
    (!key.is_empty()).then_some((key, value, rest))
}

#[cfg(test)]
mod tests {
    use super::path;

    /// A record with its length before it.
    fn record(line: &str) -> Vec<u8> {
        let short = format!("{} {line}\n", line.len() + 3);
        let long = format!("{} {line}\n", line.len() + 4);
        let fits = short.len() == line.len() + 3;
        if fits { short } else { long }.into_bytes()
    }

    #[test]
    fn a_path_is_found_among_what_does_not_matter() {
        let lines = ["mtime=1796040000.123456789", "path=a/b\nc=", "uname=x"];
        let header = lines.map(record).concat();
        assert_eq!(path(&header), Ok(Some(b"a/b\nc=".to_vec())));
        assert_eq!(path(b""), Ok(None));
        assert_eq!(path(b"16 comment=00ff\n"), Ok(None));
        assert_eq!(path(b"11 path=\xff\xfe\n").unwrap().unwrap(), b"\xff\xfe");
        assert_eq!(path(b"9 path=a\n"), Ok(Some(b"a".to_vec())));
    }

    #[test]
    fn what_changes_the_reading_is_refused() {
        let changes = Err("an extended header changes its size, link or spelling");
        for line in [
            "size=1",
            "linkpath=x",
            "charset=BINARY",
            "hdrcharset=BINARY",
            "GNU.sparse.name=SKILL.md",
            "GNU.sparse.major=1",
        ] {
            assert_eq!(path(&record(line)), changes, "{line}");
        }
        let twice = ["path=a", "path=b"].map(record).concat();
        assert_eq!(path(&twice), Err("two names for one entry"));
    }

    #[test]
    fn what_is_not_exactly_such_lines_is_refused() {
        for header in [
            &b"9 path=a"[..],
            b"9 path=a\n\n",
            b"8 path=a\n",
            b"11 path=a\n",
            b"09 path=a\n",
            b"+9 path=a\n",
            b"4 =a\n",
            b"7 patha\n",
            b"99999999999999999999 path=a\n",
            b" path=a\n",
            b"path=a\n",
            b"\0",
        ] {
            assert!(path(header).is_err(), "{header:?}");
        }
    }
}
