//! Two views of one log: consistent, or a proof of a fork that convinces anybody.
//!
//! Two signed checkpoints of one size and different roots are such a proof by themselves. For
//! different sizes it takes more: the larger tree's own root at the smaller size, and a consistency
//! proof from there to the larger signed root. As no second root can have such a proof, the smaller
//! signed root is not of the same log.

mod proof;

use std::io::{self, Read};

use minutebook_domain::{Event, keys};
use minutebook_eventlog::format::{hash::Hash, tree::Frontier};

use crate::{
    chunks::Blocks,
    error::VerifyError,
    policy::Policy,
    prepare::{Content, Item, Prepared, Preparer},
    signed::{Receipt, Signed},
};

pub use self::proof::ForkProof;
use self::proof::{Certificate, FORMAT, claim, signed_in_force};

/// Largest proof file read.
pub(super) const PROOF_BYTES_MAX: usize = 1 << 20;

/// One view of a log: a signed checkpoint, and the leaves under it when a bundle gave it.
#[derive(Clone, Debug)]
pub struct View {
    signed: Signed,
    leaves: Option<Vec<Hash>>,
    /// The log's key epochs after the first, if it was a bundle from the log's beginning.
    epochs: Option<Vec<Certificate>>,
}

/// What a comparison shows.
#[derive(Debug)]
pub enum Comparison {
    /// The smaller is the beginning of the larger.
    Consistent {
        /// Sizes, smaller first.
        sizes: (u64, u64),
    },
    /// Both cannot be the same log.
    Fork(Box<ForkProof>),
    /// Sizes differ and there is no bundle to compute the larger's beginning from.
    Unknown {
        /// Sizes, smaller first.
        sizes: (u64, u64),
    },
}

impl View {
    /// Reads a checkpoint, a receipt or a log's bundle, whichever it is.
    pub fn read(label: &str, mut reader: impl Read) -> Result<Self, VerifyError> {
        let mut start = Vec::new();
        let wanted = PROOF_BYTES_MAX as u64;
        reader.by_ref().take(wanted).read_to_end(&mut start)?;
        if start.starts_with(b"{") {
            return Self::of_bundle(io::Cursor::new(start).chain(reader));
        }
        let signed = if start.starts_with(b"c2sp.org/tlog-proof@") {
            let receipt = Receipt::parse(&start).map_err(|why| VerifyError::Receipt {
                label: label.to_owned(),
                why,
            })?;
            receipt.signed
        } else {
            Signed::parse(&start).map_err(|why| VerifyError::Anchor {
                label: label.to_owned(),
                why,
            })?
        };
        Ok(Self {
            signed,
            leaves: None,
            epochs: None,
        })
    }

    /// A bundle's newest checkpoint, its leaves and its key epochs. Whether the bundle is sound is
    /// for `verify` to say; here only its root has to match.
    fn of_bundle(reader: impl Read) -> Result<Self, VerifyError> {
        let mut blocks = Blocks::new(reader);
        let (mut block, mut items) = (Vec::new(), Vec::new());
        let mut preparer = Preparer::new(0, None);
        let (mut leaves, mut epochs, mut newest) = (Vec::new(), None, None);
        while let Some(shape) = blocks.next(&mut block)? {
            items.clear();
            preparer.block(&block, shape, &mut items);
            for item in &items {
                match item {
                    Item::Record(record) => {
                        leaves.push(record.leaf.hash());
                        note_epoch(record, &mut epochs);
                    }
                    Item::Checkpoint(text) => newest = Some(text.clone()),
                    Item::Manifest(_) | Item::Receipt(_) => {}
                    Item::Bad(_, why) => return Err(VerifyError::NotABundle(why.clone())),
                }
            }
        }
        let text = newest.ok_or_else(|| not_a_bundle("it has no checkpoint"))?;
        let signed = Signed::parse(text.as_bytes()).map_err(VerifyError::NotABundle)?;
        let mut frontier = Frontier::new();
        for leaf in &leaves {
            frontier.push(*leaf);
        }
        // A room's bundle has only its checkpoint to compare.
        let whole = frontier.size() == signed.head.size && frontier.root() == signed.head.root;
        Ok(Self {
            signed,
            leaves: whole.then_some(leaves),
            epochs,
        })
    }

    fn size(&self) -> u64 {
        self.signed.head.size
    }

