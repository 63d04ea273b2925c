//! `minutebook-verify compare`.

use std::{fs, path::Path};

use anyhow::Context as _;
use minutebook_verifier::compare::{Comparison, ForkProof, View, compare};

use super::{Usage, args::CompareArgs, open, print, read_small, verify::policy};

const PROOF_BYTES_MAX: usize = 1 << 20;

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<u8> {
    let policy = policy(&args.trust)?;
    if let Some(path) = &args.check {
        let file = read_small(path, PROOF_BYTES_MAX)?;
        let proof = ForkProof::parse(&file).with_context(|| path.display().to_string())?;
        proof
            .check(&policy)
            .with_context(|| path.display().to_string())?;
        print(&format!(
            "FORK PROVEN: {}\n",
            super::neutralise(proof.why())
        ))?;
        return Ok(1);
    }
    let (Some(a), Some(b)) = (&args.a, &args.b) else {
        return Err(Usage("two checkpoints, receipts or bundles are needed".to_owned()).into());
    };
    match compare(view(a)?, view(b)?, &policy)? {
        Comparison::Consistent { sizes } => {
            print(&format!(
                "CONSISTENT: the log of size {} begins with the log of size {}\n",
                sizes.1, sizes.0
            ))?;
            Ok(0)
        }
        Comparison::Fork(proof) => {
            let out = &args.out;
            fs::write(out, proof.to_text())
                .with_context(|| format!("cannot write {}", out.display()))?;
            print(&format!(
                "FORK: {}\nThe proof is in {}; anybody can check it with\n  \
                 minutebook-verify compare --check {} --key VKEY\n",
                proof.why(),
                out.display(),
                out.display()
            ))?;
            Ok(1)
        }
        Comparison::Unknown { sizes } => {
            print(&format!(
                "UNKNOWN: the sizes differ ({} and {}) and neither file holds the larger log's \
                 records; give a bundle of it\n",
                sizes.0, sizes.1
            ))?;
            Ok(2)
        }
    }
}

fn view(path: &Path) -> anyhow::Result<View> {
    let (reader, _) = open(path)?;
    let label = path.display().to_string();
    View::read(&label, reader).with_context(|| label)
}
