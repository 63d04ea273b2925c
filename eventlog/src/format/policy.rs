//! C2SP tlog-policy files: which logs to believe, and which witnesses must have seen them.
//!
//! Invariants
//! * A name is defined once, before it is used, and is a member of one group at most; so a
//!   witness counts once however groups are nested.
//! * No key stands for two logs or two witnesses.
//! * Anything unknown or out of place is an error with its line; nothing is skipped.

use std::collections::HashMap;

use super::{
    checkpoint::{Checkpoint, CheckpointError, Opened},
    key::{Algorithm, KeyError, VerifyingKey},
    limits::{POLICY_BYTES_MAX, POLICY_NAMES_MAX},
    note::Signer,
};

/// A policy: any of its logs, cosigned as its quorum says.
#[derive(Clone, Debug)]
pub struct Policy {
    logs: Vec<VerifyingKey>,
    items: Vec<Item>,
    quorum: Quorum,
}

/// What `quorum` names.
#[derive(Clone, Copy, Debug)]
enum Quorum {
    /// `quorum none`.
    None,
    /// The item that must have witnessed.
    Item(usize),
}

/// A named witness or group. Members are items before the group.
#[derive(Clone, Debug)]
enum Item {
    Witness(Box<VerifyingKey>),
    Group {
        threshold: usize,
        members: Vec<usize>,
    },
}

/// What is wrong with a policy file, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("policy line {line}: {problem}")]
pub struct PolicyError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a policy file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Larger than any policy we read.
    #[error("a policy of more than {POLICY_BYTES_MAX} bytes")]
    TooLarge,
    /// More logs, or more witnesses and groups, than we handle.
    #[error("more than {POLICY_NAMES_MAX} of a kind")]
    TooMany,
    /// Only tab and LF are allowed below 0x20, and no 0x7f.
    #[error("a control character")]
    Control,
    /// Not one of the four kinds of line, or with too few or too many words.
    #[error("expected {0}")]
    Form(&'static str),
    /// A key is not a vkey.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A log's key must be of type 0x01, a witness's of type 0x04.
    #[error("a key of the wrong type: logs have type 0x01, witnesses 0x04")]
    WrongType,
    /// The same public key twice.
    #[error("a key that is already in the policy")]
    DuplicateKey,
    /// A name defined twice, or the reserved name `none`.
    #[error("a name that is already taken")]
    DuplicateName,
    /// A name that no line above defines.
    #[error("a name that no line above defines")]
    UnknownName,
    /// A name that is already a member of a group.
    #[error("a name that is already a member of a group")]
    SecondMembership,
    /// A threshold that is not from 1 to the number of members.
    #[error("a threshold that is not from 1 to the number of members")]
    Threshold,
    /// No quorum line, or two.
    #[error("a policy has exactly one quorum line")]
    Quorum,
}

impl Policy {
    /// The policy of somebody who knows one log's key and no witness.
    pub fn of_log(key: VerifyingKey) -> Self {
        Self {
            logs: vec![key],
            items: Vec::new(),
            quorum: Quorum::None,
        }
    }

    /// Reads a policy file.
    pub fn parse(file: &[u8]) -> Result<Self, PolicyError> {
        if file.len() > POLICY_BYTES_MAX {
            return Err(PolicyError {
                line: 1,
                problem: Problem::TooLarge,
            });
        }
        let mut parser = Parser::default();
        let mut count = 0;
        for (i, line) in file.split(|byte| *byte == b'\n').enumerate() {
            count = i + 1;
            parser.line(line).map_err(|problem| PolicyError {
                line: count,
                problem,
            })?;
        }
        let Parser {
            logs,
            items,
            quorum: Some(quorum),
            ..
        } = parser
        else {
            return Err(PolicyError {
                line: count,
                problem: Problem::Quorum,
            });
        };
        Ok(Self {
            logs,
            items,
            quorum,
        })
    }

    /// The logs' keys.
    pub fn logs(&self) -> &[VerifyingKey] {
        &self.logs
    }

    /// The witnesses' keys.
    pub fn witnesses(&self) -> impl Iterator<Item = &VerifyingKey> {
        self.items.iter().filter_map(|item| match item {
            Item::Witness(key) => Some(&**key),
            Item::Group { .. } => None,
        })
    }

    /// Whether the policy asks for cosignatures at all.
    pub const fn needs_witnesses(&self) -> bool {
        matches!(self.quorum, Quorum::Item(_))
    }