    fn leaves_of(&self, range: (u64, u64)) -> Option<&[Hash]> {
        let leaves = self.leaves.as_ref()?;
        leaves.get(usize::try_from(range.0).ok()?..usize::try_from(range.1).ok()?)
    }

    fn subtree(&self, range: (u64, u64)) -> Option<Hash> {
        let mut frontier = Frontier::new();
        for leaf in self.leaves_of(range)? {
            frontier.push(*leaf);
        }
        Some(frontier.root())
    }
}

fn not_a_bundle(why: &str) -> VerifyError {
    VerifyError::NotABundle(why.to_owned())
}

/// Begins the list of key epochs where the log begins, and adds to it where one does.
fn note_epoch(record: &Prepared, epochs: &mut Option<Vec<Certificate>>) {
    let Content::Event(Event::Keys(event)) = &record.content else {
        return;
    };
    match (event, epochs) {
        (keys::Event::LogOpened(_), epochs) => *epochs = Some(Vec::new()),
        (keys::Event::KeyRotated(rotated), Some(epochs)) => epochs.push(Certificate {
            epoch: rotated.epoch,
            vkey: rotated.vkey.clone(),
            cert: rotated.cert.clone(),
            since: record.seq,
        }),
        (
            keys::Event::KeyRotated(_)
            | keys::Event::ApiKeyIssued(_)
            | keys::Event::ApiKeyRevoked(_)
            | keys::Event::AgentKeyEnrolled(_)
            | keys::Event::AgentKeyRevoked(_),
            _,
        ) => {}
    }
}

/// Compares two views. Both must be signed by a key the policy trusts, or by one certified from
/// there, that was in force at their size. What has no key epochs is judged by the other's.
pub fn compare(a: View, b: View, policy: &Policy) -> Result<Comparison, VerifyError> {
    let (first, second) = if a.size() <= b.size() { (a, b) } else { (b, a) };
    if first.signed.head.origin != second.signed.head.origin {
        let text = format!(
            "they are of different logs: {} and {}",
            first.signed.head.origin, second.signed.head.origin
        );
        return Err(VerifyError::Policy(text));
    }
    let known = second.epochs.as_ref().or(first.epochs.as_ref());
    let epochs = known.cloned().unwrap_or_default();
    let of_first = first.epochs.as_ref().unwrap_or(&epochs);
    signed_in_force(&first.signed, policy, of_first)?;
    signed_in_force(&second.signed, policy, &epochs)?;
    let sizes = (first.size(), second.size());
    let proof = ForkProof {
        format: FORMAT.to_owned(),
        origin: first.signed.head.origin.clone(),
        why: claim(sizes.0, sizes.1),
        first: first.signed.text.clone(),
        second: second.signed.text.clone(),
        root_at_first: None,
        consistency: Vec::new(),
        epochs_of_first: (*of_first != epochs).then(|| of_first.clone()),
        epochs,
    };
    if sizes.0 == sizes.1 {
        if first.signed.head.root == second.signed.head.root {
            return Ok(Comparison::Consistent { sizes });
        }
        return Ok(Comparison::Fork(Box::new(proof)));
    }
    let Some(root) = second.subtree((0, sizes.0)) else {
        return Ok(Comparison::Unknown { sizes });
    };
    if root == first.signed.head.root {
        return Ok(Comparison::Consistent { sizes });
    }
    let ranges = consistency_ranges(sizes.0, sizes.1);
    let hashes = ranges.into_iter().filter_map(|range| second.subtree(range));
    Ok(Comparison::Fork(Box::new(ForkProof {
        root_at_first: Some(root.to_string()),
        consistency: hashes.map(|hash| hash.to_string()).collect(),
        ..proof
    })))
}

/// The subtrees whose roots make the consistency proof of RFC 6962, in its order.
fn consistency_ranges(from: u64, to: u64) -> Vec<(u64, u64)> {
    let (mut low, mut high, mut whole) = (0, to, true);
    let mut from = from;
    let mut later = Vec::new();
    // SUBPROOF(m, D[low..high], b), from the outside in. Nothing is needed to begin with nothing.
    while from > 0 && from < high - low {
        let split = 1 << (high - low - 1).ilog2();
        if from <= split {
            later.push((low + split, high));
            high = low + split;
        } else {
            later.push((low, low + split));
            low += split;
            from -= split;
            whole = false;
        }
    }
    if !whole {
        later.push((low, high));
    }
    later.reverse();
    later
}
