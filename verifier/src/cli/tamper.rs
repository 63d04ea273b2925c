//! `minutebook-verify tamper`.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
};

use anyhow::Context as _;
use minutebook_verifier::tamper::{Expected, Means, Needs, TamperError, Tampering, tamper};

use super::{Usage, args::TamperArgs, open, print, read_small};

/// Largest bundle tampered with: it is held in memory whole.
const BUNDLE_BYTES_MAX: u64 = 2 << 30;

pub(super) fn run(args: &TamperArgs) -> anyhow::Result<u8> {
    if args.list {
        return list();
    }
    let (Some(kind), Some(input), Some(output)) = (&args.kind, &args.input, &args.output) else {
        return Err(Usage("KIND, IN and OUT are needed; see --list".to_owned()).into());
    };
    if is_same_file(input, output) {
        return Err(Usage("OUT is IN: only a copy may be tampered with".to_owned()).into());
    }
    let means = Means {
        seq: args.seq,
        seed: args.key_file.as_deref().map(seed).transpose()?,
    };
    let (reader, _) = open(input)?;
    let mut bundle = Vec::new();
    reader.take(BUNDLE_BYTES_MAX).read_to_end(&mut bundle)?;
    let made = match tamper(kind, &bundle, &means) {
        Err(error @ (TamperError::UnknownKind(_) | TamperError::NeedsKey)) => {
            return Err(Usage(error.to_string()).into());
        }
        other => other.with_context(|| input.display().to_string())?,
    };
    fs::write(output, &made.bytes).with_context(|| format!("cannot write {}", output.display()))?;
    let tampering = Tampering::ALL
        .iter()
        .find(|tampering| tampering.name == kind);
    let what = tampering.map_or("", |tampering| tampering.what);
    let _ = writeln!(
        std::io::stderr(),
        "{}: {what}; record {}",
        output.display(),
        made.seq
    );
    Ok(0)
}

/// Whether two paths lead to one file, by whatever spelling or link.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(one).is_some() && real(one) == real(other)
}

/// A key file: 32 raw bytes, as the server keeps it.
fn seed(path: &Path) -> anyhow::Result<[u8; 32]> {
    let bytes = read_small(path, 32)?;
    let length = bytes.len();
    bytes
        .try_into()
        .map_err(|_| anyhow::anyhow!("{} holds {length} bytes; a key is 32", path.display()))
}

fn list() -> anyhow::Result<u8> {
    let describe = |expected: Expected| match expected.finding {
        Some(code) => format!("{} ({})", expected.verdict.name(), code.name()),
        None => expected.verdict.name().to_owned(),
    };
    for tampering in Tampering::ALL {
        let key = match tampering.needs {
            Needs::Key => " [--key-file]",
            Needs::File => "",
        };
        let room = tampering.room.map_or("cannot be done".to_owned(), describe);
        print(&format!(
            "{}{key}\n    {}\n    without an anchor: {}; with one: {}; a room's bundle: {room}\n",
            tampering.name,
            tampering.what,
            describe(tampering.alone),
            describe(tampering.anchored),
        ))?;
    }
    print("Not shown by a bundle:\n")?;
    for (_, why) in Tampering::ELSEWHERE {
        print(&format!("    {why}\n"))?;
    }
    Ok(0)
}