    /// Opens a checkpoint of any of the logs. Whether it is cosigned enough is for
    /// [`Self::quorum_met`] to say, because too few cosignatures prove no wrong.
    pub fn open(&self, note: &str) -> Result<Opened<'_>, CheckpointError> {
        let logs: Vec<_> = self.logs.iter().collect();
        let origin = Checkpoint::peek(note)?.origin;
        self.open_as(note, &origin, &logs)
    }

    /// Opens a checkpoint of this origin signed by one of these keys: for a log whose key was
    /// rotated since the policy was written.
    pub fn open_as<'k>(
        &'k self,
        note: &str,
        origin: &str,
        log_keys: &[&'k VerifyingKey],
    ) -> Result<Opened<'k>, CheckpointError> {
        let keys: Vec<_> = log_keys.iter().copied().chain(self.witnesses()).collect();
        Checkpoint::open(note, origin, &keys)
    }

    /// Whether these signers are enough witnesses.
    pub fn quorum_met(&self, signers: &[Signer<'_>]) -> bool {
        let Quorum::Item(quorum) = self.quorum else {
            return true;
        };
        let mut met: Vec<bool> = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let is_met = match item {
                Item::Witness(key) => signers.iter().any(|signer| *signer.key == **key),
                Item::Group { threshold, members } => {
                    let witnessed = |member: &&usize| met.get(**member) == Some(&true);
                    members.iter().filter(witnessed).count() >= *threshold
                }
            };
            met.push(is_met);
        }
        met.get(quorum) == Some(&true)
    }
}

#[derive(Default)]
struct Parser<'a> {
    logs: Vec<VerifyingKey>,
    items: Vec<Item>,
    /// The item of a name, and whether it is a member of a group.
    names: HashMap<&'a [u8], (usize, bool)>,
    quorum: Option<Quorum>,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: &'a [u8]) -> Result<(), Problem> {
        if line
            .iter()
            .any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f)
        {
            return Err(Problem::Control);
        }
        let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with(b"#") => Ok(()),
            [b"log", key] | [b"log", key, _] => self.log(key),
            [b"witness", name, key] | [b"witness", name, key, _] => self.witness(name, key),
            [b"group", name, threshold, members @ ..] => self.group(name, threshold, members),
            [b"quorum", name] => self.quorum(name),
            _ => Err(Problem::Form("a log, witness, group or quorum line")),
        }
    }

    fn log(&mut self, key: &[u8]) -> Result<(), Problem> {
        let key = parse_key(key, Algorithm::Ed25519)?;
        if self
            .logs
            .iter()
            .any(|known| known.public_key() == key.public_key())
        {
            return Err(Problem::DuplicateKey);
        }
        if self.logs.len() == POLICY_NAMES_MAX {
            return Err(Problem::TooMany);
        }
        self.logs.push(key);
        Ok(())
    }

    fn witness(&mut self, name: &'a [u8], key: &[u8]) -> Result<(), Problem> {
        let key = parse_key(key, Algorithm::CosignatureV1)?;
        let same = |item: &Item| match item {
            Item::Witness(known) => known.public_key() == key.public_key(),
            Item::Group { .. } => false,
        };
        if self.items.iter().any(same) {
            return Err(Problem::DuplicateKey);
        }
        self.define(name, Item::Witness(Box::new(key)))
    }

    fn group(
        &mut self,
        name: &'a [u8],
        threshold: &[u8],
        members: &[&'a [u8]],
    ) -> Result<(), Problem> {
        let threshold = match threshold {
            b"any" => 1,
            b"all" => members.len(),
            digits => parse_threshold(digits).ok_or(Problem::Threshold)?,
        };
        if !(1..=members.len()).contains(&threshold) {
            return Err(Problem::Threshold);
        }
        let mut items = Vec::with_capacity(members.len());
        for member in members {
            let (item, is_member) = self.names.get_mut(member).ok_or(Problem::UnknownName)?;
            if std::mem::replace(is_member, true) {
                return Err(Problem::SecondMembership);
            }
            items.push(*item);
        }
        self.define(
            name,
            Item::Group {
                threshold,
                members: items,
            },
        )
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), Problem> {
        let quorum = match name {
            b"none" => Quorum::None,
            name => Quorum::Item(self.names.get(name).ok_or(Problem::UnknownName)?.0),
        };
        if self.quorum.replace(quorum).is_some() {
            Err(Problem::Quorum)
        } else {
            Ok(())
        }
    }

    fn define(&mut self, name: &'a [u8], item: Item) -> Result<(), Problem> {
        if self.items.len() == 2 * POLICY_NAMES_MAX {
            return Err(Problem::TooMany);
        }
        let taken = self.names.insert(name, (self.items.len(), false)).is_some();
        if taken || name == b"none" {
            return Err(Problem::DuplicateName);
        }
        self.items.push(item);
        Ok(())
    }
}

fn parse_key(text: &[u8], algorithm: Algorithm) -> Result<VerifyingKey, Problem> {
    let text = std::str::from_utf8(text).map_err(|_| KeyError::Form)?;
    let key = VerifyingKey::parse(text)?;
    if key.algorithm() == algorithm {
        Ok(key)
    } else {
        Err(Problem::WrongType)
    }
}

fn parse_threshold(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok()?;
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
